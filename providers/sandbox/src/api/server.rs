//! The server: HTTPS on a free loopback port, bearer tokens, kubeconfigs.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body as HttpBody;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT, WARNING};
use http::{HeaderMap, Response, StatusCode};
use hyper::body::Incoming as HttpIncoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::body::Body;
use super::handler::{Answer, Api, Incoming, Setup};
use super::identity::{CertificateError, Certificates, User, kubeconfig};
use super::status::Failure;
use crate::store::Store;

/// The largest body that is read: etcd's limit of 1.5 MiB for an object, twice.
const LIMIT: usize = 3 << 20;

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No port could be had.
    #[error("listening on the loopback address failed")]
    Listen(#[source] std::io::Error),
    /// No certificate could be made.
    #[error("the server has no certificate")]
    Certificate(#[from] CertificateError),
    /// The store did not take the first objects.
    #[error("the first objects could not be written: {}", .0.message)]
    Bootstrap(Failure),
}

/// Starts servers.
pub struct Server;

/// A server that runs until it is shut down or dropped.
pub struct Running {
    api: Arc<Api>,
    address: SocketAddr,
    authority: String,
    tokens: Arc<Tokens>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Users by their tokens.
#[derive(Default)]
struct Tokens(Mutex<BTreeMap<String, User>>);

impl Tokens {
    fn find(&self, headers: &HeaderMap) -> Option<User> {
        let token = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token.trim()).cloned()
    }

    /// The user's token: the one it has, or a new one.
    fn issue(&self, user: &User) -> String {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, _)) = tokens.iter().find(|(_, known)| *known == user) {
            return token.clone();
        }
        let token = uuid::Uuid::new_v4().simple().to_string();
        tokens.insert(token.clone(), user.clone());
        token
    }
}

impl Server {
    /// Serves the store's API on a free port of the loopback address.
    ///
    /// # Errors
    /// No port, no certificate, or a store that cannot be written.
    pub async fn start(store: Arc<Store>, setup: Setup) -> Result<Running, StartError> {
        let api = Arc::new(Api::new(store, setup).map_err(StartError::Bootstrap)?);
        let certificates = Certificates::generate()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(StartError::Listen)?;
        let address = listener.local_addr().map_err(StartError::Listen)?;
        let running = Running {
            stop: api.stop.clone(),
            api,
            address,
            authority: certificates.authority,
            tokens: Arc::new(Tokens::default()),
            tasks: TaskTracker::new(),
        };
        let acceptor = TlsAcceptor::from(Arc::new(certificates.server));
        running.tasks.spawn(accept(listener, acceptor, running.connection()));
        Ok(running)
    }
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `https://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The certificate of its authority, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.authority
    }

    /// The bearer token of a user, who is known to the server from now on.
    pub fn token(&self, user: &User) -> String {
        self.tokens.issue(user)
    }

    /// A kubeconfig for a user (JSON, which is YAML). It holds the token: write it with mode 0600.
    pub fn kubeconfig(&self, user: &User) -> String {
        kubeconfig(&self.url(), &self.authority, &user.name, &self.token(user))
    }

    /// The API, for calls without the wire and for its record.
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// Ends all watches and connections, and returns when nothing runs any more.
    pub async fn shutdown(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn connection(&self) -> Connection {
        Connection {
            api: self.api.clone(),
            tokens: self.tokens.clone(),
            stop: self.stop.clone(),
            tasks: self.tasks.clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// What every connection needs.
#[derive(Clone)]
struct Connection {
    api: Arc<Api>,
    tokens: Arc<Tokens>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, connection: Connection) {
    loop {
        let stream = tokio::select! {
            () = connection.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        // A connection that failed before it began is the client's loss alone.
        let Ok((stream, _)) = stream else { continue };
        connection.tasks.spawn(serve(stream, acceptor.clone(), connection.clone()));
    }
}

async fn serve(stream: TcpStream, acceptor: TlsAcceptor, connection: Connection) {
    let stop = connection.stop.clone();
    let handshake = tokio::select! {
        () = stop.cancelled() => return,
        handshake = acceptor.accept(stream) => handshake,
    };
    let Ok(stream) = handshake else { return };
    let service = hyper::service::service_fn(move |request| {
        let connection = connection.clone();
        async move { Ok::<_, std::convert::Infallible>(connection.answer(request).await) }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    let served = builder.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
    tokio::pin!(served);
    tokio::select! {
        // A client that goes away is no error of ours.
        _ = served.as_mut() => return,
        () = stop.cancelled() => {}
    }
    // Watches have ended with the same signal: let the last answers out.
    served.as_mut().graceful_shutdown();
    drop(served.await);
}

impl Connection {
    async fn answer(&self, request: http::Request<HttpIncoming>) -> Response<HttpBody> {
        let (parts, body) = request.into_parts();
        let Some(user) = self.tokens.find(&parts.headers) else {
            return refusal(&self.api.refuse_unknown(parts.uri.path()), &[]);
        };
        let Ok(bytes) = axum::body::to_bytes(HttpBody::new(body), LIMIT).await else {
            return refusal(&Failure::too_large(LIMIT), &[]);
        };
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_owned();
        let incoming = Incoming {
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            accept: header(ACCEPT).to_owned(),
            user_agent: header(USER_AGENT).to_owned(),
            body: Body { bytes, content_type },
        };
        let (answer, warnings) = self.api.handle(&user, incoming);
        match answer {
            Ok(Answer::Json(code, value)) => json(code, "application/json", &value, &warnings),
            Ok(Answer::Typed(media, value)) => json(200, &media, &value, &warnings),
            Ok(Answer::Text(text)) => respond(200, "text/plain", text.into(), &warnings),
            Ok(Answer::Watch(watch)) => {
                respond(200, "application/json", HttpBody::from_stream(watch.into_stream()), &warnings)
            }
            Err(failure) => refusal(&failure, &warnings),
        }
    }
}

fn refusal(failure: &Failure, warnings: &[String]) -> Response<HttpBody> {
    json(failure.code, "application/json", &failure.to_json(), warnings)
}

fn json(code: u16, media: &str, value: &Value, warnings: &[String]) -> Response<HttpBody> {
    let mut bytes = serde_json::to_vec(value).expect("JSON values serialise");
    bytes.push(b'\n');
    respond(code, media, bytes.into(), warnings)
}

fn respond(code: u16, media: &str, body: HttpBody, warnings: &[String]) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Ok(media) = media.parse() {
        headers.insert(CONTENT_TYPE, media);
    }
    for warning in warnings {
        let text = format!("299 - \"{}\"", warning.replace('\\', "\\\\").replace('"', "\\\""));
        if let Ok(value) = text.parse() {
            headers.append(WARNING, value);
        }
    }
    response
}
