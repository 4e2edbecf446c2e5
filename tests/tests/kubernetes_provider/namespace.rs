//! `kubernetes_namespace`.

use engine_value::{Path, Type, Value};
use http::Method;
use serde_json::json;

use crate::world::{World, only};

const TYPE: &str = "kubernetes_namespace";
const PATH: &str = "/api/v1/namespaces/team-a";

fn namespace(world: &World, metadata: &[(&str, Value)]) -> Value {
    let attribute = |name: &str, ty: Type| {
        let given = metadata.iter().find(|(given, _)| *given == name);
        (name.to_owned(), given.map_or(Value::null(ty), |(_, value)| value.clone()))
    };
    let metadata = Value::object([
        attribute("name", Type::String),
        attribute("generate_name", Type::String),
        attribute("labels", Type::map(Type::String)),
        attribute("annotations", Type::map(Type::String)),
        attribute("generation", Type::Number),
        attribute("resource_version", Type::String),
        attribute("uid", Type::String),
    ]);
    world.config(TYPE, &[("metadata", Value::tuple([metadata])), ("wait_for_default_service_account", true.into())])
}

fn labels(entries: &[(&str, &str)]) -> Value {
    Value::map(Type::String, entries.iter().map(|(name, value)| (*name, Value::from(*value))))
}

fn metadata(object: &Value, name: &str) -> Value {
    Path::root().attr("metadata").index(0).attr(name).get(object).unwrap()
}

#[tokio::test]
async fn a_namespace_is_created_changed_and_destroyed() {
    let world = World::new().await;
    let team = |team: &str| namespace(&world, &[("name", "team-a".into()), ("labels", labels(&[("team", team)]))]);
    let state = world.apply(TYPE, None, &team("a")).await;
    assert_eq!(state.get("id"), Some(&"team-a".into()));
    assert_eq!(metadata(&state, "uid").as_str(), world.live(PATH).unwrap()["metadata"]["uid"].as_str());
    let state = world.apply(TYPE, Some(&state), &team("b")).await;
    assert_eq!(world.live(PATH).unwrap()["metadata"]["labels"]["team"], "b");

    let pod = json!({"metadata": {"name": "p"}, "data": {"a": "b"}});
    world.other(Method::POST, &format!("{PATH}/configmaps"), Some(pod));
    let outcome = world.destroy(TYPE, state.clone()).await;
    assert!(outcome.now.is_none() && outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(world.live(PATH), None);
    assert_eq!(world.read(TYPE, &state).await, None);
}

#[tokio::test]
async fn whose_pods_end_with_a_namespace_is_told() {
    let world = World::new().await;
    let config = namespace(&world, &[("name", "team-a".into())]);
    let state = world.apply(TYPE, None, &config).await;
    assert_eq!(world.plan_destruction(TYPE, &state).await.issues, []);
    let pod = json!({
        "metadata": {"name": "nb-1"},
        "spec": {"containers": [{"name": "c", "image": "example.com/c:1"}], "nodeName": "n"},
    });
    world.other(Method::POST, &format!("{PATH}/pods"), Some(pod));
    let issues = world.plan_destruction(TYPE, &state).await.issues;
    assert_eq!(issues.len(), 1, "{issues:?}");
    assert_eq!(issues[0].summary, "Pods end with their namespace");
    assert!(issues[0].detail.contains("1 pod: nb-1"), "{issues:?}");
    // A change that keeps it ends nobody.
    let labelled = namespace(&world, &[("name", "team-a".into()), ("labels", labels(&[("team", "a")]))]);
    assert_eq!(world.plan(TYPE, Some(&state), &labelled).await.1.unwrap().issues, []);
}

#[tokio::test]
async fn labels_of_others_stay_and_ours_come_back() {
    let world = World::new().await;
    let config = namespace(&world, &[("name", "team-a".into()), ("labels", labels(&[("team", "a")]))]);
    let state = world.apply(TYPE, None, &config).await;
    world.other(Method::PATCH, PATH, Some(json!({"metadata": {"labels": {"other": "x"}, "annotations": {"y": "z"}}})));
    world.changes_nothing(TYPE, &state, &config).await;

    world.other(Method::PATCH, PATH, Some(json!({"metadata": {"labels": {"team": "b"}}})));
    let (prior, planned) = world.plan(TYPE, Some(&state), &config).await;
    assert_eq!(metadata(&prior, "labels"), labels(&[("team", "b")]));
    let planned = planned.unwrap();
    assert!(planned.issues[0].detail.contains("\"somebody\""), "{:?}", planned.issues);
    let outcome = world.carry_out(TYPE, prior, planned.object).await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let live = world.live(PATH).unwrap();
    assert_eq!((&live["metadata"]["labels"]["team"], &live["metadata"]["labels"]["other"]), (&json!("a"), &json!("x")));
}

#[tokio::test]
async fn a_generated_name_is_planned_and_kept() {
    let world = World::new().await;
    let config = namespace(&world, &[("generate_name", "team-".into())]);
    let state = world.apply(TYPE, None, &config).await;
    let name = metadata(&state, "name");
    assert!(name.as_str().unwrap().starts_with("team-"));
    assert!(world.live(&format!("/api/v1/namespaces/{}", name.as_str().unwrap())).is_some());
}

#[tokio::test]
async fn another_name_is_another_namespace() {
    let world = World::new().await;
    let named = |name: &str| namespace(&world, &[("name", name.into())]);
    let state = world.apply(TYPE, None, &named("team-a")).await;
    let planned = world.plan(TYPE, Some(&state), &named("team-b")).await.1.unwrap();
    assert_eq!(planned.replace.iter().map(Path::to_string).collect::<Vec<_>>(), ["metadata[0].name"]);
    assert!(!metadata(&planned.object, "uid").is_known());
    let issue = only(world.plan(TYPE, None, &named("kube-system")).await.1);
    assert_eq!(issue.summary, "Object exists already");
}

#[tokio::test]
async fn a_namespace_is_imported_as_it_is() {
    let world = World::new().await;
    let body = json!({"metadata": {"name": "team-a", "labels": {"team": "a"}}});
    world.other(Method::POST, "/api/v1/namespaces", Some(body));
    let imported = world.instance.import(TYPE, "team-a", world.call()).await.unwrap();
    assert_eq!(metadata(&imported.object, "labels"), labels(&[("team", "a")]));
    assert_eq!(world.read(TYPE, &imported.object).await, Some(imported.object.clone()));
    let error = world.instance.import(TYPE, "team-b", world.call()).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no Namespace team-b");
}
