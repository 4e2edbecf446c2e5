//! A sandbox that one part serves and others join.

use std::path::Path;
use std::time::Duration;

use kube::Api;
use providers_agent_api::GpuNode;
use providers_sandbox::command::{Serving, exec, run, serve};
use providers_sandbox::{Options, Sandbox, SandboxError, WorldError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::setting::{FLEET, options, pod};

struct Served {
    stop: CancellationToken,
    task: tokio::task::JoinHandle<Result<(), SandboxError>>,
    serving: Serving,
}

async fn served(dir: &Path) -> Served {
    let stop = CancellationToken::new();
    let (ready, is_ready) = oneshot::channel();
    let (dir, cancel) = (dir.to_owned(), stop.clone());
    let task = tokio::spawn(async move {
        let kubeconfig = dir.join("kubeconfig");
        let ready = |serving: &Serving| ready.send(serving.clone()).unwrap();
        serve(&dir, Some(("fleet.hcl", FLEET)), options(), &kubeconfig, ready, cancel).await
    });
    Served { stop, serving: is_ready.await.unwrap(), task }
}

#[tokio::test]
async fn commands_join_a_sandbox_that_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let served = served(dir.path()).await;
    assert_eq!(served.serving.fleet, "fleet.hcl");

    let joined = Sandbox::open(dir.path(), Some(("same.hcl", FLEET)), options()).await.unwrap();
    assert!(joined.is_served() && joined.script().is_none());
    let words = ["nvidia-smi", "mig", "-dci", "-gi", "7"].map(str::to_owned);
    let done = exec(&joined, "b", &words).await.unwrap();
    assert_eq!(done.code, 0, "{}", done.stdout);
    let client = joined.connection().connection().client().await.unwrap();
    let nodes: Api<GpuNode> = Api::all(client);
    let node = nodes.get("b").await.unwrap();
    let uuids: Vec<bool> = node.status.unwrap().cards[0].instances.iter().map(|one| one.uuid.is_empty()).collect();
    assert_eq!(uuids, [true, false], "the agent had seen it before the command came back");
    let started = run(&joined, "p.yaml", &pod("p", "nvidia.com/gpu", "")).await.unwrap();
    assert_eq!(started[0].node.as_deref(), Ok("a"));
    let node = nodes.get("a").await.unwrap();
    assert_eq!(node.status.unwrap().cards[0].used_by.len(), 1, "here, too");
    joined.close().await.unwrap();

    let other = Sandbox::open(dir.path(), Some(("other.hcl", "")), options()).await.err().unwrap();
    assert!(matches!(other, SandboxError::World(WorldError::AnotherFleet { .. })), "{other}");
    let twice = serve(dir.path(), None, options(), &dir.path().join("k"), |_| (), served.stop.clone()).await;
    assert!(twice.unwrap_err().to_string().contains("served already"));

    served.stop.cancel();
    served.task.await.unwrap().unwrap();
    assert!(!dir.path().join("endpoint.json").exists());
    let own = Sandbox::open(dir.path(), None, options()).await.unwrap();
    assert!(!own.is_served());
    own.close().await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn files_with_tokens_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let served = served(dir.path()).await;
    for file in ["endpoint.json", "kubeconfig"] {
        let mode = std::fs::metadata(dir.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    served.stop.cancel();
    served.task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stale_address_is_ignored_and_a_busy_sandbox_names_who_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let first =
        Sandbox::open(dir.path(), Some(("fleet.hcl", FLEET)), Options::new(options().host, "apply")).await.unwrap();
    let stale = r#"{"server": "https://127.0.0.1:9", "authority": "", "token": "t", "kubeconfig": "", "fleet": "f",
                    "fleetDigest": "d"}"#;
    std::fs::write(dir.path().join("endpoint.json"), stale).unwrap();
    let patient = Options { lock_timeout: Duration::from_millis(200), ..options() };
    let busy = Sandbox::open(dir.path(), None, patient).await.err().unwrap();
    assert!(matches!(busy, SandboxError::Busy { .. }), "{busy}");
    assert!(busy.to_string().contains("`sliceform apply` (process "), "{busy}");

    let (waiting, closing) = tokio::join!(Sandbox::open(dir.path(), None, options()), first.close());
    closing.unwrap();
    let second = waiting.unwrap();
    assert!(!second.is_served(), "the lock was free in time");
    second.close().await.unwrap();
}
