//! Everything that a real cluster has is imported, and plans to no change: what users make, and what Kubernetes makes itself.

use std::sync::Arc;

use engine_model::{
    address::{Mode, ResourceAddr},
    host::FixedHost,
};
use engine_plan::{generate, proposed};
use engine_value::{Type, Value};
use kube::Client;
use providers_api::{Call, Instance, PlanRequest, Provider, Silent};
use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Environment, KubernetesProvider};
use serde_json::{Value as Json, json};
use tests::control_plane::ControlPlane;
use tokio_util::sync::CancellationToken;

use crate::kinds::examples;

const NAMESPACE: &str = "import";

async fn ask(client: &Client, method: &str, path: &str, content: &str, body: Option<&Json>) -> Result<Json, String> {
    let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let request = http::Request::builder().method(method).uri(path).header("content-type", content);
    client.request(request.body(body).unwrap()).await.map_err(|error| error.to_string())
}

async fn get(client: &Client, path: &str) -> Option<Json> {
    ask(client, "GET", path, "application/json", None).await.ok()
}

/// A kind whose objects can be read, listed and applied.
struct Kind {
    root: String,
    api_version: String,
    kind: String,
    plural: String,
    namespaced: bool,
    creates: bool,
}

impl Kind {
    /// The other kind of that name has other fields.
    fn examples(&self) -> Option<[Json; 2]> {
        examples(&self.kind).filter(|_| self.creates && self.api_version != "events.k8s.io/v1")
    }
}

async fn served(client: &Client) -> Vec<Kind> {
    let groups = get(client, "/apis").await.unwrap();
    let groups = groups["groups"].as_array().unwrap().iter();
    let mut versions: Vec<String> =
        groups.map(|group| group["preferredVersion"]["groupVersion"].as_str().unwrap().to_owned()).collect();
    versions.push("v1".to_owned());
    let mut kinds = Vec::new();
    for version in versions {
        let root = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
        let list = get(client, &root).await.unwrap();
        for resource in list["resources"].as_array().unwrap() {
            let can = |verb: &str| resource["verbs"].as_array().unwrap().contains(&json!(verb));
            let plural = resource["name"].as_str().unwrap().to_owned();
            if !plural.contains('/') && can("get") && can("list") && can("patch") {
                kinds.push(Kind {
                    root: root.clone(),
                    api_version: version.clone(),
                    kind: resource["kind"].as_str().unwrap().to_owned(),
                    plural,
                    namespaced: resource["namespaced"].as_bool().unwrap(),
                    creates: can("create"),
                });
            }
        }
    }
    kinds
}

/// Makes the examples of a kind, as two tools would. Gives how many were taken, and why others were not.
async fn make(client: &Client, kind: &Kind) -> (usize, Vec<String>) {
    let Some(examples) = kind.examples() else { return (0, Vec::new()) };
    let namespace = if kind.namespaced { format!("/namespaces/{NAMESPACE}") } else { String::new() };
    let collection = format!("{}{namespace}/{}", kind.root, kind.plural);
    let (mut made, mut refused) = (0, Vec::new());
    for by in ["update", "apply"] {
        for (example, size) in examples.iter().zip(["small", "rich"]) {
            let mut object: Json =
                serde_json::from_str(&example.to_string().replace("\"default\"", &format!("\"{NAMESPACE}\""))).unwrap();
            object["apiVersion"] = kind.api_version.as_str().into();
            object["kind"] = kind.kind.as_str().into();
            if kind.kind == "CustomResourceDefinition" {
                let text = object.to_string().replace("example.com", &format!("{by}.example.com"));
                object = serde_json::from_str(&text).unwrap();
            } else {
                object["metadata"]["name"] = format!("{by}-{size}").into();
            }
            let name = object["metadata"]["name"].as_str().unwrap().to_owned();
            let answer = match by {
                "update" => {
                    let path = format!("{collection}?fieldManager=kubectl-create");
                    ask(client, "POST", &path, "application/json", Some(&object)).await
                }
                _ => {
                    let path = format!("{collection}/{name}?fieldManager=kubectl");
                    ask(client, "PATCH", &path, "application/apply-patch+yaml", Some(&object)).await
                }
            };
            match answer {
                Ok(_) => made += 1,
                Err(why) => refused.push(format!("{} {name}: {why}", kind.kind)),
            }
        }
    }
    (made, refused)
}

fn empty(provider: &KubernetesProvider) -> Value {
    let block = &provider.schemas().provider.block;
    let ty = block.value_type();
    let parts = ty.attributes().unwrap().iter().map(|(name, attribute)| {
        let value = match &attribute.ty {
            Type::List(element) if block.blocks.contains_key(name) => Value::list(element.as_ref().clone(), Vec::new()),
            ty => Value::null(ty.clone()),
        };
        (name.clone(), value)
    });
    Value::object(parts.collect::<Vec<_>>())
}

/// Why an object is not imported so that nothing changes.
async fn judged(
    provider: &KubernetesProvider,
    instance: &Arc<dyn Instance>,
    id: &str,
    call: Call<'_>,
) -> Option<String> {
    let addr: ResourceAddr = "kubernetes_manifest.x".parse().unwrap();
    let imported = match instance.import(&addr.ty, id, call).await {
        Ok(imported) => imported,
        Err(error) => return Some(format!("{id}: {error}")),
    };
    let block = &provider.schemas().get(Mode::Managed, &addr.ty).unwrap().block;
    let bare = |value: &Value| value.clone().unmark_deep().0;
    let (prior, config) = (bare(&imported.object), bare(imported.config.as_ref().unwrap()));
    if let Err(why) = generate::resource(&addr, block, &config, &imported.notes) {
        return Some(format!("{id}: {why} cannot be written down"));
    }
    let request = PlanRequest {
        addr,
        prior: prior.clone(),
        stored: prior.clone(),
        private: imported.private,
        proposed: proposed(block, &prior, &config),
        config,
        earlier: Default::default(),
        is_last: false,
    };
    match instance.plan(request, call).await {
        Err(issues) => Some(format!("{id}: {issues:?}")),
        Ok(planned) => {
            let after = bare(&planned.object);
            let changed = engine_value::diff::diff(Some(&prior), Some(&after)).changed_paths();
            let is_whole = changed.is_empty() && planned.replace.is_empty() && planned.unverified.is_none();
            (!is_whole).then(|| format!("{id}: {changed:?} {:?} {:?}", planned.replace, planned.unverified))
        }
    }
}

#[tokio::test]
async fn everything_that_a_cluster_has_is_imported_and_plans_to_no_change() {
    let Some(plane) = ControlPlane::shared().await else { return };
    plane.namespace(NAMESPACE).await;
    let client = plane.client().await;
    let settings = ConnectionSettings {
        config_paths: vec![plane.kubeconfig().to_str().unwrap().to_owned()],
        ..ConnectionSettings::default()
    };
    let provider = KubernetesProvider::new(Environment::default(), Some(ConnectionOverride(settings)));
    let (cancel, host) = (CancellationToken::new(), FixedHost::new(0));
    let call = Call { progress: &Silent, cancel: &cancel, host: &host };
    let instance = provider.configure(&empty(&provider), call).await.unwrap();

    let kinds = served(&client).await;
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for kind in &kinds {
        let (made, refused) = make(&client, kind).await;
        if kind.examples().is_some() && made < 2 {
            wrong.extend(refused);
        }
    }
    for kind in &kinds {
        let list = get(&client, &format!("{}/{}?limit=25", kind.root, kind.plural)).await.unwrap();
        for object in list["items"].as_array().unwrap() {
            let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
            let namespace = if kind.namespaced { format!("/namespaces/{}", text("namespace")) } else { String::new() };
            let path = format!("{}{namespace}/{}/{}", kind.root, kind.plural, text("name"));
            let id = format!(
                "apiVersion={},kind={},namespace={},name={}",
                kind.api_version,
                kind.kind,
                text("namespace"),
                text("name")
            );
            let Some(before) = get(&client, &path).await else { continue };
            let why = judged(&provider, &instance, &id, call).await;
            // Somebody else may have changed it in between: a lease is renewed every other second.
            let is_same = get(&client, &path)
                .await
                .is_some_and(|after| after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]);
            if is_same {
                seen += 1;
                wrong.extend(why);
            }
        }
    }
    assert_eq!(wrong, [""; 0], "of {seen} objects of {} kinds:\n{}", kinds.len(), wrong.join("\n"));
    assert!(seen > 150, "{seen} objects");
}
