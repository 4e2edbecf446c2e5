//! What a fleet brings along into a cluster: definitions, nodes, pods.

use http::Method;
use serde_json::{Value, json};

use crate::api::User;
use crate::cluster::ApiServer;
use crate::error::SandboxError;
use crate::fleet::{self, Fleet, PodSpec};

/// Makes the definitions of the node resource, and of what only a sandbox has. They follow the release of the program.
pub(crate) fn define(api: &dyn ApiServer) -> Result<(), SandboxError> {
    fleet::definitions().iter().try_for_each(|(path, object)| put(api, path, object).map(|_| ()))
}

/// Makes the nodes of a fleet, and what its pods name, as far as they are not there.
pub(crate) fn objects(api: &dyn ApiServer, fleet: &Fleet) -> Result<(), SandboxError> {
    fleet::objects(fleet).iter().try_for_each(|(path, object)| post(api, path, object).map(|_| ()))
}

/// Makes a pod with all that it belongs to, each under the name that the fleet gives it.
pub(crate) fn pod(api: &dyn ApiServer, pod: &PodSpec) -> Result<(), SandboxError> {
    let mut controller: Option<Value> = None;
    for (path, mut object) in fleet::owners(pod) {
        if let Some(controller) = &controller {
            object["metadata"]["ownerReferences"] = json!([fleet::reference(controller)]);
        }
        controller = Some(post(api, &path, &object)?);
    }
    post(api, &path_of_pods(pod), &fleet::pod_object(pod, controller.as_ref())).map(|_| ())
}

/// Makes what a pod comes from: its outermost owner, of which controllers make the rest under names of their own, or the
/// pod where it has none.
pub(crate) fn origin(api: &dyn ApiServer, pod: &PodSpec) -> Result<(), SandboxError> {
    match fleet::owners(pod).first() {
        Some((path, owner)) => post(api, path, owner),
        None => post(api, &path_of_pods(pod), &fleet::pod_object(pod, None)),
    }
    .map(|_| ())
}

fn path_of_pods(pod: &PodSpec) -> String {
    format!("/api/v1/namespaces/{}/pods", pod.namespace)
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// Creates an object, or reads the one that is there.
fn post(api: &dyn ApiServer, path: &str, object: &Value) -> Result<Value, SandboxError> {
    let admin = User::admin("sandbox");
    match api.call(&admin, &Method::POST, path, Some(object)) {
        Err(failure) if failure.reason == "AlreadyExists" => {
            api.call(&admin, &Method::GET, &format!("{path}/{}", name(object)), None)
        }
        answer => answer,
    }
    .map_err(|failure| SandboxError::Create { what: format!("{path}/{}", name(object)), why: failure.message })
}

/// Makes an object what it should be.
fn put(api: &dyn ApiServer, path: &str, object: &Value) -> Result<Value, SandboxError> {
    let path = format!("{path}/{}", name(object));
    let query = format!("{path}?fieldManager=sandbox&force=true");
    api.call_as(&User::admin("sandbox"), &Method::PATCH, &query, "application/apply-patch+yaml", Some(object))
        .map_err(|failure| SandboxError::Create { what: path, why: failure.message })
}
