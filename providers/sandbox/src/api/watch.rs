//! Watching: a stream of events that begins where a list ended.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::form::Form;
use super::handler::Clock;
use super::read::{self, Selection, parse_revision, too_large};
use super::request::Request;
use super::resource::Resource;
use super::status::Failure;
use crate::store::{Change, ChangeKind, Feed, Revision};

/// How often an idle watcher hears how far the clock is; Kubernetes does it once a minute.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// A watch that has been answered and now runs on its own.
pub(super) struct Watch {
    resource: Arc<Resource>,
    selection: Selection,
    namespace: Option<String>,
    form: Form,
    clock: Arc<dyn Clock>,
    feed: Result<Feed, Failure>,
    ready: VecDeque<Bytes>,
    bookmarks: Option<tokio::time::Interval>,
    ends_at: Option<Instant>,
    stop: CancellationToken,
    has_ended: bool,
}

/// `GET` on a collection with `watch=true`.
pub(super) fn watch(request: &Request<'_>, resource: Arc<Resource>) -> Result<Watch, Failure> {
    let options = &request.options;
    let selection = Selection::of(request, &resource)?;
    let store = request.api.store.read();
    let now = store.revision();
    let wanted = match options.resource_version.as_str() {
        "" | "0" => None,
        text => Some(parse_revision(text)?),
    };
    if let Some(wanted) = wanted.filter(|wanted| *wanted > now) {
        return Err(too_large(wanted, now));
    }
    // Without a version, and when the client asks for them, the objects that are there come first.
    let existing = if wanted.is_none() || options.send_initial_events {
        let objects = read::select(request, &resource, &store)?;
        objects.into_iter().filter(|object| selection.matches(object)).collect()
    } else {
        Vec::new()
    };
    drop(store);
    let from = if wanted.is_none() || options.send_initial_events { now } else { wanted.unwrap_or(now) };
    // Once a watch is accepted, what fails is an event of it (as with Kubernetes' own watch cache).
    let feed = request
        .api
        .store
        .subscribe(from)
        .map_err(|error| Failure::expired(format!("too old resource version: {} ({})", error.asked, error.oldest)));
    let mut watch = Watch {
        resource,
        selection,
        namespace: request.place.namespace.clone(),
        form: request.form,
        clock: request.api.clock.clone(),
        feed,
        ready: VecDeque::new(),
        bookmarks: options.bookmarks.then(|| {
            let mut interval = tokio::time::interval_at(Instant::now() + BOOKMARK_EVERY, BOOKMARK_EVERY);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        }),
        ends_at: options.timeout.map(|timeout| Instant::now() + timeout),
        stop: request.api.stop.clone(),
        has_ended: false,
    };
    for object in existing {
        watch.push("ADDED", &object);
    }
    if options.send_initial_events && options.bookmarks {
        watch.push_bookmark(now, true);
    }
    Ok(watch)
}

impl Watch {
    /// The body of the answer: one JSON line for each event.
    pub(super) fn into_stream(self) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
        futures::stream::unfold(self, |mut watch| async move { watch.next().await.map(|line| (Ok(line), watch)) })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if self.has_ended {
                return None;
            }
            self.wait().await;
        }
    }

    async fn wait(&mut self) {
        let feed = match &mut self.feed {
            Ok(feed) => feed,
            Err(failure) => {
                let failure = failure.clone();
                return self.fail(&failure);
            }
        };
        let (ends_at, bookmarks) = (self.ends_at, &mut self.bookmarks);
        let end = async {
            match ends_at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let tick = async {
            match bookmarks {
                Some(interval) => drop(interval.tick().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => self.has_ended = true,
            changes = feed.next() => match changes {
                Ok(changes) => changes.iter().for_each(|change| self.push_change(change)),
                Err(error) => self.fail(&Failure::expired(error.to_string())),
            },
            () = end => {
                let position = feed.position();
                if self.bookmarks.is_some() {
                    self.push_bookmark(position, false);
                }
                self.has_ended = true;
            }
            () = tick => {
                let position = feed.position();
                self.push_bookmark(position, false);
            }
        }
    }

    fn fail(&mut self, failure: &Failure) {
        self.ready.push_back(error_line(failure));
        self.has_ended = true;
    }

    /// An object that enters or leaves the selection is added or deleted for this watcher.
    fn push_change(&mut self, change: &Change) {
        let in_namespace = self.namespace.as_deref().filter(|_| self.resource.namespaced);
        if change.key.resource != self.resource.storage
            || in_namespace.is_some_and(|namespace| *change.key.namespace != *namespace)
        {
            return;
        }
        let before = change.previous.as_ref().is_some_and(|object| self.selection.matches(object));
        let after = change.kind != ChangeKind::Deleted && self.selection.matches(&change.object);
        match (before, after) {
            (false, true) => self.push("ADDED", &change.object),
            (true, true) => self.push("MODIFIED", &change.object),
            (true, false) => self.push("DELETED", &change.object),
            (false, false) => {}
        }
    }

    fn push(&mut self, kind: &str, object: &Arc<Value>) {
        let now: Timestamp = self.clock.now();
        let object = self.form.one(&self.resource, object, now);
        self.ready.push_back(line(kind, &object));
    }

    fn push_bookmark(&mut self, revision: Revision, ends_initial: bool) {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if ends_initial {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let (kind, version) = (&self.resource.kind, self.resource.api_version());
        let object = Arc::new(json!({"kind": kind, "apiVersion": version, "metadata": metadata}));
        let object = match self.form {
            Form::Plain => object,
            form => {
                let mut shown = (*form.one(&self.resource, &object, self.clock.now())).clone();
                shown["metadata"] = object["metadata"].clone();
                Arc::new(shown)
            }
        };
        self.ready.push_back(line("BOOKMARK", &object));
    }
}

/// An event that ends a watch.
pub(super) fn error_line(failure: &Failure) -> Bytes {
    line("ERROR", &failure.to_json())
}

fn line(kind: &str, object: &Value) -> Bytes {
    let mut bytes = serde_json::to_vec(&json!({"type": kind, "object": object})).expect("JSON values serialise");
    bytes.push(b'\n');
    bytes.into()
}
