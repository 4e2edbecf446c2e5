//! A server that goes away, and one that does not answer.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, PostParams};
use tests::control_plane::{ControlPlane, Options};

#[tokio::test]
async fn the_server_restarts_hangs_and_keeps_what_it_had() {
    let Some(plane) = ControlPlane::alone(Options::default()).await else { return };
    let config_maps: Api<ConfigMap> = Api::namespaced(plane.client().await, "default");
    let metadata = ObjectMeta { name: Some("m".into()), ..ObjectMeta::default() };
    let map = ConfigMap { metadata, ..ConfigMap::default() };
    let made = config_maps.create(&PostParams::default(), &map).await.unwrap();

    plane.kill("kube-apiserver").await;
    let lost = config_maps.get("m").await;
    assert!(!matches!(&lost, Ok(_) | Err(kube::Error::Api(_))), "{lost:?}");
    plane.bring_back("kube-apiserver").await;
    assert_eq!(config_maps.get("m").await.unwrap().metadata.uid, made.metadata.uid);

    plane.freeze("kube-apiserver").await;
    let answer = config_maps.get("m");
    tokio::pin!(answer);
    // However long one waits: an answer within this time would be one.
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut answer).await.is_err());
    plane.thaw("kube-apiserver").await;
    assert_eq!(answer.await.unwrap().metadata.uid, made.metadata.uid);

    plane.restart("kube-apiserver").await;
    assert_eq!(config_maps.get("m").await.unwrap().metadata.uid, made.metadata.uid);
}
