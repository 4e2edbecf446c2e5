//! `sandbox serve`: keeps a sandbox open, for `kubectl` and for other commands.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::endpoint::Endpoint;
use crate::error::SandboxError;
use crate::private;
use crate::sandbox::{Options, Sandbox};

/// What is to be said when a sandbox is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serving {
    /// Where: `https://127.0.0.1:PORT`.
    pub url: String,
    /// The fleet's file that it was made from.
    pub fleet: String,
}

/// Opens the sandbox in the folder `dir`, writes a kubeconfig and the file by which other commands find it, calls `ready`,
/// and serves until it is cancelled. For each node whose agent is absent, `agents/NODE.kubeconfig` in the folder lets
/// somebody else be that agent.
///
/// # Errors
/// It cannot be opened, is served already, or something could not be recorded.
pub async fn serve(
    dir: &Path,
    fleet: Option<(&str, &str)>,
    options: Options,
    kubeconfig: &Path,
    ready: impl FnOnce(&Serving),
    cancel: CancellationToken,
) -> Result<(), SandboxError> {
    let sandbox = Sandbox::open(dir, fleet, options).await?;
    let Some(embedded) = sandbox.embedded() else {
        return Err(SandboxError::Argument(format!("the sandbox in {} is served already", dir.display())));
    };
    let file = |action, path: &Path| {
        let path = path.to_owned();
        move |source| SandboxError::File { action, path, source }
    };
    private::write(kubeconfig, embedded.kubeconfig().as_bytes()).map_err(file("write", kubeconfig))?;
    for (node, kubeconfig) in embedded.absent_agents() {
        let path = dir.join("agents").join(format!("{node}.kubeconfig"));
        private::write(&path, kubeconfig.as_bytes()).map_err(file("write", &path))?;
    }
    let endpoint = embedded.endpoint();
    endpoint.write(dir).map_err(file("write the sandbox's address in", dir))?;
    ready(&Serving { url: endpoint.server, fleet: endpoint.fleet });
    cancel.cancelled().await;
    Endpoint::remove(dir).map_err(file("remove the sandbox's address in", dir))?;
    sandbox.close().await
}
