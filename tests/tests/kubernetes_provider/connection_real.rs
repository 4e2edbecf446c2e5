//! Connections to a real API server: what it says of its kinds, the pages of its lists, and its restart.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, PostParams};
use providers_api::{ReadAnswer, ReadRequest};
use providers_kubernetes::Environment;
use serde_json::json;
use tests::control_plane::{ControlPlane, Options};
use tokio::task::JoinSet;

use crate::{
    connection::{Line, environment},
    world::{World, addr},
};

#[tokio::test(flavor = "multi_thread")]
async fn p39_a_refresh_asks_a_real_server_for_kinds_and_pages_and_for_nothing_else() {
    let Some(plane) = ControlPlane::alone(Options::default()).await else { return };
    let (world, user) = (World::new().await, plane.user("refresher", &["system:masters"]).await);
    let client = plane.client().await;
    let mut requests = Vec::new();
    for namespace in ["one", "two", "three"] {
        plane.namespace(namespace).await;
        let mut made = JoinSet::new();
        for number in 0..200 {
            let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
            let name = format!("m-{number}");
            let map =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}});
            requests.push(ReadRequest {
                addr: addr("kubernetes_manifest"),
                object: world.manifest(map),
                private: Vec::new(),
            });
            let metadata = ObjectMeta { name: Some(name), ..ObjectMeta::default() };
            made.spawn(async move {
                api.create(&PostParams::default(), &ConfigMap { metadata, ..ConfigMap::default() }).await
            });
        }
        while let Some(made) = made.join_next().await {
            made.unwrap().unwrap();
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let line = async || {
        let environment = environment(dir.path(), &[("KUBECONFIG", user.to_str().unwrap())]);
        Line::new(Environment { cache: Some(dir.path().join("cache")), ..environment }, &[]).await
    };
    let whole = |answers: &[ReadAnswer]| {
        assert_eq!(answers.len(), 600);
        assert!(answers.iter().all(|answer| matches!(answer, ReadAnswer::Object(_))));
    };
    for run in 1..=2 {
        let before = plane.requests_of("refresher").len();
        whole(&line().await.read(requests.clone()).await);
        let asked: Vec<String> =
            plane.requests_of("refresher").into_iter().skip(before).map(|asked| asked.uri).collect();
        let lists: Vec<&String> = asked.iter().filter(|uri| uri.starts_with("/api/v1/configmaps?limit=500")).collect();
        assert_eq!(lists.len(), 2, "{run}: {asked:?}");
        assert!(asked.iter().all(|uri| lists.contains(&uri) || uri == "/api" || uri == "/apis"), "{run}: {asked:?}");
    }
    // The server named what it said by a tag, and it was kept.
    let kept = std::fs::read_dir(dir.path().join("cache")).unwrap().next().unwrap().unwrap().path();
    for name in ["discovery~api.json", "discovery~apis.json"] {
        assert!(kept.join(name).exists(), "{name}");
    }
    // It goes away and comes back: with a line that has been used, the wait is part of the read.
    let line = line().await;
    line.identity().await.unwrap();
    let ((), answers) = tokio::join!(plane.restart("kube-apiserver"), line.read(requests.clone()));
    whole(&answers);
}
