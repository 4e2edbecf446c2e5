//! The lives of types with HashiCorp's schemas, as data.

use serde_json::{Value as Json, json};

/// The life of one type. Bodies are those of a block with the name `x`; each stands for the whole configuration.
pub(crate) struct Life {
    pub(crate) ty: &'static str,
    /// Where the object is in the API.
    pub(crate) path: String,
    /// As `import` takes it.
    pub(crate) id: String,
    pub(crate) create: String,
    pub(crate) update: String,
    /// What of the object the update is to be seen in.
    pub(crate) updated: (&'static str, Json),
    /// What somebody else changes.
    pub(crate) drift: Json,
    /// What makes another object of it, and why.
    pub(crate) replace: (String, String),
    /// Where the object is after that.
    pub(crate) replaced: String,
}

const USER: &str = "subject {\n kind = \"User\"\n name = \"jane\"\n}\n";

fn body(rest: &str) -> String {
    format!("metadata {{\n name = \"a\"\n namespace = \"team-a\"\n labels = {{ team = \"a\" }}\n}}\n{rest}")
}

fn cluster_body(rest: &str) -> String {
    format!("metadata {{\n name = \"a\"\n}}\n{rest}")
}

fn other_name(rest: &str) -> String {
    format!("metadata {{\n name = \"b\"\n namespace = \"team-a\"\n}}\n{rest}")
}

fn binding(role: &str, subjects: &str) -> String {
    format!(
        "role_ref {{\n api_group = \"rbac.authorization.k8s.io\"\n kind = \"ClusterRole\"\n name = \"{role}\"\n}}\n{subjects}"
    )
}

pub(crate) fn config_map() -> Life {
    Life {
        ty: "kubernetes_config_map",
        path: "/api/v1/namespaces/team-a/configmaps/a".into(),
        id: "team-a/a".into(),
        create: body("data = { x = \"1\", gone = \"2\" }"),
        update: body("data = { x = \"2\" }\nbinary_data = { b = \"/w==\" }"),
        updated: ("/data", json!({"x": "2"})),
        drift: json!({"data": {"x": "3"}}),
        replace: pair(other_name("data = { x = \"2\" }"), "metadata[0].name"),
        replaced: "/api/v1/namespaces/team-a/configmaps/b".into(),
    }
}

pub(crate) fn secret() -> Life {
    Life {
        ty: "kubernetes_secret_v1",
        path: "/api/v1/namespaces/team-a/secrets/a".into(),
        id: "team-a/a".into(),
        create: body("data = { x = \"1\" }"),
        update: body("data = { x = \"2\" }\nbinary_data = { b = \"/w==\" }"),
        updated: ("/data", json!({"x": "Mg==", "b": "/w=="})),
        drift: json!({"data": {"x": "Mw=="}}),
        replace: pair(body("data = { x = \"2\" }\ntype = \"example.com/other\""), "type"),
        replaced: "/api/v1/namespaces/team-a/secrets/a".into(),
    }
}

pub(crate) fn resource_quota() -> Life {
    Life {
        ty: "kubernetes_resource_quota",
        path: "/api/v1/namespaces/team-a/resourcequotas/a".into(),
        id: "team-a/a".into(),
        create: body("spec {\n hard = { pods = 4, \"requests.cpu\" = \"1000m\" }\n}"),
        update: body("spec {\n hard = { pods = 5, \"requests.cpu\" = \"1\" }\n}"),
        updated: ("/spec/hard", json!({"pods": "5", "requests.cpu": "1"})),
        drift: json!({"spec": {"hard": {"pods": "9"}}}),
        replace: pair(body("spec {\n hard = { pods = 5 }\n scopes = [\"BestEffort\"]\n}"), "spec[0].scopes"),
        replaced: "/api/v1/namespaces/team-a/resourcequotas/a".into(),
    }
}

pub(crate) fn limit_range() -> Life {
    Life {
        ty: "kubernetes_limit_range",
        path: "/api/v1/namespaces/team-a/limitranges/a".into(),
        id: "team-a/a".into(),
        create: body("spec {\n limit {\n type = \"Container\"\n default = { cpu = \"1\" }\n }\n}"),
        update: body("spec {\n limit {\n type = \"Container\"\n default = { cpu = \"2\" }\n }\n}"),
        updated: ("/spec/limits/0/default", json!({"cpu": "2"})),
        drift: json!({"spec": {"limits": [{"type": "Container", "default": {"cpu": "3"}}]}}),
        replace: pair(
            other_name("spec {\n limit {\n type = \"Pod\"\n max = { cpu = \"2\" }\n }\n}"),
            "metadata[0].name",
        ),
        replaced: "/api/v1/namespaces/team-a/limitranges/b".into(),
    }
}

pub(crate) fn priority_class() -> Life {
    Life {
        ty: "kubernetes_priority_class",
        path: "/apis/scheduling.k8s.io/v1/priorityclasses/a".into(),
        id: "a".into(),
        create: cluster_body("value = 100"),
        update: cluster_body("value = 100\ndescription = \"for all\""),
        updated: ("/description", json!("for all")),
        drift: json!({"description": "for few"}),
        replace: pair(cluster_body("value = 200"), "value"),
        replaced: "/apis/scheduling.k8s.io/v1/priorityclasses/a".into(),
    }
}

pub(crate) fn service_account() -> Life {
    Life {
        ty: "kubernetes_service_account",
        path: "/api/v1/namespaces/team-a/serviceaccounts/a".into(),
        id: "team-a/a".into(),
        create: body("image_pull_secret {\n name = \"pull\"\n}"),
        update: body("image_pull_secret {\n name = \"pull\"\n}\nautomount_service_account_token = false"),
        updated: ("/automountServiceAccountToken", json!(false)),
        drift: json!({"automountServiceAccountToken": true}),
        replace: pair(other_name(""), "metadata[0].name"),
        replaced: "/api/v1/namespaces/team-a/serviceaccounts/b".into(),
    }
}

pub(crate) fn role() -> Life {
    Life {
        ty: "kubernetes_role",
        path: "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/roles/a".into(),
        id: "team-a/a".into(),
        create: body("rule {\n api_groups = [\"\"]\n resources = [\"pods\"]\n verbs = [\"get\", \"list\"]\n}"),
        update: body("rule {\n api_groups = [\"\"]\n resources = [\"pods\"]\n verbs = [\"list\", \"watch\"]\n}"),
        updated: ("/rules/0/verbs", json!(["list", "watch"])),
        drift: json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}]}),
        replace: pair(
            other_name("rule {\n api_groups = [\"\"]\n resources = [\"pods\"]\n verbs = [\"get\"]\n}"),
            "metadata[0].name",
        ),
        replaced: "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/roles/b".into(),
    }
}

pub(crate) fn cluster_role() -> Life {
    Life {
        ty: "kubernetes_cluster_role",
        path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/a".into(),
        id: "a".into(),
        create: cluster_body("rule {\n non_resource_urls = [\"/healthz\"]\n verbs = [\"get\"]\n}"),
        update: cluster_body(
            "rule {\n api_groups = [\"\"]\n resources = [\"nodes\"]\n verbs = [\"get\"]\n}\n\
             rule {\n api_groups = [\"apps\"]\n resources = [\"deployments\"]\n verbs = [\"get\"]\n}",
        ),
        updated: ("/rules/1/apiGroups", json!(["apps"])),
        drift: json!({"rules": []}),
        replace: pair(
            "metadata {\n name = \"b\"\n}\nrule {\n api_groups = [\"\"]\n resources = [\"nodes\"]\n verbs = [\"get\"]\n}",
            "metadata[0].name",
        ),
        replaced: "/apis/rbac.authorization.k8s.io/v1/clusterroles/b".into(),
    }
}

pub(crate) fn role_binding() -> Life {
    Life {
        ty: "kubernetes_role_binding",
        path: "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/rolebindings/a".into(),
        id: "team-a/a".into(),
        create: body(&binding("view", USER)),
        update: body(&binding(
            "view",
            "subject {\n kind = \"User\"\n name = \"jane\"\n}\nsubject {\n kind = \"ServiceAccount\"\n name = \"ci\"\n namespace = \"team-a\"\n}\n",
        )),
        updated: ("/subjects/1/kind", json!("ServiceAccount")),
        drift: json!({"subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "joe"}]}),
        replace: pair(body(&binding("edit", USER)), "role_ref[0].name"),
        replaced: "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/rolebindings/a".into(),
    }
}

pub(crate) fn cluster_role_binding() -> Life {
    Life {
        ty: "kubernetes_cluster_role_binding_v1",
        path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/a".into(),
        id: "a".into(),
        create: cluster_body(&binding("view", USER)),
        update: cluster_body(&binding("view", "subject {\n kind = \"Group\"\n name = \"all\"\n}\n")),
        updated: ("/subjects/0/kind", json!("Group")),
        drift: json!({"subjects": []}),
        replace: pair(cluster_body(&binding("edit", USER)), "role_ref[0].name"),
        replaced: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/a".into(),
    }
}

fn pair(body: impl Into<String>, why: &str) -> (String, String) {
    (body.into(), why.to_owned())
}

/// All of them.
pub(crate) fn all() -> Vec<Life> {
    vec![
        config_map(),
        secret(),
        resource_quota(),
        limit_range(),
        priority_class(),
        service_account(),
        role(),
        cluster_role(),
        role_binding(),
        cluster_role_binding(),
    ]
}

impl Life {
    /// The same in another namespace than `team-a`.
    pub(crate) fn within(self, namespace: &str) -> Self {
        let renamed = |text: String| text.replace("team-a", namespace);
        Self {
            path: renamed(self.path),
            id: renamed(self.id),
            create: renamed(self.create),
            update: renamed(self.update),
            replace: (renamed(self.replace.0), self.replace.1),
            replaced: renamed(self.replaced),
            ..self
        }
    }
}
