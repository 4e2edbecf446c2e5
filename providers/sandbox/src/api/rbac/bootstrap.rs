//! The roles and bindings that every cluster has from its first moment, as far as they matter here: for people and for
//! programs that look at themselves. Not here: the roles of Kubernetes' own components, which are not in a sandbox.

use serde_json::{Value, json};

use super::GROUP;

const READ: &[&str] = &["get", "list", "watch"];
const WRITE: &[&str] = &["create", "delete", "deletecollection", "patch", "update"];
const ALL: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

fn rule(verbs: &[&str], group: &str, resources: &[&str]) -> Value {
    json!({"verbs": verbs, "apiGroups": [group], "resources": resources})
}

fn paths(paths: &[&str]) -> Value {
    json!({"verbs": ["get"], "nonResourceURLs": paths})
}

fn view() -> Vec<Value> {
    vec![
        rule(
            READ,
            "",
            &[
                "configmaps",
                "endpoints",
                "persistentvolumeclaims",
                "persistentvolumeclaims/status",
                "pods",
                "replicationcontrollers",
                "replicationcontrollers/scale",
                "serviceaccounts",
                "services",
                "services/status",
            ],
        ),
        rule(
            READ,
            "",
            &[
                "bindings",
                "events",
                "limitranges",
                "namespaces/status",
                "pods/log",
                "pods/status",
                "replicationcontrollers/status",
                "resourcequotas",
                "resourcequotas/status",
            ],
        ),
        rule(READ, "", &["namespaces"]),
        rule(READ, "discovery.k8s.io", &["endpointslices"]),
        rule(
            READ,
            "apps",
            &[
                "controllerrevisions",
                "daemonsets",
                "daemonsets/status",
                "deployments",
                "deployments/scale",
                "deployments/status",
                "replicasets",
                "replicasets/scale",
                "replicasets/status",
                "statefulsets",
                "statefulsets/scale",
                "statefulsets/status",
            ],
        ),
        rule(READ, "autoscaling", &["horizontalpodautoscalers", "horizontalpodautoscalers/status"]),
        rule(READ, "batch", &["cronjobs", "cronjobs/status", "jobs", "jobs/status"]),
        rule(READ, "policy", &["poddisruptionbudgets", "poddisruptionbudgets/status"]),
        rule(READ, "networking.k8s.io", &["ingresses", "ingresses/status", "networkpolicies"]),
        rule(READ, "resource.k8s.io", &["resourceclaims", "resourceclaims/status", "resourceclaimtemplates"]),
    ]
}

fn edit() -> Vec<Value> {
    vec![
        rule(READ, "", &["pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy"]),
        rule(&["impersonate"], "", &["serviceaccounts"]),
        rule(WRITE, "", &["pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy"]),
        rule(&["create"], "", &["pods/eviction"]),
        rule(
            WRITE,
            "",
            &[
                "configmaps",
                "events",
                "persistentvolumeclaims",
                "replicationcontrollers",
                "replicationcontrollers/scale",
                "secrets",
                "serviceaccounts",
                "services",
                "services/proxy",
            ],
        ),
        rule(&["create"], "", &["serviceaccounts/token"]),
        rule(
            WRITE,
            "apps",
            &[
                "daemonsets",
                "deployments",
                "deployments/rollback",
                "deployments/scale",
                "replicasets",
                "replicasets/scale",
                "statefulsets",
                "statefulsets/scale",
            ],
        ),
        rule(WRITE, "autoscaling", &["horizontalpodautoscalers"]),
        rule(WRITE, "batch", &["cronjobs", "jobs"]),
        rule(WRITE, "policy", &["poddisruptionbudgets"]),
        rule(WRITE, "networking.k8s.io", &["ingresses", "networkpolicies"]),
        rule(ALL, "coordination.k8s.io", &["leases"]),
        rule(WRITE, "resource.k8s.io", &["resourceclaims", "resourceclaimtemplates"]),
    ]
}

fn admin() -> Vec<Value> {
    vec![
        rule(&["create"], "authorization.k8s.io", &["localsubjectaccessreviews"]),
        rule(ALL, GROUP, &["rolebindings", "roles"]),
    ]
}

fn basic_user() -> Vec<Value> {
    vec![
        rule(&["create"], "authorization.k8s.io", &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
        rule(&["create"], "authentication.k8s.io", &["selfsubjectreviews"]),
    ]
}

fn auth_delegator() -> Vec<Value> {
    vec![
        rule(&["create"], "authentication.k8s.io", &["tokenreviews"]),
        rule(&["create"], "authorization.k8s.io", &["subjectaccessreviews"]),
    ]
}

const HEALTH: &[&str] = &["/healthz", "/livez", "/readyz", "/version", "/version/"];
const DISCOVERY: &[&str] = &[
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
];

/// A cluster role; `labels` beside the one that all of them have.
fn role(name: &str, labels: &[&str], rules: Vec<Value>) -> Value {
    let mut all = json!({"kubernetes.io/bootstrapping": "rbac-defaults"});
    for label in labels {
        all[format!("{GROUP}/{label}")] = "true".into();
    }
    json!({"metadata": metadata(name, all), "rules": rules})
}

fn metadata(name: &str, labels: Value) -> Value {
    let annotations = json!({"rbac.authorization.kubernetes.io/autoupdate": "true"});
    json!({"name": name, "labels": labels, "annotations": annotations})
}

/// A cluster role that is made of those with a label.
fn aggregated(name: &str, labels: &[&str]) -> Value {
    let mut role = role(name, labels, Vec::new());
    let label = format!("{GROUP}/aggregate-to-{name}");
    role["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]});
    role
}

/// The cluster roles, those that are aggregated after what they are made of.
pub(in crate::api) fn cluster_roles() -> Vec<Value> {
    let anything = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]});
    let any_path = json!({"verbs": ["*"], "nonResourceURLs": ["*"]});
    vec![
        role("cluster-admin", &[], vec![anything, any_path]),
        role("system:aggregate-to-view", &["aggregate-to-view"], view()),
        role("system:aggregate-to-edit", &["aggregate-to-edit"], edit()),
        role("system:aggregate-to-admin", &["aggregate-to-admin"], admin()),
        aggregated("view", &["aggregate-to-edit"]),
        aggregated("edit", &["aggregate-to-admin"]),
        aggregated("admin", &[]),
        role("system:auth-delegator", &[], auth_delegator()),
        role("system:basic-user", &[], basic_user()),
        role("system:discovery", &[], vec![paths(DISCOVERY)]),
        role("system:public-info-viewer", &[], vec![paths(HEALTH)]),
    ]
}

/// The bindings of the cluster roles.
pub(in crate::api) fn cluster_role_bindings() -> Vec<Value> {
    let all = "system:authenticated";
    [
        ("cluster-admin", "system:masters"),
        ("system:basic-user", all),
        ("system:discovery", all),
        ("system:public-info-viewer", all),
    ]
    .into_iter()
    .map(|(name, group)| {
        json!({
            "metadata": metadata(name, json!({"kubernetes.io/bootstrapping": "rbac-defaults"})),
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": group}],
        })
    })
    .collect()
}
