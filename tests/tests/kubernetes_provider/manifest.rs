//! `kubernetes_manifest`.

use std::sync::Arc;

use engine_value::{Marks, Path, Type, Value};
use http::Method;
use providers_api::ErrorKind;
use providers_sandbox::api::{Attributes, Authorizer, Decision, User};
use providers_sandbox::store::Transaction;
use serde_json::{Value as Json, json};

use crate::world::{World, json as to_json, only, value};

const TYPE: &str = "kubernetes_manifest";
const MAP: &str = "/api/v1/namespaces/default/configmaps/a";

fn config_map(data: Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

fn deployment(replicas: u64) -> Json {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web:1", "resources": {"requests": {"cpu": "1000m"}}}]},
            },
        },
    })
}

fn attribute(object: &Value, name: &str) -> Json {
    to_json(object.get(name).unwrap())
}

#[tokio::test]
async fn an_object_is_created_changed_and_destroyed() {
    let world = World::new().await;
    let state = world.apply(TYPE, None, &world.manifest(config_map(json!({"k": "1", "l": null})))).await;
    let live = world.live(MAP).unwrap();
    assert_eq!(live["data"], json!({"k": "1"}));
    let uid = &live["metadata"]["uid"];
    let expected =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": uid}, "data": {"k": "1"}});
    assert_eq!(attribute(&state, "object"), expected);

    let state = world.apply(TYPE, Some(&state), &world.manifest(config_map(json!({"m": "2"})))).await;
    assert_eq!(world.live(MAP).unwrap()["data"], json!({"m": "2"}), "what is no longer said is taken back");

    let outcome = world.destroy(TYPE, state.clone()).await;
    assert!(outcome.now.is_none() && outcome.error.is_none());
    assert_eq!(world.live(MAP), None);
    assert_eq!(world.read(TYPE, &state).await, None, "it is gone");
    let again = world.destroy(TYPE, state).await;
    assert!(again.now.is_none() && again.error.is_none(), "it is gone already");
}

#[tokio::test]
async fn what_others_do_beside_it_is_no_drift() {
    let world = World::new().await;
    let config = world.manifest(deployment(2));
    let state = world.apply(TYPE, None, &config).await;
    let path = "/apis/apps/v1/namespaces/default/deployments/web";
    let mut live = world.live(path).unwrap();
    live["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": "1"});
    live["metadata"]["labels"] = json!({"team": "a"});
    let sidecar = json!({"name": "proxy", "image": "proxy:1"});
    live["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap().insert(0, sidecar);
    live["spec"]["template"]["spec"]["containers"][1]["resources"]["limits"] = json!({"cpu": "2"});
    live["spec"]["paused"] = true.into();
    world.other(Method::PUT, path, Some(live));
    world.changes_nothing(TYPE, &state, &config).await;
}

#[tokio::test]
async fn drift_is_told_and_its_owner_named() {
    let world = World::new().await;
    let config = world.manifest(deployment(2));
    let state = world.apply(TYPE, None, &config).await;
    let path = "/apis/apps/v1/namespaces/default/deployments/web";
    world.other(Method::PATCH, path, Some(json!({"spec": {"replicas": 5}})));
    let (prior, planned) = world.plan(TYPE, Some(&state), &config).await;
    assert_eq!(attribute(&prior, "object")["spec"]["replicas"], 5);
    assert_eq!(attribute(&prior, "manifest"), attribute(&state, "manifest"));
    let issue = only(planned);
    assert_eq!(issue.path.to_string(), "manifest.spec.replicas");
    assert!(issue.detail.contains("\"somebody\""), "{}", issue.detail);
    assert!(issue.hint.unwrap().contains("force_conflicts"));

    let force = value(&json!([{"name": null, "force_conflicts": true}]));
    let config = world.config(TYPE, &[("manifest", value(&deployment(2))), ("field_manager", force)]);
    world.apply(TYPE, Some(&state), &config).await;
    assert_eq!(world.live(path).unwrap()["spec"]["replicas"], 2);
}

#[tokio::test]
async fn what_was_deleted_by_hand_is_made_again() {
    let world = World::new().await;
    let config = world.manifest(config_map(json!({"k": "1"})));
    let state = world.apply(TYPE, None, &config).await;
    world.other(Method::DELETE, MAP, None);
    let again = world.apply(TYPE, Some(&state), &config).await;
    assert_ne!(attribute(&again, "object")["metadata"]["uid"], attribute(&state, "object")["metadata"]["uid"]);
}

#[tokio::test]
async fn an_object_in_a_namespace_to_come_is_unverified() {
    let world = World::new().await;
    let mut manifest = config_map(json!({"k": "1"}));
    manifest["metadata"]["namespace"] = "later".into();
    manifest["metadata"]["labels"] = json!({});
    manifest["metadata"]["annotations"] = json!({"a": "b", "c": null});
    let config = world.manifest(manifest);
    let (before, planned) = world.plan(TYPE, None, &config).await;
    let planned = planned.unwrap();
    assert_eq!(planned.unverified.as_deref(), Some("namespace later does not exist yet"));
    let name = Path::root().attr("object").attr("metadata").attr("name").get(&planned.object);
    assert_eq!(name, Some("a".into()), "what others refer to is known");

    let early = world.carry_out(TYPE, before.clone(), planned.object.clone()).await;
    assert!(early.now.is_none());
    assert!(early.error.unwrap().to_string().contains("there is no namespace later"));
    world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": "later"}})));
    let outcome = world.carry_out(TYPE, before, planned.object).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    world.changes_nothing(TYPE, &outcome.now.unwrap().object, &config).await;
}

#[tokio::test]
async fn a_definition_and_its_objects_come_in_one_plan() {
    let world = World::new().await;
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}},
            }}}],
        },
    });
    let widget = world.manifest(json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w"}, "spec": {}}));
    let (before, planned) = world.plan(TYPE, None, &widget).await;
    let planned = planned.unwrap();
    assert!(planned.unverified.unwrap().starts_with("the cluster does not serve example.com/v1"));
    world.apply(TYPE, None, &world.manifest(definition)).await;
    let outcome = world.carry_out(TYPE, before, planned.object).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let live = world.live("/apis/example.com/v1/widgets/w").unwrap();
    assert_eq!(live["spec"]["size"], 3, "the server's default is there, and not ours");
    assert_eq!(attribute(&outcome.now.unwrap().object, "object").get("spec"), None);
}

#[tokio::test]
async fn a_kind_that_does_not_exist_is_an_error_with_a_way_out() {
    let world = World::new().await;
    for (api_version, kind, path, hint) in [
        ("v1", "ConfigMpa", "manifest.kind", "Did you mean ConfigMap?"),
        ("apps/v1beta1", "Deployment", "manifest.apiVersion", "That group is served as apps/v1."),
        ("app/v1", "Deployment", "manifest.apiVersion", "Did you mean apps/v1?"),
    ] {
        let manifest = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}});
        let issue = only(world.plan(TYPE, None, &world.manifest(manifest)).await.1);
        assert_eq!(issue.path.to_string(), path);
        assert!(issue.hint.as_ref().is_some_and(|found| found.contains(hint)), "{issue:?}");
    }
    let manifest = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "namespace": "b"}});
    let issue = only(world.plan(TYPE, None, &world.manifest(manifest)).await.1);
    assert_eq!(issue.path.to_string(), "manifest.metadata.namespace");
}

#[tokio::test]
async fn what_the_server_refuses_is_told_at_its_place() {
    let world = World::new().await;
    let mut manifest = deployment(1);
    manifest["spec"]["replica"] = 3.into();
    let issue = only(world.plan(TYPE, None, &world.manifest(manifest)).await.1);
    assert_eq!(issue.path.to_string(), "manifest.spec.replica");
    assert_eq!(issue.detail, "spec.replica: Field not declared in schema.");
}

#[tokio::test]
async fn a_refusal_never_tells_a_secret() {
    let world = World::new().await;
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "labels": {"password": "hunter 2"}}});
    let issue = only(world.plan(TYPE, None, &world.manifest(manifest)).await.1);
    assert!(!format!("{issue:?}").contains("hunter"), "{issue:?}");
    assert_eq!(issue.path.to_string(), "manifest.metadata.labels");
}

#[tokio::test]
async fn an_object_of_somebody_else_is_not_taken() {
    let world = World::new().await;
    world.other(Method::POST, "/api/v1/namespaces/default/configmaps", Some(config_map(json!({"k": "1"}))));
    let config = world.manifest(config_map(json!({"k": "1"})));
    let issue = only(world.plan(TYPE, None, &config).await.1);
    assert_eq!(
        (issue.summary.as_str(), issue.path.to_string().as_str()),
        ("Object exists already", "manifest.metadata.name")
    );
}

#[tokio::test]
async fn what_appears_between_plan_and_apply_is_not_taken() {
    let world = World::new().await;
    let (before, planned) = world.plan(TYPE, None, &world.manifest(config_map(json!({"k": "1"})))).await;
    let others = config_map(json!({"k": "2"}));
    world.other(Method::POST, "/api/v1/namespaces/default/configmaps", Some(others));
    let outcome = world.carry_out(TYPE, before, planned.unwrap().object).await;
    assert!(outcome.now.is_none());
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::Conflict);
    assert_eq!(world.live(MAP).unwrap()["data"]["k"], "2");
}

#[tokio::test]
async fn an_apply_that_was_cut_off_finds_what_it_did() {
    let world = World::new().await;
    let config = world.manifest(config_map(json!({"k": "1"})));
    let (before, planned) = world.plan(TYPE, None, &config).await;
    let planned = planned.unwrap();
    let first = world.carry_out(TYPE, before.clone(), planned.object.clone()).await.now.unwrap();
    let second = world.carry_out(TYPE, before, planned.object).await;
    assert!(second.error.is_none());
    assert_eq!(second.now.unwrap().object, first.object);

    // Nobody recorded it: the next plan takes it over, and says so.
    let (_, planned) = world.plan(TYPE, None, &config).await;
    let planned = planned.unwrap();
    assert!(planned.issues[0].detail.contains("taken over"), "{:?}", planned.issues);
    let (_, planned) = world.plan(TYPE, Some(&first.object), &world.manifest(config_map(json!({"k": "2"})))).await;
    let update = planned.unwrap().object;
    for _ in 0..2 {
        let outcome = world.carry_out(TYPE, first.object.clone(), update.clone()).await;
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
    }
}

#[tokio::test]
async fn only_what_was_planned_on_is_changed_or_deleted() {
    let world = World::new().await;
    let state = world.apply(TYPE, None, &world.manifest(config_map(json!({"k": "1"})))).await;
    let (before, planned) = world.plan(TYPE, Some(&state), &world.manifest(config_map(json!({"k": "2"})))).await;
    let planned = planned.unwrap().object;

    // What others write beside our fields is no conflict.
    world.other(Method::PATCH, MAP, Some(json!({"metadata": {"labels": {"x": "y"}}})));
    let outcome = world.carry_out(TYPE, before.clone(), planned.clone()).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    world.other(Method::PATCH, MAP, Some(json!({"data": {"k": "3"}})));
    let error = world.carry_out(TYPE, before.clone(), planned.clone()).await.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.to_string().ends_with("somebody changed data.k"), "{error}");

    // Another object of the same name.
    world.other(Method::DELETE, MAP, None);
    world.other(Method::POST, "/api/v1/namespaces/default/configmaps", Some(config_map(json!({"k": "1"}))));
    let error = world.carry_out(TYPE, before.clone(), planned).await.error.unwrap();
    assert!(error.to_string().contains("made anew by somebody else"), "{error}");
    let outcome = world.destroy(TYPE, before).await;
    assert!(outcome.now.is_none() && outcome.error.is_none());
    assert!(world.live(MAP).is_some(), "the other one stays");
}

#[tokio::test]
async fn a_deletion_that_is_held_names_the_finalizer() {
    let world = World::new().await;
    let mut manifest = config_map(json!({"k": "1"}));
    manifest["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let timeouts = value(&json!([{"create": null, "update": null, "delete": "100ms"}]));
    let config = world.config(TYPE, &[("manifest", value(&manifest)), ("timeouts", timeouts)]);
    let state = world.apply(TYPE, None, &config).await;
    let outcome = world.destroy(TYPE, state.clone()).await;
    let error = outcome.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(error.to_string().contains("held by finalizer example.com/hold"), "{error}");
    assert_eq!(outcome.now.unwrap().object, state, "it is still there");
    world.other(Method::PATCH, MAP, Some(json!({"metadata": {"finalizers": null}})));
    let outcome = world.destroy(TYPE, state).await;
    assert!(outcome.now.is_none() && outcome.error.is_none());
}

#[tokio::test]
async fn what_is_waited_for_is_watched() {
    let world = World::new().await;
    let waits = json!([{"rollout": null, "condition": [], "fields": {"data.ready": "yes"}, "ready_when": null, "fail_when": null}]);
    let timeouts = json!([{"create": "20s", "update": "100ms", "delete": null}]);
    let config = |k: &str| {
        let manifest = value(&config_map(json!({"k": k})));
        world.config(TYPE, &[("manifest", manifest), ("wait", value(&waits)), ("timeouts", value(&timeouts))])
    };
    let (before, planned) = world.plan(TYPE, None, &config("1")).await;
    let planned = planned.unwrap().object;
    let controller = async {
        while !world.running.api().calls().all().iter().any(|call| call.verb == "watch") {
            tokio::task::yield_now().await;
        }
        world.other(Method::PATCH, MAP, Some(json!({"data": {"ready": "yes"}})));
    };
    let (outcome, ()) = tokio::join!(world.carry_out(TYPE, before, planned), controller);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let state = outcome.now.unwrap().object;
    world.changes_nothing(TYPE, &state, &config("1")).await;

    world.other(Method::PATCH, MAP, Some(json!({"data": {"ready": "no"}})));
    let (before, planned) = world.plan(TYPE, Some(&state), &config("2")).await;
    let outcome = world.carry_out(TYPE, before, planned.unwrap().object).await;
    let error = outcome.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(error.to_string().contains("data.ready is \"no\""), "{error}");
    assert_eq!(attribute(&outcome.now.unwrap().object, "object")["data"]["k"], "2", "it was applied all the same");
}

#[tokio::test]
async fn an_interrupt_ends_a_wait_and_tells_what_is_there() {
    let world = World::new().await;
    let mut manifest = config_map(json!({}));
    manifest["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let state = world.apply(TYPE, None, &world.manifest(manifest)).await;
    world.cancel.cancel();
    // Reads end at an interrupt: the kind is known already, and the deletion itself is waited for.
    let outcome = world.destroy(TYPE, state.clone()).await;
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::Cancelled);
    assert_eq!(outcome.now.unwrap().object, state);
}

#[tokio::test]
async fn another_name_is_another_object() {
    let world = World::new().await;
    let state = world.apply(TYPE, None, &world.manifest(config_map(json!({"k": "1"})))).await;
    let mut manifest = config_map(json!({"k": "1"}));
    manifest["metadata"]["name"] = "b".into();
    let planned = world.plan(TYPE, Some(&state), &world.manifest(manifest)).await.1.unwrap();
    assert_eq!(planned.replace.iter().map(Path::to_string).collect::<Vec<_>>(), ["manifest.metadata.name"]);
    let uid = Path::root().attr("object").attr("metadata").attr("uid").get(&planned.object).unwrap();
    assert!(!uid.is_known());
}

#[tokio::test]
async fn a_field_that_cannot_be_changed_replaces() {
    let world = World::new().await;
    let state = world.apply(TYPE, None, &world.manifest(deployment(1))).await;
    let mut manifest = deployment(1);
    manifest["spec"]["selector"]["matchLabels"]["app"] = "other".into();
    manifest["spec"]["template"]["metadata"]["labels"]["app"] = "other".into();
    let config = world.manifest(manifest);
    let (_, planned) = world.plan(TYPE, Some(&state), &config).await;
    let planned = planned.unwrap();
    assert_eq!(planned.replace.iter().map(Path::to_string).collect::<Vec<_>>(), ["manifest.spec.selector"]);
    assert!(planned.unverified.is_some());

    // The new one is planned while the old one is there, and applied once it is gone.
    let (before, planned) = world.plan(TYPE, None, &config).await;
    let planned = planned.unwrap();
    assert_eq!(planned.issues, []);
    let planned = planned.object;
    let outcome = world.destroy(TYPE, state).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let outcome = world.carry_out(TYPE, before, planned).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    world.changes_nothing(TYPE, &outcome.now.unwrap().object, &config).await;
}

#[tokio::test]
async fn unknown_parts_are_planned_by_name() {
    let world = World::new().await;
    let manifest = Value::object([
        ("apiVersion", "v1".into()),
        ("kind", "ConfigMap".into()),
        ("metadata", value(&json!({"name": "a"}))),
        ("data", Value::object([("k", Value::unknown(Type::String))])),
    ]);
    let config = world.config(TYPE, &[("manifest", manifest)]);
    let (before, planned) = world.plan(TYPE, None, &config).await;
    let planned = planned.unwrap();
    assert!(planned.unverified.is_some());
    // What the engine does once everything is known: the configuration stands in `after` wherever that was unknown.
    let known = value(&config_map(json!({"k": "1"})));
    let after = Path::root().attr("manifest").set(&planned.object, known).unwrap();
    let outcome = world.carry_out(TYPE, before, after).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    world.changes_nothing(TYPE, &outcome.now.unwrap().object, &world.manifest(config_map(json!({"k": "1"})))).await;
}

#[tokio::test]
async fn the_content_of_secrets_is_sensitive_and_compared() {
    let world = World::new().await;
    let manifest = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "type": "Opaque",
        "stringData": {"password": "hunter2"}});
    let config = world.manifest(manifest);
    let state = world.apply(TYPE, None, &config).await;
    for (attribute, part) in [("manifest", "stringData"), ("object", "data")] {
        let marks = state.get(attribute).unwrap().get(part).unwrap().marks;
        assert_eq!(marks, Marks::SENSITIVE, "{attribute}.{part}");
    }
    let path = "/api/v1/namespaces/default/secrets/s";
    assert_eq!(world.live(path).unwrap()["data"]["password"], "aHVudGVyMg==");
    world.other(Method::PATCH, path, Some(json!({"data": {"password": "bXVydGVyMg=="}})));
    let prior = world.read(TYPE, &state).await.unwrap();
    assert_ne!(prior, state, "a changed password is drift");
}

#[tokio::test]
async fn computed_fields_are_applied_and_not_compared() {
    let world = World::new().await;
    let manifest = value(&config_map(json!({"k": "1", "l": "1"})));
    let fields = Value::tuple([Value::from("data.l")]);
    let config = world.config(TYPE, &[("manifest", manifest), ("computed_fields", fields)]);
    let state = world.apply(TYPE, None, &config).await;
    assert_eq!(attribute(&state, "object")["data"], json!({"k": "1"}));
    assert_eq!(world.live(MAP).unwrap()["data"]["l"], "1");
    world.other(Method::PATCH, MAP, Some(json!({"data": {"l": "2"}})));
    assert_eq!(world.read(TYPE, &state).await.unwrap(), state);
}

/// May read everything, and write nothing.
struct ReadOnly;

impl Authorizer for ReadOnly {
    fn authorize_path(&self, _: &Transaction<'_>, _: &User, _: &str, _: &str) -> Decision {
        Decision::Allow
    }

    fn authorize(&self, _: &Transaction<'_>, user: &User, attributes: &Attributes<'_>) -> Decision {
        let reads = ["get", "list", "watch"].contains(&attributes.verb);
        if reads || user.name != "viewer" {
            return Decision::Allow;
        }
        let Attributes { verb, resource, .. } = attributes;
        Decision::Deny(format!("User \"viewer\" cannot {verb} resource {resource:?}"))
    }
}

#[tokio::test]
async fn who_may_only_read_can_plan() {
    let viewer = User { name: "viewer".to_owned(), ..User::default() };
    let world = World::with(Arc::new(ReadOnly), &viewer).await;
    let config = world.manifest(config_map(json!({"k": "1"})));
    let planned = world.plan(TYPE, None, &config).await.1.unwrap();
    assert_eq!(planned.unverified.as_deref(), Some("this identity may not apply ConfigMap a, not even for show"));

    // What the configuration says as before is to be as it was then: no change for who cannot ask.
    let made = config_map(json!({"k": "1"}));
    let live = world.other(Method::POST, "/api/v1/namespaces/default/configmaps", Some(made));
    let mut object = config_map(json!({"k": "1"}));
    object["metadata"]["uid"] = live["metadata"]["uid"].clone();
    let state = Path::root().attr("object").set(&config, value(&object)).unwrap();
    let (prior, planned) = world.plan(TYPE, Some(&state), &config).await;
    assert_eq!(planned.unwrap().object, prior);
    world.other(Method::PATCH, MAP, Some(json!({"data": {"k": "2"}})));
    // The object tells who owns what: the same is said as to who may ask.
    let issue = only(world.plan(TYPE, Some(&state), &config).await.1);
    assert_eq!(issue.path.to_string(), "manifest.data.k");
    assert!(issue.detail.contains("\"somebody\""), "{}", issue.detail);
    let force = value(&json!([{"name": null, "force_conflicts": true}]));
    let config = world.config(TYPE, &[("manifest", value(&config_map(json!({"k": "1"})))), ("field_manager", force)]);
    let (prior, planned) = world.plan(TYPE, Some(&state), &config).await;
    let planned = planned.unwrap().object;
    assert_ne!(planned, prior);
    assert_eq!(planned.get("object"), state.get("object"), "drift is undone");
}
