//! Objects that went under another manager, and what apply checks before it writes.

use engine_model::plan::PlanMode;
use engine_value::Value;
use http::Method;
use providers_api::ErrorKind;
use providers_sandbox::api::{Effect, Failure, Fault, User, When, Which};
use serde_json::{Value as Json, json};

use crate::{
    run::actions,
    site::{Site, everywhere},
    world::{World, value},
};

const TYPE: &str = "kubernetes_manifest";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn config_map(data: Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": data})
}

#[tokio::test]
async fn what_predecessors_own_with_us_goes_when_it_is_given_up() {
    for manager in ["kubectl-client-side-apply", "HashiCorp"] {
        let world = World::new().await;
        let path = format!("{MAPS}?fieldManager={manager}");
        world.other(Method::POST, &path, Some(config_map(json!({"k": "1", "old": "1"}))));
        // A foreign field stays, whatever becomes of ours.
        world.other(Method::PATCH, &format!("{MAPS}/a"), Some(json!({"data": {"foreign": "x"}})));
        let mut object = config_map(json!({"k": "1", "old": "1"}));
        let config = world.manifest(object.clone());
        object["metadata"]["uid"] = world.live(&format!("{MAPS}/a")).unwrap()["metadata"]["uid"].clone();
        let state = engine_value::Path::root().attr("object").set(&config, value(&object)).unwrap();
        // What they own with another value is no conflict: it is ours by the state.
        let state = world.apply(TYPE, Some(&state), &world.manifest(config_map(json!({"k": "2"})))).await;
        let live = world.live(&format!("{MAPS}/a")).unwrap();
        assert_eq!(live["data"], json!({"k": "2", "foreign": "x"}), "{manager}");
        world.changes_nothing(TYPE, &state, &world.manifest(config_map(json!({"k": "2"})))).await;
    }
}

#[tokio::test]
async fn what_predecessors_own_beside_us_is_a_conflict() {
    let world = World::new().await;
    let state = world.apply(TYPE, None, &world.manifest(config_map(json!({"k": "1"})))).await;
    let path = format!("{MAPS}/a?fieldManager=kubectl-client-side-apply");
    world.other(Method::PATCH, &path, Some(json!({"data": {"k": "2", "theirs": "2"}})));
    // What the state has is ours again.
    let (_, planned) = world.plan(TYPE, Some(&state), &world.manifest(config_map(json!({"k": "1"})))).await;
    assert!(planned.is_ok(), "{planned:?}");
    let (_, planned) =
        world.plan(TYPE, Some(&state), &world.manifest(config_map(json!({"k": "1", "theirs": "1"})))).await;
    let issues = planned.unwrap_err();
    assert!(issues.iter().any(|issue| issue.detail.contains("data.theirs")), "{issues:?}");
}

#[tokio::test]
async fn what_is_made_of_an_object_against_its_unverified_plan_is_not_written() {
    let world = World::new().await;
    let definition = |default: &str| {
        let item = json!({"type": "object", "properties": {"a": {"type": "integer"},
            "b": {"type": "string", "default": default}}});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com", "scope": "Cluster",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": {"type": "object", "properties": {
                        "list": {"type": "array", "items": item}}}}}}}],
            },
        })
    };
    let widget = world.manifest(json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"list": [{"a": 1}]}}));
    let announced = world.manifest(definition("x"));
    let (before, planned) = world.plan_with(TYPE, None, &widget, &[announced]).await;
    let planned = planned.unwrap();
    assert!(planned.unverified.is_some() && planned.after.len() == 1);
    let list = |object: &Value| crate::world::json(object).pointer("/object/spec/list").cloned();
    let shown = engine_value::Path::root().attr("object").attr("spec").attr("list").get(&planned.object).unwrap();
    assert_eq!(crate::world::json(&shown), json!([{"a": 1, "b": "x"}]));

    world.apply(TYPE, None, &world.manifest(definition("y"))).await;
    let private = planned.private.clone();
    let outcome = world.carry_out_with(TYPE, before.clone(), planned.object.clone(), private.clone()).await;
    let error = outcome.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.to_string().contains("something else of spec.list[0].b; nothing was changed"), "{error}");
    assert_eq!(world.live("/apis/example.com/v1/widgets/w"), None);

    world
        .running
        .api()
        .call(
            &User::admin("somebody"),
            &Method::PATCH,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
            Some(&json!({"spec": {"versions": definition("x")["spec"]["versions"]}})),
        )
        .unwrap();
    let outcome = world.carry_out_with(TYPE, before, planned.object, private).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(list(&outcome.now.unwrap().object), Some(json!([{"a": 1, "b": "x"}])));
}

#[tokio::test]
async fn what_stays_as_it_is_is_not_written() {
    let world = World::new().await;
    let state = world.apply(TYPE, None, &world.manifest(config_map(json!({"k": "1"})))).await;
    // The configuration says it in another way.
    let config = world.manifest(config_map(json!({"k": "1", "none": null})));
    let (before, planned) = world.plan(TYPE, Some(&state), &config).await;
    let planned = planned.unwrap().object;
    assert_eq!(planned.get("object"), before.get("object"));
    world.running.api().calls().take();
    let outcome = world.carry_out(TYPE, before.clone(), planned.clone()).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let written: Vec<_> = world.running.api().calls().take().into_iter().filter(|call| call.has_written()).collect();
    assert_eq!(written, []);
    world.changes_nothing(TYPE, &outcome.now.unwrap().object, &config).await;
    // What somebody else made of it since is told all the same.
    world.other(Method::PATCH, &format!("{MAPS}/a"), Some(json!({"data": {"k": "2"}})));
    let outcome = world.carry_out(TYPE, before, planned).await;
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::Conflict);
}

/// What HashiCorp's provider made, by server-side apply as `Terraform` or by updates as `HashiCorp`, and kubectl before it
/// applied so: what is dropped from the configuration is gone, whoever wrote it.
#[tokio::test]
async fn labels_and_annotations_of_predecessors_go_when_they_are_dropped() {
    everywhere(async |site: &Site| {
        for manager in ["Terraform", "HashiCorp", "kubectl-client-side-apply"] {
            let name = manager.to_lowercase();
            let path = format!("/api/v1/namespaces/{}/configmaps", site.namespace);
            let manifest = |names: &[&str]| {
                let entries: serde_json::Map<String, Json> =
                    names.iter().map(|name| ((*name).to_owned(), "1".into())).collect();
                json!({"apiVersion": "v1", "kind": "ConfigMap", "data": entries, "metadata": {"name": name,
                    "namespace": site.namespace, "labels": entries, "annotations": entries}})
            };
            let made = manifest(&["kept", "dropped"]);
            if manager == "Terraform" {
                site.apply_as(manager, &format!("{path}/{name}"), &made).await;
            } else {
                site.write_as(manager, Method::POST, &path, &made).await;
            }
            let text =
                |manifest: &Json| format!("resource \"kubernetes_manifest\" \"x\" {{\n  manifest = {manifest}\n}}\n");
            let run = site.run("").await;
            let id = format!("apiVersion=v1,kind=ConfigMap,namespace={},name={name}", site.namespace);
            run.import("kubernetes_manifest.x", &id).await.unwrap();
            // What somebody else has put beside it stays.
            let other = json!({"metadata": {"labels": {"other": "x"}}});
            site.other(Method::PATCH, &format!("{path}/{name}"), Some(other)).await;
            let other = || [site.provider(site.admin())];
            let same = run.then(other(), &text(&made));
            assert_eq!(actions(&same.plan(PlanMode::Normal).await), [""; 0], "{manager}");
            let less = run.then(other(), &text(&manifest(&["kept"])));
            assert_eq!(less.settle().await, ["kubernetes_manifest.x update"], "{manager}");
            let live = site.live(&format!("{path}/{name}")).await.unwrap();
            assert_eq!(live["metadata"]["labels"], json!({"kept": "1", "other": "x"}), "{manager}");
            assert_eq!(live["metadata"]["annotations"], json!({"kept": "1"}), "{manager}");
            assert_eq!(live["data"], json!({"kept": "1"}), "{manager}");
        }
    })
    .await;
}

/// Every look is answered by somebody's write: that ends, with one clear error, wherever something is written.
#[tokio::test]
async fn what_changes_faster_than_it_can_be_applied_is_one_clear_error() {
    let world = World::new().await;
    let path = format!("{MAPS}?fieldManager=HashiCorp");
    world.other(Method::POST, &path, Some(config_map(json!({"k": "1"}))));
    world.other(Method::POST, "/api/v1/nodes", Some(json!({"metadata": {"name": "gpu-01"}})));
    let mut object = config_map(json!({"k": "1"}));
    let config = world.manifest(object.clone());
    object["metadata"]["uid"] = world.live(&format!("{MAPS}/a")).unwrap()["metadata"]["uid"].clone();
    let made_before = engine_value::Path::root().attr("object").set(&config, value(&object)).unwrap();
    let other = world.manifest(json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "1"},
        "metadata": {"name": "b", "namespace": "default"}}));
    let ours = world.apply(TYPE, None, &other).await;
    let changed = world.manifest(json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "2"},
        "metadata": {"name": "b", "namespace": "default"}}));
    let labels = world.config(
        "kubernetes_labels",
        &[
            ("api_version", "v1".into()),
            ("kind", "ConfigMap".into()),
            ("metadata", value(&json!([{"name": "a", "namespace": "default"}]))),
            ("labels", value(&json!({"x": "1"}))),
        ],
    );
    let data = world.config(
        "kubernetes_config_map_v1_data",
        &[("metadata", value(&json!([{"name": "a", "namespace": "default"}]))), ("data", value(&json!({"x": "1"})))],
    );
    let taint = world.config(
        "kubernetes_node_taint",
        &[
            ("metadata", value(&json!([{"name": "gpu-01"}]))),
            ("taint", value(&json!([{"key": "example.com/a", "value": "b", "effect": "NoSchedule"}]))),
        ],
    );
    for (what, ty, before, config, resource) in [
        ("an object", TYPE, Some(&ours), &changed, "configmaps"),
        ("what is taken over", TYPE, Some(&made_before), &world.manifest(config_map(json!({"k": "2"}))), "configmaps"),
        ("labels", "kubernetes_labels", None, &labels, "configmaps"),
        ("data", "kubernetes_config_map_v1_data", None, &data, "configmaps"),
        ("taints", "kubernetes_node_taint", None, &taint, "nodes"),
    ] {
        let (before, planned) = world.plan(ty, before, config).await;
        let planned = planned.unwrap();
        let faults = world.running.api().faults();
        let modified = Failure::conflict("", resource, "a", "the object has been modified");
        let which = Which { dry_run: Some(false), ..Which::new("patch", resource) };
        faults.add(Fault::once(which, Effect::Answer(When::Before, modified)).times(Fault::ALWAYS));
        let struck = faults.struck();
        let outcome = world.carry_out_with(ty, before, planned.object, planned.private).await;
        let error = outcome.error.unwrap();
        assert_eq!(error.kind, ErrorKind::Conflict, "{what}: {error}");
        assert!(error.to_string().contains("it changes faster than it can be applied"), "{what}: {error}");
        assert_eq!(error.hint.as_deref(), Some("Plan again."), "{what}");
        assert_eq!(faults.struck() - struck, 10, "{what}: it was tried again");
        faults.clear();
    }
}
