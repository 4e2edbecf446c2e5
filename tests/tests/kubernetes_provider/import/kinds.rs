//! Objects of built-in kinds, for the sandbox and for the real control plane.

use serde_json::{Value as Json, json};

/// A small and a rich one of a kind, without what all of them have.
pub(crate) fn examples(kind: &str) -> Option<[Json; 2]> {
    let pod = json!({
        "terminationGracePeriodSeconds": 7, "priorityClassName": "",
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [
            {"name": "b", "image": "b:1", "command": ["sh", "-c", "echo ${HOME}\nexit 0\n"],
                "resources": {"limits": {"cpu": "1000m", "nvidia.com/gpu": "1"}, "requests": {"memory": "64Mi"}},
                "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
                "env": [{"name": "X", "value": "%{y}"}, {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
            {"name": "a", "image": "a:1"},
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
    });
    let template = json!({"metadata": {"labels": {"app": "x"}}, "spec": pod});
    let small = json!({"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let job = |template: &Json| {
        let mut template = template.clone();
        template["spec"]["restartPolicy"] = "Never".into();
        template
    };
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
    let role = |kind: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "x"});
    let subjects = json!([{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}]);
    let selector = json!({"matchLabels": {"app": "x"}});
    Some(match kind {
        "ConfigMap" => [
            json!({}),
            json!({"data": {"a.b": "${x}", "script": "#!/bin/sh\necho hi\n", "quote": "a\"b\\c", "dollar": "$${a} %%{b}"},
                "binaryData": {"b": "AAEC"}, "immutable": true}),
        ],
        "Event" => {
            let of = json!({"kind": "Pod", "namespace": "default", "name": "p"});
            [
                json!({"involvedObject": of}),
                json!({"involvedObject": of, "reason": "R", "message": "m", "type": "Normal", "count": 2}),
            ]
        }
        "LimitRange" => [
            json!({"spec": {"limits": []}}),
            json!({"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}, "max": {"memory": "1Gi"}}]}}),
        ],
        "Namespace" => [json!({}), json!({"metadata": {"labels": {"team": "a"}, "annotations": {"note": "x: y\n"}}})],
        "Node" => [
            json!({}),
            json!({"spec": {"unschedulable": true, "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}}),
        ],
        "Pod" => [small.clone(), template.clone()],
        "ResourceQuota" => [json!({}), json!({"spec": {"hard": {"requests.nvidia.com/gpu": "4", "cpu": "2000m"}}})],
        "Secret" => [json!({}), json!({"type": "Opaque", "data": {"token": "Y2FuYXJ5"}})],
        "ServiceAccount" => {
            [json!({}), json!({"automountServiceAccountToken": false, "imagePullSecrets": [{"name": "p"}]})]
        }
        "CustomResourceDefinition" => {
            let crd = |name: &str, more: Json| {
                let mut version = json!({"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
                version.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                json!({"metadata": {"name": format!("{name}s.example.com")}, "spec": {"group": "example.com", "scope": "Cluster",
                    "names": {"plural": format!("{name}s"), "kind": name.to_uppercase()}, "versions": [version]}})
            };
            let columns = json!({"subresources": {"status": {}}, "additionalPrinterColumns":
                [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]});
            [crd("small", json!({})), crd("rich", columns)]
        }
        "Deployment" => [
            json!({"spec": {"selector": selector, "template": small}}),
            json!({"spec": {"selector": selector, "template": template, "replicas": 0, "minReadySeconds": 3,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}}}),
        ],
        "ReplicaSet" => [
            json!({"spec": {"selector": selector, "template": small}}),
            json!({"spec": {"selector": selector, "template": template, "replicas": 0}}),
        ],
        "Job" => [
            json!({"spec": {"template": job(&small)}}),
            json!({"spec": {"template": job(&template), "backoffLimit": 2, "suspend": true, "completions": 3}}),
        ],
        "Lease" => [json!({}), json!({"spec": {"holderIdentity": "x", "leaseDurationSeconds": 9}})],
        "PodDisruptionBudget" => [
            json!({"spec": {"selector": selector, "minAvailable": 1}}),
            json!({"spec": {"selector": selector, "maxUnavailable": "20%", "unhealthyPodEvictionPolicy": "AlwaysAllow"}}),
        ],
        "ClusterRole" => [
            json!({"rules": rules}),
            json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}, "rules": []}),
        ],
        "Role" => [
            json!({"rules": rules}),
            json!({"rules": [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a"], "verbs": ["*"]}]}),
        ],
        "ClusterRoleBinding" => {
            [json!({"roleRef": role("ClusterRole")}), json!({"roleRef": role("ClusterRole"), "subjects": subjects})]
        }
        "RoleBinding" => [json!({"roleRef": role("Role")}), json!({"roleRef": role("Role"), "subjects": subjects})],
        "PriorityClass" => [json!({"value": 5}), json!({"value": 7, "description": "d", "preemptionPolicy": "Never"})],
        _ => return None,
    })
}
