//! `plan` writes nothing: not into the cluster, by the API's own record, and of files only the plan that was asked for.

#![expect(clippy::unwrap_used, reason = "a check fails by panicking")]

use std::{collections::BTreeMap, fs};

use crate::setting::{FLEET, POOL, Setting};

/// Beside the pool what else writes to a cluster.
const MORE: &str = r#"
resource "kubernetes_namespace" "a" {
  metadata { name = "team-a" }
}
resource "kubernetes_manifest" "a" {
  manifest = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "a", namespace = "default" }
    data       = { a = "b" }
  }
}
resource "gpu_quota" "a" {
  namespace  = "team-a"
  slices     = { "nvidia.com/mig-3g.40gb" = 1 }
  depends_on = [kubernetes_namespace.a, gpu_pool.dev]
}
"#;

fn files(setting: &Setting) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(setting.path("")).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let content = |path| fs::read(path).unwrap();
    files.map(|entry| (entry.file_name().into_string().unwrap(), content(entry.path()))).collect()
}

/// A plan with an exit code, and all that it did.
#[track_caller]
fn check(setting: &Setting, args: &[&str], code: i32) {
    let before = files(setting);
    setting.script(async |script| drop(script.calls().take()));
    setting.run(&[&["plan", "-detailed-exitcode", "-out=p"], args].concat()).check(code, &[]);
    let calls = setting.script(async |script| script.calls().take());
    let calls: Vec<_> = calls.into_iter().filter(|call| call.user == "sliceform").collect();
    assert!(calls.iter().any(|call| call.verb == "list" || call.verb == "get"), "the plan reads: {calls:?}");
    for call in &calls {
        // A question by the verb create: nothing is kept of it.
        let is_review = call.path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        assert!(["get", "list", "watch"].contains(&call.verb) || call.dry_run || is_review, "{call:?}");
    }
    let mut after = files(setting);
    assert!(after.remove("p").is_some());
    fs::remove_file(setting.path("p")).unwrap();
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(after == before, "a file has other content");
}

#[test]
fn a_plan_writes_nothing() {
    let setting = Setting::cluster(FLEET);
    let kubernetes = "kubernetes = { source = \"sliceform/kubernetes\" }\n  }\n}\n";
    setting.write("main.tf", &(POOL.replacen("  }\n}\n", kubernetes, 1) + MORE));
    check(&setting, &[], 2);
    setting.run(&["apply", "-auto-approve"]).check(0, &["4 added"]);
    check(&setting, &[], 0);
    check(&setting, &["-var=mig={\"3g.40gb\"=1,\"1g.10gb\"=3}"], 2);
    check(&setting, &["-destroy"], 2);
    check(&setting, &["-refresh-only"], 0);
}
