//! Which cluster is spoken to, and how: files, variables, the provider block, authorities, proxies.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
};

use engine_model::host::FixedHost;
use engine_value::Value;
use providers_api::{Call, ErrorKind, Instance, Provider, ProviderError, ReadAnswer, ReadRequest, Silent};
use providers_kubernetes::{Environment, KubernetesProvider};
use providers_sandbox::api::{Renewal, User};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::{
    connection_wire::{Authority, Proxy, serve},
    world::{World, addr, null},
};

/// A configured provider, and nothing else.
pub(crate) struct Line {
    instance: Arc<dyn Instance>,
    cancel: CancellationToken,
    host: FixedHost,
}

impl Line {
    pub(crate) async fn new(environment: Environment, arguments: &[(&str, Value)]) -> Self {
        let provider = KubernetesProvider::new(environment, None);
        let mut block = null(&provider.schemas().provider);
        for (name, value) in arguments {
            block = engine_value::Path::root().attr(*name).set(&block, value.clone()).unwrap();
        }
        let (cancel, host) = (CancellationToken::new(), FixedHost::new(0));
        let call = Call { progress: &Silent, cancel: &cancel, host: &host };
        let instance = provider.configure(&block, call).await.unwrap();
        Self { instance, cancel, host }
    }

    /// Asks the cluster who it is.
    pub(crate) async fn identity(&self) -> Result<String, ProviderError> {
        let call = Call { progress: &Silent, cancel: &self.cancel, host: &self.host };
        self.instance.identity(call).await.map(|identity| identity.unwrap().to_string())
    }

    pub(crate) async fn read(&self, requests: Vec<ReadRequest>) -> Vec<ReadAnswer> {
        let call = Call { progress: &Silent, cancel: &self.cancel, host: &self.host };
        self.instance.read(requests, call).await
    }
}

pub(crate) fn environment(directory: &Path, variables: &[(&str, &str)]) -> Environment {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    Environment { variables, directory: directory.to_owned(), cache: None }
}

/// A kubeconfig of one user and one cluster.
pub(crate) fn kubeconfig(cluster: Json, user: Json) -> String {
    let context = json!({"name": "x", "context": {"cluster": "c", "user": "u"}});
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "x", "contexts": [context],
        "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}],
    })
    .to_string()
}

/// Everything that is shown of an error, and that must be free of secrets.
pub(crate) fn shown(error: &ProviderError) -> String {
    let causes = engine_diag::chain(error);
    format!("{error} {causes} {:?} {error:?}", error.hint)
}

fn system(world: &World) -> String {
    world.live("/api/v1/namespaces/kube-system").unwrap()["metadata"]["uid"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn files_are_merged_and_found_by_relative_paths() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    let token = world.running.token(&User::admin("somebody"));
    std::fs::write(dir.path().join("sub/token"), format!("{token}\n")).unwrap();
    std::fs::write(dir.path().join("sub/ca.crt"), world.running.ca_pem()).unwrap();
    let cluster = json!({"server": world.running.url(), "certificate-authority": "ca.crt"});
    std::fs::write(dir.path().join("sub/config"), kubeconfig(cluster, json!({"tokenFile": "token"}))).unwrap();
    std::fs::write(dir.path().join("first"), r#"{"contexts": [{"name": "y", "context": {"cluster": ""}}]}"#).unwrap();
    let list = "nowhere:first:sub/config";
    let line = Line::new(environment(dir.path(), &[("KUBECONFIG", list)]), &[]).await;
    assert_eq!(line.identity().await.unwrap(), system(&world));
    let only = Line::new(environment(dir.path(), &[]), &[("config_path", "sub/config".into())]).await;
    assert_eq!(only.identity().await.unwrap(), system(&world));
}

#[tokio::test]
async fn no_configuration_is_an_error_that_tells_where_it_looked() {
    let dir = tempfile::tempdir().unwrap();
    let variables = [("HOME", "/nowhere"), ("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("KUBERNETES_SERVICE_PORT", "443")];
    let error = Line::new(environment(dir.path(), &variables), &[]).await.identity().await.unwrap_err();
    assert_eq!(error.to_string(), "no Kubernetes cluster is configured");
    let hint = error.hint.unwrap();
    for looked in ["`host`", "`config_path`", "KUBE_CONFIG_PATHS", "KUBECONFIG", "/nowhere/.kube/config"] {
        assert!(hint.contains(looked), "{looked}: {hint}");
    }
    assert!(hint.contains("`in_cluster_config = true`"), "{hint}");
}

#[tokio::test]
async fn authorities_are_read_again_when_the_server_has_another_one() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    let ca = dir.path().join("ca.crt");
    std::fs::write(&ca, world.running.ca_pem()).unwrap();
    let user = json!({"token": world.running.token(&User::admin("somebody"))});
    let cluster = json!({"server": world.running.url(), "certificate-authority": "ca.crt"});
    std::fs::write(dir.path().join("config"), kubeconfig(cluster, user)).unwrap();
    let line = Line::new(environment(dir.path(), &[("KUBECONFIG", "config")]), &[]).await;
    line.identity().await.unwrap();
    for renewal in [Renewal::Certificate, Renewal::Authority] {
        world.running.go_down().await;
        world.running.come_back(renewal).await.unwrap();
        std::fs::write(&ca, world.running.ca_pem()).unwrap();
        line.identity().await.unwrap();
    }
    // Another one that no file knows.
    world.running.go_down().await;
    world.running.come_back(Renewal::Authority).await.unwrap();
    let error =
        Line::new(environment(dir.path(), &[("KUBECONFIG", "config")]), &[]).await.identity().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.to_string().contains("the TLS handshake with"), "{error}");
    assert!(error.hint.unwrap().contains("cluster_ca_certificate"));
}

#[tokio::test]
async fn a_server_is_reached_through_the_proxy_that_is_named() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    // A name that nothing resolves: whoever gets there came through a proxy.
    let cluster = |proxy: Json| json!({"server": "https://k8s.invalid:6443", "certificate-authority-data": encoded(&world.running.ca_pem()), "tls-server-name": "127.0.0.1", "proxy-url": proxy});
    let user = json!({"token": world.running.token(&User::admin("somebody"))});
    let http = Proxy::http(world.running.address()).await;
    let socks = Proxy::socks(world.running.address()).await;
    let (http_url, socks_url) = (format!("http://{}", http.address), format!("socks5://{}", socks.address));
    let secret = format!("http://u:pa%40canary@{}", http.address);
    std::fs::write(dir.path().join("plain"), kubeconfig(cluster(Json::Null), user.clone())).unwrap();
    std::fs::write(dir.path().join("file"), kubeconfig(cluster(json!(http_url)), user)).unwrap();
    let variables =
        |file: &'static str, more: &[(&str, &str)]| environment(dir.path(), &[&[("KUBECONFIG", file)], more].concat());
    for (environment, argument, came) in [
        (variables("plain", &[]), Some(secret.as_str()), "CONNECT k8s.invalid:6443"),
        (variables("plain", &[("HTTPS_PROXY", &http_url)]), None, "CONNECT k8s.invalid:6443"),
        (variables("plain", &[("KUBE_PROXY_URL", &socks_url)]), None, "k8s.invalid"),
        (
            variables("file", &[("https_proxy", "http://nowhere.invalid"), ("NO_PROXY", "*")]),
            None,
            "CONNECT k8s.invalid",
        ),
    ] {
        let before = (http.asked().len(), socks.asked().len());
        let arguments: Vec<(&str, Value)> = argument.map(|url| ("proxy_url", url.into())).into_iter().collect();
        let line = Line::new(environment, &arguments).await;
        assert_eq!(line.identity().await.unwrap(), system(&world));
        let new = http.asked().into_iter().skip(before.0).chain(socks.asked().into_iter().skip(before.1));
        let new: Vec<String> = new.collect();
        assert!(new.len() == 1 && new[0].starts_with(came), "{new:?}");
        if argument.is_some() {
            assert!(new[0].to_lowercase().contains("proxy-authorization: basic"), "{new:?}");
        }
    }
    // NO_PROXY names it, so that it is looked for directly, and not found.
    let direct = variables("plain", &[("HTTPS_PROXY", &http_url), ("NO_PROXY", ".invalid")]);
    let error = Line::new(direct, &[]).await.identity().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    // A proxy that is not there: the error has no password.
    let gone = [("proxy_url", Value::from("http://u:canary@127.0.0.1:1"))];
    let error = Line::new(variables("plain", &[]), &gone).await.identity().await.unwrap_err();
    assert!(!shown(&error).contains("canary"), "{}", shown(&error));
}

/// What a server of two group versions answers, its kinds told at once.
fn served(path: &str, kinds: &[&str]) -> (u16, Json) {
    let resource = |kind: &&str| {
        let kind_of = json!({"group": "", "version": "v1", "kind": kind});
        json!({"resource": format!("{}s", kind.to_lowercase()), "responseKind": kind_of, "scope": "Namespaced"})
    };
    let resources: Vec<Json> = kinds.iter().map(resource).collect();
    let version = json!({"version": "v1", "freshness": "Current", "resources": resources});
    match path {
        "/api" => {
            let group = json!({"metadata": {}, "versions": [version]});
            (200, json!({"kind": "APIGroupDiscoveryList", "items": [group]}))
        }
        "/apis" => (200, json!({"kind": "APIGroupDiscoveryList", "items": []})),
        "/api/v1/namespaces/default/configmaps/a" => {
            let metadata = json!({"name": "a", "namespace": "default", "uid": "u"});
            (200, json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}))
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn what_a_cluster_serves_is_asked_once_and_kept_as_long_as_the_server_says_so() {
    let (world, authority) = (World::new().await, Authority::new());
    let (asked, kinds) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(Mutex::new(vec!["ConfigMap"])));
    let (note, now) = (asked.clone(), kinds.clone());
    let url = serve(&authority, false, move |asked| {
        let path = asked.head.split(' ').nth(1).unwrap().to_owned();
        let known = if asked.head.contains("if-none-match") { " known" } else { "" };
        note.lock().unwrap().push(format!("{path}{known}"));
        served(&path, &now.lock().unwrap())
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let cluster = json!({"server": url, "certificate-authority-data": encoded(&authority.pem)});
    std::fs::write(dir.path().join("config"), kubeconfig(cluster, json!({"token": "t"}))).unwrap();
    let cache = dir.path().join("cache");
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
    let object = world.manifest(map);
    let run = async || {
        let environment = environment(dir.path(), &[("KUBECONFIG", "config")]);
        let line = Line::new(Environment { cache: Some(cache.clone()), ..environment }, &[]).await;
        for _ in 0..2 {
            let request =
                ReadRequest { addr: addr("kubernetes_manifest"), object: object.clone(), private: Vec::new() };
            let answers = line.read(vec![request]).await;
            assert!(matches!(answers[0], ReadAnswer::Object(_) | ReadAnswer::Gone), "{answers:?}");
        }
        std::mem::take(&mut *asked.lock().unwrap())
    };
    let map = "/api/v1/namespaces/default/configmaps/a";
    assert_eq!(run().await, ["/api", "/apis", map, map]);
    assert_eq!(run().await, ["/api known", "/apis known", map, map]);
    // What was changed on disk is not believed.
    let folder = std::fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("ConfigMap", "ConfigMop").replace("[]", "[ ]")).unwrap();
    }
    assert_eq!(run().await, ["/api", "/apis", map, map]);
    // Another answer of the server is another tag.
    kinds.lock().unwrap().clear();
    assert_eq!(run().await, ["/api known", "/apis known"], "no such kind: the object is gone with it");
}

pub(crate) fn encoded(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}
