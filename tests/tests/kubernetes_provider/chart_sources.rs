//! Charts from elsewhere: archives, repositories over HTTP, OCI registries; who may have them, and what is told where one
//! cannot be had.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tests::helm::helm;

use crate::{
    charts::{keys, rendered, set, world},
    world::{World, json as to_json},
};

/// `reader:hunter2`.
const LOGIN: &str = "Basic cmVhZGVyOmh1bnRlcjI=";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CONTENT: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// What is there, by path: its type and content.
type Files = BTreeMap<String, (&'static str, Vec<u8>)>;

/// A server of files over plain HTTP; `locked`: only for who has the password. Gives its host and port.
async fn serve(files: Files, locked: bool) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let router = Router::new().fallback(answer).with_state(Arc::new((files, locked)));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    host
}

async fn answer(State(served): State<Arc<(Files, bool)>>, request: Request) -> Response {
    let (files, locked) = &*served;
    let login = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    if *locked && login != Some(LOGIN) {
        let refused = Response::builder().status(401).header("www-authenticate", "Basic realm=\"charts\"");
        return refused.body(Body::empty()).unwrap();
    }
    match files.get(request.uri().path()) {
        // The server leaves the content out of the answer to a HEAD, and keeps its length.
        Some((ty, content)) => {
            let found = Response::builder().header("content-type", *ty);
            let found = if request.uri().path().contains("/manifests/") {
                found.header("docker-content-digest", digest(content))
            } else {
                found
            };
            found.header("content-length", content.len()).body(Body::from(content.clone())).unwrap()
        }
        None => {
            let error = json!({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "there is none"}]});
            Response::builder().status(404).body(Body::from(error.to_string())).unwrap()
        }
    }
}

fn digest(content: &[u8]) -> String {
    let hash = Sha256::digest(content);
    format!("sha256:{}", hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// What an OCI registry serves of one version of a chart, and the digest of its manifest. `spoilt`: the content is another
/// than was promised.
fn in_registry(archive: &[u8], spoilt: bool) -> (Files, String) {
    let config = json!({"apiVersion": "v2", "name": "demo", "version": "1.2.3"}).to_string().into_bytes();
    let part = |ty: &str, content: &[u8]| json!({"mediaType": ty, "digest": digest(content), "size": content.len()});
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": part(CONFIG, &config),
        "layers": [part(CONTENT, archive)]});
    let manifest = manifest.to_string().into_bytes();
    let (of_config, of_archive, of_manifest) = (digest(&config), digest(archive), digest(&manifest));
    let mut content = archive.to_vec();
    if spoilt {
        *content.last_mut().unwrap() ^= 1;
    }
    let tags = json!({"name": "charts/demo", "tags": ["1.2.3"]}).to_string().into_bytes();
    let files = [
        ("tags/list".to_owned(), ("application/json", tags)),
        ("manifests/1.2.3".to_owned(), (MANIFEST, manifest.clone())),
        (format!("manifests/{of_manifest}"), (MANIFEST, manifest)),
        (format!("blobs/{of_config}"), ("application/octet-stream", config)),
        (format!("blobs/{of_archive}"), ("application/octet-stream", content)),
    ];
    let files = files.into_iter().map(|(path, file)| (format!("/v2/charts/demo/{path}"), file));
    (files.chain([("/v2/".to_owned(), ("application/json", b"{}".to_vec()))]).collect(), of_manifest)
}

/// A folder with the archive of the chart, and Helm.
struct Packed {
    helm: PathBuf,
    folder: tempfile::TempDir,
    archive: PathBuf,
}

impl Packed {
    fn new(helm: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("demo-1.2.3.tgz");
        let packed = Self { helm, folder, archive };
        let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes_provider/charts/demo");
        packed.run(&["package".as_ref(), chart.as_ref(), "--destination".as_ref(), packed.folder.path().as_ref()]);
        packed
    }

    fn run(&self, arguments: &[&std::ffi::OsStr]) {
        let mut command = std::process::Command::new(&self.helm);
        let done = command.args(arguments).env("HOME", self.folder.path()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// What a repository over HTTP serves.
    fn in_repository(&self) -> Files {
        self.run(&["repo".as_ref(), "index".as_ref(), self.folder.path().as_ref()]);
        let file = |name: &str| std::fs::read(self.folder.path().join(name)).unwrap();
        let files = ["index.yaml", "demo-1.2.3.tgz"].map(|name| (format!("/{name}"), ("text/plain", file(name))));
        files.into()
    }
}

/// The arguments with more of them.
fn with(arguments: &Json, more: Json) -> Json {
    let mut whole = arguments.clone();
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    whole
}

async fn renders(world: &World, arguments: Json) {
    let found = rendered(world, arguments.clone()).await.unwrap_or_else(|issues| panic!("{arguments}: {issues:?}"));
    assert!(keys(&found, "manifests").contains(&"Deployment/default/shop".to_owned()), "{arguments}");
    assert_eq!(to_json(found.get("metadata").unwrap())["version"], "1.2.3");
    assert_eq!(to_json(found.get("notes").unwrap()), "Well done, shop: level info.\n");
}

async fn refused(world: &World, arguments: Json, expected: &[&str]) {
    let issue = rendered(world, arguments.clone()).await.unwrap_err().remove(0);
    assert_eq!((issue.summary.as_str(), issue.path.to_string().as_str()), ("Cannot render the chart", "chart"));
    for words in expected {
        assert!(issue.detail.contains(words), "{arguments}: {words}: {}", issue.detail);
    }
    assert!(!issue.detail.contains("wrong-password"), "{}", issue.detail);
}

fn credentials(password: &str) -> Json {
    json!({"repository_username": "reader", "repository_password": password})
}

#[tokio::test]
async fn charts_come_as_archives_and_from_repositories() {
    let Some(helm) = helm() else { return };
    let packed = Packed::new(helm.clone());
    let world = world(helm).await;
    let base = json!({"name": "shop", "chart": "demo", "set": [set("tag", "1")]});
    renders(&world, with(&base, json!({"chart": packed.archive}))).await;

    let files = packed.in_repository();
    let url = format!("http://{}", serve(files.clone(), false).await);
    renders(&world, with(&base, json!({"repository": url}))).await;
    renders(&world, with(&base, json!({"chart": format!("{url}/demo-1.2.3.tgz")}))).await;
    refused(&world, with(&base, json!({"repository": url, "chart": "none"})), &["none", &url]).await;
    refused(&world, with(&base, json!({"repository": url, "version": "9.9.9"})), &["9.9.9"]).await;

    let locked = format!("http://{}", serve(files.clone(), true).await);
    let of_locked = with(&base, json!({"repository": locked, "version": ">=1.0.0"}));
    renders(&world, with(&of_locked, credentials("hunter2"))).await;
    refused(&world, with(&of_locked, credentials("wrong-password")), &["401"]).await;
    refused(&world, of_locked, &["401"]).await;

    let mut spoilt = files;
    spoilt.get_mut("/demo-1.2.3.tgz").unwrap().1.truncate(100);
    let url = format!("http://{}", serve(spoilt, false).await);
    refused(&world, with(&base, json!({"repository": url})), &[]).await;
}

#[tokio::test]
async fn charts_come_from_registries() {
    let Some(helm) = helm() else { return };
    let archive = std::fs::read(Packed::new(helm.clone()).archive).unwrap();
    let world = world(helm).await;
    let (files, of_manifest) = in_registry(&archive, false);
    let base = json!({"name": "shop", "set": [set("tag", "1")], "repository_plain_http": true});

    let host = serve(files.clone(), false).await;
    let open = with(&base, json!({"chart": "demo", "repository": format!("oci://{host}/charts")}));
    renders(&world, with(&open, json!({"version": "1.2.3"}))).await;
    renders(&world, with(&open, json!({"version": ">=1.0.0"}))).await;
    renders(&world, open.clone()).await;
    refused(&world, with(&open, json!({"version": "9.9.9"})), &["9.9.9"]).await;
    refused(&world, with(&open, json!({"chart": "none", "version": "1.2.3"})), &["charts/none", "not found"]).await;
    let by_digest = |digest: &str| with(&base, json!({"chart": format!("oci://{host}/charts/demo@{digest}")}));
    renders(&world, by_digest(&of_manifest)).await;
    refused(&world, by_digest(&digest(b"another")), &["not found"]).await;
    // With TLS, which it does not speak.
    refused(&world, with(&open, json!({"repository_plain_http": false, "version": "1.2.3"})), &["https"]).await;

    let locked = serve(files, true).await;
    let locked =
        with(&base, json!({"chart": "demo", "repository": format!("oci://{locked}/charts"), "version": "1.2.3"}));
    renders(&world, with(&locked, credentials("hunter2"))).await;
    refused(&world, with(&locked, credentials("wrong-password")), &["401"]).await;
    refused(&world, locked, &["basic credential not found"]).await;

    let (spoilt, _) = in_registry(&archive, true);
    let host = serve(spoilt, false).await;
    let spoilt =
        with(&base, json!({"chart": "demo", "repository": format!("oci://{host}/charts"), "version": "1.2.3"}));
    refused(&world, spoilt, &["digest"]).await;
}
