//! Reading objects: one, or a list with selectors and pages.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::request::Request;
use super::resource::Resource;
use super::selectors::{FieldSelector, LabelSelector};
use super::status::Failure;
use crate::store::{Revision, Transaction};

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
    let now = store.revision();
    let revision = list_revision(request, now)?;
    let page = match request.options.continue_at.as_str() {
        "" => None,
        token => Some(Page::decode(token).ok_or_else(|| Failure::bad_request("continue key is not valid"))?),
    };
    let mut selected = select(request, resource, &store)?;
    let mut revision = revision;
    if let Some(page) = &page {
        // A watch that starts at the first page's revision sees whatever changed between the pages.
        if page.revision < store.oldest_watchable() {
            return Err(Failure::expired(
                "The provided continue parameter is too old to display a consistent list result.",
            ));
        }
        revision = page.revision;
        let after = |object: &Arc<Value>| {
            (super::object::namespace(object), super::object::name(object))
                > (page.namespace.as_str(), page.name.as_str())
        };
        selected.retain(after);
    }
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    let limit = request.options.limit;
    if limit > 0 && selected.len() > limit {
        let rest = selected.split_off(limit);
        if let Some(last) = selected.last() {
            let (namespace, name) = (super::object::namespace(last).to_owned(), super::object::name(last).to_owned());
            metadata["continue"] = Page { revision, namespace, name }.encode().into();
        }
        if request.options.label_selector.is_empty() && request.options.field_selector.is_empty() {
            metadata["remainingItemCount"] = rest.len().into();
        }
    }
    Ok(request.form.list(resource, selected, metadata, request.now))
}

/// The revision that a list may be as of: always now, if the client allows that.
fn list_revision(request: &Request<'_>, now: Revision) -> Result<Revision, Failure> {
    let options = &request.options;
    let wanted = match options.resource_version.as_str() {
        "" | "0" => return Ok(now),
        text => parse_revision(text)?,
    };
    if wanted > now {
        return Err(too_large(wanted, now));
    }
    if options.resource_version_match == "Exact" && wanted != now {
        return Err(Failure::expired(format!(
            "the sandbox keeps no old lists: resource version {wanted} is gone, the current one is {now}"
        )));
    }
    Ok(now)
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

/// Where the next page begins.
struct Page {
    revision: Revision,
    namespace: String,
    name: String,
}

impl Page {
    fn encode(&self) -> String {
        let json = json!([self.revision.0, self.namespace, self.name]);
        URL_SAFE_NO_PAD.encode(json.to_string())
    }

    fn decode(token: &str) -> Option<Page> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (revision, namespace, name) = serde_json::from_slice(&bytes).ok()?;
        Some(Page { revision: Revision(revision), namespace, name })
    }
}
