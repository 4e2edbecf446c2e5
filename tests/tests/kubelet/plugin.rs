//! A device plugin, and the kubelet's own account of who has which devices.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tests::control_plane::{ControlPlane, binary};

/// A plugin that offers `example.com/slice`. It ends when dropped.
pub(crate) struct Plugin {
    process: Child,
    stdin: Option<ChildStdin>,
    calls: Arc<Mutex<Vec<Value>>>,
}

impl Plugin {
    pub(crate) fn start(plane: &ControlPlane, devices: &str) -> Self {
        let mut command = Command::new(binary().unwrap());
        command.arg("device-plugin").arg("-folder").arg(plane.kubelet().root.join("device-plugins"));
        command.args(["-resource", "example.com/slice", "-devices", devices]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take().unwrap());
        let calls = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&calls);
        // It ends with the plugin.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                heard.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Self { process, stdin, calls }
    }

    /// `healthy ID` or `unhealthy ID`.
    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// What the kubelet asked of it, with the devices.
    pub(crate) fn calls(&self) -> Vec<(String, Vec<String>)> {
        let devices = |call: &Value| {
            let mut all: Vec<String> = serde_json::from_value(call["devices"].clone()).unwrap_or_default();
            all.sort();
            all
        };
        let calls = self.calls.lock().unwrap();
        calls.iter().map(|call| (call["call"].as_str().unwrap().to_owned(), devices(call))).collect()
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.process.wait();
    }
}

/// What the PodResources service says: `pods` and `allocatable`.
pub(crate) fn pod_resources(plane: &ControlPlane) -> Value {
    let socket = plane.kubelet().root.join("pod-resources/kubelet.sock");
    let output = Command::new(binary().unwrap()).arg("pod-resources").arg(socket).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
