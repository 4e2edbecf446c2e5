//! Deployments, replica sets and jobs: what their controllers make of them, and how it fails.

use std::time::Duration;

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Pod, ResourceQuota};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::setting::{FLEET, Setting, phase};

/// The namespace `default` of a world.
struct Workloads {
    world: Setting,
    deployments: Api<Deployment>,
    sets: Api<ReplicaSet>,
    jobs: Api<Job>,
    pods: Api<Pod>,
    events: Api<Event>,
}

fn parse<T: DeserializeOwned>(object: Value) -> T {
    serde_json::from_value(object).unwrap()
}

fn deployment(replicas: i32, image: &str) -> Value {
    json!({
        "metadata": {"name": "web", "annotations": {"note": "n"}},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": image}]},
            },
        },
    })
}

fn job(spec: Value, command: &str) -> Value {
    let mut all = json!({"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1", "command": ["sh", "-c", command]}],
    }}});
    all.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    json!({"metadata": {"name": "work"}, "spec": all})
}

/// `Type=Status Reason`
fn conditions(conditions: &Value) -> Vec<String> {
    let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    let told = |one: &Value| format!("{}={} {}", text(one, "type"), text(one, "status"), text(one, "reason"));
    conditions.as_array().into_iter().flatten().map(told).collect()
}

impl Workloads {
    async fn new() -> Self {
        let world = Setting::new(FLEET).await;
        let client = world.client().await;
        Self {
            deployments: Api::default_namespaced(client.clone()),
            sets: Api::default_namespaced(client.clone()),
            jobs: Api::default_namespaced(client.clone()),
            pods: Api::default_namespaced(client.clone()),
            events: Api::default_namespaced(client),
            world,
        }
    }

    async fn deploy(&self, deployment: Value) {
        self.deployments.create(&PostParams::default(), &parse(deployment)).await.unwrap();
        self.world.settle().await;
    }

    async fn run(&self, job: Value) {
        self.jobs.create(&PostParams::default(), &parse(job)).await.unwrap();
        self.world.settle().await;
    }

    async fn patch(&self, patch: Value) {
        self.deployments.patch("web", &PatchParams::default(), &Patch::Strategic(patch)).await.unwrap();
        self.world.settle().await;
    }

    async fn pass(&self, seconds: u64) {
        self.world.sandbox.script().unwrap().pass(Duration::from_secs(seconds));
        // The alarms go off in the cluster's next turn.
        self.world.settle().await;
        self.world.settle().await;
    }

    async fn image(&self, image: &str) {
        self.patch(json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})).await;
    }

    /// `replicas/updated/ready/available`, and conditions as `Type=Status Reason`.
    async fn told(&self) -> (String, Vec<String>) {
        let status = self.deployments.get("web").await.unwrap().status.unwrap();
        let counts = [status.replicas, status.updated_replicas, status.ready_replicas, status.available_replicas];
        let counts = counts.map(|count| count.unwrap_or(0).to_string()).join("/");
        let mut conditions = conditions(&serde_json::to_value(status.conditions).unwrap());
        conditions.sort();
        (counts, conditions)
    }

    /// `spec.replicas/status.availableReplicas` by revision.
    async fn sets(&self) -> Vec<String> {
        let mut sets: Vec<String> = self
            .sets
            .list(&ListParams::default())
            .await
            .unwrap()
            .into_iter()
            .map(|set| {
                let revision =
                    set.metadata.annotations.unwrap_or_default()["deployment.kubernetes.io/revision"].clone();
                let available = set.status.and_then(|status| status.available_replicas).unwrap_or(0);
                format!("{revision}: {}/{available}", set.spec.replicas.unwrap_or(1))
            })
            .collect();
        sets.sort();
        sets
    }

    async fn pods(&self) -> Vec<Pod> {
        self.pods.list(&ListParams::default()).await.unwrap().items
    }

    /// Why containers wait.
    async fn waiting(&self) -> Vec<String> {
        let waits = |pod: &Pod| {
            let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
            let status = statuses.first()?;
            Some(format!("{} {}", status.state.as_ref()?.waiting.as_ref()?.reason.as_ref()?, status.restart_count))
        };
        self.pods().await.iter().filter_map(waits).collect()
    }

    async fn heard(&self, reason: &str) -> Vec<String> {
        let events = self.events.list(&ListParams::default().fields(&format!("reason={reason}"))).await.unwrap();
        let mut messages: Vec<String> = events.into_iter().filter_map(|event| event.message).collect();
        messages.sort();
        messages
    }

    async fn conditions(&self) -> Vec<String> {
        let status = self.jobs.get("work").await.unwrap().status.unwrap();
        conditions(&serde_json::to_value(status.conditions).unwrap())
    }

    /// `active/succeeded/failed`
    async fn counts(&self) -> String {
        let status = self.jobs.get("work").await.unwrap().status.unwrap();
        [status.active, status.succeeded, status.failed].map(|count| count.unwrap_or(0).to_string()).join("/")
    }
}

const DONE: [&str; 2] = ["Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"];

#[tokio::test]
async fn a_deployment_rolls_out_and_back() {
    let w = Workloads::new().await;
    w.deploy(deployment(3, "example.com/i:1")).await;
    assert_eq!(w.told().await, ("3/3/3/3".to_owned(), DONE.map(str::to_owned).to_vec()));
    assert_eq!(w.sets().await, ["1: 3/3"]);
    let live = w.deployments.get("web").await.unwrap();
    assert_eq!(live.metadata.annotations.unwrap()["deployment.kubernetes.io/revision"], "1");
    assert_eq!(live.status.unwrap().observed_generation, live.metadata.generation);
    let set = w.sets.list(&ListParams::default()).await.unwrap().items.remove(0);
    let hash = set.metadata.labels.unwrap()["pod-template-hash"].clone();
    assert_eq!(set.metadata.name.unwrap(), format!("web-{hash}"));
    assert_eq!(set.metadata.annotations.unwrap()["note"], "n");
    for pod in w.pods().await {
        assert_eq!(pod.metadata.labels.unwrap()["pod-template-hash"], hash);
        assert!(pod.metadata.name.unwrap().starts_with(&format!("web-{hash}-")));
        assert_eq!(phase(&w.pods().await[0]), "Running");
    }
    assert_eq!(w.heard("ScalingReplicaSet").await, [format!("Scaled up replica set web-{hash} from 0 to 3")]);
    assert_eq!(w.heard("SuccessfulCreate").await.len(), 3);
    assert_eq!(w.heard("Started").await.len(), 3);

    w.image("example.com/i:2").await;
    assert_eq!(w.told().await, ("3/3/3/3".to_owned(), DONE.map(str::to_owned).to_vec()));
    assert_eq!(w.sets().await, ["1: 0/0", "2: 3/3"]);
    w.image("example.com/i:1").await;
    assert_eq!(w.sets().await, ["2: 0/0", "3: 3/3"], "an old set is used again");
    w.patch(json!({"spec": {"replicas": 1}})).await;
    assert_eq!(w.told().await.0, "1/1/1/1");
    let one = w.pods().await.remove(0).metadata.name.unwrap();
    w.pods.delete(&one, &DeleteParams::default()).await.unwrap();
    w.world.settle().await;
    let other = w.pods().await.remove(0).metadata.name.unwrap();
    assert_ne!(one, other, "another takes its place");

    w.deployments.delete("web", &DeleteParams::foreground()).await.unwrap();
    w.world.settle().await;
    assert!(w.deployments.get_opt("web").await.unwrap().is_none());
    assert!(w.pods().await.is_empty() && w.sets().await.is_empty());
    w.world.close().await;
}

#[tokio::test]
async fn a_roll_out_that_comes_to_nothing_is_told_at_its_deadline() {
    let w = Workloads::new().await;
    w.deploy(deployment(2, "example.com/i:1")).await;
    w.patch(json!({"spec": {"progressDeadlineSeconds": 60}})).await;
    w.image("registry.invalid/i:2").await;
    let progressing = ["Available=True MinimumReplicasAvailable", "Progressing=True ReplicaSetUpdated"];
    assert_eq!(
        w.told().await,
        ("3/1/2/2".to_owned(), progressing.map(str::to_owned).to_vec()),
        "none of the old may go"
    );
    assert_eq!(w.waiting().await, ["ImagePullBackOff 0"]);
    assert!(
        w.heard("Failed").await.iter().any(|message| message.contains("Failed to pull image \"registry.invalid/i:2\""))
    );
    w.pass(59).await;
    assert_eq!(w.told().await.1, progressing);
    w.pass(2).await;
    let (_, conditions) = w.told().await;
    assert_eq!(conditions[1], "Progressing=False ProgressDeadlineExceeded");
    w.image("example.com/i:3").await;
    assert_eq!(w.told().await, ("2/2/2/2".to_owned(), DONE.map(str::to_owned).to_vec()));
    w.world.close().await;
}

#[tokio::test]
async fn containers_that_crash_are_started_again_ever_later() {
    let w = Workloads::new().await;
    let mut crashing = deployment(1, "example.com/i:1");
    crashing["spec"]["template"]["spec"]["containers"][0]["command"] = json!(["sh", "-c", "exit 3"]);
    w.deploy(crashing).await;
    assert_eq!(w.waiting().await, ["CrashLoopBackOff 1"]);
    let (counts, conditions) = w.told().await;
    assert_eq!((counts.as_str(), conditions[0].as_str()), ("1/1/0/0", "Available=False MinimumReplicasUnavailable"));
    w.pass(9).await;
    assert_eq!(w.waiting().await, ["CrashLoopBackOff 1"]);
    w.pass(1).await;
    assert_eq!(w.waiting().await, ["CrashLoopBackOff 2"]);
    let pod = w.pods().await.remove(0);
    let last = pod.status.unwrap().container_statuses.unwrap().remove(0).last_state.unwrap().terminated.unwrap();
    assert_eq!((last.exit_code, last.reason.as_deref()), (3, Some("Error")));
    assert_eq!(w.heard("BackOff").await.len(), 1, "the same event, counted");
    let w = Workloads { world: w.world.reopen().await, ..w };
    let pods = Api::<Pod>::default_namespaced(w.world.client().await);
    w.world.sandbox.script().unwrap().pass(Duration::from_secs(20));
    w.world.settle().await;
    w.world.settle().await;
    let pod = pods.list(&ListParams::default()).await.unwrap().items.remove(0);
    assert_eq!(pod.status.unwrap().container_statuses.unwrap()[0].restart_count, 3);
    w.world.close().await;
}

#[tokio::test]
async fn pods_count_when_they_have_been_ready_for_long_enough() {
    let w = Workloads::new().await;
    let mut slow = deployment(1, "example.com/i:1");
    slow["spec"]["minReadySeconds"] = 30.into();
    w.deploy(slow).await;
    assert_eq!(w.told().await.0, "1/1/1/0");
    w.pass(30).await;
    assert_eq!(w.told().await.0, "1/1/1/1");
    w.world.close().await;
}

#[tokio::test]
async fn what_a_quota_refuses_is_tried_again() {
    let w = Workloads::new().await;
    let quotas: Api<ResourceQuota> = Api::default_namespaced(w.world.client().await);
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}});
    quotas.create(&PostParams::default(), &parse(quota)).await.unwrap();
    w.deploy(deployment(2, "example.com/i:1")).await;
    let (counts, conditions) = w.told().await;
    assert_eq!(counts, "1/1/1/1");
    assert_eq!(conditions[2], "ReplicaFailure=True FailedCreate");
    assert!(
        w.heard("FailedCreate").await[0]
            .contains("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1")
    );
    let more = Patch::Merge(json!({"spec": {"hard": {"pods": "2"}}}));
    quotas.patch("q", &PatchParams::default(), &more).await.unwrap();
    w.pass(1).await;
    assert_eq!(w.told().await, ("2/2/2/2".to_owned(), DONE.map(str::to_owned).to_vec()));
    w.world.close().await;
}

#[tokio::test]
async fn recreate_ends_the_old_before_the_new_begins() {
    let w = Workloads::new().await;
    let mut all_at_once = deployment(2, "example.com/i:1");
    all_at_once["spec"]["strategy"] = json!({"type": "Recreate"});
    all_at_once["spec"]["template"]["metadata"]["annotations"] = json!({"sandbox.sliceform.io/stops-after": "30s"});
    w.deploy(all_at_once).await;
    w.image("example.com/i:2").await;
    assert_eq!(w.sets().await, ["1: 0/0"], "the old pods are still there");
    w.pass(30).await;
    assert_eq!(w.sets().await, ["1: 0/0", "2: 2/2"]);
    w.world.close().await;
}

#[tokio::test]
async fn a_job_runs_until_enough_have_succeeded() {
    let w = Workloads::new().await;
    w.run(job(
        json!({"completions": 3, "parallelism": 2, "completionMode": "Indexed", "ttlSecondsAfterFinished": 60}),
        "sleep 10",
    ))
    .await;
    assert_eq!(w.counts().await, "2/0/0");
    let live = w.jobs.get("work").await.unwrap();
    let uid = live.metadata.uid.unwrap();
    let spec = live.spec.unwrap();
    assert_eq!(spec.selector.unwrap().match_labels.unwrap()["batch.kubernetes.io/controller-uid"], uid);
    assert_eq!(spec.template.metadata.unwrap().labels.unwrap()["job-name"], "work");
    w.pass(10).await;
    assert_eq!(w.counts().await, "1/2/0");
    assert_eq!(w.jobs.get("work").await.unwrap().status.unwrap().completed_indexes.as_deref(), Some("0-1"));
    w.pass(10).await;
    assert_eq!(w.counts().await, "0/3/0");
    assert_eq!(
        w.conditions().await,
        ["SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"]
    );
    assert_eq!(w.heard("Completed").await, ["Job completed"]);
    w.pass(60).await;
    assert!(w.jobs.get_opt("work").await.unwrap().is_none(), "its time is over");
    assert!(w.pods().await.is_empty());
    w.world.close().await;
}

#[tokio::test]
async fn a_job_that_fails_too_often_has_failed() {
    let w = Workloads::new().await;
    w.run(job(json!({"backoffLimit": 1}), "exit 1")).await;
    assert_eq!(w.counts().await, "0/0/1", "the next begins a while later");
    w.pass(10).await;
    assert_eq!(w.counts().await, "0/0/2");
    assert_eq!(w.conditions().await, ["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"]);
    assert_eq!(phase(&w.pods().await[0]), "Failed");
    w.world.close().await;
}

#[tokio::test]
async fn a_suspended_job_has_no_pods() {
    let w = Workloads::new().await;
    w.run(job(json!({"suspend": true, "activeDeadlineSeconds": 60}), "sleep 1000")).await;
    assert_eq!(w.conditions().await, ["Suspended=True JobSuspended"]);
    assert!(w.pods().await.is_empty());
    let resume = Patch::Merge(json!({"spec": {"suspend": false}}));
    w.jobs.patch("work", &PatchParams::default(), &resume).await.unwrap();
    w.world.settle().await;
    assert_eq!(
        (w.counts().await.as_str(), w.conditions().await),
        ("1/0/0", vec!["Suspended=False JobResumed".to_owned()])
    );
    w.pass(60).await;
    assert!(w.conditions().await.contains(&"Failed=True DeadlineExceeded".to_owned()));
    assert!(w.pods().await.is_empty());
    w.world.close().await;
}

#[tokio::test]
async fn the_same_commands_give_pods_of_the_same_names() {
    let mut worlds = Vec::new();
    for _ in 0..2 {
        let w = Workloads::new().await;
        w.deploy(deployment(3, "example.com/i:1")).await;
        w.image("example.com/i:2").await;
        let names: Vec<Option<String>> = w.pods().await.into_iter().map(|pod| pod.metadata.name).collect();
        worlds.push(names);
        w.world.close().await;
    }
    assert_eq!(worlds[0], worlds[1]);
}
