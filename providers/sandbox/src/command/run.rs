//! `sandbox run FILE…`: somebody starts pods.

use std::time::Duration;

use futures::future::join_all;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::runtime::wait::await_condition;
use providers_agent_api::{CardStatus, GpuNode, User};
use serde::Deserialize;
use serde_json::Value;

use crate::error::SandboxError;
use crate::sandbox::Sandbox;

/// A pod is placed at once, or told why not.
const PATIENCE: Duration = Duration::from_secs(30);

/// An agent looks at once when a device was given away.
const REPORT: Duration = Duration::from_secs(2);

/// A pod that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its node, or why it has none.
    pub node: Result<String, String>,
}

/// Creates the pods of a YAML or JSON text of one or more documents; missing namespaces are made. Returns when each runs,
/// or is known to find no node. `file` is for messages.
///
/// # Errors
/// The text is no pod, or the API refuses it.
pub async fn run(sandbox: &Sandbox, file: &str, text: &str) -> Result<Vec<Started>, SandboxError> {
    let pods = parse(file, text)?;
    let uses_devices: Vec<bool> = pods.iter().map(uses_devices).collect();
    let connection = sandbox.connection().connection();
    let client = connection.client().await?;
    let mut started = Vec::new();
    for pod in pods {
        let namespace = pod.metadata.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let name = pod.metadata.name.clone().unwrap_or_default();
        let doing = format!("{file}: cannot create pod {namespace}/{name}");
        let failed = |error: &kube::Error| SandboxError::Api(connection.error(&doing, error));
        let namespaces: Api<Namespace> = Api::all(client.clone());
        if namespaces.get_opt(&namespace).await.map_err(|error| failed(&error))?.is_none() {
            let metadata = ObjectMeta { name: Some(namespace.clone()), ..ObjectMeta::default() };
            let object = Namespace { metadata, ..Namespace::default() };
            namespaces.create(&PostParams::default(), &object).await.map_err(|error| failed(&error))?;
        }
        let api: Api<Pod> = Api::namespaced(client.clone(), &namespace);
        api.create(&PostParams::default(), &pod).await.map_err(|error| failed(&error))?;
        let placed = tokio::time::timeout(
            PATIENCE,
            await_condition(api, &name, |pod: Option<&Pod>| pod.is_none_or(|pod| outcome(pod).is_some())),
        );
        let pod = match placed.await {
            Ok(Ok(pod)) => pod,
            Ok(Err(error)) => return Err(SandboxError::Failed(format!("{doing}: {error}"))),
            Err(_) => return Err(SandboxError::Failed(format!("{doing}: nothing has become of it yet"))),
        };
        let gone = || Err("it was deleted at once".to_owned());
        let node = pod.as_ref().and_then(outcome).unwrap_or_else(gone);
        started.push(Started { namespace, name, node });
    }
    match sandbox.embedded() {
        Some(embedded) => embedded.settle(PATIENCE).await?,
        None => {
            let users = started.iter().zip(&uses_devices).filter(|(_, uses)| **uses);
            join_all(users.map(|(pod, _)| reported(&client, pod))).await;
        }
    }
    Ok(started)
}

/// Whether a pod asks for something that a device plugin offers.
fn uses_devices(pod: &Pod) -> bool {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let resources = containers.filter_map(|container| container.resources.as_ref());
    let names = resources.flat_map(|resources| resources.limits.iter().chain(&resources.requests));
    names.flat_map(|amounts| amounts.keys()).any(|name| name.contains('/'))
}

/// Waits until the agent of a pod's node has reported that the pod uses something there, so that the next plan knows. The
/// agent may be down: then nobody knows, as in a real cluster.
async fn reported(client: &Client, pod: &Started) {
    let Ok(node) = &pod.node else { return };
    let user = User::Pod { namespace: pod.namespace.clone(), name: pod.name.clone() };
    let is_reported = |node: Option<&GpuNode>| {
        let cards = node.and_then(|node| node.status.as_ref()).map_or(&[][..], |status| &status.cards);
        let uses = |card: &CardStatus| {
            card.used_by.contains(&user) || card.instances.iter().any(|instance| instance.used_by.contains(&user))
        };
        cards.iter().any(uses)
    };
    let api: Api<GpuNode> = Api::all(client.clone());
    let _ = tokio::time::timeout(REPORT, await_condition(api, node, is_reported)).await;
}

/// What became of a pod; `None` while that is open.
fn outcome(pod: &Pod) -> Option<Result<String, String>> {
    let status = pod.status.as_ref()?;
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    match status.phase.as_deref() {
        Some("Running" | "Succeeded") => return node.map(Ok),
        Some("Failed") => return Some(Err(status.message.clone().unwrap_or_else(|| "it failed".to_owned()))),
        _ => {}
    }
    let conditions = status.conditions.iter().flatten();
    let mut refused = conditions.filter(|one| one.type_ == "PodScheduled" && one.status == "False");
    refused.next().map(|one| Err(one.message.clone().unwrap_or_default()))
}

fn parse(file: &str, text: &str) -> Result<Vec<Pod>, SandboxError> {
    let wrong = |why: String| SandboxError::Argument(format!("{file}: {why}"));
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).map_err(|error| wrong(error.to_string()))?;
    let mut pods = Vec::new();
    for document in documents.into_iter().filter(|document| !document.is_null()) {
        let (version, kind) = (&document["apiVersion"], &document["kind"]);
        if version != "v1" || kind != "Pod" {
            let found = format!("{} {}", version.as_str().unwrap_or("-"), kind.as_str().unwrap_or("-"));
            return Err(wrong(format!(
                "only pods can be run (v1 Pod), this is {found}; `kubectl create` makes the rest"
            )));
        }
        let pod = Pod::deserialize(document).map_err(|error| wrong(error.to_string()))?;
        if pod.metadata.name.is_none() {
            return Err(wrong("a pod has no metadata.name".to_owned()));
        }
        pods.push(pod);
    }
    if pods.is_empty() {
        return Err(wrong("there is no pod in it".to_owned()));
    }
    Ok(pods)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[&str], &str>) {
        let found = parse("p.yaml", text);
        match expected {
            Ok(names) => {
                let found: Vec<String> = found.unwrap().into_iter().map(|pod| pod.metadata.name.unwrap()).collect();
                assert_eq!(found, names);
            }
            Err(why) => {
                let error = found.unwrap_err().to_string();
                assert!(error.starts_with("p.yaml: ") && error.contains(why), "{error}");
            }
        }
    }

    #[test]
    fn pods_come_in_yaml_and_json() {
        check(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n",
            Ok(&["a", "b"]),
        );
        check("{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}}", Ok(&["a"]));
        check("apiVersion: apps/v1\nkind: Deployment\n", Err("apps/v1 Deployment"));
        check("apiVersion: v1\nkind: Pod\n", Err("no metadata.name"));
        check("", Err("no pod"));
        check("a: [", Err(""));
    }
}
