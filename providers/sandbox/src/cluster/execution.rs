//! Commands that people run on nodes, as a resource: whoever may create an `Execution` gets it carried out, and finds what
//! it printed in its status. So a command reaches a sandbox that another process serves by the one way there is.

use std::sync::Arc;
use std::time::Duration;

use providers_simulator::{SmiOutput, nvidia_smi};
use serde_json::{Value, json};

use super::hands::{Hands, Part};
use super::{Cluster, Ground, Pulse};
use crate::names::GROUP;
use crate::store::Key;

/// Where the store keeps them.
pub(super) const RESOURCE: &str = "executions.sandbox.sliceform.io";

/// Group and version of the resource.
pub(crate) const GROUP_VERSION: &str = "sandbox.sliceform.io/v1alpha1";

/// Kind of the resource.
pub(crate) const KIND: &str = "Execution";

/// How long the answer waits for device plugin and agent to have seen what the command did. The agent may be down.
const NOTICE: Duration = Duration::from_secs(10);

/// The definition of the resource.
pub(crate) fn definition() -> Value {
    let schema = json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object", "required": ["node", "command"],
                "properties": {
                    "node": {"type": "string", "description": "Name of the node."},
                    "command": {"type": "array", "items": {"type": "string"}, "description": "Program and arguments."},
                },
            },
            "status": {
                "type": "object", "required": ["stdout", "code"],
                "properties": {
                    "stdout": {"type": "string", "description": "What it printed."},
                    "code": {"type": "integer", "description": "Its exit code."},
                },
            },
        },
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": RESOURCE},
        "spec": {
            "group": GROUP, "scope": "Cluster",
            "names": {"plural": "executions", "singular": "execution", "kind": KIND, "listKind": "ExecutionList"},
            "versions": [{
                "name": "v1alpha1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

impl Cluster {
    /// Removes the commands of an earlier process: whoever gave them is gone, and must not be surprised by them later.
    pub(super) fn forget_executions(&self) {
        let names: Vec<Arc<str>> = self.ground.store.read().list(RESOURCE).map(|(key, _)| key.name.clone()).collect();
        for name in names {
            self.hands.delete(Part::Commands, &format!("/apis/{GROUP_VERSION}/executions/{name}"), &json!({}));
        }
    }

    /// Carries out a command, unless that was done already.
    pub(super) fn execute(&mut self, name: &Arc<str>) {
        let found = self.ground.store.read().get(&Key::new(RESOURCE, "", name)).cloned();
        let Some(execution) = found.filter(|found| found.get("status").is_none()) else { return };
        if !self.executed.insert(name.clone()) {
            return;
        }
        let node = execution["spec"]["node"].as_str().unwrap_or_default().to_owned();
        let words = execution["spec"]["command"].as_array().into_iter().flatten();
        let command: Vec<String> = words.filter_map(|word| word.as_str().map(str::to_owned)).collect();
        let output = run(&self.ground, &node, &command);
        if command.first().is_some_and(|program| program == "reboot") && self.ground.kubelets.works(&node) {
            self.readmit(&node);
        }
        let hands = Hands::new(self.ground.api.clone(), self.ground.trouble.clone());
        let (ground, pulse, name) = (self.ground.clone(), self.pulse.clone(), name.clone());
        // Beside this task, which must go on for the command to be noticed.
        self.tasks.spawn(async move {
            notice(&ground, &pulse, &node).await;
            let status = json!({"status": {"stdout": output.stdout, "code": output.code}});
            let path = format!("/apis/{GROUP_VERSION}/executions/{name}/status");
            hands.merge(Part::Commands, &path, &status);
        });
    }
}

/// Waits until what happened on a node is known to everybody whom it concerns.
async fn notice(ground: &Ground, pulse: &Pulse, node: &str) {
    let all = async {
        pulse.settled().await;
        if ground.agents.runs(node) {
            ground.agents.look(node).await;
        }
    };
    // Whoever does not notice in time is as late as in a real cluster.
    let _ = tokio::time::timeout(NOTICE, all).await;
}

fn run(ground: &Ground, node: &str, command: &[String]) -> SmiOutput {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["nvidia-smi", args @ ..] => ground.hardware.with(node, |node| nvidia_smi(node, args)),
        ["reboot"] => {
            let done = ground.hardware.with(node, |node| node.reboot());
            ground.agents.restart(node);
            done.map(|()| SmiOutput { stdout: String::new(), code: 0 })
        }
        // 127 is what a shell answers.
        _ => {
            let program = words.first().copied().unwrap_or_default();
            let stdout = format!("{program}: command not found; the sandbox's nodes have `nvidia-smi` and `reboot`\n");
            Some(SmiOutput { stdout, code: 127 })
        }
    };
    done.unwrap_or_else(|| SmiOutput { stdout: format!("there is no node {node}\n"), code: 1 })
}
