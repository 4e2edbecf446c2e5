//! Charts: rendered by a real Helm, planned one by one.

use std::path::{Path, PathBuf};

use engine_model::{address::ResourceAddr, plan::PlanMode};
use engine_value::Value;
use http::Method;
use providers_api::{DataRequest, Issue, Provider};
use providers_kubernetes::Environment;
use serde_json::{Value as Json, json};
use tests::helm::helm;

use crate::{
    run::Run,
    world::{World, json as to_json, value},
};

/// A world in which charts are found, and Helm.
pub(crate) async fn world(helm: PathBuf) -> World {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes_provider/charts");
    let variables = [("HELM_BIN".to_owned(), helm.display().to_string())].into();
    World::in_environment(Environment { variables, directory, ..Environment::default() }).await
}

/// Renders with these arguments.
pub(crate) async fn rendered(world: &World, arguments: Json) -> Result<Value, Vec<Issue>> {
    let schema = &world.provider.schemas().data["kubernetes_helm_template"];
    let ty = schema.block.value_type();
    let mut whole = json!({});
    for name in ty.attributes().unwrap().keys() {
        let is_block = schema.block.blocks.contains_key(name);
        whole[name.as_ref()] = if is_block { json!([]) } else { Json::Null };
    }
    for (name, argument) in arguments.as_object().unwrap() {
        whole[name] = argument.clone();
    }
    let config = engine_value::convert(&value(&whole), &ty).unwrap();
    let issues = world.provider.validate(engine_model::address::Mode::Data, "kubernetes_helm_template", &config);
    assert_eq!(issues, []);
    let addr: ResourceAddr = "data.kubernetes_helm_template.x".parse().unwrap();
    world.instance.data(DataRequest { addr, config }, world.call()).await
}

pub(crate) fn set(name: &str, value: &str) -> Json {
    json!({"name": name, "value": value, "type": null})
}

pub(crate) fn keys(object: &Value, name: &str) -> Vec<String> {
    object.get(name).unwrap().as_map().unwrap().keys().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_chart_is_taken_apart_into_objects_definitions_and_hooks() {
    let Some(helm) = helm() else { return };
    let world = world(helm).await;
    let arguments = json!({
        "name": "shop", "chart": "demo", "namespace": "store", "kube_version": "1.30.2",
        "api_versions": ["example.com/v1/Widget"], "is_upgrade": true,
        "values": ["level: debug\ntag: \"1\"\nstore: {size: 7}", "level: warn"], "set": [set("replicas", "3")],
        "set_sensitive": [set("password", "hunter2-and-more")],
    });
    let found = rendered(&world, arguments.clone()).await.unwrap();
    assert_eq!(
        keys(&found, "manifests"),
        [
            "ClusterRole/shop-reader",
            "ConfigMap/store/shop-config",
            "ConfigMap/store/shop-store",
            "Deployment/store/shop",
            "Secret/store/shop-login",
            "Widget/shop",
        ]
    );
    assert_eq!(keys(&found, "crds"), ["CustomResourceDefinition/widgets.example.com"]);
    let whole = to_json(&found.clone().unmark_deep().0);
    let object = |key: &str| &whole["manifests"][key];
    let data = &object("ConfigMap/store/shop-config")["data"];
    assert_eq!(
        *data,
        json!({"level": "warn", "found": "true", "kubernetes": "v1.30.2", "widgets": "true", "upgrade": "true",
            "dsn": "user:hunter2-and-more@store"})
    );
    assert_eq!(object("ConfigMap/store/shop-store")["data"]["size"], "7", "the subchart has its values");
    let deployment = object("Deployment/store/shop");
    assert_eq!(deployment["spec"]["replicas"], 3);
    assert_eq!(deployment["metadata"]["namespace"], "store", "as Helm would fill it in");
    assert_eq!(deployment["spec"]["template"]["spec"]["volumes"][0]["secret"]["defaultMode"], 0o640);
    let hooks: Vec<(&Json, &Json)> =
        whole["hooks"].as_array().unwrap().iter().map(|hook| (&hook["key"], &hook["weight"])).collect();
    assert_eq!(
        hooks,
        [(&json!("Job/store/shop-first"), &json!(-5)), (&json!("Job/store/shop-late"), &json!(5))],
        "tests are left out"
    );
    assert_eq!(whole["hooks"][0]["delete_policies"], json!(["hook-succeeded"]));
    assert_eq!(whole["metadata"]["version"], "1.2.3");
    assert_eq!(whole["metadata"]["app_version"], "4.5");
    assert_eq!(whole["notes"], Json::Null, "Helm cannot be told of another cluster there");
    // What the secret has been put into is sensitive, and nothing else.
    let part = |key: &str, name: &str| {
        found.get("manifests").unwrap().get(key).unwrap().get("data").unwrap().get(name).unwrap().clone()
    };
    assert!(part("ConfigMap/store/shop-config", "dsn").marks.sensitive);
    assert!(!part("ConfigMap/store/shop-config", "level").marks.sensitive);
    assert!(found.get("manifest").unwrap().marks.sensitive);
    assert!(!found.get("manifests").unwrap().marks.sensitive, "it can be the `for_each` of resources");

    let again = rendered(&world, arguments).await.unwrap();
    assert_eq!(again, found, "the same in, the same out");
    let tests = rendered(
        &world,
        json!({"name": "shop", "chart": "demo", "set": [set("tag", "1")], "skip_tests": false,
        "include_crds": true}),
    )
    .await
    .unwrap();
    let whole = to_json(&tests.clone().unmark_deep().0);
    assert_eq!(whole["hooks"].as_array().unwrap().len(), 3);
    assert_eq!(whole["notes"], "Well done, shop: level info.\n");
    assert!(!tests.get("notes").unwrap().marks.sensitive);
    assert!(keys(&tests, "manifests").contains(&"CustomResourceDefinition/widgets.example.com".to_owned()));
}

#[tokio::test]
async fn what_helm_says_is_told_and_never_a_secret() {
    let Some(helm) = helm() else { return };
    let world = world(helm.clone()).await;
    for (arguments, expected) in [
        (json!({"name": "shop", "chart": "demo"}), "a tag is needed"),
        (
            json!({"name": "shop", "chart": "demo", "set": [set("level", "never"), set("tag", "1")]}),
            "the level must not be never",
        ),
        (json!({"name": "shop", "chart": "demo", "set": [set("tag", "1")], "kube_version": "x"}), "kube version 'x'"),
        (json!({"name": "shop", "chart": "none"}), "charts/none cannot be read"),
    ] {
        let issue = rendered(&world, arguments).await.unwrap_err().remove(0);
        assert!(issue.detail.contains(expected), "{issue:?}");
        assert_eq!(issue.path.to_string(), "chart");
    }
    let leaks = json!({"name": "shop", "chart": "demo", "set": [set("tag", "1")],
        "set_sensitive": [set("level", "never")]});
    let told =
        json!({"name": "shop", "chart": "demo", "set": [set("tag", "1")], "set_sensitive": [set("level", "hunter2")]});
    assert!(rendered(&world, told).await.unwrap().get("notes").unwrap().marks.sensitive);
    let issue = rendered(&world, leaks).await.unwrap_err().remove(0);
    assert!(issue.detail.contains("the level must not be (sensitive value)"), "{issue:?}");

    let nowhere = World::in_environment(Environment {
        variables: [("PATH".to_owned(), "/nowhere".to_owned())].into(),
        directory: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes_provider/charts"),
        ..Environment::default()
    })
    .await;
    let issue = rendered(&nowhere, json!({"name": "shop", "chart": "demo"})).await.unwrap_err().remove(0);
    assert_eq!(issue.summary, "Helm is not installed");
    assert!(issue.detail.contains("PATH has none (/nowhere)"), "{issue:?}");
}

const CHART: &str = r#"
    variable "password" {
      sensitive = true
    }

    data "kubernetes_helm_template" "shop" {
      name  = "shop"
      chart = "demo"
      values = [<<-EOT
        tag: "1"
        level: LEVEL
        replicas: 2
      EOT
      ]
      set_sensitive {
        name  = "password"
        value = var.password
      }
    }

    resource "kubernetes_manifest" "definition" {
      for_each = data.kubernetes_helm_template.shop.crds
      manifest = each.value
    }

    resource "kubernetes_manifest" "object" {
      for_each   = data.kubernetes_helm_template.shop.manifests
      depends_on = [kubernetes_manifest.definition]
      manifest   = each.value
      field_manager {
        force_conflicts = true
      }
    }
"#;

/// H#1297, H#1121: no drift was seen, and the difference of a chart was one line of a version.
#[tokio::test]
async fn p42_a_charts_objects_are_planned_one_by_one_and_their_drift_is_seen() {
    let Some(helm) = helm() else { return };
    let world = world(helm).await;
    let run = Run::new(&world, &CHART.replace("LEVEL", "info")).await;
    run.apply(run.plan(PlanMode::Normal).await).await;
    let config = "/api/v1/namespaces/default/configmaps/shop-config";
    assert_eq!(world.live(config).unwrap()["data"]["level"], "info");
    let changed = |plan: &engine_model::plan::Plan| -> Vec<String> {
        let changes = plan.changes.iter().filter(|change| change.action != engine_model::change::Action::NoOp);
        changes.map(|change| format!("{} {:?}", change.addr, change.reason)).collect()
    };
    let second = run.plan(PlanMode::Normal).await;
    assert_eq!(changed(&second), [""; 0], "a second plan is empty");
    assert_eq!(second.drift, []);

    // A value: one field of one object.
    let other = run.edited(&world, &CHART.replace("LEVEL", "debug"));
    let plan = other.plan(PlanMode::Normal).await;
    let changes = changed(&plan);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(changes[0].starts_with("kubernetes_manifest.object[\"ConfigMap/default/shop-config\"] "), "{changes:?}");
    assert!(changes[0].contains("data") && changes[0].contains("level"), "{changes:?}");
    other.apply(plan).await;
    assert_eq!(world.live(config).unwrap()["data"]["level"], "debug");

    // A hand: the same, and it is put right again.
    let deployment = "/apis/apps/v1/namespaces/default/deployments/shop";
    world.other(Method::PATCH, deployment, Some(json!({"spec": {"replicas": 9}})));
    let plan = other.plan(PlanMode::Normal).await;
    let changes = changed(&plan);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(changes[0].contains("Deployment/default/shop") && changes[0].contains("Drift"), "{changes:?}");
    assert!(changes[0].contains("replicas"), "{changes:?}");
    other.apply(plan).await;
    assert_eq!(world.live(deployment).unwrap()["spec"]["replicas"], 2);

    other.apply(other.plan(PlanMode::Destroy).await).await;
    assert_eq!(world.live(config), None);
}
