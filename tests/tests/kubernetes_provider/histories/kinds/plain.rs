//! Kinds that make no pods.

use serde_json::json;

use super::{
    super::grammar::{Grammar, entries, items, key, may, must, one, record},
    Kind, flag, memory, port, quantity, seconds,
};

fn text() -> Grammar {
    one(["a", "b", "c"])
}

fn rules() -> Grammar {
    one([
        json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]),
        json!([{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]},
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["x"]}]),
    ])
}

fn subjects() -> Grammar {
    one([
        json!([{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}]),
        json!([{"kind": "Group", "name": "all"}, {"kind": "ServiceAccount", "name": "ci", "namespace": "default"}]),
    ])
}

fn role_ref() -> Grammar {
    one(["view", "edit"]
        .map(|name| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name})))
}

fn data(values: &[&'static str]) -> Grammar {
    entries(["a", "b.c", "d"], values.iter().copied())
}

pub(super) fn kinds() -> Vec<Kind> {
    let claim = record([
        must("accessModes", one([json!(["ReadWriteOnce"]), json!(["ReadWriteOnce", "ReadOnlyMany"])])),
        must("resources", record([must("requests", record([must("storage", memory())]))])),
        must("storageClassName", one(["none"])),
        may("volumeMode", one(["Filesystem"])),
    ]);
    let backend = |port: &str| json!({"service": {"name": "a", "port": {"name": port}}});
    vec![
Kind::new("v1", "ConfigMap", "configmaps", [
                may("data", data(&["1", "x\ny\n", ""])),
                may("binaryData", entries(["e"], ["AAEC", "/w=="])),
                may("immutable", one([false])),
            ]).in_sandbox(),
Kind::new("v1", "Secret", "secrets", [may("data", data(&["eA==", "eQ==", ""])), may("type", one(["Opaque", "example.com/a"]))]).in_sandbox(),
Kind::new("v1", "ServiceAccount", "serviceaccounts", [
                may("automountServiceAccountToken", flag()),
                may("imagePullSecrets", one([json!([{"name": "p"}]), json!([{"name": "q"}, {"name": "p"}])])),
            ]).in_sandbox(),
Kind::new("v1", "ResourceQuota", "resourcequotas", [may(
                "spec",
                record([
                    may(
                        "hard",
                        record([
                            may("requests.cpu", quantity()),
                            may("requests.memory", memory()),
                            may("pods", one([json!(100), json!("100"), json!("0.1k")])),
                        ]),
                    ),
                    may("scopes", one([json!(["BestEffort"])])),
                ]),
            )]).in_sandbox(),
Kind::new("v1", "LimitRange", "limitranges", [must(
                "spec",
                record([must(
                    "limits",
                    one([
                        json!([]),
                        json!([{"type": "PersistentVolumeClaim", "max": {"storage": "1024Mi"}}]),
                        json!([{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]),
                    ]),
                )]),
            )]).in_sandbox(),
Kind::new("v1", "Namespace", "namespaces", []).of_cluster().in_sandbox(),
Kind::new("v1", "Service", "services", [must(
                "spec",
                record([
                    must(
                        "ports",
                        items(
                            ["port", "protocol"],
                            record([
                                key("port", one([53, 80])),
                                key("protocol", one(["TCP", "UDP"])),
                                key("name", one(["a", "b", "c"])),
                                may("targetPort", port()),
                            ]),
                        ),
                    ),
                    may("selector", entries(["a", "b"], ["x", "y"])),
                    may("sessionAffinity", one(["None", "ClientIP"])),
                    may("publishNotReadyAddresses", flag()),
                    may("externalIPs", one([json!(["192.0.2.1"])])),
                    may("internalTrafficPolicy", one(["Cluster", "Local"])),
                ]),
            )]),
Kind::new("v1", "PersistentVolumeClaim", "persistentvolumeclaims", [must("spec", claim)]),
Kind::new("v1", "PersistentVolume", "persistentvolumes", [must(
                "spec",
                record([
                    must("capacity", record([must("storage", memory())])),
                    must("accessModes", one([json!(["ReadWriteOnce"]), json!(["ReadWriteMany", "ReadWriteOnce"])])),
                    must("hostPath", one([json!({"path": "/none"})])),
                    must("storageClassName", one(["other"])),
                    may("persistentVolumeReclaimPolicy", one(["Retain"])),
                    may("mountOptions", one([json!(["ro"]), json!(["rw", "hard"])])),
                ]),
            )]).of_cluster(),
Kind::new("networking.k8s.io/v1", "Ingress", "ingresses", [must(
                "spec",
                record([
                    must("defaultBackend", one([backend("http"), backend("https")])),
                    may("ingressClassName", one(["a", "b"])),
                    may("tls", one([json!([{"hosts": ["a.example.com"], "secretName": "s"}])])),
                    may(
                        "rules",
                        one([
                            json!([{"host": "a.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend("http")}]}}]),
                        ]),
                    ),
                ]),
            )]),
Kind::new("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", [must(
                "spec",
                record([
                    must("podSelector", one([json!({}), json!({"matchLabels": {"a": "x"}})])),
                    may("policyTypes", one([json!(["Ingress"]), json!(["Ingress", "Egress"])])),
                    may(
                        "ingress",
                        one([
                            json!([]),
                            json!([{}]),
                            json!([{"from": [{"podSelector": {}}], "ports": [{"port": 80}, {"port": "http", "protocol": "TCP"}]}]),
                        ]),
                    ),
                    may(
                        "egress",
                        one([json!([{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}])]),
                    ),
                ]),
            )]),
Kind::new("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", [must(
                "spec",
                record([
                    must(
                        "scaleTargetRef",
                        one([json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "none"})]),
                    ),
                    must("maxReplicas", one([3, 4])),
                    may("minReplicas", one([1, 2])),
                    may(
                        "metrics",
                        one([
                            json!([{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1000m"}}}]),
                            json!([{"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 50}}},
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": 1}}}]),
                        ]),
                    ),
                    may("behavior", one([json!({"scaleDown": {"stabilizationWindowSeconds": 10}})])),
                ]),
            )]),
Kind::new("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", [must(
                "spec",
                record([
                    must("selector", one([json!({"matchLabels": {"a": "x"}}), json!({})])),
                    may("minAvailable", one([json!(1), json!("50%")])),
                    may("unhealthyPodEvictionPolicy", one(["AlwaysAllow", "IfHealthyBudget"])),
                ]),
            )]).in_sandbox(),
Kind::new("rbac.authorization.k8s.io/v1", "Role", "roles", [must("rules", rules())]).in_sandbox(),
Kind::new("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", [must("roleRef", role_ref()), may("subjects", subjects())]).in_sandbox(),
Kind::new("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", [may("rules", rules())]).of_cluster().in_sandbox(),
Kind::new("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", [must("roleRef", role_ref()), may("subjects", subjects())]).of_cluster().in_sandbox(),
Kind::new("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", [
                must("value", one([100, 200])),
                may("description", text()),
                may("preemptionPolicy", one(["Never"])),
                may("globalDefault", one([false])),
            ]).of_cluster().in_sandbox(),
Kind::new("storage.k8s.io/v1", "StorageClass", "storageclasses", [
                must("provisioner", one(["example.com/none"])),
                may("parameters", entries(["a", "b"], ["x", "y"])),
                may("allowVolumeExpansion", flag()),
                may("volumeBindingMode", one(["WaitForFirstConsumer"])),
                may("mountOptions", one([json!(["ro"]), json!(["rw", "hard"])])),
            ]).of_cluster(),
Kind::new("coordination.k8s.io/v1", "Lease", "leases", [may(
                "spec",
                record([
                    may("holderIdentity", text()),
                    may("leaseDurationSeconds", seconds()),
                    may("renewTime", one(["2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05.123456Z"])),
                ]),
            )]).in_sandbox(),
Kind::new("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", [
                must("handler", one(["a", "b"])),
                may("overhead", record([may("podFixed", record([may("cpu", quantity())]))])),
                may(
                    "scheduling",
                    record([
                        may("nodeSelector", one([json!({"a": "x"})])),
                        may("tolerations", one([json!([{"key": "a", "operator": "Exists"}])])),
                    ]),
                ),
            ]).of_cluster(),
Kind::new("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", [may(
                "webhooks",
                items(
                    ["name"],
                    record([
                        key("name", one(["a.example.com", "b.example.com"])),
                        must("admissionReviewVersions", one([json!(["v1"])])),
                        must("sideEffects", one(["None"])),
                        must(
                            "clientConfig",
                            one([
                                json!({"service": {"name": "none", "namespace": "default"}}),
                                json!({"url": "https://none.example.com/a"}),
                            ]),
                        ),
                        must("namespaceSelector", one([json!({"matchLabels": {"example.com/none": "x"}})])),
                        may("failurePolicy", one(["Ignore"])),
                        may("timeoutSeconds", seconds()),
                        may(
                            "rules",
                            one([
                                json!([{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["none"]}]),
                            ]),
                        ),
                    ]),
                ),
            )]).of_cluster(),
    ]
}
