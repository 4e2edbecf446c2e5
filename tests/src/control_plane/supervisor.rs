//! The process that runs a control plane, and the line by line talk with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;

use super::{Kubelet, Options};

/// The first line that it says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Description {
    pub(super) url: String,
    pub(super) ca: PathBuf,
    pub(super) kubeconfig: PathBuf,
    pub(super) audit_log: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) kubelet: Option<Kubelet>,
}

#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) description: Description,
    talk: Mutex<Talk>,
}

#[derive(Debug)]
struct Talk {
    process: Child,
    /// Nothing once it was told to end.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
}

impl Supervisor {
    /// Starts it and waits until everything is ready.
    pub(super) fn start(binary: &Path, options: &Options) -> Result<Self, String> {
        let mut command = Command::new(binary);
        command.arg("up").arg("-folder").arg(std::env::temp_dir().join("sliceform-control-plane"));
        if let Some(name) = &options.kubelet {
            command.arg("-kubelet").arg(name);
        }
        if let Some(period) = &options.node_monitor_grace_period {
            command.arg("-node-monitor-grace-period").arg(period);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("{}: {error}", binary.display()))?;
        let missing = || "a pipe is missing".to_owned();
        let stdin = Some(process.stdin.take().ok_or_else(missing)?);
        let stdout = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        let stderr = process.stderr.take().ok_or_else(missing)?;
        let mut talk = Talk { process, stdin, stdout, stderr };
        let description = serde_json::from_str(&talk.read()?).map_err(|error| error.to_string())?;
        Ok(Self { description, talk: Mutex::new(talk) })
    }

    /// Says one line and waits for the answer.
    pub(super) fn tell(&self, line: &str) -> Result<Value, String> {
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        let stdin = talk.stdin.as_mut().ok_or("it has ended")?;
        // When it has ended, reading tells why.
        let _ = writeln!(stdin, "{line}");
        let answer: Value = serde_json::from_str(&talk.read()?).map_err(|error| error.to_string())?;
        match answer["error"].as_str() {
            Some(error) => Err(format!("{line}: {error}")),
            None => Ok(answer),
        }
    }
}

impl Talk {
    fn read(&mut self) -> Result<String, String> {
        let mut line = String::new();
        let count = self.stdout.read_line(&mut line).map_err(|error| error.to_string())?;
        if count > 0 {
            return Ok(line);
        }
        let mut why = String::new();
        // It has ended, so this ends too.
        let _ = self.stderr.read_to_string(&mut why);
        Err(if why.is_empty() { "it has ended without a word".to_owned() } else { why })
    }
}

impl Drop for Talk {
    /// Ends everything, and waits until it has ended.
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.process.wait();
    }
}
