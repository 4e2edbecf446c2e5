//! Faults by script between clients and the API: each as a client sees it, and what it leaves behind.

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::ObjectMeta;
use kube::{Api, Client, Config};
use providers_sandbox::Sandbox;
use providers_sandbox::api::{Effect, Failure, Fault, Gate, When, Which};

use crate::setting::{ONE, Setting};

/// A client that asks once.
pub(crate) async fn client(sandbox: &Sandbox) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(&sandbox.kubeconfig()).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

pub(crate) fn map(name: &str) -> ConfigMap {
    ConfigMap { metadata: ObjectMeta { name: Some(name.to_owned()), ..Default::default() }, ..Default::default() }
}

/// Code and message of an answer that is a refusal.
fn refused<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> (u16, String) {
    match result.unwrap_err() {
        kube::Error::Api(status) => (status.code, status.message.clone()),
        other => (0, other.to_string()),
    }
}

/// Whether there was no whole answer.
fn is_cut<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> bool {
    refused(result).0 == 0
}

async fn raw(client: &Client, path: &str, accept: &str) -> (u16, http::HeaderMap, String) {
    let request = http::Request::get(path).header("accept", accept).body(kube::client::Body::empty()).unwrap();
    let response = client.send(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(axum::body::Body::new(body), 1 << 20).await.unwrap();
    (parts.status.as_u16(), parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn answers_are_those_of_the_real_server() {
    let world = Setting::new(ONE).await;
    let faults = world.sandbox.script().unwrap().faults();
    let api: Api<ConfigMap> = Api::namespaced(client(&world.sandbox).await, "default");
    let answer = |failure: Failure| Effect::Answer(When::Before, failure);
    let which = || Which::new("create", "configmaps").name("");
    for (failure, code, message) in [
        (Failure::throttled(7), 429, "Too many requests, please try again later."),
        (
            Failure::timed_out(),
            504,
            "Timeout: request did not complete within requested timeout - context deadline exceeded",
        ),
        (Failure::unavailable("no leader"), 503, "no leader"),
        (Failure::new(500, "InternalError", "etcdserver: request timed out"), 500, "etcdserver: request timed out"),
        (
            Failure::conflict("", "configmaps", "m", "the object has been modified"),
            409,
            "Operation cannot be fulfilled on configmaps \"m\": the object has been modified",
        ),
        (
            Failure::webhook_denied("vcm.example.com", "no maps on Fridays"),
            403,
            "admission webhook \"vcm.example.com\" denied the request: no maps on Fridays",
        ),
        (
            Failure::webhook_failed(
                "vcm.example.com",
                "https://hook.default.svc:443/validate?timeout=10s",
                "context deadline exceeded",
            ),
            500,
            "Internal error occurred: failed calling webhook \"vcm.example.com\": failed to call webhook: Post \
             \"https://hook.default.svc:443/validate?timeout=10s\": context deadline exceeded",
        ),
    ] {
        faults.add(Fault::once(which(), answer(failure)));
        let (found, text) = refused(api.create(&PostParams::default(), &map("m")).await);
        assert_eq!((found, text.trim_end()), (code, message));
    }
    assert_eq!((faults.pending(), faults.struck()), (0, 7));
    assert!(api.get_opt("m").await.unwrap().is_none());

    faults.add(Fault::once(which(), Effect::Answer(When::After, Failure::timed_out())));
    assert_eq!(refused(api.create(&PostParams::default(), &map("m")).await).0, 504);
    assert!(api.get_opt("m").await.unwrap().is_some(), "it was done before it timed out");
    world.close().await;
}

#[tokio::test]
async fn a_time_to_try_again_is_in_header_and_body() {
    let world = Setting::new(ONE).await;
    let faults = world.sandbox.script().unwrap().faults();
    let client = client(&world.sandbox).await;
    let which = || Which::path("/api/v1/namespaces/default/configmaps");
    for (failure, code, body) in [
        (Failure::throttled(3), 429, "Too many requests, please try again later.\n"),
        (Failure::unavailable("later").with_retry_after(3), 503, "\"retryAfterSeconds\":3"),
    ] {
        faults.add(Fault::once(which(), Effect::Answer(When::Before, failure)));
        let (status, headers, text) = raw(&client, "/api/v1/namespaces/default/configmaps", "application/json").await;
        assert_eq!((status, headers["retry-after"].to_str().unwrap()), (code, "3"));
        assert!(text.contains(body), "{text}");
    }
    world.close().await;
}

#[tokio::test]
async fn connections_are_reset_before_and_after_the_work_and_in_the_middle_of_a_body() {
    let world = Setting::new(ONE).await;
    let script = world.sandbox.script().unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client(&world.sandbox).await, "default");
    let create = Which::new("create", "configmaps").user("sliceform");
    for (when, is_there) in [(When::Before, false), (When::After, true)] {
        script.faults().add(Fault::once(create.clone(), Effect::Reset(when)));
        assert!(is_cut(api.create(&PostParams::default(), &map("m")).await));
        assert_eq!(api.get_opt("m").await.unwrap().is_some(), is_there, "{when:?}");
    }
    script.faults().add(Fault::once(Which::new("list", "configmaps"), Effect::Cut(100)).times(2));
    for _ in 0..2 {
        assert!(is_cut(api.list(&ListParams::default()).await));
    }
    assert_eq!(api.list(&ListParams::default().fields("metadata.name=m")).await.unwrap().items.len(), 1);
    let writes = script.calls().all().iter().filter(|call| call.user == "sliceform" && call.has_written()).count();
    assert_eq!(writes, 1, "one of the creations was done");
    world.close().await;
}

#[tokio::test]
async fn slowness_is_in_the_hands_of_the_test() {
    let world = Setting::new(ONE).await;
    let faults = world.sandbox.script().unwrap().faults();
    let api: Api<ConfigMap> = Api::namespaced(client(&world.sandbox).await, "default");
    for (when, is_there) in [(When::Before, false), (When::After, true)] {
        let gate = Gate::default();
        faults.add(Fault::once(Which::new("create", "configmaps"), Effect::Wait(when, gate.clone())));
        let (params, object) = (PostParams::default(), map(&format!("{when:?}").to_lowercase()));
        let create = api.create(&params, &object);
        let look = async {
            gate.arrived(1).await;
            let found = api.get_opt(object.metadata.name.as_deref().unwrap()).await.unwrap();
            gate.open();
            found.is_some()
        };
        let (created, found) = futures::join!(create, look);
        created.unwrap();
        assert_eq!(found, is_there, "{when:?}");
    }
    world.close().await;
}

#[tokio::test]
async fn a_request_that_hangs_ends_with_its_client_or_the_server() {
    let world = Setting::new(ONE).await;
    let faults = world.sandbox.script().unwrap().faults().clone();
    let api: Api<ConfigMap> = Api::namespaced(client(&world.sandbox).await, "default");
    faults.add(Fault::once(Which::new("get", "configmaps").name("m"), Effect::Hang).times(Fault::ALWAYS));
    {
        let (hung, other) = (api.get("m"), api.get_opt("n"));
        tokio::pin!(hung);
        let other = tokio::select! {
            answer = &mut hung => unreachable!("{answer:?}"),
            other = other => other.unwrap(),
        };
        assert!(other.is_none(), "others are answered");
    }
    let hung = tokio::spawn(async move { api.get("m").await });
    while faults.struck() < 2 {
        tokio::task::yield_now().await;
    }
    world.close().await;
    assert!(is_cut(hung.await.unwrap()));
}

#[tokio::test]
async fn watches_fail_expire_and_break_off() {
    let world = Setting::new(ONE).await;
    let script = world.sandbox.script().unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client(&world.sandbox).await, "default");
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let watch = async || api.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    let which = || Which::new("watch", "configmaps").user("sliceform");

    let gone = Failure::expired("too old resource version: 1 (2)");
    script.faults().add(Fault::once(which(), Effect::FailWatch(gone)));
    let events: Vec<_> = watch().await.try_collect().await.unwrap();
    assert!(matches!(&events[..], [WatchEvent::Error(status)] if status.code == 410), "{events:?}");

    api.create(&PostParams::default(), &map("m")).await.unwrap();
    script.faults().add(Fault::once(which(), Effect::Cut(40)));
    assert!(watch().await.next().await.is_none_or(|event| event.is_err()), "the first event does not arrive");

    let mut open = watch().await;
    assert!(matches!(open.try_next().await.unwrap(), Some(WatchEvent::Added(_))));
    script.forget_history();
    let events: Vec<_> = watch().await.try_collect().await.unwrap();
    assert!(matches!(&events[..], [WatchEvent::Error(status)] if status.code == 410), "{events:?}");
    let label = Patch::Merge(serde_json::json!({"metadata": {"labels": {"a": "b"}}}));
    api.patch("m", &PatchParams::default(), &label).await.unwrap();
    assert!(matches!(open.try_next().await.unwrap(), Some(WatchEvent::Modified(_))), "who was up to date goes on");
    drop(open);
    world.close().await;
}

#[tokio::test]
async fn pages_expire_with_a_token_that_goes_on() {
    let world = Setting::new(ONE).await;
    let script = world.sandbox.script().unwrap();
    let client = client(&world.sandbox).await;
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    for name in ["a", "b", "c"] {
        api.create(&PostParams::default(), &map(name)).await.unwrap();
    }
    let first = api.list(&ListParams::default().limit(2)).await.unwrap();
    let token = first.metadata.continue_.unwrap();
    api.delete("c", &DeleteParams::default()).await.unwrap();
    script.forget_history();
    let path = |token: &str| format!("/api/v1/namespaces/default/configmaps?limit=2&continue={token}");
    let (status, _, text) = raw(&client, &path(&token), "application/json").await;
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, answer["reason"].as_str().unwrap()), (410, "Expired"), "{text}");
    let (status, _, text) =
        raw(&client, &path(answer["metadata"]["continue"].as_str().unwrap()), "application/json").await;
    assert!(status == 200 && !text.contains("\"name\":\"c\""), "the rest as it is now: {text}");
    world.close().await;
}

#[tokio::test]
async fn an_aggregated_api_that_is_down_is_listed_and_does_not_answer() {
    let world = Setting::new(ONE).await;
    let faults = world.sandbox.script().unwrap().faults();
    let client = client(&world.sandbox).await;
    faults.set_available("metrics.k8s.io", "v1beta1", false);
    let groups = client.list_api_groups().await.unwrap();
    assert!(groups.groups.iter().any(|group| group.name == "metrics.k8s.io"));
    for path in ["/apis/metrics.k8s.io/v1beta1", "/apis/metrics.k8s.io/v1beta1/nodes"] {
        let (status, _, text) = raw(&client, path, "application/json").await;
        assert_eq!((status, text.as_str()), (503, "service unavailable\n"), "{path}");
    }
    let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let (_, _, text) = raw(&client, "/apis", aggregated).await;
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    let group = answer["items"].as_array().unwrap().iter().find(|group| group["metadata"]["name"] == "metrics.k8s.io");
    let stale = serde_json::json!([{"version": "v1beta1", "freshness": "Stale", "resources": []}]);
    assert_eq!(group.unwrap()["versions"], stale);
    faults.set_available("metrics.k8s.io", "v1beta1", true);
    assert_eq!(raw(&client, "/apis/metrics.k8s.io/v1beta1", "application/json").await.0, 404);
    world.close().await;
}
