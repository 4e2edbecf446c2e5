//! Worlds: made, kept, found again, removed.

use kube::Api;
use providers_agent_api::GpuNode;
use providers_sandbox::command::reset;
use providers_sandbox::{Sandbox, SandboxError, WorldError};

use crate::setting::{FLEET, Setting, offered, open, options};

#[tokio::test]
async fn a_slice_destroyed_by_hand_is_gone_and_stays_gone() {
    let world = Setting::new(FLEET).await;
    assert_eq!(offered(&world.node("b").await), ["mig-1g.10gb=1", "mig-3g.40gb=1"]);
    let before = world.gpu_node("b").await.status.unwrap();
    let slices: Vec<(&str, u8)> = before.cards[0].instances.iter().map(|one| (&*one.profile, one.start)).collect();
    assert_eq!(slices, [("1g.10gb", 0), ("3g.40gb", 4)]);

    let done = world.exec("b", "nvidia-smi mig -dci -gi 7").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let done = world.exec("b", "nvidia-smi mig -dgi -gi 7").await;
    assert!(done.stdout.contains("Successfully destroyed GPU instance"), "{}", done.stdout);
    assert_eq!(offered(&world.node("b").await), ["mig-1g.10gb=0", "mig-3g.40gb=1"], "a name that vanished lingers");
    assert_eq!(world.gpu_node("b").await.status.unwrap().cards[0].instances.len(), 1, "the agent has seen it");

    let world = world.reopen().await;
    let after = world.gpu_node("b").await;
    assert_eq!(after.status.unwrap().cards[0].instances.len(), 1);
    assert_eq!(offered(&world.node("b").await), ["mig-1g.10gb=0", "mig-3g.40gb=1"]);
    let unknown = world.exec("b", "rm -rf /").await;
    assert_eq!(unknown.code, 127);
    let nowhere = world.exec("z", "nvidia-smi -L").await;
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (1, "there is no node z\n"));
    world.close().await;
}

#[tokio::test]
async fn nothing_is_written_between_two_commands() {
    let world = Setting::new(FLEET).await.reopen().await;
    let script = world.sandbox.script().unwrap();
    script.settle().await.unwrap();
    let calls = script.calls().take();
    let writes: Vec<_> = calls.iter().filter(|call| call.has_written()).collect();
    assert!(writes.iter().all(|call| call.path.contains("/leases/")), "{writes:?}");
    world.close().await;
}

#[tokio::test]
async fn the_default_fleet_works() {
    let dir = tempfile::tempdir().unwrap();
    let world = Setting { sandbox: open(dir.path(), None).await, dir };
    let nodes = Api::<GpuNode>::all(world.client().await).list(&Default::default()).await.unwrap();
    let summaries: Vec<(String, String)> =
        nodes.into_iter().map(|node| (node.metadata.name.unwrap(), node.status.unwrap().summary)).collect();
    let summaries: Vec<(&str, &str)> = summaries.iter().map(|(name, summary)| (&**name, &**summary)).collect();
    assert_eq!(
        summaries,
        [
            ("gpu-01", "2× A100-SXM4-80GB"),
            ("gpu-02", "2× A100-SXM4-80GB"),
            ("gpu-03", "2× A100-SXM4-80GB"),
            ("infer-01", "4× L4"),
            ("train-01", "8× H100-80GB-HBM3"),
        ]
    );
    assert_eq!(world.users("gpu-01").await, ["card 0: team-b/nb-1"]);
    assert_eq!(world.users("train-01").await.len(), 4);
    world.close().await;
}

#[tokio::test]
async fn another_fleet_needs_a_reset() {
    let world = Setting::new(FLEET).await;
    let busy = reset(world.dir.path()).unwrap_err();
    assert!(matches!(busy, SandboxError::Busy { .. }) && busy.to_string().contains("sliceform test"), "{busy}");
    let Setting { sandbox, dir } = world;
    sandbox.close().await.unwrap();
    let other = Some(("other.hcl", "node \"x\" {\ncard \"L4\" {}\n}"));
    let error = Sandbox::open(dir.path(), other, options()).await.err().unwrap();
    assert!(matches!(error, SandboxError::World(WorldError::AnotherFleet { .. })), "{error}");
    let text = error.to_string();
    assert!(["fleet.hcl", "other.hcl", "sandbox reset"].iter().all(|part| text.contains(part)), "{text}");

    std::fs::write(dir.path().join("sliceform.tfstate"), "{}").unwrap();
    assert!(reset(dir.path()).unwrap());
    assert!(!reset(dir.path()).unwrap(), "there is nothing left to remove");
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["sliceform.tfstate"], "the state is not the world's");
    Sandbox::open(dir.path(), other, options()).await.unwrap().close().await.unwrap();
}

#[tokio::test]
async fn a_fleet_with_mistakes_makes_no_world() {
    let dir = tempfile::tempdir().unwrap();
    let error =
        Sandbox::open(dir.path(), Some(("f.hcl", "\nnode \"a\" {\ncard \"A10O\" {}\n}")), options()).await.err();
    let text = error.unwrap().to_string();
    assert!(text.starts_with("f.hcl:3: Unknown card"), "{text}");
    let full = "node \"a\" {\n card \"A30\" { instances = [\"4g.24gb\", \"1g.6gb\"] }\n}";
    let error = Sandbox::open(dir.path(), Some(("f.hcl", full)), options()).await.err().unwrap();
    assert!(std::error::Error::source(&error).is_some() || error.to_string().contains("cannot be made"), "{error:?}");
    open(dir.path(), Some(FLEET)).await.close().await.unwrap();
}

#[tokio::test]
async fn same_fleet_same_world() {
    let mut worlds = Vec::new();
    for _ in 0..2 {
        let world = Setting::new(FLEET).await;
        let mut status = world.gpu_node("b").await.status.unwrap();
        status.cards.retain(|card| card.mig_capable);
        worlds.push(status);
        world.close().await;
    }
    assert_eq!(worlds[0], worlds[1], "identities follow from names");
}

/// The program runs its commands on a runtime of several threads.
#[test]
fn what_commands_await_may_move_between_threads() {
    fn check<T: Send>(future: T) {
        drop(future);
    }
    let dir = std::path::Path::new("");
    check(Sandbox::open(dir, None, options()));
    check(async {
        let sandbox = Sandbox::open(dir, None, options()).await?;
        providers_sandbox::command::exec(&sandbox, "", &[]).await?;
        providers_sandbox::command::run(&sandbox, "", "").await?;
        sandbox.close().await
    });
}
