//! The first interrupt, and two runs that want the same state.

use crate::setting::{FLEET, SLOW_POD, Setting, WAITS};

#[test]
fn an_interrupt_stops_at_a_safe_point() {
    let setting = Setting::embedded(&format!("{FLEET}{SLOW_POD}"));
    let apply = setting.start(&["apply", "-auto-approve"]);
    apply.until(WAITS);
    apply.interrupt();
    let apply = apply.end();
    apply.check(4, &["Interrupt received.", "Apply incomplete.", "Still held", "gpu-02", "Stopped at a safe point"]);
    let cut: Vec<String> = setting.slices().into_keys().collect();
    assert!(cut.len() == 4 && cut.iter().all(|slice| slice.starts_with("gpu-01 ")), "{cut:?}");

    setting.pass();
    let plan = setting.run(&["plan"]);
    plan.check(0, &["unfinished: 1 of 3 nodes done"]).check_not(&["cut off"]);
    setting.converge(&[]).check_not(&["gpu-01: "]);
}

#[test]
fn one_run_at_a_time() {
    let setting = Setting::cluster(&format!("{FLEET}{SLOW_POD}"));
    let first = setting.start(&["apply", "-auto-approve"]);
    first.until(WAITS);
    let second = setting.run(&["apply", "-auto-approve"]);
    second.check(1, &["Error acquiring the state lock", "somebody@", "apply", "-lock-timeout"]);
    setting.run(&["plan"]).check(1, &["Error acquiring the state lock"]);
    setting.run(&["plan", "-lock=false"]).check(0, &["gpu-02"]);

    let third = setting.start(&["apply", "-auto-approve", "-lock-timeout=2m"]);
    third.until("Acquiring state lock.");
    setting.script(async |script| script.pass(std::time::Duration::from_secs(601)));
    first.end().check(0, &["Apply complete! Resources: 1 added"]);
    third.end().check(0, &["No changes."]);
}
