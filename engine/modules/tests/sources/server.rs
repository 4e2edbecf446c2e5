//! A server for tests: plain or over TLS, with what a test says, and a record of what was asked.

use std::{
    collections::BTreeMap,
    future::Future,
    net::SocketAddr,
    path::PathBuf,
    pin::Pin,
    process::Stdio,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{io::AsyncWriteExt, net::TcpListener};

pub(crate) type Answer = Response<Full<Bytes>>;
type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Handler = Arc<dyn Fn(Request<Bytes>) -> Answering + Send + Sync>;

/// A server on this machine; it ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Asked>>>,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
}

/// A path's answer.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Full::new(body.into())).unwrap()
}

impl Server {
    /// Answers paths (without their queries) as the table says, and 404 for others.
    pub(crate) async fn table(paths: Vec<(&str, Answer)>) -> Self {
        Self::start(None, by_table(paths)).await
    }

    pub(crate) async fn start(tls: Option<&Authority>, handler: Handler) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let server = Self { address, requests: requests.clone() };
        let acceptor = tls.map(|authority| tokio_rustls::TlsAcceptor::from(authority.server.clone()));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (handler, requests, acceptor) = (handler.clone(), requests.clone(), acceptor.clone());
                tokio::spawn(async move {
                    let service = service_fn(move |request: Request<Incoming>| {
                        let (handler, requests) = (handler.clone(), requests.clone());
                        async move {
                            let (parts, body) = request.into_parts();
                            let body = body.collect().await?.to_bytes();
                            let authorization = parts.headers.get(header::AUTHORIZATION);
                            requests.lock().unwrap().push(Asked {
                                path: parts.uri.to_string(),
                                authorization: authorization.map(|value| value.to_str().unwrap().to_owned()),
                            });
                            Ok::<_, hyper::Error>(handler(Request::from_parts(parts, body)).await)
                        }
                    });
                    match acceptor {
                        None => drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await),
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
                            }
                        }
                    }
                });
            }
        });
        server
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.requests.lock().unwrap().clone()
    }

    /// How often a path was asked for.
    pub(crate) fn count(&self, part: &str) -> usize {
        self.asked().iter().filter(|asked| asked.path.contains(part)).count()
    }
}

pub(crate) fn by_table(paths: Vec<(&str, Answer)>) -> Handler {
    let paths: BTreeMap<String, Answer> = paths.into_iter().map(|(path, answer)| (path.to_owned(), answer)).collect();
    Arc::new(move |request| {
        let found = paths.get(request.uri().path()).cloned();
        Box::pin(async move { found.unwrap_or_else(|| answer(404, &[], "")) })
    })
}

/// A test's own authority, and what its servers prove with it.
pub(crate) struct Authority {
    pub(crate) certificate: String,
    server: Arc<rustls::ServerConfig>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let server = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        Self { certificate: made.cert.pem(), server: Arc::new(server) }
    }
}

/// Repositories by git's own server, or as plain files, to whoever knows the password.
pub(crate) fn git(root: PathBuf, smart: bool, password: Option<&'static str>) -> Handler {
    Arc::new(move |request| {
        let root = root.clone();
        Box::pin(async move {
            let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
            if password.is_some() && given != password {
                return answer(401, &[("www-authenticate", "Basic realm=\"x\"")], "");
            }
            if !smart {
                let path = root.join(request.uri().path().trim_start_matches('/'));
                return match std::fs::read(path) {
                    Ok(bytes) => answer(200, &[], bytes),
                    Err(_) => answer(404, &[], ""),
                };
            }
            cgi(&root, request).await
        })
    })
}

async fn cgi(root: &std::path::Path, request: Request<Bytes>) -> Answer {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut child = tokio::process::Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", request.uri().path())
        .env("QUERY_STRING", request.uri().query().unwrap_or_default())
        .env("REQUEST_METHOD", request.method().as_str())
        .env("CONTENT_TYPE", header("content-type"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let _ = input.write_all(request.body()).await;
    drop(input);
    let output = child.wait_with_output().await.unwrap().stdout;
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").expect("CGI headers");
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let mut response = Response::builder();
    for line in head.lines() {
        let (name, value) = line.split_once(": ").unwrap();
        response = match name {
            "Status" => response.status(value[..3].parse::<StatusCode>().unwrap()),
            name => response.header(name, value),
        };
    }
    response.body(Full::new(Bytes::copy_from_slice(&output[end + 4..]))).unwrap()
}
