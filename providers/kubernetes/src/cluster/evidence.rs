//! Why is an object not as it should be? Its last events, and of pods that do not come up the last lines that they wrote.
//!
//! For people, beside an error: bounded, and what cannot be read is left out or said. What Secrets hold that such a pod
//! uses is blotted out; where they cannot be read, its lines are not shown at all.

use std::time::Duration;

use base64::Engine;
use futures::AsyncReadExt;
use http::Request;
use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use super::{
    Cluster,
    discovery::{Kind, Lookup},
    pods::{FailedPod, Workload},
};
use crate::{
    object::{
        key::ObjectKey,
        pod::{secrets, trouble},
    },
    uri::encoded,
};

/// All of it together takes no longer.
const PATIENCE: Duration = Duration::from_secs(15);
/// Events, pods, lines that are shown; Secrets that are read to blot out.
const EVENTS: usize = 5;
const PODS: usize = 3;
const LINES: usize = 10;
const SECRETS: usize = 20;
/// Bytes of a log that are read, and characters of a line that are shown.
const LOG_BYTES: usize = 16 * 1024;
const LINE: usize = 300;

impl Cluster {
    /// What tells why an object is not as it should be, as lines; empty where nothing does.
    pub(crate) async fn evidence(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        failed: Option<&FailedPod>,
        call: Call<'_>,
    ) -> String {
        let gathered = tokio::time::timeout(PATIENCE, self.gather(kind, key, failed, call)).await;
        gathered.unwrap_or_default().concat()
    }

    async fn gather(&self, kind: &Kind, key: &ObjectKey, failed: Option<&FailedPod>, call: Call<'_>) -> Vec<String> {
        let mut found = Vec::new();
        let Ok(Some(live)) = self.get(kind, key, call).await else { return found };
        found.extend(self.events(&key.to_string(), &live, call).await);
        let Some(workload) = Workload::of(key, &live) else { return found };
        for pod in self.pods_to_show(&workload, failed, call).await {
            let name = told(&pod, "/metadata/name");
            found.push(format!("\n{}", state(&pod)));
            if key.kind != "Pod" {
                found.extend(self.events(&format!("pod {name}"), &pod, call).await);
            }
            found.extend(self.last_lines(workload.namespace(), &pod, call).await);
        }
        found
    }

    /// The last events of an object.
    async fn events(&self, what: &str, object: &Json, call: Call<'_>) -> Option<String> {
        let Ok(Lookup::Served(events)) = self.kind("v1", "Event", call).await else { return None };
        let namespace = object.pointer("/metadata/namespace").and_then(Json::as_str).unwrap_or("default");
        let uid = told(object, "/metadata/uid");
        let query = ("fieldSelector", format!("involvedObject.uid={uid}"));
        let mut listed = self.some(&events, Some(namespace), Some(query), call).await?;
        listed.sort_by_key(time);
        let last = &listed[listed.len().saturating_sub(EVENTS)..];
        if last.is_empty() {
            return None;
        }
        let line = |event: &Json| {
            let count = event.get("count").or_else(|| event.pointer("/series/count")).and_then(Json::as_u64);
            let times = count.filter(|count| *count > 1).map_or(String::new(), |count| format!(" ({count} times)"));
            let (ty, reason) = (told(event, "/type"), told(event, "/reason"));
            format!("\n  {ty} {reason}{times}: {}", short(told(event, "/message")))
        };
        Some(format!("\nEvents of {what}:{}", last.iter().map(line).collect::<String>()))
    }

    /// The pod that failed, and others of the workload that are not ready.
    async fn pods_to_show(&self, workload: &Workload, failed: Option<&FailedPod>, call: Call<'_>) -> Vec<Json> {
        let mut shown: Vec<Json> = failed.map(|failed| failed.pod.clone()).into_iter().collect();
        let Ok(Lookup::Served(pods)) = self.kind("v1", "Pod", call).await else { return shown };
        let listed = self.some(&pods, Some(workload.namespace()), Some(workload.query()), call).await;
        let Some(mut listed) = listed else { return shown };
        // Those with a container in trouble tell most.
        listed.sort_by_key(|pod| (trouble(pod).is_none(), told(pod, "/metadata/name").to_owned()));
        let known = shown.first().map(|pod| told(pod, "/metadata/name").to_owned());
        shown.extend(
            listed.into_iter().filter(|pod| !is_well(pod) && Some(told(pod, "/metadata/name")) != known.as_deref()),
        );
        shown.truncate(PODS);
        shown
    }

    /// The last lines that the container wrote that tells most.
    async fn last_lines(&self, namespace: &str, pod: &Json, call: Call<'_>) -> Option<String> {
        let (container, previous) = speaker(pod)?;
        let name = told(pod, "/metadata/name");
        let head = format!("\nLast lines of pod {name}, container {container}");
        let Ok(hidden) = self.values_of_secrets(namespace, pod, call).await else {
            return Some(format!(
                "{head}: not shown, since the Secrets that it uses cannot be read and may be in them"
            ));
        };
        let query = [
            ("container", container.to_owned()),
            ("tailLines", LINES.to_string()),
            ("limitBytes", LOG_BYTES.to_string()),
            ("previous", previous.to_string()),
        ];
        match self.text(&format!("/api/v1/namespaces/{namespace}/pods/{name}/log"), &query, call).await {
            Ok(text) => {
                let text = blotted(&text, &hidden);
                let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
                let last = &lines[lines.len().saturating_sub(LINES)..];
                let shown: String = last.iter().map(|line| format!("\n  {}", short(line))).collect();
                Some(if shown.is_empty() {
                    format!("{head}: it has written nothing")
                } else {
                    format!("{head}:{shown}")
                })
            }
            Err(error) => Some(format!("{head}: {}", short(&error.to_string()))),
        }
    }

    /// What the Secrets hold that a pod uses.
    async fn values_of_secrets(&self, namespace: &str, pod: &Json, call: Call<'_>) -> Result<Vec<String>, ()> {
        let names = secrets(pod);
        if names.len() > SECRETS {
            return Err(());
        }
        let mut values = Vec::new();
        for name in names {
            let key = ObjectKey {
                api_version: "v1".to_owned(),
                kind: "Secret".to_owned(),
                namespace: Some(namespace.to_owned()),
                name,
            };
            let Ok(Lookup::Served(kind)) = self.kind("v1", "Secret", call).await else { return Err(()) };
            // One that is not there has no values.
            let Some(secret) = self.get(&kind, &key, call).await.map_err(drop)? else { continue };
            for value in secret.get("data").and_then(Json::as_object).into_iter().flatten().map(|(_, value)| value) {
                let coded = value.as_str().unwrap_or_default();
                let clear = base64::engine::general_purpose::STANDARD.decode(coded).unwrap_or_default();
                let clear = String::from_utf8_lossy(&clear).into_owned();
                values.push(coded.to_owned());
                values.extend(clear.lines().map(|line| line.trim().to_owned()));
                values.push(clear);
            }
        }
        Ok(values)
    }

    /// A text of the API, such as a log.
    async fn text(&self, path: &str, query: &[(&str, String)], call: Call<'_>) -> Result<String, ProviderError> {
        let doing = "cannot read the log";
        let client = self.connection.client().await?;
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let request = Request::get(format!("{path}?{}", query.join("&"))).body(Vec::new());
        let request = request
            .map_err(|error| ProviderError::permanent(format!("{doing}: {path:?} is no path")).caused_by(error))?;
        let read = async {
            let stream = client.request_stream(request).await.map_err(|error| self.connection.error(doing, &error))?;
            let mut text = Vec::new();
            // What was asked for may not be what is sent.
            let read = stream.take(LOG_BYTES as u64).read_to_end(&mut text).await;
            read.map_err(|error| ProviderError::permanent(doing).caused_by(error))?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        tokio::select! {
            text = read => text,
            () = call.cancel.cancelled() => Err(ProviderError::permanent("interrupted")),
        }
    }
}

/// Values that are too short to be told from other text are not looked for.
const SHORTEST: usize = 4;

/// The text without these values.
fn blotted(text: &str, hidden: &[String]) -> String {
    let mut hidden: Vec<&String> = hidden.iter().filter(|value| value.len() >= SHORTEST).collect();
    hidden.sort_by_key(|value| std::cmp::Reverse(value.len()));
    hidden.into_iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), "(sensitive value)"))
}

fn told<'a>(object: &'a Json, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

/// When an event was seen last; times of one form sort as texts.
fn time(event: &Json) -> String {
    ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"]
        .iter()
        .map(|pointer| told(event, pointer))
        .find(|time| !time.is_empty())
        .unwrap_or_default()
        .to_owned()
}

fn short(text: &str) -> String {
    let line = text.trim().replace('\n', " ");
    match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn condition<'a>(pod: &'a Json, ty: &str) -> Option<&'a Json> {
    let conditions = pod.pointer("/status/conditions").and_then(Json::as_array)?;
    conditions.iter().find(|one| told(one, "/type") == ty)
}

fn is_well(pod: &Json) -> bool {
    told(pod, "/status/phase") == "Succeeded"
        || condition(pod, "Ready").is_some_and(|ready| told(ready, "/status") == "True")
}

/// How a pod is, in one line.
fn state(pod: &Json) -> String {
    let name = told(pod, "/metadata/name");
    if let Some(trouble) = trouble(pod) {
        let message = if trouble.message.is_empty() { String::new() } else { format!(": {}", short(&trouble.message)) };
        return format!("Pod {name}: container {} is in {}{message}", trouble.container, trouble.reason);
    }
    let ended = statuses(pod).find(|status| status.pointer("/state/terminated").is_some());
    match ended {
        Some(status) => {
            let code = status.pointer("/state/terminated/exitCode").and_then(Json::as_i64).unwrap_or_default();
            let reason = told(status, "/state/terminated/reason");
            format!("Pod {name}: container {} has ended with {code} ({reason})", told(status, "/name"))
        }
        None => match condition(pod, "PodScheduled").filter(|one| told(one, "/status") == "False") {
            Some(scheduled) => format!("Pod {name} is not scheduled: {}", short(told(scheduled, "/message"))),
            None => format!("Pod {name} is {} and not ready", told(pod, "/status/phase")),
        },
    }
}

fn statuses(pod: &Json) -> impl Iterator<Item = &Json> {
    ["/status/initContainerStatuses", "/status/containerStatuses"]
        .into_iter()
        .flat_map(|field| pod.pointer(field).and_then(Json::as_array).into_iter().flatten())
}

/// The container whose last words tell most: one that crashed (what it wrote before), one that has ended badly, one that
/// runs and is not ready.
fn speaker(pod: &Json) -> Option<(&str, bool)> {
    if let Some(trouble) = trouble(pod) {
        let status = statuses(pod).find(|status| told(status, "/name") == trouble.container)?;
        return trouble.ran.then(|| (told(status, "/name"), true));
    }
    let ended = |status: &&Json| {
        status.pointer("/state/terminated/exitCode").and_then(Json::as_i64).is_some_and(|code| code != 0)
    };
    let waits =
        |status: &&Json| status.pointer("/state/running").is_some() && status.get("ready") != Some(&Json::Bool(true));
    statuses(pod).find(ended).or_else(|| statuses(pod).find(waits)).map(|status| (told(status, "/name"), false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_secrets_hold_is_blotted_out() {
        let hidden = ["hunter2hunter2", "hunter2", "abc"].map(str::to_owned);
        assert_eq!(
            blotted("user abc: password hunter2hunter2 is wrong, hunter2 too", &hidden),
            "user abc: password (sensitive value) is wrong, (sensitive value) too"
        );
    }

    #[test]
    fn the_container_that_tells_most_is_asked() {
        let pod = |status: Json| {
            json!({"metadata": {"name": "p"}, "status": {"phase": "Running", "containerStatuses": [
            {"name": "side", "ready": true, "state": {"running": {}}}, status]}})
        };
        for (status, expected, told) in [
            (
                json!({"name": "a", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}}),
                Some(("a", true)),
                "Pod p: container a is in CrashLoopBackOff: back-off",
            ),
            (
                json!({"name": "a", "state": {"waiting": {"reason": "ImagePullBackOff"}}}),
                None,
                "Pod p: container a is in ImagePullBackOff",
            ),
            (
                json!({"name": "a", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}),
                Some(("a", false)),
                "Pod p: container a has ended with 1 (Error)",
            ),
            (json!({"name": "a", "state": {"running": {}}}), Some(("a", false)), "Pod p is Running and not ready"),
        ] {
            let pod = pod(status);
            assert_eq!(speaker(&pod), expected, "{pod}");
            assert_eq!(state(&pod), told);
        }
    }
}
