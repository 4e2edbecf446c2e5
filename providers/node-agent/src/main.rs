//! The program: arguments, the machine's clock, and signals around the agent.

#![forbid(unsafe_code)]

use std::env;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use clap::Parser;
use engine_diag::chain;
use engine_model::host::Host;
use engine_model::name::NodeName;
use providers_kubernetes::{Connection, ConnectionSettings, Environment};
use providers_node_agent::{Agent, Attention, Journal, KubeletFiles, NvmlGpus};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Carries out on one node what was approved in its GpuNode, and reports what the node is.
#[derive(Parser)]
#[command(name = "sliceform-agent", version)]
struct Arguments {
    /// Name of this node in the cluster.
    #[arg(long)]
    node: String,
    /// Kubeconfig with the agent's identity; without it that of the pod.
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The driver's library.
    #[arg(long, default_value = "libnvidia-ml.so.1")]
    nvml: PathBuf,
    /// File in which the agent remembers what it has begun; must survive its restart.
    #[arg(long, default_value = "/var/lib/sliceform/agent.json")]
    journal: PathBuf,
    /// The kubelet's folder, which tells what pods hold.
    #[arg(long, default_value = "/var/lib/kubelet")]
    kubelet: PathBuf,
    /// The folder of the pods' logs, which tells their names.
    #[arg(long, default_value = "/var/log/pods")]
    pod_logs: PathBuf,
}

/// Why the agent ended, with all causes. Shown as it is when `main` returns it.
struct Ended(String);

impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Error> From<E> for Ended {
    fn from(error: E) -> Self {
        Self(chain(&error))
    }
}

/// The machine itself.
struct Machine;

impl Host for Machine {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self, bytes: &mut [u8]) {
        File::open("/dev/urandom").and_then(|mut file| file.read_exact(bytes)).expect("Linux has random bytes");
    }
}

#[tokio::main]
async fn main() -> Result<(), Ended> {
    let arguments = Arguments::parse();
    let config_paths: Vec<String> =
        arguments.kubeconfig.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let in_cluster_config = Some(config_paths.is_empty());
    let settings = ConnectionSettings { config_paths, in_cluster_config, ..ConnectionSettings::default() };
    // Which cluster is said by the arguments alone; a command for credentials sees all else.
    let variables = env::vars().filter(|(name, _)| !name.starts_with("KUBE_")).collect();
    let connection = Connection::new(settings, Environment { variables, ..Environment::default() });
    let cancel = CancellationToken::new();
    let agent = Agent {
        client: connection.client().await?,
        node: NodeName::from(arguments.node),
        gpus: Box::new(NvmlGpus::of_this_machine(arguments.nvml)),
        pods: Arc::new(KubeletFiles { root: arguments.kubelet, logs: arguments.pod_logs }),
        journal: Journal::new(arguments.journal),
        host: Arc::new(Machine),
        attention: Attention::default(),
    };
    // The step that is under way is finished first: the kubelet's grace is longer than any of them.
    let (mut term, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        stop.cancel();
    });
    Ok(agent.run(cancel).await?)
}
