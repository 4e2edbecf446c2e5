//! The arguments of a provider block that say how a cluster is reached, under HashiCorp's names.

use std::{collections::BTreeMap, sync::Arc};

use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Usage};
use engine_value::Type;

/// The arguments that [`super::ConnectionSettings::from_config`] reads. Other providers of clusters take the same.
pub fn connection_attributes() -> BTreeMap<Arc<str>, Attribute> {
    let text = |name: &str, description: &str| (Arc::from(name), attribute(Type::String, description));
    BTreeMap::from([
        text("host", "Address of the API server, `https://host:port`. `KUBE_HOST`."),
        secret("token", "A bearer token. `KUBE_TOKEN`."),
        text("username", "Refused when set: API servers have no basic authentication since Kubernetes 1.19."),
        secret("password", "Refused when set: API servers have no basic authentication since Kubernetes 1.19."),
        (Arc::from("insecure"), attribute(Type::Bool, "Accept any certificate of the server. `KUBE_INSECURE`.")),
        text(
            "tls_server_name",
            "The name in the server's certificate, where it is not the host. `KUBE_TLS_SERVER_NAME`.",
        ),
        text("client_certificate", "Client certificate, PEM. `KUBE_CLIENT_CERT_DATA`."),
        secret("client_key", "Key of the client certificate, PEM. `KUBE_CLIENT_KEY_DATA`."),
        text("cluster_ca_certificate", "Who signed the server's certificate, PEM. `KUBE_CLUSTER_CA_CERT_DATA`."),
        text("config_path", "A kubeconfig file. `KUBE_CONFIG_PATH`, else `KUBECONFIG`, else `~/.kube/config`."),
        (
            Arc::from("config_paths"),
            attribute(
                Type::list(Type::String),
                "Kubeconfig files; the first to say something wins. `KUBE_CONFIG_PATHS`.",
            ),
        ),
        text("config_context", "The context to use instead of the current one. `KUBE_CTX`."),
        text("config_context_auth_info", "The user to use instead of the context's. `KUBE_CTX_AUTH_INFO`."),
        text("config_context_cluster", "The cluster to use instead of the context's. `KUBE_CTX_CLUSTER`."),
        secret(
            "proxy_url",
            "The proxy in front of the API server, `http://`, `https://` or `socks5://`. `KUBE_PROXY_URL`, else the \
             kubeconfig's `proxy-url`, else `HTTPS_PROXY` and `NO_PROXY`.",
        ),
        (
            Arc::from("in_cluster_config"),
            attribute(
                Type::Bool,
                "The cluster that this process runs in, by its pod's service account. Never without being asked for. \
                 `KUBE_IN_CLUSTER_CONFIG`.",
            ),
        ),
    ])
}

/// The nested blocks that [`super::ConnectionSettings::from_config`] reads.
pub fn connection_blocks() -> BTreeMap<Arc<str>, NestedBlock> {
    let exec = Block::new(
        [
            ("api_version", Attribute::new(Type::String, Usage::Required, "`client.authentication.k8s.io/v1`.")),
            ("command", Attribute::new(Type::String, Usage::Required, "What to run.")),
            ("args", attribute(Type::list(Type::String), "Its arguments.")),
            ("env", attribute(Type::map(Type::String), "Environment variables for it.")),
        ],
        "A command that prints credentials.",
    );
    BTreeMap::from([(
        Arc::from("exec"),
        NestedBlock { nesting: Nesting::List, block: exec, min_items: 0, max_items: 1 },
    )])
}

fn attribute(ty: Type, description: &str) -> Attribute {
    Attribute::new(ty, Usage::Optional, description)
}

fn secret(name: &str, description: &str) -> (Arc<str>, Attribute) {
    (Arc::from(name), attribute(Type::String, description).sensitive())
}
