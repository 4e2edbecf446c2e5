//! Resource types with HashiCorp's schemas, each through its whole life: created, changed in place, drifted, replaced,
//! imported, destroyed.

use engine_model::{
    address::{ModulePath, ProviderConfigAddr},
    plan::PlanMode,
};
use engine_value::Path;
use http::Method;
use serde_json::{Value as Json, json};
use state::{Lineage, Object, Slot, Snapshot};

use crate::{
    run::{Run, actions},
    world::{World, addr},
};

/// The life of one type. Bodies are those of a block with the name `x`; each stands for the whole configuration.
struct Life {
    ty: &'static str,
    /// Where the object is in the API.
    path: &'static str,
    /// As `import` takes it.
    id: &'static str,
    create: &'static str,
    update: &'static str,
    /// What of the object the update is to be seen in.
    updated: (&'static str, Json),
    /// What somebody else changes.
    drift: Json,
    /// What makes another object of it, and why.
    replace: (&'static str, &'static str),
    /// Where the object is after that.
    replaced: &'static str,
}

fn configuration(ty: &str, body: &str) -> String {
    format!("resource \"{ty}\" \"x\" {{\n{body}\n}}\n")
}

/// A state that has one object.
fn state_of(world: &World, ty: &str, object: engine_value::Value) -> Snapshot {
    use providers_api::Provider;
    let provider = world.another_provider();
    let schema = provider.schemas().get(engine_model::address::Mode::Managed, ty).unwrap().clone();
    let mut snapshot = Snapshot::new(Lineage("test".into()));
    let object = Object::of(object, &schema.block.value_type(), schema.version).unwrap();
    let config = ProviderConfigAddr { module: ModulePath::root(), provider: provider.addr().clone(), alias: None };
    snapshot.put(&addr(ty), Slot::Current, config, object);
    snapshot
}

async fn live_through(life: Life) {
    let Life { ty, path, .. } = life;
    let world = World::new().await;
    world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": "team-a"}})));
    let did = |what: &str| vec![format!("{ty}.x {what}")];

    let run = Run::new(&world, &configuration(ty, life.create)).await;
    assert_eq!(run.settle().await, did("create"), "{ty}");
    let made = world.live(path).unwrap();
    let stored = run.snapshot().await.current(&addr(ty)).unwrap().attributes.to_string();
    assert!(stored.contains(made["metadata"]["uid"].as_str().unwrap()), "{stored}");
    assert!(stored.contains(&format!("\"id\":\"{}\"", life.id)), "{stored}");

    let run = run.edited(&world, &configuration(ty, life.update));
    assert_eq!(run.settle().await, did("update"), "{ty}");
    let (pointer, expected) = &life.updated;
    assert_eq!(world.live(path).unwrap().pointer(pointer), Some(expected), "{ty}");
    assert_eq!(world.live(path).unwrap()["metadata"]["uid"], made["metadata"]["uid"], "{ty} is the same object");

    world.other(Method::PATCH, path, Some(json!({"metadata": {"labels": {"others": "x"}}})));
    assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0], "{ty}: labels of others are theirs");
    world.other(Method::PATCH, path, Some(life.drift));
    assert_eq!(run.plan(PlanMode::RefreshOnly).await.drift.len(), 1, "{ty} has drifted");
    assert_eq!(run.settle().await, did("update"), "{ty} is brought back");
    assert_eq!(world.live(path).unwrap().pointer(pointer), Some(expected), "{ty}");

    let imported = world.instance.import(ty, life.id, world.call()).await.unwrap();
    let imported =
        Run::with_state(&world, &configuration(ty, life.update), Some(state_of(&world, ty, imported.object))).await;
    let plan = imported.plan(PlanMode::Normal).await;
    // Labels of others are the state's where they were imported; nothing else differs.
    let changes = plan.changes.iter().filter(|change| change.action != engine_model::change::Action::NoOp);
    for change in changes {
        let labels = Path::root().attr("metadata").index(0);
        let differs = engine_value::diff::diff(Some(&change.before), Some(&change.after)).changed_paths();
        assert!(differs.iter().all(|path| path.starts_with(&labels)), "{ty}: {differs:?}");
    }

    let run = run.edited(&world, &configuration(ty, life.replace.0));
    let plan = run.plan(PlanMode::Normal).await;
    let why: Vec<String> = plan.changes[0].replace_paths.iter().map(Path::to_string).collect();
    assert_eq!(why, [life.replace.1], "{ty}");
    assert_eq!(run.settle().await, did("delete+create"), "{ty}");
    let anew = world.live(life.replaced).unwrap();
    assert_ne!(anew["metadata"]["uid"], made["metadata"]["uid"], "{ty} is another object");

    run.apply(run.plan(PlanMode::Destroy).await).await;
    assert_eq!(world.live(life.replaced), None, "{ty} is gone");
    assert_eq!(run.snapshot().await.resources().len(), 0);
}

const METADATA: &str = "metadata {\n name = \"a\"\n namespace = \"team-a\"\n labels = { team = \"a\" }\n}\n";

macro_rules! body {
    ($($part:expr),*) => { concat!("metadata {\n name = \"a\"\n namespace = \"team-a\"\n labels = { team = \"a\" }\n}\n" $(, $part)*) };
}

macro_rules! cluster_body {
    ($($part:expr),*) => { concat!("metadata {\n name = \"a\"\n}\n" $(, $part)*) };
}

macro_rules! other_name {
    ($($part:expr),*) => { concat!("metadata {\n name = \"b\"\n namespace = \"team-a\"\n}\n" $(, $part)*) };
}

#[tokio::test]
async fn a_config_map_lives() {
    live_through(Life {
        ty: "kubernetes_config_map",
        path: "/api/v1/namespaces/team-a/configmaps/a",
        id: "team-a/a",
        create: body!("data = { x = \"1\", gone = \"2\" }"),
        update: body!("data = { x = \"2\" }\nbinary_data = { b = \"/w==\" }"),
        updated: ("/data", json!({"x": "2"})),
        drift: json!({"data": {"x": "3"}}),
        replace: (other_name!("data = { x = \"2\" }"), "metadata[0].name"),
        replaced: "/api/v1/namespaces/team-a/configmaps/b",
    })
    .await;
}

#[tokio::test]
async fn a_secret_lives() {
    live_through(Life {
        ty: "kubernetes_secret_v1",
        path: "/api/v1/namespaces/team-a/secrets/a",
        id: "team-a/a",
        create: body!("data = { x = \"1\" }"),
        update: body!("data = { x = \"2\" }\nbinary_data = { b = \"/w==\" }"),
        updated: ("/data", json!({"x": "Mg==", "b": "/w=="})),
        drift: json!({"data": {"x": "Mw=="}}),
        replace: (body!("data = { x = \"2\" }\ntype = \"example.com/other\""), "type"),
        replaced: "/api/v1/namespaces/team-a/secrets/a",
    })
    .await;
}

#[tokio::test]
async fn a_resource_quota_lives() {
    live_through(Life {
        ty: "kubernetes_resource_quota",
        path: "/api/v1/namespaces/team-a/resourcequotas/a",
        id: "team-a/a",
        create: body!("spec {\n hard = { pods = 4, \"requests.cpu\" = \"1000m\" }\n}"),
        update: body!("spec {\n hard = { pods = 5, \"requests.cpu\" = \"1\" }\n}"),
        updated: ("/spec/hard", json!({"pods": "5", "requests.cpu": "1"})),
        drift: json!({"spec": {"hard": {"pods": "9"}}}),
        replace: (body!("spec {\n hard = { pods = 5 }\n scopes = [\"BestEffort\"]\n}"), "spec[0].scopes"),
        replaced: "/api/v1/namespaces/team-a/resourcequotas/a",
    })
    .await;
}

#[tokio::test]
async fn a_limit_range_lives() {
    live_through(Life {
        ty: "kubernetes_limit_range",
        path: "/api/v1/namespaces/team-a/limitranges/a",
        id: "team-a/a",
        create: body!("spec {\n limit {\n type = \"Container\"\n default = { cpu = \"1\" }\n }\n}"),
        update: body!("spec {\n limit {\n type = \"Container\"\n default = { cpu = \"2\" }\n }\n}"),
        updated: ("/spec/limits/0/default", json!({"cpu": "2"})),
        drift: json!({"spec": {"limits": [{"type": "Container", "default": {"cpu": "3"}}]}}),
        replace: (other_name!("spec {\n limit {\n type = \"Pod\"\n max = { cpu = \"2\" }\n }\n}"), "metadata[0].name"),
        replaced: "/api/v1/namespaces/team-a/limitranges/b",
    })
    .await;
}

#[tokio::test]
async fn a_priority_class_lives() {
    live_through(Life {
        ty: "kubernetes_priority_class",
        path: "/apis/scheduling.k8s.io/v1/priorityclasses/a",
        id: "a",
        create: cluster_body!("value = 100"),
        update: cluster_body!("value = 100\ndescription = \"for all\""),
        updated: ("/description", json!("for all")),
        drift: json!({"description": "for few"}),
        replace: (cluster_body!("value = 200"), "value"),
        replaced: "/apis/scheduling.k8s.io/v1/priorityclasses/a",
    })
    .await;
}

#[tokio::test]
async fn a_service_account_lives() {
    live_through(Life {
        ty: "kubernetes_service_account",
        path: "/api/v1/namespaces/team-a/serviceaccounts/a",
        id: "team-a/a",
        create: body!("image_pull_secret {\n name = \"pull\"\n}"),
        update: body!("image_pull_secret {\n name = \"pull\"\n}\nautomount_service_account_token = false"),
        updated: ("/automountServiceAccountToken", json!(false)),
        drift: json!({"automountServiceAccountToken": true}),
        replace: (other_name!(""), "metadata[0].name"),
        replaced: "/api/v1/namespaces/team-a/serviceaccounts/b",
    })
    .await;
}

#[tokio::test]
async fn a_role_lives() {
    live_through(Life {
        ty: "kubernetes_role",
        path: "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/roles/a",
        id: "team-a/a",
        create: body!("rule {\n api_groups = [\"\"]\n resources = [\"pods\"]\n verbs = [\"get\", \"list\"]\n}"),
        update: body!("rule {\n api_groups = [\"\"]\n resources = [\"pods\"]\n verbs = [\"list\", \"watch\"]\n}"),
        updated: ("/rules/0/verbs", json!(["list", "watch"])),
        drift: json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}]}),
        replace: (
            other_name!("rule {\n api_groups = [\"\"]\n resources = [\"pods\"]\n verbs = [\"get\"]\n}"),
            "metadata[0].name",
        ),
        replaced: "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/roles/b",
    })
    .await;
}

#[tokio::test]
async fn a_cluster_role_lives() {
    live_through(Life {
        ty: "kubernetes_cluster_role",
        path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/a",
        id: "a",
        create: cluster_body!("rule {\n non_resource_urls = [\"/healthz\"]\n verbs = [\"get\"]\n}"),
        update: cluster_body!(
            "rule {\n api_groups = [\"\"]\n resources = [\"nodes\"]\n verbs = [\"get\"]\n}\n",
            "rule {\n api_groups = [\"apps\"]\n resources = [\"deployments\"]\n verbs = [\"get\"]\n}"
        ),
        updated: ("/rules/1/apiGroups", json!(["apps"])),
        drift: json!({"rules": []}),
        replace: (
            "metadata {\n name = \"b\"\n}\nrule {\n api_groups = [\"\"]\n resources = [\"nodes\"]\n verbs = [\"get\"]\n}",
            "metadata[0].name",
        ),
        replaced: "/apis/rbac.authorization.k8s.io/v1/clusterroles/b",
    })
    .await;
}

macro_rules! binding {
    ($role:expr, $subjects:expr) => {
        concat!(
            "role_ref {\n api_group = \"rbac.authorization.k8s.io\"\n kind = \"ClusterRole\"\n name = \"",
            $role,
            "\"\n}\n",
            $subjects
        )
    };
}

const USER: &str = "subject {\n kind = \"User\"\n name = \"jane\"\n}\n";

#[tokio::test]
async fn bindings_live() {
    let user_and_account = "subject {\n kind = \"User\"\n name = \"jane\"\n}\nsubject {\n kind = \"ServiceAccount\"\n name = \"ci\"\n namespace = \"team-a\"\n}\n";
    assert!(user_and_account.starts_with(USER));
    live_through(Life {
        ty: "kubernetes_role_binding",
        path: "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/rolebindings/a",
        id: "team-a/a",
        create: body!(binding!("view", "subject {\n kind = \"User\"\n name = \"jane\"\n}\n")),
        update: body!(binding!(
            "view",
            "subject {\n kind = \"User\"\n name = \"jane\"\n}\nsubject {\n kind = \"ServiceAccount\"\n name = \"ci\"\n namespace = \"team-a\"\n}\n"
        )),
        updated: ("/subjects/1/kind", json!("ServiceAccount")),
        drift: json!({"subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "joe"}]}),
        replace: (body!(binding!("edit", "subject {\n kind = \"User\"\n name = \"jane\"\n}\n")), "role_ref[0].name"),
        replaced: "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/rolebindings/a",
    })
    .await;
    live_through(Life {
        ty: "kubernetes_cluster_role_binding_v1",
        path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/a",
        id: "a",
        create: cluster_body!(binding!("view", "subject {\n kind = \"User\"\n name = \"jane\"\n}\n")),
        update: cluster_body!(binding!("view", "subject {\n kind = \"Group\"\n name = \"all\"\n}\n")),
        updated: ("/subjects/0/kind", json!("Group")),
        drift: json!({"subjects": []}),
        replace: (
            cluster_body!(binding!("edit", "subject {\n kind = \"User\"\n name = \"jane\"\n}\n")),
            "role_ref[0].name",
        ),
        replaced: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/a",
    })
    .await;
}

#[tokio::test]
async fn what_others_have_made_is_not_taken() {
    let world = World::new().await;
    world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": "team-a"}})));
    let map = json!({"metadata": {"name": "a"}, "data": {"x": "1"}});
    world.other(Method::POST, "/api/v1/namespaces/team-a/configmaps", Some(map));
    let run = Run::new(&world, &configuration("kubernetes_config_map", METADATA)).await;
    let (_, diagnostics) = run.try_plan(PlanMode::Normal).await;
    let errors: Vec<&str> = diagnostics.iter().map(|error| error.summary.as_str()).collect();
    assert_eq!(errors, ["Object exists already"]);
}

#[tokio::test]
async fn an_immutable_map_is_made_anew_for_other_content() {
    let world = World::new().await;
    world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": "team-a"}})));
    let map = |rest: &str| configuration("kubernetes_config_map_v1", &format!("{METADATA}immutable = true\n{rest}"));
    let run = Run::new(&world, &map("data = { x = \"1\" }")).await;
    run.settle().await;
    let run = run.edited(&world, &map("data = { x = \"2\" }"));
    assert_eq!(run.settle().await, ["kubernetes_config_map_v1.x delete+create"]);
}

#[tokio::test]
async fn rules_of_an_aggregated_role_are_kubernetes() {
    let world = World::new().await;
    let selector = "aggregation_rule {\n cluster_role_selectors {\n match_labels = { team = \"a\" }\n }\n}";
    let text = configuration("kubernetes_cluster_role", &format!("metadata {{\n name = \"a\"\n}}\n{selector}"));
    let run = Run::new(&world, &text).await;
    run.settle().await;
    let rules = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    world.other(Method::PATCH, "/apis/rbac.authorization.k8s.io/v1/clusterroles/a", Some(rules));
    assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0]);
    assert_eq!(run.plan(PlanMode::RefreshOnly).await.drift, []);
}

#[tokio::test]
async fn data_sources_tell_what_there_is() {
    let world = World::new().await;
    world.other(
        Method::POST,
        "/api/v1/namespaces",
        Some(json!({"metadata": {"name": "team-a", "labels": {"t": "a"}}})),
    );
    let secret = json!({"metadata": {"name": "s"}, "data": {"token": "dGV4dA==", "raw": "/w=="}});
    world.other(Method::POST, "/api/v1/namespaces/team-a/secrets", Some(secret));
    let node = json!({"metadata": {"name": "n1", "labels": {"pool": "gpu"}}, "spec": {"podCIDR": "10.0.0.0/24"}});
    world.other(Method::POST, "/api/v1/nodes", Some(node));
    let text = r#"
        data "kubernetes_namespace" "n" {
          metadata {
            name = "team-a"
          }
        }
        data "kubernetes_secret" "s" {
          metadata {
            name      = "s"
            namespace = data.kubernetes_namespace.n.metadata[0].name
          }
        }
        data "kubernetes_config_map" "none" {
          metadata {
            name = "none"
          }
        }
        data "kubernetes_all_namespaces" "all" {}
        data "kubernetes_nodes" "gpu" {
          metadata {
            labels = { pool = "gpu" }
          }
        }
        data "kubernetes_service_account" "a" {
          metadata {
            name      = "default"
            namespace = "team-a"
          }
        }
        resource "kubernetes_config_map" "x" {
          metadata {
            name      = "told"
            namespace = "team-a"
          }
          data = {
            label  = data.kubernetes_namespace.n.metadata[0].labels["t"]
            raw    = nonsensitive(data.kubernetes_secret.s.binary_data["raw"])
            none   = data.kubernetes_config_map.none.data == null
            team   = contains(data.kubernetes_all_namespaces.all.namespaces, "team-a")
            cidr   = data.kubernetes_nodes.gpu.nodes[0].spec[0].pod_cidr
            mount  = data.kubernetes_service_account.a.automount_service_account_token
          }
        }
    "#;
    let run = Run::new(&world, text).await;
    let plan = run.plan(PlanMode::Normal).await;
    let secret = plan.changes.iter().find(|change| &*change.addr.ty == "kubernetes_secret").unwrap();
    assert!(secret.after.get("data").unwrap().contains_sensitive());
    assert!(secret.after.get("binary_data").unwrap().contains_sensitive());
    run.settle().await;
    let told = world.live("/api/v1/namespaces/team-a/configmaps/told").unwrap();
    let expected =
        json!({"label": "a", "raw": "/w==", "none": "true", "team": "true", "cidr": "10.0.0.0/24", "mount": "false"});
    assert_eq!(told["data"], expected);
}
