//! `kill -9` in the middle of a wave: the next plan knows, the next apply goes on, and destroy gives everything back.

use providers_simulator::{Call, Effect, Fault};
use serde_json::json;

use crate::{
    program::Running,
    setting::{FLEET, SLOW_POD, Setting, WAITS, same, without_pod},
};

/// After a kill while the second of three nodes was held: what was begun is known, and only what is left is done.
#[track_caller]
fn goes_on(setting: &Setting, begun: &str) {
    let plan = setting.run(&["plan", "-detailed-exitcode"]);
    plan.check(2, &["An earlier run was cut off", begun, "unfinished: 1 of 3 nodes done"]);
    plan.check(2, &["Plan: 0 to add, 1 to change, 0 to destroy."]).check_not(&["  gpu-01   wave"]);
    setting.converge(&[]).check_not(&["gpu-01: "]);
}

/// The last step: all as it was found, but for the pod that had to go.
#[track_caller]
fn gives_back(setting: &Setting, found: serde_json::Value) {
    setting.run(&["destroy", "-auto-approve"]).check(0, &["1 destroyed"]);
    setting.run(&["state", "list"]).check(0, &[]);
    same(&setting.found(), &without_pod(found, "team-b/slow"));
}

#[test]
fn the_world_may_die_with_the_command() {
    let setting = Setting::embedded(&format!("{FLEET}{SLOW_POD}"));
    let found = setting.found();
    let apply = setting.start(&["apply", "-auto-approve"]);
    apply.until(WAITS);
    assert_eq!(apply.kill().code, None);
    let cut: Vec<String> = setting.slices().into_keys().collect();
    assert!(cut.len() == 4 && cut.iter().all(|slice| slice.starts_with("gpu-01 ")), "{cut:?}");
    setting.pass();
    goes_on(&setting, "the hold of gpu-02");
    gives_back(&setting, found);
}

#[test]
fn the_command_may_die_alone() {
    let setting = Setting::embedded(&format!("{FLEET}{SLOW_POD}"));
    let mut served = setting.program(&["sandbox", "serve", "-sandbox=fleet.hcl"]);
    let served = Running::start(&mut served);
    served.until("Interrupt to end.");
    let found = setting.found();
    let apply = setting.start(&["apply", "-auto-approve"]);
    apply.until(WAITS);
    assert_eq!(apply.kill().code, None);
    // Somebody has no patience with the pod.
    setting.delete("/api/v1/namespaces/team-b/pods/slow", &json!({"gracePeriodSeconds": 0}));
    goes_on(&setting, "the hold of gpu-02");
    gives_back(&setting, found);
    served.interrupt();
    served.end().check(0, &[]);
}

#[test]
fn a_card_may_be_half_cut() {
    let setting = Setting::cluster(FLEET);
    let found = setting.found();
    // The driver takes so long for the second slice that the command is dead before it is there.
    let slow = Fault { call: Call::CreateGpuInstance, card: None, after: 1, times: 1, effect: Effect::Slow(5_000) };
    setting.script(async |script| script.hardware().with("gpu-02", |node| node.faults.push(slow)).unwrap());
    let apply = setting.start(&["apply", "-auto-approve"]);
    apply.until("gpu-02: waiting for: the agent of gpu-02, step");
    assert_eq!(apply.kill().code, None);
    assert!(setting.slices().len() < 8, "the node is in the middle");
    // The agent comes to its end without whoever began it.
    setting.script(async |script| script.settle().await.unwrap());
    let plan = setting.run(&["plan", "-detailed-exitcode"]);
    plan.check(2, &["An earlier run was cut off", "slice cards 0 and 1 on gpu-02", "unfinished: 2 of 3 nodes done"]);
    setting.converge(&[]).check_not(&["gpu-01: ", "gpu-02: Slice"]);
    gives_back(&setting, found);
}
