//! Reading objects: one, or a list with selectors and pages.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object;
use super::request::Request;
use super::resource::Resource;
use super::selectors::{FieldSelector, LabelSelector};
use super::status::Failure;
use crate::store::{Key, Revision, Transaction};

/// Both selectors of a request.
pub(super) struct Selection {
    pub(super) labels: LabelSelector,
    pub(super) fields: FieldSelector,
}

impl Selection {
    /// Reads the request's selectors; a name in the path counts as one.
    pub(super) fn of(request: &Request<'_>, resource: &Resource) -> Result<Selection, Failure> {
        let supported: Vec<&str> = resource.selectable.iter().map(String::as_str).collect();
        let mut fields = request.options.field_selector.clone();
        if !request.name().is_empty() {
            fields = format!("{fields},metadata.name={}", request.name());
        }
        Ok(Selection {
            labels: LabelSelector::parse(&request.options.label_selector)?,
            fields: FieldSelector::parse(&fields, &supported)?,
        })
    }

    /// Whether an object is among those asked for.
    pub(super) fn matches(&self, object: &Value) -> bool {
        self.labels.matches(object) && self.fields.matches(object)
    }

    /// Whether that is all objects.
    fn is_everything(request: &Request<'_>) -> bool {
        request.options.label_selector.is_empty() && request.options.field_selector.is_empty()
    }
}

/// `GET` on an object; its subresources read the same.
pub(super) fn get(request: &Request<'_>, resource: &Resource) -> Result<Arc<Value>, Failure> {
    let store = request.api.store.read();
    let object = store.get(&request.key(resource)).cloned();
    object.ok_or_else(|| request.not_found(resource))
}

/// The objects that the request selects, in order.
pub(super) fn select(
    request: &Request<'_>,
    resource: &Resource,
    store: &Transaction<'_>,
) -> Result<Vec<Arc<Value>>, Failure> {
    let selection = Selection::of(request, resource)?;
    if let (Some(name), Some(namespace)) = (selection.fields.exact_name(), exact_namespace(request, resource)) {
        let found = store.get(&resource.key(namespace, name)).filter(|object| selection.matches(object));
        return Ok(found.cloned().into_iter().collect());
    }
    let matching = |object: &&Arc<Value>| selection.matches(object);
    Ok(match request.place.namespace.as_deref().filter(|_| resource.namespaced) {
        Some(namespace) => store
            .list_namespace(&resource.storage, namespace)
            .map(|(_, object)| object)
            .filter(matching)
            .cloned()
            .collect(),
        None => store.list(&resource.storage).map(|(_, object)| object).filter(matching).cloned().collect(),
    })
}

/// The one namespace where objects can be, if there is one.
fn exact_namespace<'r>(request: &'r Request<'_>, resource: &Resource) -> Option<&'r str> {
    if resource.namespaced { request.place.namespace.as_deref() } else { Some("") }
}

/// `GET` on a collection.
pub(super) fn list(request: &Request<'_>, resource: &Resource) -> Result<Value, Failure> {
    let store = request.api.store.read();
    let selection = Selection::of(request, resource)?;
    let (page, revision) = first(request, &store)?;
    let scope = Scope {
        resource: &resource.storage,
        namespace: if resource.namespaced { request.place.namespace.as_deref() } else { None },
    };
    let start = Key::new(&resource.storage, scope.namespace.unwrap_or_default(), "");
    let start = page.as_ref().map_or(start, |page| resource.key(&page.namespace, &page.name));
    let past = Past::of(&store, revision, scope);
    let mut rest = past.after(&store, &start, scope);
    // A list at version 0 is one from the cache, which knows no pages.
    let limit = if request.options.resource_version == "0" { 0 } else { request.options.limit };
    let mut matching = rest.by_ref().filter(|object| selection.matches(object));
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    let selected: Vec<Arc<Value>> = match limit {
        0 => matching.cloned().collect(),
        limit => {
            let selected: Vec<Arc<Value>> = matching.by_ref().take(limit).cloned().collect();
            let more = matching.next().is_some();
            if let Some(last) = selected.last().filter(|_| more) {
                let (namespace, name) = (object::namespace(last).to_owned(), object::name(last).to_owned());
                metadata["continue"] = Page { revision: Some(revision), namespace, name }.encode().into();
                if Selection::is_everything(request) {
                    metadata["remainingItemCount"] = (rest.count() + 1).into();
                }
            }
            selected
        }
    };
    Ok(request.form.list(resource, selected, metadata, request.now))
}

/// Where the answer begins, and as of when it is.
fn first(request: &Request<'_>, store: &Transaction<'_>) -> Result<(Option<Page>, Revision), Failure> {
    let token = request.options.continue_at.as_str();
    let now = store.revision();
    if token.is_empty() {
        return Ok((None, list_revision(request, store)?));
    }
    if !["", "0"].contains(&request.options.resource_version.as_str()) {
        return Err(Failure::bad_request("specifying resource version is not allowed when using continue"));
    }
    let page = Page::decode(token).ok_or_else(|| Failure::bad_request("continue key is not valid"))?;
    match page.revision {
        None => Ok((Some(page), now)),
        Some(revision) if revision > now || revision < store.oldest_watchable() => {
            Err(Failure::list_expired(Page { revision: None, ..page }.encode()))
        }
        Some(revision) => Ok((Some(page), revision)),
    }
}

/// The revision that a list is as of: now, unless the client wants exactly another one.
fn list_revision(request: &Request<'_>, store: &Transaction<'_>) -> Result<Revision, Failure> {
    let (options, now) = (&request.options, store.revision());
    let wanted = match options.resource_version.as_str() {
        "" | "0" => return Ok(now),
        text => parse_revision(text)?,
    };
    if wanted > now {
        return Err(too_large(wanted, now));
    }
    // Without a word on how to match, a list in pages is an exact one.
    let is_exact = match options.resource_version_match.as_str() {
        "" => options.limit > 0,
        text => text == "Exact",
    };
    if !is_exact {
        return Ok(now);
    }
    if wanted < store.oldest_watchable() {
        return Err(Failure::expired(format!("The provided resource version {wanted} is too old.")));
    }
    Ok(wanted)
}

/// What is listed.
#[derive(Clone, Copy)]
struct Scope<'a> {
    resource: &'a str,
    /// None: all of them.
    namespace: Option<&'a str>,
}

impl Scope<'_> {
    fn has(self, key: &Key) -> bool {
        *key.resource == *self.resource && self.namespace.is_none_or(|namespace| *key.namespace == *namespace)
    }
}

/// How objects were at a revision, as far as they are different now. It costs as much as has happened since, and nothing
/// while no list is read.
struct Past(BTreeMap<Key, Option<Arc<Value>>>);

impl Past {
    fn of(store: &Transaction<'_>, revision: Revision, scope: Scope<'_>) -> Past {
        let since = store.changes_after(revision).rev().filter(|change| scope.has(&change.key));
        // The first change after the revision comes last, and wins.
        Past(since.map(|change| (change.key.clone(), change.previous.clone())).collect())
    }

    /// The objects behind `start`, in order, as they were.
    fn after<'s>(
        &'s self,
        store: &'s Transaction<'_>,
        start: &Key,
        scope: Scope<'s>,
    ) -> impl Iterator<Item = &'s Arc<Value>> {
        let mut now = store.list_after(start.clone()).take_while(move |(key, _)| scope.has(key)).peekable();
        let mut then = self.0.range((Bound::Excluded(start.clone()), Bound::Unbounded)).peekable();
        std::iter::from_fn(move || {
            loop {
                let order = match (then.peek(), now.peek()) {
                    (Some((then, _)), Some((now, _))) => then.cmp(now),
                    (Some(_), None) => Ordering::Less,
                    (None, _) => Ordering::Greater,
                };
                if order == Ordering::Greater {
                    return now.next().map(|(_, object)| object);
                }
                if order == Ordering::Equal {
                    now.next();
                }
                if let Some((_, Some(object))) = then.next() {
                    return Some(object);
                }
            }
        })
    }
}

/// Reads a resource version.
pub(super) fn parse_revision(text: &str) -> Result<Revision, Failure> {
    let number = text
        .parse()
        .map_err(|_| Failure::bad_request(format!("Invalid value: {text:?}: the resource version is not a number")))?;
    Ok(Revision(number))
}

/// A version that this store has not reached (it may be of another cluster).
pub(super) fn too_large(wanted: Revision, now: Revision) -> Failure {
    Failure::bad_request(format!("Too large resource version: {wanted}, current: {now}"))
}

/// Where the next page begins: behind an object.
struct Page {
    /// As of when; none: as it is now.
    revision: Option<Revision>,
    namespace: String,
    name: String,
}

/// What a continue token holds, in base64: Kubernetes' own form.
#[derive(Serialize, Deserialize)]
struct Token {
    v: String,
    rv: i64,
    start: String,
}

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

impl Page {
    fn encode(&self) -> String {
        let place = if self.namespace.is_empty() { String::new() } else { format!("{}/", self.namespace) };
        let rv = self.revision.map_or(-1, |revision| revision.0.cast_signed());
        let token = Token { v: TOKEN_VERSION.to_owned(), rv, start: format!("{place}{}\0", self.name) };
        URL_SAFE_NO_PAD.encode(serde_json::to_string(&token).expect("texts and a number serialise"))
    }

    fn decode(token: &str) -> Option<Page> {
        let token: Token = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        let start = token.start.strip_suffix('\0').filter(|_| token.v == TOKEN_VERSION)?;
        let (namespace, name) = start.split_once('/').unwrap_or(("", start));
        let revision = match token.rv {
            -1 => None,
            number => Some(Revision(u64::try_from(number).ok()?)),
        };
        Some(Page { revision, namespace: namespace.to_owned(), name: name.to_owned() })
    }
}
