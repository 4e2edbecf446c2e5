//! Watching.

use futures::{StreamExt, TryStreamExt};
use kube::api::{DynamicObject, Patch, WatchEvent, WatchParams};
use kube::runtime::watcher;
use serde_json::json;

use crate::cluster::{Cluster, config_map, create};

fn shown(event: &WatchEvent<DynamicObject>) -> String {
    let name = |object: &DynamicObject| object.metadata.name.clone().unwrap();
    match event {
        WatchEvent::Added(object) => format!("+{}", name(object)),
        WatchEvent::Modified(object) => format!("~{}", name(object)),
        WatchEvent::Deleted(object) => format!("-{}", name(object)),
        WatchEvent::Bookmark(_) => "bookmark".to_owned(),
        WatchEvent::Error(status) => format!("error {}", status.code),
    }
}

pub(crate) async fn a_watch_goes_on_where_a_list_ended(cluster: &Cluster) {
    let api = cluster.config_maps();
    create(&api, config_map("before", json!({}))).await;
    let list = api.list(&Default::default()).await.unwrap();
    let version = list.metadata.resource_version.unwrap();
    create(&api, config_map("between", json!({}))).await;
    let mut events = api.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    assert_eq!(shown(&events.try_next().await.unwrap().unwrap()), "+between");
    api.patch("before", &Default::default(), &Patch::Merge(json!({"data": {"k": "1"}}))).await.unwrap();
    assert_eq!(shown(&events.try_next().await.unwrap().unwrap()), "~before");
    api.delete("between", &Default::default()).await.unwrap();
    assert_eq!(shown(&events.try_next().await.unwrap().unwrap()), "-between");
}

pub(crate) async fn selectors_turn_changes_into_comings_and_goings(cluster: &Cluster) {
    let api = cluster.config_maps();
    let version = api.list(&Default::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut events = api.watch(&WatchParams::default().labels("app=x"), &version).await.unwrap().boxed();
    create(&api, config_map("m", json!({}))).await;
    let label = |value: serde_json::Value| Patch::Merge(json!({"metadata": {"labels": {"app": value}}}));
    api.patch("m", &Default::default(), &label(json!("x"))).await.unwrap();
    assert_eq!(shown(&events.try_next().await.unwrap().unwrap()), "+m");
    api.patch("m", &Default::default(), &label(json!(null))).await.unwrap();
    assert_eq!(shown(&events.try_next().await.unwrap().unwrap()), "-m");
}

pub(crate) async fn a_watch_ends_in_time(cluster: &Cluster) {
    let api = cluster.config_maps();
    let version = api.list(&Default::default()).await.unwrap().metadata.resource_version.unwrap();
    let params = WatchParams::default().timeout(1).fields("metadata.name=nothing");
    let events: Vec<_> = api.watch(&params, &version).await.unwrap().try_collect().await.unwrap();
    let kinds: Vec<String> = events.iter().map(shown).collect();
    assert!(kinds.iter().all(|kind| kind == "bookmark"), "{kinds:?}");
}

pub(crate) async fn the_watcher_of_kube_follows(cluster: &Cluster) {
    let api = cluster.config_maps();
    create(&api, config_map("m", json!({}))).await;
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let mut events = watcher(api.clone(), config.fields("metadata.name=m")).boxed();
        loop {
            match events.try_next().await.unwrap().unwrap() {
                watcher::Event::InitApply(object) => assert_eq!(object.metadata.name.as_deref(), Some("m")),
                watcher::Event::InitDone => break,
                watcher::Event::Init => {}
                other => panic!("{other:?}"),
            }
        }
        api.patch("m", &Default::default(), &Patch::Merge(json!({"metadata": {"labels": {"x": "y"}}}))).await.unwrap();
        let event = events.try_next().await.unwrap().unwrap();
        assert!(matches!(event, watcher::Event::Apply(_)), "{event:?}");
        api.patch("m", &Default::default(), &Patch::Merge(json!({"metadata": {"labels": null}}))).await.unwrap();
    }
}
