//! Namespaces.

use kube::api::DeleteParams;
use serde_json::json;

use crate::cluster::{Cluster, config_map, create, get, object, refusal};

async fn until_gone(api: &kube::Api<kube::api::DynamicObject>, name: &str) {
    let uid = match api.get_opt(name).await.unwrap() {
        Some(object) => object.metadata.uid.unwrap(),
        None => return,
    };
    let gone = kube::runtime::conditions::is_deleted(&uid);
    kube::runtime::wait::await_condition(api.clone(), name, gone).await.unwrap();
}

pub(crate) async fn a_new_namespace_is_complete(cluster: &Cluster) {
    let namespaces = cluster.global("", "v1", "Namespace");
    let made =
        create(&namespaces, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fresh"}})).await;
    assert_eq!(made["status"]["phase"], "Active");
    assert_eq!(made["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(made["metadata"]["labels"]["kubernetes.io/metadata.name"], "fresh");
    let accounts: kube::Api<k8s_openapi::api::core::v1::ServiceAccount> =
        kube::Api::namespaced(cluster.client.clone(), "fresh");
    let there = |account: Option<&k8s_openapi::api::core::v1::ServiceAccount>| account.is_some();
    kube::runtime::wait::await_condition(accounts, "default", there).await.unwrap();
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        assert_eq!(get(&namespaces, name).await["status"]["phase"], "Active");
    }
    namespaces.delete("fresh", &DeleteParams::default()).await.unwrap();
    until_gone(&namespaces, "fresh").await;
}

pub(crate) async fn deletion_empties_it(cluster: &Cluster) {
    let namespaces = cluster.global("", "v1", "Namespace");
    create(&namespaces, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}})).await;
    let resource = crate::cluster::resource("", "v1", "ConfigMap");
    let maps: kube::Api<kube::api::DynamicObject> =
        kube::Api::namespaced_with(cluster.client.clone(), "old", &resource);
    let mut held = config_map("held", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&maps, held).await;
    create(&maps, config_map("plain", json!({}))).await;
    namespaces.delete("old", &DeleteParams::default()).await.unwrap();
    until_gone(&maps, "plain").await;
    let terminating = get(&namespaces, "old").await;
    assert_eq!(terminating["status"]["phase"], "Terminating");
    let late = maps.create(&Default::default(), &object(config_map("late", json!({})))).await;
    let (code, _, message) = refusal(late);
    assert_eq!(code, 403);
    assert!(message.contains("because it is being terminated"), "{message}");
    let release = kube::api::Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("held", &Default::default(), &release).await.unwrap();
    until_gone(&namespaces, "old").await;
    let (code, reason, _) = refusal(namespaces.delete("kube-system", &DeleteParams::default()).await);
    assert_eq!((code, reason.as_str()), (403, "Forbidden"));
}

pub(crate) async fn nothing_is_created_in_one_that_is_missing(cluster: &Cluster) {
    let resource = crate::cluster::resource("", "v1", "ConfigMap");
    let maps: kube::Api<kube::api::DynamicObject> =
        kube::Api::namespaced_with(cluster.client.clone(), "nowhere", &resource);
    let (code, reason, message) = refusal(maps.create(&Default::default(), &object(config_map("m", json!({})))).await);
    assert_eq!((code, reason.as_str(), message.as_str()), (404, "NotFound", "namespaces \"nowhere\" not found"));
    let dry = kube::api::PatchParams::apply("a").dry_run();
    let applied = maps.patch("m", &dry, &kube::api::Patch::Apply(config_map("m", json!({})))).await;
    assert_eq!(refusal(applied).0, 404);
}
