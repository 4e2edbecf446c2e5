//! Deleting: what goes with an object, who holds it, and in which order.

use engine_model::plan::PlanMode;
use http::Method;
use providers_api::ErrorKind;
use serde_json::{Value as Json, json};

use crate::{
    run::Run,
    world::{World, value},
};

const TYPE: &str = "kubernetes_manifest";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn config_map(name: &str) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "1"}})
}

fn deleted(world: &World, manifest: Json, policy: Option<&str>, timeout: &str) -> engine_value::Value {
    let timeouts = json!([{"create": null, "update": null, "delete": timeout}]);
    let delete = json!([{"propagation_policy": policy}]);
    let arguments = [("manifest", value(&manifest)), ("timeouts", value(&timeouts)), ("delete", value(&delete))];
    world.config(TYPE, &arguments)
}

#[tokio::test]
async fn what_an_object_owns_goes_with_it_or_stays() {
    for (policy, stays) in
        [(None, false), (Some("Foreground"), false), (Some("Background"), false), (Some("Orphan"), true)]
    {
        let world = World::new().await;
        let config = deleted(&world, config_map("owner"), policy, "20s");
        let state = world.apply(TYPE, None, &config).await;
        let owner = world.live(&format!("{MAPS}/owner")).unwrap();
        let mut owned = config_map("owned");
        owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
            "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true}]);
        world.other(Method::POST, MAPS, Some(owned));
        let outcome = world.destroy(TYPE, state).await;
        assert!(outcome.now.is_none() && outcome.error.is_none(), "{policy:?}: {:?}", outcome.error);
        assert_eq!(world.live(&format!("{MAPS}/owned")).is_some(), stays, "{policy:?}");
    }
}

/// K#335 and many more: "context deadline exceeded", and nobody knew who held the object.
#[tokio::test]
async fn p37_a_deletion_that_is_held_names_who_should_let_go() {
    let world = World::new().await;
    let config = deleted(&world, config_map("a"), None, "100ms");
    let state = world.apply(TYPE, None, &config).await;
    let path = format!("{MAPS}/a?fieldManager=acme-controller");
    world.other(Method::PATCH, &path, Some(json!({"metadata": {"finalizers": ["acme.example.com/clean"]}})));
    let outcome = world.destroy(TYPE, state.clone()).await;
    let error = outcome.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert_eq!(
        error.to_string(),
        "waited 0 s for ConfigMap a to be gone: held by finalizer acme.example.com/clean\n  acme.example.com/clean: set by \
         acme-controller, which should remove it; no pod that looks like it runs in the cluster"
    );
    assert!(error.hint.unwrap().contains("kubectl patch configmaps a --type=merge"));
    assert_eq!(outcome.now.unwrap().object, state, "it is still there");

    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "acme-controller-1"},
        "spec": {"containers": [{"name": "main", "image": "i"}]}});
    world.other(Method::POST, "/api/v1/namespaces/default/pods", Some(pod));
    let error = world.destroy(TYPE, state.clone()).await.error.unwrap();
    assert!(error.to_string().contains("pod default/acme-controller-1 looks like it, and is Pending"), "{error}");

    world.other(Method::PATCH, &format!("{MAPS}/a"), Some(json!({"metadata": {"finalizers": null}})));
    let outcome = world.destroy(TYPE, state).await;
    assert!(outcome.now.is_none() && outcome.error.is_none());
}

/// What was asked to go is gone although somebody made another one of that name, and that one stays.
#[tokio::test]
async fn only_the_object_that_was_planned_on_is_deleted() {
    let world = World::new().await;
    let state = world.apply(TYPE, None, &deleted(&world, config_map("a"), Some("Background"), "20s")).await;
    world.other(Method::DELETE, &format!("{MAPS}/a"), None);
    world.other(Method::POST, MAPS, Some(config_map("a")));
    let outcome = world.destroy(TYPE, state).await;
    assert!(outcome.now.is_none() && outcome.error.is_none());
    assert!(world.live(&format!("{MAPS}/a")).is_some());
}

const ORDER: &str = r#"
    variable "password" {
      sensitive = true
    }

    resource "kubernetes_manifest" "definition" {
      manifest = {
        apiVersion = "apiextensions.k8s.io/v1"
        kind       = "CustomResourceDefinition"
        metadata   = { name = "widgets.example.com" }
        spec = {
          group = "example.com"
          scope = "Cluster"
          names = { plural = "widgets", singular = "widget", kind = "Widget", listKind = "WidgetList" }
          versions = [{
            name    = "v1"
            served  = true
            storage = true
            schema  = { openAPIV3Schema = { type = "object", x-kubernetes-preserve-unknown-fields = true } }
          }]
        }
      }
    }

    resource "kubernetes_manifest" "controller" {
      manifest = {
        apiVersion = "v1"
        kind       = "ConfigMap"
        metadata   = { name = "controller", namespace = "default" }
      }
    }

    resource "kubernetes_manifest" "widget" {
      depends_on = [kubernetes_manifest.definition, kubernetes_manifest.controller]
      manifest = {
        apiVersion = "example.com/v1"
        kind       = "Widget"
        metadata   = { name = "w", finalizers = ["example.com/clean"] }
      }
    }
"#;

/// kubernetes#60807, flux#67: a custom resource outlived the controller that its finalizer waits for.
#[tokio::test]
async fn p37_an_object_goes_before_its_definition_and_its_controller() {
    let world = World::new().await;
    let run = Run::new(&world, ORDER).await;
    run.apply(run.plan(PlanMode::Normal).await).await;
    world.running.api().calls().take();
    let controller = async {
        let is_going = || {
            world.live("/apis/example.com/v1/widgets/w").is_some_and(|w| !w["metadata"]["deletionTimestamp"].is_null())
        };
        while !is_going() {
            tokio::task::yield_now().await;
        }
        assert!(world.live(&format!("{MAPS}/controller")).is_some(), "the controller is still there");
        world.other(Method::PATCH, "/apis/example.com/v1/widgets/w", Some(json!({"metadata": {"finalizers": null}})));
    };
    let plan = run.plan(PlanMode::Destroy).await;
    tokio::join!(run.apply(plan), controller);
    let calls = world.running.api().calls().take();
    let deletions: Vec<&str> =
        calls.iter().filter(|call| call.verb == "delete").filter_map(|call| call.path.rsplit('/').next()).collect();
    assert_eq!(deletions.first(), Some(&"w"), "{deletions:?}");
    assert_eq!(deletions.len(), 3, "{deletions:?}");
}
