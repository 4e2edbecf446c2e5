//! Pods, alone and as templates.

use serde_json::json;

use super::{
    super::grammar::{Grammar, entries, items, key, may, must, one, record},
    count, flag, memory, port, quantity, seconds,
};

fn container() -> Grammar {
    let probe = record([
        may("periodSeconds", seconds()),
        must("httpGet", record([must("port", port()), may("path", one(["/", "/healthz"]))])),
    ]);
    record([
        key("name", one(["a", "b", "c"])),
        must("image", one(["i:1", "i:2", "registry.example.com/i"])),
        may("imagePullPolicy", one(["Always", "IfNotPresent"])),
        may("command", one([json!(["x"]), json!(["x", "y"]), json!(["y", "x"])])),
        may("args", one([json!(["x"]), json!(["y"])])),
        may("env", items(["name"], record([key("name", one(["A", "B", "C"])), may("value", one(["1", "2"]))]))),
        may("envFrom", one([json!([{"configMapRef": {"name": "a", "optional": true}}])])),
        may(
            "ports",
            items(
                ["containerPort", "protocol"],
                record([
                    key("containerPort", one([53, 80])),
                    key("protocol", one(["TCP", "UDP"])),
                    may("name", one(["p"])),
                ]),
            ),
        ),
        may(
            "resources",
            record([
                may(
                    "limits",
                    record([
                        may("cpu", one([json!("4"), json!(4), json!("4000m")])),
                        may("memory", one(["4Gi", "4096Mi"])),
                    ]),
                ),
                may("requests", record([may("cpu", quantity()), may("memory", memory())])),
            ]),
        ),
        may("livenessProbe", probe),
        may(
            "securityContext",
            record([may("runAsUser", count()), may("capabilities", one([json!({"drop": ["ALL"]}), json!({})]))]),
        ),
        may(
            "volumeMounts",
            items(
                ["mountPath"],
                record([key("mountPath", one(["/v"])), must("name", one(["v"])), may("readOnly", flag())]),
            ),
        ),
    ])
}

/// The spec of a pod that is started again in one of these cases.
pub(super) fn pod_spec(restart: &[&'static str]) -> Grammar {
    let toleration = one([
        json!([{"key": "a", "operator": "Exists"}]),
        json!([{"key": "b", "value": "1", "effect": "NoSchedule"}, {"key": "a", "operator": "Exists"}]),
        json!([{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7}]),
    ]);
    record([
        must("containers", items(["name"], container())),
        must("volumes", one([json!([{"name": "v", "emptyDir": {}}])])),
        must("nodeSelector", one([json!({"example.com/none": "x"})])),
        must("restartPolicy", one(restart.iter().copied())),
        may("tolerations", toleration),
        may("terminationGracePeriodSeconds", one([0, 30])),
        may("imagePullSecrets", items(["name"], record([key("name", one(["p", "q"]))]))),
        may("hostAliases", one([json!([{"ip": "10.0.0.1", "hostnames": ["a", "b"]}])])),
        may("securityContext", record([may("fsGroup", count()), may("supplementalGroups", one([json!([1, 2])]))])),
        may("priorityClassName", one([""])),
        may("automountServiceAccountToken", flag()),
    ])
}

/// A template of such pods.
pub(super) fn template(restart: &[&'static str]) -> Grammar {
    let metadata = record([
        must("labels", one([json!({"app": "x"}), json!({"app": "x", "b": "y"})])),
        may("annotations", entries(["a"], ["x", "y"])),
    ]);
    record([must("metadata", metadata), must("spec", pod_spec(restart))])
}
