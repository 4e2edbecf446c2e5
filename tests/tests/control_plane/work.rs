//! What is asked of a real server, counted: how long that takes is the benchmark's (`benches/kubernetes.rs`).

use std::collections::BTreeMap;

use tests::command::Desk;
use tests::control_plane::{ControlPlane, Request};
use tests::many::{COUNT, PLURALS, configuration};

const HEAD: &str = r#"
terraform {
  required_providers {
    kubernetes = { source = "sliceform/kubernetes" }
  }
}
"#;

/// What lets a user read two kinds and the namespace that they are in.
const RIGHTS: &str = r#"
terraform {
  required_providers {
    kubernetes = { source = "sliceform/kubernetes" }
  }
}
resource "kubernetes_manifest" "role" {
  manifest = {
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "ClusterRole"
    metadata   = { name = "work-reader" }
    rules = [
      { apiGroups = ["", "apps"], resources = ["configmaps", "deployments"], verbs = ["get", "list"] },
      { apiGroups = [""], resources = ["namespaces"], verbs = ["get"] },
    ]
  }
}
resource "kubernetes_manifest" "binding" {
  manifest = {
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "ClusterRoleBinding"
    metadata   = { name = "work-reader" }
    roleRef    = { apiGroup = "rbac.authorization.k8s.io", kind = "ClusterRole", name = "work-reader" }
    subjects   = [{ apiGroup = "rbac.authorization.k8s.io", kind = "User", name = "work-reader" }]
  }
}
"#;

/// What was asked about objects of the ten kinds: how often, by verb and resource.
fn counted(requests: &[Request]) -> BTreeMap<(&str, &str), usize> {
    let mut counted = BTreeMap::new();
    for request in requests.iter().filter(|request| PLURALS.contains(&request.resource.as_str())) {
        *counted.entry((request.verb.as_str(), request.resource.as_str())).or_default() += 1;
    }
    counted
}

/// So many requests with one verb for each kind, and nothing else.
fn of_each(verb: &'static str, count: usize) -> BTreeMap<(&'static str, &'static str), usize> {
    PLURALS.iter().map(|plural| ((verb, *plural), count)).collect()
}

#[tokio::test]
async fn a_plan_asks_for_lists_and_for_what_changes() {
    const NAMESPACES: usize = 6;
    const EACH: usize = 2;
    let Some(plane) = ControlPlane::shared().await else { return };
    for at in 0..NAMESPACES {
        plane.namespace(&format!("work-{at}")).await;
    }
    let desk = Desk::new();
    let user = async |name: &str| plane.user(name, &["system:masters"]).await;
    desk.write("main.tf", &configuration("work", NAMESPACES, EACH));

    let planned = desk.run(&user("work-new").await, &["plan", "-out=p"]).await.check(0);
    let all = COUNT * NAMESPACES * EACH;
    assert!(planned.contains(&format!("Plan: {all} to add")), "{planned}");
    let requests = plane.requests_of("work-new");
    assert_eq!(counted(&requests), of_each("patch", NAMESPACES * EACH), "each object is asked about once");
    // May it be created, read, changed? The answer for all namespaces is one for each.
    let reviews = requests.iter().filter(|request| request.resource == "selfsubjectaccessreviews").count();
    assert_eq!(reviews, COUNT * 3);

    desk.run(&user("work-apply").await, &["apply", "p"]).await.check(0);
    for (name, args) in [("work-refresh", &["plan", "-refresh-only"][..]), ("work-same", &["plan"])] {
        desk.run(&user(name).await, &[args, &["-detailed-exitcode"]].concat()).await.check(0);
        let requests = plane.requests_of(name);
        assert_eq!(counted(&requests), of_each("list", 1), "{name}: one list of a kind for all namespaces");
        let is_paged = |request: &Request| request.verb != "list" || request.uri.contains("limit=500");
        assert!(requests.iter().all(is_paged), "{requests:#?}");
        // What a cluster is and serves: its identity, /api, /apis.
        let rest = requests.len() - COUNT;
        assert!(rest <= 4, "{name}: {rest} other requests: {requests:#?}");
    }

    desk.write("main.tf", &configuration("work", NAMESPACES, EACH).replace("a = \"1\"", "a = \"2\""));
    desk.run(&user("work-change").await, &["plan", "-detailed-exitcode"]).await.check(2);
    let mut expected = of_each("list", 1);
    expected.insert(("patch", "configmaps"), NAMESPACES * EACH);
    assert_eq!(counted(&plane.requests_of("work-change")), expected, "only what changes is asked about");
}

#[tokio::test]
async fn schemas_are_kept_by_their_hash() {
    const OBJECTS: &str = r#"
resource "kubernetes_manifest" "map" {
  manifest = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a", namespace = "default" }, data = { a = "1" } }
}
resource "kubernetes_manifest" "web" {
  manifest = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "a", namespace = "default" }
    spec = {
      selector = { matchLabels = { a = "1" } }
      template = { metadata = { labels = { a = "1" } }, spec = { containers = [{ name = "a", image = "example.com/a:1" }] } }
    }
  }
}
"#;
    let Some(plane) = ControlPlane::shared().await else { return };
    let reader = plane.user("work-reader", &[]).await;
    // Everybody may read schemas; for plans of these two, little more is needed.
    let rights = Desk::new();
    rights.write("main.tf", RIGHTS);
    rights.run(plane.kubeconfig(), &["apply", "-auto-approve"]).await.check(0);

    let desk = Desk::new();
    desk.write("main.tf", &format!("{HEAD}{OBJECTS}"));
    let mut before = 0;
    for expected in [&["/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1"][..], &["/openapi/v3"]] {
        let planned = desk.run(&reader, &["plan"]).await.check(0);
        assert!(planned.contains("may not apply"), "{planned}");
        let requests = plane.requests_of("work-reader").split_off(before);
        before += requests.len();
        let asked = requests.iter().filter(|request| request.uri.starts_with("/openapi"));
        let mut asked: Vec<&str> = asked.map(|request| request.uri.split('?').next().unwrap()).collect();
        asked.sort_unstable();
        assert_eq!(asked, expected);
    }
}
