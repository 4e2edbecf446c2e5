//! Watches of another server's objects, that keep the copy of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::StreamExt;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::mirror::{self, Mirror};
use crate::cluster::{GROUP_VERSION, KIND};

/// Follows nodes, pods and the commands that are given to nodes. Returns when all that there are have been seen.
pub(super) async fn begin(client: &Client, mirror: &Arc<Mirror>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let (group, version) = GROUP_VERSION.split_once('/').unwrap_or_default();
    let kinds = [("", "v1", "Node"), ("", "v1", "Pod"), (group, version, KIND)];
    let mut seen = Vec::new();
    for (group, version, kind) in kinds {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let (told, ready) = oneshot::channel();
        tasks.spawn(follow(client.clone(), mirror.clone(), resource, told));
        seen.push(ready);
    }
    for ready in seen {
        // A watch that ends before it has begun has panicked, which is our own bug.
        let _ = ready.await;
    }
    tasks
}

async fn follow(client: Client, mirror: Arc<Mirror>, resource: ApiResource, told: oneshot::Sender<()>) {
    let api: Api<DynamicObject> = Api::all_with(client, &resource);
    let mut events = Box::pin(watch(api, watcher::Config::default()).default_backoff());
    let (mut told, mut listed) = (Some(told), BTreeSet::new());
    while let Some(event) = events.next().await {
        // It begins again by itself, later each time.
        let Ok(event) = event else { continue };
        match event {
            Event::Init => listed.clear(),
            Event::InitApply(object) => {
                let object = whole(&resource, object);
                listed.extend(mirror::key(&object));
                mirror.put(object);
            }
            Event::InitDone => {
                if let Some(resource) = mirror::resource(&resource.kind) {
                    mirror.keep_only(resource, &listed);
                }
                if let Some(told) = told.take() {
                    let _ = told.send(());
                }
            }
            Event::Apply(object) => mirror.put(whole(&resource, object)),
            Event::Delete(object) => mirror.remove(whole(&resource, object)),
        }
    }
}

/// The object with its kind, which lists leave out.
fn whole(resource: &ApiResource, object: DynamicObject) -> Value {
    let mut object = serde_json::to_value(object).expect("an object has only text keys, so it is always JSON");
    object["apiVersion"] = resource.api_version.as_str().into();
    object["kind"] = resource.kind.as_str().into();
    object
}
