//! Waiting until what was applied is as it should be: by expressions, roll-outs and conditions, no longer than there is hope,
//! and with the reason where there is none.

use engine_model::plan::PlanMode;
use http::Method;
use providers_api::{ErrorKind, Outcome};
use serde_json::{Value as Json, json};

use crate::{
    run::Run,
    world::{World, json as to_json, value},
};

const TYPE: &str = "kubernetes_manifest";
const MAP: &str = "/api/v1/namespaces/default/configmaps/a";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A manifest with what is waited for, and how long at most.
fn waiting(world: &World, manifest: Json, wait: Json, timeout: &str) -> engine_value::Value {
    let mut block = json!({"rollout": null, "condition": [], "fields": null, "ready_when": null, "fail_when": null});
    for (name, one) in wait.as_object().unwrap() {
        block[name] = one.clone();
    }
    let timeouts = json!([{"create": timeout, "update": timeout, "delete": null}]);
    let arguments = [("manifest", value(&manifest)), ("wait", value(&json!([block]))), ("timeouts", value(&timeouts))];
    world.config(TYPE, &arguments)
}

fn config_map(data: Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

fn replica_set(replicas: u64) -> Json {
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "main", "image": "registry.example.com/db:1"}]},
            },
        },
    })
}

/// Applies it, and meanwhile lets somebody else act once it is watched for.
async fn apply_while(
    world: &World,
    stored: Option<&engine_value::Value>,
    config: &engine_value::Value,
    act: impl FnOnce(),
) -> Outcome<providers_api::Applied> {
    let (before, planned) = world.plan(TYPE, stored, config).await;
    let planned = planned.unwrap().object;
    world.running.api().calls().take();
    let watched = async {
        while !world.running.api().calls().all().iter().any(|call| call.verb == "watch") {
            tokio::task::yield_now().await;
        }
    };
    let mut work = std::pin::pin!(world.carry_out(TYPE, before, planned));
    tokio::select! {
        outcome = &mut work => return outcome,
        () = watched => act(),
    }
    work.await
}

/// A pod that the set's selector finds, in a state that a kubelet would tell.
fn pod_of_set(world: &World, name: &str, is_owned: bool, status: Json) {
    let set = world.live(&format!("{SETS}/db")).unwrap();
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "db", "uid": set["metadata"]["uid"],
        "controller": true});
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "ownerReferences": if is_owned { json!([owner]) } else { json!([]) }, "labels": {"app": "db"}},
        "spec": {"containers": [{"name": "main", "image": "registry.example.com/db:1",
            "env": [{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}}]}]},
    });
    world.other(Method::POST, PODS, Some(pod));
    world.other(Method::PATCH, &format!("{PODS}/{name}/status"), Some(json!({"status": status})));
}

fn status_of_set(world: &World, status: Json) {
    world.other(Method::PATCH, &format!("{SETS}/db/status"), Some(json!({"status": status})));
}

fn waits_in(container: Json) -> Json {
    json!({"phase": "Pending", "containerStatuses": [container]})
}

fn container(restarts: u64, reason: &str, message: &str) -> Json {
    json!({"name": "main", "image": "i", "imageID": "", "ready": false, "restartCount": restarts,
        "state": {"waiting": {"reason": reason, "message": message}}})
}

/// K#623: a wait that can end in nothing good ended after its whole timeout, and said nothing.
#[tokio::test]
async fn p36_a_wait_fails_fast_and_says_why() {
    let world = World::new().await;
    let wait = json!({"ready_when": "self.data.phase == \"Ready\"", "fail_when": "self.data.phase == \"Failed\""});
    let config = |k: &str| waiting(&world, config_map(json!({"k": k})), wait.clone(), "10m");
    let phase = |phase: &str| {
        world.other(Method::PATCH, MAP, Some(json!({"data": {"phase": phase}})));
    };
    let outcome = apply_while(&world, None, &config("1"), || {
        phase("Pending");
        phase("Ready");
    })
    .await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let state = outcome.now.unwrap().object;
    world.changes_nothing(TYPE, &state, &config("1")).await;

    phase("Pending");
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "a.1"}, "type": "Warning",
        "reason": "NoLicence", "message": "the licence has ended", "count": 3, "lastTimestamp": "2026-01-02T03:04:05Z",
        "involvedObject": {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": "default",
            "uid": world.live(MAP).unwrap()["metadata"]["uid"]}});
    world.other(Method::POST, "/api/v1/namespaces/default/events", Some(event));
    let outcome = apply_while(&world, Some(&state), &config("2"), || phase("Failed")).await;
    let error = outcome.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Permanent, "{error}");
    assert_eq!(
        error.to_string(),
        "ConfigMap a to be ready failed: `fail_when` holds: self.data.phase is \"Failed\"\nEvents of ConfigMap a:\n  Warning \
         NoLicence (3 times): the licence has ended"
    );
    assert!(error.hint.is_some());
    assert_eq!(to_json(&outcome.now.unwrap().object)["object"]["data"]["k"], "2", "it was applied all the same");
}

/// A pod that cannot come up ends the wait; one that is not the set's does not.
#[tokio::test]
async fn p36_a_roll_out_ends_with_a_pod_that_cannot_come_up() {
    let world = World::new().await;
    let config = waiting(&world, replica_set(2), json!({"rollout": true}), "10m");
    let outcome = apply_while(&world, None, &config, || {
        status_of_set(&world, json!({"observedGeneration": 1, "replicas": 2}));
        pod_of_set(&world, "db-0", false, waits_in(container(9, "CrashLoopBackOff", "back-off 5m0s")));
        let message = "Back-off pulling image: ErrImagePull: registry.example.com/db:1: not found";
        pod_of_set(&world, "db-1", true, waits_in(container(0, "ImagePullBackOff", message)));
    })
    .await;
    let error = outcome.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Permanent, "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("ReplicaSet db to be ready failed: container main of pod db-1 is in ImagePullBackOff\n"),
        "{text}"
    );
    assert!(text.contains("Pod db-1: container main is in ImagePullBackOff: Back-off pulling image"), "{text}");
}

/// A slow start is no failure: only what does not heal in a fair part of the time ends the wait.
#[tokio::test]
async fn what_may_heal_is_waited_out() {
    let world = World::new().await;
    let config = waiting(&world, replica_set(1), json!({"rollout": true}), "60s");
    let outcome = apply_while(&world, None, &config, || {
        pod_of_set(&world, "db-0", true, waits_in(container(1, "CrashLoopBackOff", "back-off 10s")));
        status_of_set(
            &world,
            json!({"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1}),
        );
    })
    .await;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    world.other(Method::DELETE, &format!("{PODS}/db-0"), None);
    let state = outcome.now.unwrap().object;

    // A Secret that is missing may be on its way, for a quarter of the whole time.
    let config = waiting(&world, replica_set(3), json!({"rollout": true}), "2s");
    let outcome = apply_while(&world, Some(&state), &config, || {
        status_of_set(&world, json!({"observedGeneration": 2, "replicas": 1}));
        let missing = container(0, "CreateContainerConfigError", "secret \"login\" not found");
        pod_of_set(&world, "db-2", true, waits_in(missing));
    })
    .await;
    let error = outcome.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Permanent, "{error}");
    assert!(error.to_string().contains("pod db-2 is in CreateContainerConfigError"), "{error}");
}

/// kubectl#1414: the status of an older version of the object was taken for that of the new one.
#[tokio::test]
async fn p36_a_status_of_an_older_version_never_counts() {
    let world = World::new().await;
    let done = |generation: u64, replicas: u64| {
        status_of_set(
            &world,
            json!({"observedGeneration": generation, "replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas,
                "conditions": [{"type": "Ready", "status": "True"}]}),
        );
    };
    for wait in [
        json!({"rollout": true}),
        json!({"condition": [{"type": "Ready", "status": "True"}]}),
        json!({"fields": {"status.readyReplicas": "*"}}),
        json!({"ready_when": "self.status.readyReplicas > 0"}),
    ] {
        let first = waiting(&world, replica_set(1), wait.clone(), "20s");
        let outcome = apply_while(&world, None, &first, || done(1, 1)).await;
        assert!(outcome.error.is_none(), "{wait}: {:?}", outcome.error);
        let state = outcome.now.unwrap().object;
        // The old status says that all is well; it is of the old version.
        let second = waiting(&world, replica_set(2), wait.clone(), "300ms");
        let outcome = apply_while(&world, Some(&state), &second, || {}).await;
        let error = outcome.error.unwrap();
        assert_eq!(error.kind, ErrorKind::Timeout, "{wait}: {error}");
        assert!(error.to_string().contains("its controller has not seen the change yet"), "{wait}: {error}");
        world.destroy(TYPE, outcome.now.unwrap().object).await;
    }
}

/// kubernetes.core#1201: Complete or Failed, whichever comes.
#[tokio::test]
async fn p36_a_job_is_waited_for_until_it_has_ended_well_or_not() {
    let world = World::new().await;
    let job = |name: &str| {
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"suspend": true, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}}})
    };
    for (name, ends, expected) in [
        ("well", json!({"type": "Complete", "status": "True"}), None),
        (
            "badly",
            json!({"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}),
            Some("Job badly to be ready failed: BackoffLimitExceeded: too often"),
        ),
    ] {
        let config = waiting(&world, job(name), json!({"rollout": true}), "10m");
        let path = format!("/apis/batch/v1/namespaces/default/jobs/{name}/status");
        let outcome = apply_while(&world, None, &config, || {
            world.other(Method::PATCH, &path, Some(json!({"status": {"conditions": [ends]}})));
        })
        .await;
        let error = outcome.error.map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    }
}

#[tokio::test]
async fn what_an_expression_cannot_tell_is_an_error_at_once() {
    let world = World::new().await;
    for (rule, expected) in [
        ("self.data.k", "`ready_when` cannot be told: `self.data.k`: It gives string, and must give true or false."),
        ("self.data.k + 1 > 0", "`ready_when` cannot be told: "),
    ] {
        let config = waiting(&world, config_map(json!({"k": "x"})), json!({"ready_when": rule}), "10m");
        let (before, planned) = world.plan(TYPE, None, &config).await;
        let outcome = world.carry_out(TYPE, before, planned.unwrap().object).await;
        let error = outcome.error.unwrap();
        assert!(error.kind == ErrorKind::Permanent && error.to_string().contains(expected), "{error}");
        world.destroy(TYPE, outcome.now.unwrap().object).await;
    }
    // What is not there yet is no error: it is waited for, and told when the time is over.
    let config = waiting(&world, config_map(json!({})), json!({"ready_when": "self.status.url != \"\""}), "100ms");
    let (before, planned) = world.plan(TYPE, None, &config).await;
    let error = world.carry_out(TYPE, before, planned.unwrap().object).await.error.unwrap();
    assert!(error.kind == ErrorKind::Timeout && error.to_string().ends_with("self.status.url is not there"), "{error}");
}

/// An expression in a text is as good as one that is written plainly: its mistakes are shown where they stand in it, along the
/// references that brought it there.
#[tokio::test]
async fn a_mistake_in_an_expression_is_shown_where_it_stands() {
    let world = World::new().await;
    let text = r#"
        variable "password" {
          sensitive = true
        }

        locals {
          rule = "self.data.phase == \"Ready\" && phase"
        }

        resource "kubernetes_manifest" "map" {
          manifest = {
            apiVersion = "v1"
            kind       = "ConfigMap"
            metadata   = { name = "a" }
          }
          wait {
            ready_when = local.rule
            fail_when  = "length(self.data) == siz(1)"
          }
        }
    "#;
    let run = Run::new(&world, text).await;
    let (_, diagnostics) = run.try_plan(PlanMode::Normal).await;
    let found: Vec<(&str, &str)> =
        diagnostics.iter().map(|one| (one.detail.as_str(), one.span.map_or("", |span| run.text(span)))).collect();
    assert_eq!(
        found,
        [
            ("At character 31: \"phase\": only the live object, `self`, can be referred to here.", "phase"),
            ("At character 22: There is no function named \"siz\".", "siz(1)"),
        ]
    );
}
