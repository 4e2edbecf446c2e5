//! The API server goes down and comes back, tokens expire, agents die.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{ListParams, PostParams, WatchParams};
use kube::{Api, Client};
use providers_sandbox::api::{Effect, Fault, Gate, Renewal, When, Which};

use crate::faults::{client, map};
use crate::setting::{ONE, PATIENCE, Setting};

/// The error with its causes.
fn told(error: &kube::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

async fn answers(client: &Client) -> Result<(), String> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.list(&ListParams::default()).await.map(drop).map_err(|error| told(&error))
}

#[tokio::test]
async fn a_server_that_comes_back_has_its_address_and_what_was_answered() {
    let world = Setting::new(ONE).await;
    let script = world.sandbox.script().unwrap();
    let old = client(&world.sandbox).await;
    let api: Api<ConfigMap> = Api::namespaced(old.clone(), "default");
    api.create(&PostParams::default(), &map("m")).await.unwrap();

    let mut watch = Box::pin(api.watch(&WatchParams::default(), "0").await.unwrap());
    futures::TryStreamExt::try_next(&mut watch).await.unwrap();
    let gate = Gate::default();
    script.faults().add(Fault::once(Which::new("create", "configmaps"), Effect::Wait(When::After, gate.clone())));
    let (params, object) = (PostParams::default(), map("n"));
    let stop = async {
        gate.arrived(1).await;
        script.stop_server().await;
    };
    let (interrupted, ()) = futures::join!(api.create(&params, &object), stop);
    assert!(!matches!(interrupted.unwrap_err(), kube::Error::Api(_)), "there was no answer");
    while let Ok(Some(event)) = futures::TryStreamExt::try_next(&mut watch).await {
        assert!(!matches!(event, kube::api::WatchEvent::Error(_)), "{event:?}");
    }
    assert!(answers(&old).await.unwrap_err().contains("refused"));

    script.start_server(Renewal::Nothing).await.unwrap();
    assert_eq!(answers(&old).await, Ok(()));
    assert!(api.get_opt("n").await.unwrap().is_some(), "it was done, and its client was not told");
    script.stop_server().await;
    script.start_server(Renewal::Certificate).await.unwrap();
    assert_eq!(answers(&old).await, Ok(()), "the authority is the same");
    world.settle().await;
    world.close().await;
}

#[tokio::test]
async fn another_authority_is_not_trusted() {
    let world = Setting::new(ONE).await;
    let script = world.sandbox.script().unwrap();
    script.stop_agent("a").await;
    let old = client(&world.sandbox).await;
    script.stop_server().await;
    script.start_server(Renewal::Authority).await.unwrap();
    let error = answers(&old).await.unwrap_err();
    assert!(error.contains("certificate"), "{error}");
    assert_eq!(answers(&client(&world.sandbox).await).await, Ok(()));
    world.close().await;
}

#[tokio::test]
async fn an_expired_token_is_refused_and_a_new_one_is_accepted() {
    let world = Setting::new(ONE).await;
    let script = world.sandbox.script().unwrap();
    let old = client(&world.sandbox).await;
    assert_eq!(answers(&old).await, Ok(()));
    script.expire_token();
    assert!(answers(&old).await.unwrap_err().contains("Unauthorized"));
    assert_eq!(answers(&client(&world.sandbox).await).await, Ok(()));
    world.close().await;
}

#[tokio::test]
async fn an_agent_that_is_killed_reports_no_more() {
    let world = Setting::new(ONE).await;
    let script = world.sandbox.script().unwrap();
    script.kill_agent("a");
    script.calls().take();
    world.settle().await;
    let by_agent = |call: &providers_sandbox::api::Call| call.user.ends_with("agent-a") && call.has_written();
    assert!(!script.calls().take().iter().any(by_agent));
    script.start_agent("a");
    let reported = async {
        while !script.calls().all().iter().any(by_agent) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, reported).await.unwrap();
    world.close().await;
}
