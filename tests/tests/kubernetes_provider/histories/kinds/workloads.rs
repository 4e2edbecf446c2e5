//! Kinds that make pods.

use serde_json::json;

use super::{
    super::grammar::{Grammar, may, must, one, record},
    Kind, count,
    pod::{pod_spec, template},
    seconds,
};

fn selector() -> Grammar {
    one([json!({"matchLabels": {"app": "x"}})])
}

pub(super) fn kinds() -> Vec<Kind> {
    let always = ["Always"];
    vec![
        Kind::new("v1", "Pod", "pods", [must("spec", pod_spec(&["Always", "Never"]))]).in_sandbox(),
        Kind::new(
            "v1",
            "ReplicationController",
            "replicationcontrollers",
            [must(
                "spec",
                record([
                    may("replicas", count()),
                    may("selector", one([json!({"app": "x"})])),
                    must("template", template(&always)),
                ]),
            )],
        ),
        Kind::new("v1", "PodTemplate", "podtemplates", [must("template", template(&always))]),
        Kind::new(
            "apps/v1",
            "Deployment",
            "deployments",
            [must(
                "spec",
                record([
                    must("selector", selector()),
                    must("template", template(&always)),
                    may("replicas", count()),
                    may("paused", one([true])),
                    may("revisionHistoryLimit", count()),
                    may("minReadySeconds", count()),
                    may(
                        "strategy",
                        one([
                            json!({"type": "Recreate"}),
                            json!({"rollingUpdate": {"maxSurge": "25%"}}),
                            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
                        ]),
                    ),
                ]),
            )],
        )
        .in_sandbox(),
        Kind::new(
            "apps/v1",
            "ReplicaSet",
            "replicasets",
            [must(
                "spec",
                record([
                    must("selector", selector()),
                    must("template", template(&always)),
                    may("replicas", count()),
                    may("minReadySeconds", count()),
                ]),
            )],
        )
        .in_sandbox(),
        Kind::new(
            "apps/v1",
            "StatefulSet",
            "statefulsets",
            [must(
                "spec",
                record([
                    must("selector", selector()),
                    must("template", template(&always)),
                    must("serviceName", one(["a"])),
                    may("replicas", count()),
                    may("podManagementPolicy", one(["Parallel"])),
                    may("updateStrategy", record([may("type", one(["OnDelete"]))])),
                    may(
                        "volumeClaimTemplates",
                        one([
                            json!([{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}}]),
                        ]),
                    ),
                ]),
            )],
        ),
        Kind::new(
            "apps/v1",
            "DaemonSet",
            "daemonsets",
            [must(
                "spec",
                record([
                    must("selector", selector()),
                    must("template", template(&always)),
                    may("minReadySeconds", count()),
                    may(
                        "updateStrategy",
                        one([json!({"type": "OnDelete"}), json!({"rollingUpdate": {"maxUnavailable": "10%"}})]),
                    ),
                ]),
            )],
        ),
        Kind::new(
            "batch/v1",
            "Job",
            "jobs",
            [must(
                "spec",
                record([
                    must("suspend", one([true])),
                    must("template", template(&["Never", "OnFailure"])),
                    may("parallelism", count()),
                    may("completions", one([1, 2])),
                    may("backoffLimit", count()),
                    may("ttlSecondsAfterFinished", seconds()),
                    may("activeDeadlineSeconds", seconds()),
                ]),
            )],
        )
        .in_sandbox(),
        Kind::new(
            "batch/v1",
            "CronJob",
            "cronjobs",
            [must(
                "spec",
                record([
                    must("schedule", one(["0 0 1 1 *", "@yearly"])),
                    must("suspend", one([true])),
                    may("concurrencyPolicy", one(["Forbid", "Replace"])),
                    may("timeZone", one(["Etc/UTC"])),
                    may("successfulJobsHistoryLimit", count()),
                    must(
                        "jobTemplate",
                        record([must(
                            "spec",
                            record([must("template", template(&["Never"])), may("backoffLimit", count())]),
                        )]),
                    ),
                ]),
            )],
        ),
    ]
}
