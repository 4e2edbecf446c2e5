//! Connections: from the socket to the API and back, with the faults that strike on the way.

use std::sync::Arc;

use axum::body::Body as HttpBody;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LOCATION, RETRY_AFTER, USER_AGENT, WARNING,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode, request};
use hyper::body::{Body as _, Incoming as HttpIncoming};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::body::Body;
use super::faults::{Effect, When};
use super::handler::{Answer, Api, Incoming};
use super::identity::User;
use super::inquiry::Inquiry;
use super::options;
use super::status::Failure;
use super::watch;
use super::wire::{self, Scissors, Wire};

/// The largest body that is read: etcd's limit of 1.5 MiB for an object, twice.
const LIMIT: usize = 3 << 20;

/// What every connection needs.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) api: Arc<Api>,
    /// Ends when answers are out.
    pub(super) stop: CancellationToken,
    /// Ends at once.
    pub(super) kill: CancellationToken,
}

/// There is no answer; the connection ends.
#[derive(Debug, thiserror::Error)]
#[error("the connection was cut by a script")]
struct Severed;

/// Serves whoever connects.
pub(super) async fn accept(listener: TcpListener, acceptor: TlsAcceptor, connection: Connection, tasks: TaskTracker) {
    loop {
        let stream = tokio::select! {
            () = connection.stop.cancelled() => return,
            () = connection.kill.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        // A connection that failed before it began is the client's loss alone.
        let Ok((stream, _)) = stream else { continue };
        tasks.spawn(serve(stream, acceptor.clone(), connection.clone()));
    }
}

async fn serve(stream: TcpStream, acceptor: TlsAcceptor, connection: Connection) {
    let (stop, kill) = (connection.stop.clone(), connection.kill.clone());
    let scissors = Scissors::default();
    let wire = Wire::new(stream, scissors.clone());
    let handshake = tokio::select! {
        () = stop.cancelled() => return,
        () = kill.cancelled() => return scissors.cut(),
        handshake = acceptor.accept(wire) => handshake,
    };
    let Ok(stream) = handshake else { return };
    let cut = scissors.clone();
    let service = hyper::service::service_fn(move |request| {
        let (connection, scissors) = (connection.clone(), scissors.clone());
        async move { connection.answer(request, scissors).await }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    let served = builder.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
    tokio::pin!(served);
    tokio::select! {
        // A client that goes away is no error of ours.
        _ = served.as_mut() => return,
        () = kill.cancelled() => return cut.cut(),
        () = stop.cancelled() => {}
    }
    // Watches have ended with the same signal: let the last answers out.
    served.as_mut().graceful_shutdown();
    drop(served.await);
}

impl Connection {
    async fn answer(
        &self,
        request: http::Request<HttpIncoming>,
        scissors: Scissors,
    ) -> Result<Response<HttpBody>, Severed> {
        let (parts, body) = request.into_parts();
        let Some(user) = self.api.authenticate(&parts.headers) else {
            return Ok(refusal(&self.api.refuse_unknown(parts.uri.path()), &[]));
        };
        let user = match self.api.impersonated(&user, &parts.headers) {
            Ok(other) => other.unwrap_or(user),
            Err(failure) => return Ok(refusal(&failure, &[])),
        };
        let Ok(bytes) = axum::body::to_bytes(HttpBody::new(body), LIMIT).await else {
            return Ok(refusal(&Failure::too_large(LIMIT), &[]));
        };
        let content_type = header(&parts.headers, CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_owned();
        let body = Body { bytes, content_type };
        let inquiry = Inquiry::of(&user.name, &parts.method, &parts.uri, &body);
        let work = || self.work(&user, &parts, body);
        let Some(effect) = self.api.faults().due(&inquiry) else { return Ok(work()) };
        let refuse = |failure: &Failure| {
            self.api.record_unserved(&inquiry, failure.code);
            Ok(refusal(failure, &[]))
        };
        match effect {
            Effect::Answer(When::Before, failure) => refuse(&failure),
            Effect::Answer(When::After, failure) => {
                drop(work());
                Ok(refusal(&failure, &[]))
            }
            Effect::Reset(when) => {
                match when {
                    When::Before => self.api.record_unserved(&inquiry, 0),
                    When::After => drop(work()),
                }
                scissors.cut();
                Err(Severed)
            }
            Effect::Cut(bytes) => Ok(cut(work(), bytes, scissors)),
            Effect::Wait(When::Before, gate) => self.bounded(gate.pass(), &scissors).await.map(|()| work()),
            Effect::Wait(When::After, gate) => {
                let response = work();
                self.bounded(gate.pass(), &scissors).await.map(|()| response)
            }
            Effect::Hang => {
                self.api.record_unserved(&inquiry, 0);
                self.bounded(std::future::pending(), &scissors).await.and(Err(Severed))
            }
            Effect::FailWatch(failure) if inquiry.verb == "watch" => {
                self.api.record_unserved(&inquiry, 200);
                Ok(respond(200, "application/json", watch::error_line(&failure).into(), &[]))
            }
            Effect::FailWatch(failure) => refuse(&failure),
        }
    }

    /// Waits, but not longer than the server runs.
    async fn bounded(&self, wait: impl Future<Output = ()>, scissors: &Scissors) -> Result<(), Severed> {
        tokio::select! {
            () = wait => Ok(()),
            () = self.stop.cancelled() => {
                scissors.cut();
                Err(Severed)
            }
        }
    }

    fn work(&self, user: &User, parts: &request::Parts, body: Body) -> Response<HttpBody> {
        let incoming = Incoming {
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            accept: header(&parts.headers, ACCEPT).to_owned(),
            user_agent: header(&parts.headers, USER_AGENT).to_owned(),
            body,
        };
        let (answer, warnings) = self.api.handle(user, incoming);
        match answer {
            Ok(Answer::Json(code, value)) => json(code, "application/json", &value, &warnings),
            Ok(Answer::Typed(media, value)) => json(200, &media, &value, &warnings),
            Ok(Answer::Text(text)) => respond(200, "text/plain", text.into_owned().into(), &warnings),
            Ok(Answer::Schema { document, hash }) => schema(&parts.uri, &document, &hash, &warnings),
            Ok(Answer::Watch(watch)) => {
                respond(200, "application/json", HttpBody::from_stream(watch.into_stream()), &warnings)
            }
            Err(failure) => refusal(&failure, &warnings),
        }
    }
}

fn header(headers: &HeaderMap, name: http::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The same answer, of which only the first bytes arrive; its length is announced where it is known.
fn cut(response: Response<HttpBody>, bytes: usize, scissors: Scissors) -> Response<HttpBody> {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(parts, HttpBody::from_stream(wire::cut_after(body.into_data_stream(), bytes, scissors)))
}

fn refusal(failure: &Failure, warnings: &[String]) -> Response<HttpBody> {
    let mut response = match failure.plain_text() {
        Some(text) => respond(failure.code, "text/plain; charset=utf-8", text.into(), warnings),
        None => json(failure.code, "application/json", &failure.to_json(), warnings),
    };
    if let Some(seconds) = failure.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// A document that may be kept for ever if it was asked for by its hash; who asks by another one is sent to the right place.
fn schema(uri: &http::Uri, document: &Value, hash: &str, warnings: &[String]) -> Response<HttpBody> {
    let is_current = options::has_value(uri, "hash", hash);
    if uri.query().is_some_and(|query| query.contains("hash=")) && !is_current {
        let mut response = respond(301, "text/html; charset=utf-8", HttpBody::empty(), warnings);
        if let Ok(place) = format!("{}?hash={hash}", uri.path()).parse() {
            response.headers_mut().insert(LOCATION, place);
        }
        return response;
    }
    let mut response = json(200, "application/json", document, warnings);
    let headers = response.headers_mut();
    if let Ok(tag) = format!("\"{hash}\"").parse() {
        headers.insert(ETAG, tag);
    }
    let how = if is_current { "public, immutable" } else { "no-cache, private" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(how));
    response
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
