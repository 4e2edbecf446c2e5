//! Events, as the parts of a cluster tell them: one object for the same thing said of the same object, with a count. They
//! go after an hour.

use http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Cluster;
use super::hands::Part;
use crate::store::Key;

/// How long an event is kept, in seconds: as long as API servers keep them.
const KEPT: i64 = 3600;

impl Cluster {
    /// Says something of an object. That it cannot be said (its namespace goes) is no trouble.
    pub(super) fn event(&self, part: Part, about: &Value, kind: &str, reason: &str, message: &str) {
        let metadata = &about["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default();
        let namespace = if text("namespace").is_empty() { "default" } else { text("namespace") };
        let digest = Sha256::new()
            .chain_update(text("uid"))
            .chain_update(reason)
            .chain_update([0])
            .chain_update(message)
            .finalize();
        let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}.{digest}", text("name"));
        let now = self.time();
        let collection = format!("/api/v1/namespaces/{namespace}/events");
        let known = self.ground.store.read().get(&Key::new("events", namespace, &name)).cloned();
        if let Some(known) = known {
            let count = known["count"].as_i64().unwrap_or(1) + 1;
            let patch = json!({"count": count, "lastTimestamp": now});
            let _ = self.hands.attempt(part, &Method::PATCH, &format!("{collection}/{name}"), &patch);
            return;
        }
        let component = match (part, about["kind"].as_str()) {
            (Part::Controllers, Some("Deployment")) => "deployment-controller",
            (Part::Controllers, Some("ReplicaSet")) => "replicaset-controller",
            (Part::Controllers, Some("Job")) => "job-controller",
            _ => part.component(),
        };
        let mut event = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {
                "apiVersion": about["apiVersion"], "kind": about["kind"], "namespace": text("namespace"),
                "name": text("name"), "uid": text("uid"), "resourceVersion": text("resourceVersion"),
            },
            "type": kind, "reason": reason, "message": message, "count": 1,
            "firstTimestamp": now, "lastTimestamp": now,
            "source": {"component": component}, "reportingComponent": component, "reportingInstance": "",
        });
        if matches!(part, Part::Scheduler) {
            // It speaks the newer of the two kinds of events, which has no source.
            event["source"] = json!({});
            event["action"] = if reason == "Scheduled" { "Binding".into() } else { "Scheduling".into() };
        }
        let _ = self.hands.attempt(part, &Method::POST, &collection, &event);
    }

    /// Removes what was said too long ago.
    pub(super) fn forget_events(&self) {
        let oldest = self.timestamp().as_second() - KEPT;
        let is_old = |event: &Value| {
            let said = event["lastTimestamp"].as_str().and_then(|time| time.parse::<jiff::Timestamp>().ok());
            said.is_some_and(|said| said.as_second() < oldest)
        };
        let old: Vec<Key> = {
            let read = self.ground.store.read();
            read.list("events").filter(|(_, event)| is_old(event)).map(|(key, _)| key.clone()).collect()
        };
        for key in old {
            let path = format!("/api/v1/namespaces/{}/events/{}", key.namespace, key.name);
            self.hands.delete(Part::Commands, &path, &json!({}));
        }
    }
}
