//! The pods of a workload: watched while its roll-out is waited for, so that one that cannot come up ends the wait.

use std::{collections::BTreeMap, future::pending, pin::pin, time::Duration};

use futures::StreamExt;
use kube::{
    core::DynamicObject,
    runtime::watcher::{self, Event},
};
use providers_api::{Call, ProviderError};
use serde_json::Value as Json;
use tokio::time::Instant;

use super::{
    Cluster,
    discovery::Lookup,
    watch::{delay, passes},
};
use crate::object::{
    key::ObjectKey,
    pod::{Heals, Trouble, trouble},
    readiness::generation,
};

/// The longest that a trouble which may pass is waited out: what the kubelet tries again, it has then tried three times.
const PATIENCE: Duration = Duration::from_secs(60);

/// Until it is asked again which pods are new, where the controller had not got to it.
const AGAIN: Duration = Duration::from_secs(1);

/// How pods are found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Selector {
    Labels(String),
    Name(String),
}

/// An object that stands for pods.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    key: ObjectKey,
    uid: String,
    namespace: String,
    selector: Selector,
}

/// A pod that does not come up.
#[derive(Clone, Debug)]
pub(crate) struct FailedPod {
    /// The pod.
    pub(crate) pod: Json,
    /// Why.
    pub(crate) trouble: Trouble,
}

impl Workload {
    /// The workload that a live object is; `None`: it stands for no pods.
    pub(crate) fn of(key: &ObjectKey, live: &Json) -> Option<Self> {
        let group = key.api_version.split_once('/').map_or("", |(group, _)| group);
        let selector = match (group, key.kind.as_str()) {
            ("", "Pod") => Selector::Name(key.name.clone()),
            ("", "ReplicationController") => Selector::Labels(labels(live.pointer("/spec/selector")?)),
            ("apps", "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet") | ("batch", "Job") => {
                Selector::Labels(selector(live.pointer("/spec/selector")?))
            }
            _ => return None,
        };
        let text = |pointer: &str| live.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
        let namespace = text("/metadata/namespace")?;
        Some(Self { key: key.clone(), uid: text("/metadata/uid")?, namespace, selector })
    }

    /// The namespace of the pods.
    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The query that lists the pods.
    pub(super) fn query(&self) -> (&'static str, String) {
        match &self.selector {
            Selector::Labels(labels) => ("labelSelector", labels.clone()),
            Selector::Name(name) => ("fieldSelector", format!("metadata.name={name}")),
        }
    }

    fn watched(&self) -> watcher::Config {
        match &self.selector {
            Selector::Labels(labels) => watcher::Config::default().labels(labels),
            Selector::Name(name) => watcher::Config::default().fields(&format!("metadata.name={name}")),
        }
    }

    /// The trouble of a pod that counts for this workload: that pods of a Job crash is the Job's to judge, by its
    /// `backoffLimit`.
    fn trouble(&self, pod: &Json) -> Option<Trouble> {
        trouble(pod).filter(|trouble| self.key.kind != "Job" || trouble.reason != "CrashLoopBackOff")
    }
}

/// `matchLabels` and `matchExpressions` as a query spells them.
fn selector(selector: &Json) -> String {
    let mut parts = Vec::new();
    if let Some(equal) = selector.get("matchLabels").map(labels).filter(|equal| !equal.is_empty()) {
        parts.push(equal);
    }
    for one in selector.get("matchExpressions").and_then(Json::as_array).into_iter().flatten() {
        let key = one.get("key").and_then(Json::as_str).unwrap_or_default();
        let values = one.get("values").and_then(Json::as_array).into_iter().flatten();
        let values = values.filter_map(Json::as_str).collect::<Vec<_>>().join(",");
        parts.push(match one.get("operator").and_then(Json::as_str).unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    parts.join(",")
}

fn labels(labels: &Json) -> String {
    let pairs = labels.as_object().into_iter().flatten();
    let pairs = pairs.filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    pairs.collect::<Vec<_>>().join(",")
}

impl Cluster {
    /// Ends when a pod of the workload, of its newest version, does not come up and will not by itself. Never ends where
    /// none does, or where pods cannot be watched: then only the workload itself tells.
    ///
    /// What may pass by itself is waited out for a quarter of the whole time, at most [`PATIENCE`].
    pub(crate) async fn until_a_pod_fails(&self, workload: &Workload, timeout: Duration, call: Call<'_>) -> FailedPod {
        match self.watch_pods(workload, PATIENCE.min(timeout / 4), call).await {
            Ok(failed) => failed,
            Err(_) => pending().await,
        }
    }

    async fn watch_pods(
        &self,
        workload: &Workload,
        patience: Duration,
        call: Call<'_>,
    ) -> Result<FailedPod, ProviderError> {
        let Lookup::Served(pods) = self.kind("v1", "Pod", call).await? else { return pending().await };
        let api = self.objects(&pods, Some(&workload.namespace)).await?;
        let mut events = pin!(watcher::watcher(api, workload.watched()));
        let what = format!("the pods of {}", workload.key);
        let mut troubled: BTreeMap<String, (FailedPod, Instant)> = BTreeMap::new();
        let mut failures = 0;
        loop {
            let due = troubled.iter().min_by_key(|(_, (_, due))| *due).map(|(name, (_, due))| (name.clone(), *due));
            let next = tokio::select! {
                next = events.next() => next,
                () = until(due.as_ref().map(|(_, due)| *due)) => {
                    let Some((name, _)) = due else { continue };
                    let (failed, _) = troubled[&name].clone();
                    match self.is_new(workload, &failed.pod, call).await? {
                        Some(true) => return Ok(failed),
                        // Pods of an older version go anyway.
                        Some(false) => drop(troubled.remove(&name)),
                        None => drop(troubled.insert(name, (failed, Instant::now() + AGAIN))),
                    }
                    continue;
                }
            };
            match next {
                Some(Ok(Event::Apply(pod) | Event::InitApply(pod))) => {
                    failures = 0;
                    let pod = json(&pod);
                    let name = name(&pod);
                    match workload.trouble(&pod) {
                        None => drop(troubled.remove(&name)),
                        Some(trouble) => {
                            let now = Instant::now();
                            let due = match (trouble.heals, troubled.get(&name)) {
                                (Heals::Never, _) => now,
                                (Heals::Perhaps, Some((_, due))) => *due,
                                (Heals::Perhaps, None) => now + patience,
                            };
                            troubled.insert(name, (FailedPod { pod, trouble }, due));
                        }
                    }
                }
                Some(Ok(Event::Delete(pod))) => drop(troubled.remove(&name(&json(&pod)))),
                Some(Ok(Event::Init)) => troubled.clear(),
                Some(Ok(Event::InitDone)) => {}
                Some(Err(error)) => {
                    let error = self.watch_failed(&what, &error);
                    if !passes(&error) {
                        return Err(error);
                    }
                    failures += 1;
                    tokio::time::sleep(delay(&error, failures)).await;
                }
                None => return pending().await,
            }
        }
    }

    /// Is a pod of the workload's newest version? `None`: its controller has not got to that version yet.
    async fn is_new(&self, workload: &Workload, pod: &Json, call: Call<'_>) -> Result<Option<bool>, ProviderError> {
        let owner = |uid: &str| {
            let owners = pod.pointer("/metadata/ownerReferences").and_then(Json::as_array).into_iter().flatten();
            owners.into_iter().find(|owner| uid.is_empty() || owner.get("uid").and_then(Json::as_str) == Some(uid))
        };
        let revised = matches!(workload.key.kind.as_str(), "DaemonSet" | "Deployment" | "StatefulSet");
        if !revised {
            return Ok(Some(workload.key.kind == "Pod" || owner(&workload.uid).is_some()));
        }
        let Some(kind) = self.kind_of(&workload.key, call).await? else { return Ok(None) };
        let Some(live) = self.get(&kind, &workload.key, call).await? else { return Ok(None) };
        let observed = live.pointer("/status/observedGeneration").and_then(Json::as_i64);
        if observed < generation(&live) {
            return Ok(None);
        }
        match workload.key.kind.as_str() {
            "StatefulSet" => {
                let newest = live.pointer("/status/updateRevision").and_then(Json::as_str);
                Ok(Some(owner(&workload.uid).is_some() && hash(pod) == newest))
            }
            "DaemonSet" => {
                let newest = self.newest_revision(workload, call).await?;
                Ok(Some(owner(&workload.uid).is_some() && (newest.is_none() || hash(pod) == newest.as_deref())))
            }
            _ => {
                let Some(set) = owner("").and_then(|owner| owner.get("name")?.as_str()) else { return Ok(Some(false)) };
                let set = ObjectKey {
                    api_version: workload.key.api_version.clone(),
                    kind: "ReplicaSet".to_owned(),
                    namespace: Some(workload.namespace.clone()),
                    name: set.to_owned(),
                };
                let Some(kind) = self.kind_of(&set, call).await? else { return Ok(Some(false)) };
                let set = self.get(&kind, &set, call).await?;
                let revision = |object: &Json| {
                    let annotations = object.pointer("/metadata/annotations");
                    annotations.and_then(|all| all.get("deployment.kubernetes.io/revision")).cloned()
                };
                Ok(Some(set.is_some_and(|set| revision(&set) == revision(&live))))
            }
        }
    }

    /// The hash of the newest version of a DaemonSet: only its ControllerRevisions know.
    async fn newest_revision(&self, workload: &Workload, call: Call<'_>) -> Result<Option<String>, ProviderError> {
        let Lookup::Served(kind) = self.kind("apps/v1", "ControllerRevision", call).await? else { return Ok(None) };
        let listed = self.list(&kind, Some(&workload.namespace), &[workload.query()], call).await?;
        let owned = |one: &Json| {
            let owners = one.pointer("/metadata/ownerReferences").and_then(Json::as_array).into_iter().flatten();
            owners.into_iter().any(|owner| owner.get("uid").and_then(Json::as_str) == Some(&workload.uid))
        };
        let own = listed.unwrap_or_default().into_iter().filter(owned);
        let newest = own.max_by_key(|one| one.get("revision").and_then(Json::as_i64));
        Ok(newest.and_then(|one| hash(&one).map(str::to_owned)))
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => pending().await,
    }
}

fn hash(object: &Json) -> Option<&str> {
    object.pointer("/metadata/labels")?.get("controller-revision-hash")?.as_str()
}

fn name(pod: &Json) -> String {
    pod.pointer("/metadata/name").and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn json(pod: &DynamicObject) -> Json {
    serde_json::to_value(pod).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_spelled_as_queries() {
        let given = json!({"matchLabels": {"a": "b", "c": "d"}, "matchExpressions": [
            {"key": "e", "operator": "In", "values": ["f", "g"]}, {"key": "h", "operator": "NotIn", "values": ["i"]},
            {"key": "j", "operator": "Exists"}, {"key": "k", "operator": "DoesNotExist"}]});
        assert_eq!(selector(&given), "a=b,c=d,e in (f,g),h notin (i),j,!k");
    }

    #[test]
    fn only_workloads_have_pods() {
        let metadata = json!({"name": "a", "namespace": "n", "uid": "u"});
        for (api_version, kind, expected) in [
            ("apps/v1", "Deployment", Some(("labelSelector", "a=b".to_owned()))),
            ("v1", "Pod", Some(("fieldSelector", "metadata.name=a".to_owned()))),
            ("example.com/v1", "Deployment", None),
            ("v1", "ConfigMap", None),
        ] {
            let live = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata,
                "spec": {"selector": {"matchLabels": {"a": "b"}}}});
            let key = ObjectKey::of(&live).unwrap();
            assert_eq!(Workload::of(&key, &live).map(|workload| workload.query()), expected, "{kind}");
        }
    }
}
