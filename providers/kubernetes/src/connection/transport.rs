//! What is between the client library and the network: it says with each request who we are, asks for new credentials
//! when the server refuses the old ones, and reads certificates again when they no longer serve. Everybody who speaks
//! to a cluster goes through it, so that every answer is bounded in time and size.
//!
//! It repeats a request only when the server did not take it: because it did not know us, or no connection came about.
//! All other repetition is [`providers_api::retry`]'s.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderValue, Request, Response,
    header::{AUTHORIZATION, RETRY_AFTER},
};
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};
use kube::{
    Client,
    client::Body,
    core::{Status, response::StatusDetails},
};
use providers_api::{ErrorKind, ProviderError};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use tower::{BoxError, service_fn};

use super::{
    Secret,
    credentials::Held,
    target::{Materials, Target},
};
use crate::error;

/// How long an answer may take: API servers give up after a minute themselves.
const PATIENCE: Duration = Duration::from_secs(65);

/// The most that one answer may hold: 500 objects of the mean size of a large page. An object has at most 1.5 MiB.
const MOST: usize = 256 << 20;

/// The most that is shown of an answer which is no status: what a proxy says.
const SHOWN: usize = 300;

/// How long credentials that were refused, and that could not be replaced by others, are not asked for again.
const REFUSED_FOR: Duration = Duration::from_secs(60);

/// The way to one server.
pub(super) struct Transport {
    way: Mutex<Way>,
    answered: AtomicBool,
}

struct Way {
    target: Target,
    /// None before the first request.
    state: Option<State>,
}

struct State {
    /// Without a token.
    client: Client,
    materials: Materials,
    held: Held,
    header: Option<HeaderValue>,
    /// Counts changes of who we are and whom we trust.
    generation: u64,
    /// When the present credentials were refused, and there were no others.
    refused: Option<Instant>,
}

/// What a request is sent with.
struct Ready {
    client: Client,
    header: Option<HeaderValue>,
    generation: u64,
}

impl Transport {
    pub(super) fn new(target: Target) -> Arc<Self> {
        // Several crates may bring providers of cryptography; the first to choose wins, and they are all this one.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        Arc::new(Self { way: Mutex::new(Way { target, state: None }), answered: AtomicBool::new(false) })
    }

    /// The client library's client, by way of this.
    pub(super) fn client(self: &Arc<Self>) -> Client {
        let this = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let this = this.clone();
            async move { this.send(request).await }
        });
        Client::new(service, "default")
    }

    /// Has the server ever answered?
    pub(super) fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        let (parts, body) = request.into_parts();
        let again = body.try_clone();
        let ready = self.way.lock().await.ready().await?;
        let mut answer = exchange(&ready, Request::from_parts(parts.clone(), body)).await;
        // A server that does not know us, or wants a certificate, or whose own is not trusted: it took nothing, and
        // there may be other tokens and certificates by now.
        if let Err(failed) = &answer
            && (status(failed).is_some_and(|status| status.code == 401) || error::is_untrusted(failed.as_ref()))
            && let Some(body) = again
        {
            let other = self.way.lock().await.other(ready.generation).await?;
            if let Some(other) = other {
                answer = exchange(&other, Request::from_parts(parts, body)).await;
            }
        }
        if answer.as_ref().err().is_none_or(|failed| status(failed).is_some()) {
            self.answered.store(true, Ordering::Relaxed);
        }
        answer
    }
}

impl Way {
    /// What to send a request with: credentials that have run out are asked for again.
    async fn ready(&mut self) -> Result<Ready, ProviderError> {
        if self.state.as_ref().is_none_or(|state| state.held.is_over()) {
            self.change(false).await?;
        }
        Ok(self.state.as_ref().expect("it was just made").ready())
    }

    /// The server refused what was sent in that generation: what else is there by now?
    async fn other(&mut self, generation: u64) -> Result<Option<Ready>, ProviderError> {
        if let Some(state) = &self.state
            && state.generation == generation
        {
            if state.refused.is_some_and(|at| at.elapsed() < REFUSED_FOR) {
                return Ok(None);
            }
            self.change(true).await?;
        }
        let Some(state) = &mut self.state else { return Ok(None) };
        if state.generation == generation {
            state.refused = Some(Instant::now());
            return Ok(None);
        }
        Ok(Some(state.ready()))
    }

    /// Reads and asks for everything again. Requests that are under way go on with what they have.
    async fn change(&mut self, refused: bool) -> Result<(), ProviderError> {
        let held = self.target.credential.obtain(refused).await?;
        let mut materials = match (self.target.materials(), &self.state) {
            (Ok(materials), _) => materials,
            // What was read before still serves, as far as anybody knows.
            (Err(_), Some(state)) if !refused => state.materials.clone(),
            (Err(error), _) => return Err(error),
        };
        if let Some(identity) = &held.identity {
            materials.identity = Some(identity.clone());
        }
        let (mut client, mut generation) = (None, 0);
        if let Some(state) = &mut self.state {
            if state.materials == materials {
                if state.held.token == held.token {
                    state.held = held;
                    return Ok(());
                }
                client = Some(state.client.clone());
            }
            generation = state.generation + 1;
        }
        let client = match client {
            Some(client) => client,
            None => self.target.client(&materials)?,
        };
        let header = held.token.as_ref().map(bearer).transpose()?;
        self.state = Some(State { client, materials, held, header, generation, refused: None });
        Ok(())
    }
}

impl State {
    fn ready(&self) -> Ready {
        Ready { client: self.client.clone(), header: self.header.clone(), generation: self.generation }
    }
}

fn bearer(token: &Secret) -> Result<HeaderValue, ProviderError> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", token.0)).map_err(|_| {
        ProviderError::new(ErrorKind::Forbidden, "the token has characters that no token has")
            .hint("A line break or a blank within it is the usual reason.")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// The refusal that an error is.
fn status(failed: &BoxError) -> Option<&Status> {
    match failed.downcast_ref()? {
        kube::Error::Api(status) => Some(status),
        _ => None,
    }
}

/// One request and its answer, whole but for a stream. Refusals are errors, as the client library has them.
async fn exchange(ready: &Ready, mut request: Request<Body>) -> Result<Response<Body>, BoxError> {
    if let Some(header) = &ready.header {
        request.headers_mut().insert(AUTHORIZATION, header.clone());
    }
    let query = request.uri().query().unwrap_or_default();
    let streams = query.split('&').any(|part| matches!(part, "watch=true" | "watch=1" | "follow=true" | "follow=1"));
    let answer = timeout(PATIENCE, async {
        let answer = ready.client.send(request).await?;
        if answer.status().is_client_error() || answer.status().is_server_error() {
            return Err(refusal(answer).await);
        }
        if streams {
            return Ok(answer);
        }
        let (parts, body) = answer.into_parts();
        Ok(Response::from_parts(parts, Body::from(whole(body).await?)))
    });
    answer.await.unwrap_or_else(|_| {
        let what = format!("no answer in {} s", PATIENCE.as_secs());
        let hint =
            "Check the load of the API server and of its admission webhooks, and the network between here and there.";
        Err(ProviderError::new(ErrorKind::Timeout, what).hint(hint).into())
    })
}

async fn whole(body: Body) -> Result<Bytes, BoxError> {
    let collected = Limited::new(body, MOST).collect().await;
    collected.map(Collected::to_bytes).map_err(|error| match error.is::<LengthLimitError>() {
        true => ProviderError::permanent(format!("the answer is longer than {} MiB", MOST >> 20)).into(),
        false => error,
    })
}

/// What a refusal says: the API's own words, or some of what stands in front of it; with the time to wait, which API
/// servers under load say in the header alone.
async fn refusal(answer: Response<Body>) -> BoxError {
    let (parts, body) = answer.into_parts();
    let text = match whole(body).await {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return error,
    };
    let read = serde_json::from_str::<Status>(&text).ok();
    let mut status =
        read.filter(|status| !status.message.is_empty() || !status.reason.is_empty()).unwrap_or_else(|| {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let known = parts.status.canonical_reason().unwrap_or("no reason given");
            let message = match text.as_str() {
                "" => known.to_owned(),
                // A page for browsers says nothing more.
                page if page.starts_with('<') => format!("HTTP {}: {known}", parts.status.as_u16()),
                text => text.chars().take(SHOWN).collect(),
            };
            Status::failure(&message, known)
        });
    status.code = parts.status.as_u16();
    let header = parts.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse::<u32>().ok());
    if let Some(seconds) = header {
        let details = status.details.get_or_insert_with(|| StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: 0,
        });
        details.retry_after_seconds = details.retry_after_seconds.max(seconds);
    }
    kube::Error::Api(Box::new(status)).into()
}
