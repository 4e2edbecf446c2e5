//! Many objects: a configuration of ten kinds in as many namespaces as are wanted.

use std::fmt::Write;

/// Each kind's name in the configuration, its API version, its name, and what it says beside its metadata.
const KINDS: [(&str, &str, &str, &str); 10] = [
    ("config_map", "v1", "ConfigMap", r#"data = { a = "1", text = join("\n", range(20)) }"#),
    ("secret", "v1", "Secret", r#"data = { a = "aHVudGVyMg==" }"#),
    ("account", "v1", "ServiceAccount", "automountServiceAccountToken = false"),
    ("service", "v1", "Service", r#"spec = { clusterIP = "None", selector = { app = "x" }, ports = [{ port = 80 }] }"#),
    ("template", "v1", "PodTemplate", "template = local.template"),
    (
        "deployment",
        "apps/v1",
        "Deployment",
        r#"spec = { replicas = 0, selector = { matchLabels = { app = "x" } }, template = local.template }"#,
    ),
    (
        "role",
        "rbac.authorization.k8s.io/v1",
        "Role",
        r#"rules = [{ apiGroups = [""], resources = ["pods"], verbs = ["get", "list"] }]"#,
    ),
    (
        "binding",
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        r#"roleRef = { apiGroup = "rbac.authorization.k8s.io", kind = "ClusterRole", name = "view" }
    subjects = [{ apiGroup = "rbac.authorization.k8s.io", kind = "User", name = "nobody" }]"#,
    ),
    (
        "policy",
        "networking.k8s.io/v1",
        "NetworkPolicy",
        r#"spec = { podSelector = { matchLabels = { app = "x" } }, policyTypes = ["Ingress"], ingress = [{}] }"#,
    ),
    (
        "ingress",
        "networking.k8s.io/v1",
        "Ingress",
        r#"spec = { defaultBackend = { service = { name = "x", port = { number = 80 } } } }"#,
    ),
];

/// How many kinds there are.
pub const COUNT: usize = KINDS.len();

/// The plural names of the kinds, as the audit log has them.
pub const PLURALS: [&str; COUNT] = [
    "configmaps",
    "secrets",
    "serviceaccounts",
    "services",
    "podtemplates",
    "deployments",
    "roles",
    "rolebindings",
    "networkpolicies",
    "ingresses",
];

/// A configuration of so many objects of each kind in each of the namespaces `PREFIX-0`, `PREFIX-1` and so on.
pub fn configuration(prefix: &str, namespaces: usize, each: usize) -> String {
    let mut text = format!(
        r#"terraform {{
  required_providers {{
    kubernetes = {{ source = "sliceform/kubernetes" }}
  }}
}}
locals {{
  places = {{
    for pair in setproduct(range({namespaces}), range({each})) :
    "${{pair[0]}}-${{pair[1]}}" => {{ namespace = "{prefix}-${{pair[0]}}", name = "x-${{pair[1]}}" }}
  }}
  template = {{
    metadata = {{ labels = {{ app = "x" }} }}
    spec     = {{ containers = [{{ name = "x", image = "example.com/x:1", resources = {{ limits = {{ cpu = "1" }} }} }}] }}
  }}
}}
"#
    );
    for (name, api_version, kind, body) in KINDS {
        let _ = write!(
            text,
            r#"resource "kubernetes_manifest" "{name}" {{
  for_each = local.places
  manifest = {{
    apiVersion = "{api_version}"
    kind       = "{kind}"
    metadata   = each.value
    {body}
  }}
}}
"#
        );
    }
    text
}
