//! The tool that everybody has reads a served sandbox.

use std::process::{Command, Stdio};

use crate::{
    program::Running,
    setting::{FLEET, Setting},
};

#[test]
fn kubectl_reads_a_served_sandbox() {
    let is_there = Command::new("kubectl").args(["version", "--client"]).stdout(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no kubectl on the path; `kubectl get nodes` and `get gpunodes` were not tried");
        return;
    }
    let setting = Setting::embedded(FLEET);
    let serve = ["sandbox", "serve", "-sandbox=fleet.hcl", "-kubeconfig=kubeconfig"];
    let served = Running::start(&mut setting.program(&serve));
    served.until("Interrupt to end.");
    setting.converge(&[]);
    let kubectl = |args: &[&str]| {
        let mut command = Command::new("kubectl");
        command
            .args(["--kubeconfig=kubeconfig"])
            .args(args)
            .current_dir(setting.path(""))
            .env("HOME", setting.path(""));
        Running::start(&mut command).end()
    };
    let nodes = kubectl(&["get", "nodes"]);
    nodes.check(0, &["NAME", "STATUS", "gpu-01", "infer-01", "Ready"]);
    assert_eq!(nodes.stdout.lines().count(), 5, "{}", nodes.stdout);
    kubectl(&["get", "gpunodes"]).check(0, &["CARDS", "2× A100-SXM4-80GB", "Succeeded"]);
    kubectl(&["get", "gn", "gpu-02", "-o", "jsonpath={.status.cards[1].layout.mig}"]).check(0, &["true"]);
    kubectl(&["get", "pods", "-A"]).check(0, &["embed-0"]);
    kubectl(&["get", "node", "gpu-04"]).check(1, &["NotFound"]);
    served.interrupt();
    served.end().check(0, &[]);
}
