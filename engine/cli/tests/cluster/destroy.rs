//! What becomes of the cards when a pool is destroyed.

use crate::setting::{Setting, same};

/// Somebody had cut these cards already.
const CUT: &str = r#"node "gpu-01" {
  labels = { "example.com/pool" = "dev" }
  card "A100-SXM4-80GB" { instances = ["1g.10gb:0", "3g.40gb:4"] }
  card "A100-SXM4-80GB" {}
}
"#;

/// The places of the slices, each with its MIG profile, after the pool has come and gone.
#[track_caller]
fn check(on_destroy: &str, expected: &[&str]) {
    let setting = Setting::embedded(CUT);
    let found = setting.found();
    let choice = format!("-var=on_destroy={on_destroy}");
    setting.converge(&[&choice]);
    setting.run(&["destroy", "-auto-approve", &choice]).check(0, &["1 destroyed"]);
    let slices: Vec<String> = setting.slices().into_keys().collect();
    assert_eq!(slices, expected, "{on_destroy}");
    let now = setting.found();
    if on_destroy == "restore" {
        same(&now, &found);
    }
    let node = &now["node \"gpu-01\""];
    assert!(node["taints"].is_null() || node["taints"].as_array().is_some_and(Vec::is_empty), "{node:#}");
    setting.run(&["plan", "-destroy", "-detailed-exitcode", &choice]).check(0, &[]);
}

#[test]
fn a_pool_is_given_back_as_it_says() {
    let cut = ["gpu-01 card 0 3g.40gb at 0", "gpu-01 card 0 3g.40gb at 4"];
    let other = ["gpu-01 card 1 3g.40gb at 0", "gpu-01 card 1 3g.40gb at 4"];
    check("keep", &[cut, other].concat());
    check("restore", &["gpu-01 card 0 1g.10gb at 0", "gpu-01 card 0 3g.40gb at 4"]);
    check("whole", &[]);
}
