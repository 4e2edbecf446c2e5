//! Creating and replacing objects: what every write goes through, whatever verb it came by.

use std::sync::Arc;

use engine_diag::chain;
use serde_json::{Map, Value};

use super::admit;
use super::body::Body;
use super::check;
use super::conform::{self, Flavour};
use super::controllers;
use super::crd;
use super::hooks::Review;
use super::managed::Managers;
use super::names;
use super::object::{self, copy_field, metadata_mut};
use super::options::FieldValidation;
use super::request::Request;
use super::resource::Resource;
use super::status::{Cause, Failure};
use super::validate;
use crate::store::Transaction;

/// Metadata that only the server writes.
const SYSTEM: &[&str] = &[
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "selfLink",
    "resourceVersion",
];

/// `POST` on a collection.
pub(super) fn create(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Arc<Value>, Failure> {
    let mut new = body.object()?;
    check_type(resource, &new)?;
    let name = object::name(&new).to_owned();
    conform(request, resource, &mut new, &name)?;
    if !object::resource_version(&new).is_empty() {
        return Err(Failure::bad_request("resourceVersion should not be set on objects to be created"));
    }
    if resource.storage.as_ref() == super::registry::DEFINITIONS {
        request.warnings.extend(crd::unsupported(&new));
    }
    let mut store = request.begin();
    let created = insert(request, &mut store, resource, new, None)?;
    finish(request, store)?;
    Ok(created)
}

/// `PUT` on an object or a subresource.
pub(super) fn update(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Arc<Value>, Failure> {
    let mut new = body.object()?;
    check_type(resource, &new)?;
    let name = object::name(&new).to_owned();
    conform(request, resource, &mut new, &name)?;
    if name != request.name() {
        return Err(Failure::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            request.name()
        )));
    }
    let mut store = request.begin();
    let live = store.get(&request.key(resource)).cloned().ok_or_else(|| request.not_found(resource))?;
    check_version(resource, &live, &new)?;
    if object::resource_version(&new).is_empty() && resource.flavour == Flavour::Custom {
        let cause = Cause::invalid("metadata.resourceVersion", &"0x0".into(), "must be specified for an update");
        return Err(Failure::invalid(&resource.group, &resource.kind, &name, &[cause]));
    }
    let updated = replace(request, &mut store, resource, &live, new, None)?;
    finish(request, store)?;
    Ok(updated)
}

/// Commits, unless this is a dry run.
pub(super) fn finish(request: &Request<'_>, mut store: Transaction<'_>) -> Result<(), Failure> {
    controllers::settle(request, &mut store);
    store
        .commit()
        .map(drop)
        .map_err(|error| Failure::internal(format!("the sandbox cannot write its log: {}", chain(&error))))
}

/// Whether the body is of the resource's kind and version.
pub(super) fn check_type(resource: &Resource, new: &Value) -> Result<(), Failure> {
    let (version, kind) = (object::text(new, "/apiVersion"), object::text(new, "/kind"));
    if !version.is_empty() && version != resource.api_version() {
        return Err(Failure::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({})",
            resource.api_version()
        )));
    }
    if !kind.is_empty() && kind != resource.kind {
        return Err(Failure::bad_request(format!(
            "the kind in the data ({kind}) does not match the expected kind ({})",
            resource.kind
        )));
    }
    Ok(())
}

/// Whether the version and UID that the writer saw are still those of the object.
pub(super) fn check_version(resource: &Resource, live: &Value, new: &Value) -> Result<(), Failure> {
    let conflict = |why: &str| Failure::conflict(&resource.group, &resource.plural, object::name(live), why);
    let (seen, uid) = (object::resource_version(new), object::uid(new));
    if !uid.is_empty() && uid != object::uid(live) {
        let found = object::uid(live);
        return Err(conflict(&format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {found}")));
    }
    if !seen.is_empty() && seen != object::resource_version(live) {
        return Err(conflict(
            "the object has been modified; please apply your changes to the latest version and try again",
        ));
    }
    Ok(())
}

/// Brings a body into the form of its kind; unknown fields are an error, a warning or nothing, as the client asks.
pub(super) fn conform(
    request: &mut Request<'_>,
    resource: &Resource,
    new: &mut Value,
    name: &str,
) -> Result<(), Failure> {
    let findings = conform::conform(new, resource.schema(), resource.flavour);
    if !findings.causes.is_empty() {
        return Err(match resource.flavour {
            // Go's decoder fails before anything is known of the object.
            Flavour::BuiltIn => {
                let texts: Vec<&str> = findings.causes.iter().map(|cause| cause.message.as_str()).collect();
                let Resource { kind, version, .. } = resource;
                Failure::bad_request(format!(
                    "{kind} in version {version:?} cannot be handled as a {kind}: {}",
                    texts.join(", ")
                ))
                .with_causes(&findings.causes)
            }
            Flavour::Custom => {
                let mut whole = new.clone();
                conform::fill_defaults(&mut whole, resource.schema());
                let causes = check::check(&whole, None, resource.schema(), findings.causes);
                Failure::invalid(&resource.group, &resource.kind, name, &causes)
            }
        });
    }
    let unknown = || findings.unknown.iter().map(|path| format!("unknown field {path:?}"));
    match request.options.field_validation {
        FieldValidation::Strict if !findings.unknown.is_empty() => {
            let unknown: Vec<String> = unknown().collect();
            let text = format!("strict decoding error: {}", unknown.join(", "));
            let Resource { kind, version, .. } = resource;
            Err(Failure::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {text}")))
        }
        FieldValidation::Warn => {
            request.warnings.extend(unknown());
            Ok(())
        }
        FieldValidation::Strict | FieldValidation::Ignore => Ok(()),
    }
}

/// Puts a new object into the store. `managers` are those of an apply; otherwise the creator owns all it sent.
pub(super) fn insert(
    request: &Request<'_>,
    store: &mut Transaction<'_>,
    resource: &Resource,
    mut new: Value,
    managers: Option<Managers>,
) -> Result<Arc<Value>, Failure> {
    name_it(request, store, resource, &mut new)?;
    let metadata = metadata_mut(&mut new);
    SYSTEM.iter().for_each(|field| drop(metadata.remove(*field)));
    if resource.has_status && !resource.builtin.is_some_and(|builtin| builtin.keeps_status_on_create) {
        object::ensure_map(&mut new).remove("status");
    }
    fill_defaults(resource, &mut new);
    let name = object::name(&new).to_owned();
    let key = resource.key(object::namespace(&new), &name);
    if store.get(&key).is_some() {
        return Err(Failure::already_exists(&resource.group, &resource.plural, &name));
    }
    let time = request.time();
    let managers = managers.unwrap_or_else(|| {
        let (manager, version) = (request.manager(), resource.api_version());
        let reset = Managers::of_update(&Value::Null, &new);
        metadata_mut(&mut new).remove("managedFields");
        let nothing = Value::Object(Map::new());
        reset.update(&nothing, &new, resource.schema(), &request.writer(&manager, &version, &time))
    });
    let uid = request.api.ids.uid(store.revision(), &key.to_string());
    let metadata = metadata_mut(&mut new);
    metadata.insert("uid".to_owned(), uid.into());
    metadata.insert("creationTimestamp".to_owned(), time.into());
    if resource.has_generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    if let Some(builtin) = resource.builtin {
        (builtin.begin)(&mut new);
    }
    admit::create(request, store, resource, &mut new)?;
    check(resource, None, &new, Vec::new())?;
    review(request, resource, None, Some(&new))?;
    managers.write_to(&mut new);
    resource.mark_for_storage(&mut new);
    Ok(store.put(&key, new))
}

/// Gives the object its namespace and name.
fn name_it(
    request: &Request<'_>,
    store: &Transaction<'_>,
    resource: &Resource,
    new: &mut Value,
) -> Result<(), Failure> {
    let (given, wanted) = (object::namespace(new).to_owned(), request.namespace());
    let prefix = object::text(new, "/metadata/generateName").to_owned();
    let metadata = metadata_mut(new);
    if !resource.namespaced {
        metadata.remove("namespace");
    } else if wanted.is_empty() {
        return Err(Failure::bad_request("an empty namespace may not be set during creation"));
    } else if given.is_empty() || given == wanted {
        metadata.insert("namespace".to_owned(), wanted.into());
    } else {
        return Err(Failure::bad_request(format!(
            "the namespace of the provided object does not match the namespace sent on the request ({given:?} and {wanted:?})"
        )));
    }
    let is_named = metadata.get("name").and_then(Value::as_str).is_some_and(|name| !name.is_empty());
    if !is_named && !prefix.is_empty() {
        let taken = |name: &str| store.get(&resource.key(wanted, name)).is_some();
        let revision = store.revision();
        let mut names = (0..).map(|attempt| format!("{prefix}{}", request.api.ids.suffix(revision, &prefix, attempt)));
        let name = names.find(|name| !taken(name)).expect("the store has fewer objects than there are suffixes");
        metadata.insert("name".to_owned(), name.into());
    }
    Ok(())
}

fn fill_defaults(resource: &Resource, new: &mut Value) {
    conform::fill_defaults(new, resource.schema());
    if let Some(builtin) = resource.builtin {
        (builtin.default)(new);
    }
}

/// Puts the next state of an object into the store, or leaves it alone when nothing differs; removes it when this was
/// the last thing that its deletion waited for. `managers` are those of an apply; otherwise the writer owns what changed.
pub(super) fn replace(
    request: &Request<'_>,
    store: &mut Transaction<'_>,
    resource: &Resource,
    live: &Arc<Value>,
    mut new: Value,
    managers: Option<Managers>,
) -> Result<Arc<Value>, Failure> {
    let is_status = request.place.subresource == "status";
    let asked = Managers::of_update(live, if is_status { live } else { &new });
    if is_status {
        let (status, metadata) = (new.get("status").cloned(), new.get("metadata").cloned());
        new = (**live).clone();
        let map = object::ensure_map(&mut new);
        set_or_remove(map, "status", status);
        // Of a built-in kind only the spec stays as it is, with the metadata that its strategy protects.
        if let Some(builtin) = resource.builtin {
            set_or_remove(map, "metadata", metadata);
            let before = live.get("metadata").and_then(Value::as_object);
            builtin.kept_by_status.iter().for_each(|field| copy_field(metadata_mut(&mut new), before, field));
        }
    } else if resource.has_status {
        let status = live.get("status").cloned();
        set_or_remove(object::ensure_map(&mut new), "status", status);
    }
    let system = live.get("metadata").and_then(Value::as_object);
    let metadata = metadata_mut(&mut new);
    metadata.remove("managedFields");
    SYSTEM.iter().chain(&["name", "namespace"]).for_each(|field| copy_field(metadata, system, field));
    if managers.is_none() || !is_status {
        fill_defaults(resource, &mut new);
    }
    resource.mark_for_storage(&mut new);
    let managers = match managers {
        Some(managers) => managers,
        None => {
            let (manager, version, time) = (request.manager(), resource.api_version(), request.time());
            let mut before = (**live).clone();
            metadata_mut(&mut before).remove("managedFields");
            asked.update(&before, &new, resource.schema(), &request.writer(&manager, &version, &time))
        }
    };
    if !is_status {
        admit::complete_change(resource, &mut new);
    }
    if resource.has_generation && !is_status && has_new_spec(resource, live, &new) {
        let generation = live.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default();
        metadata_mut(&mut new).insert("generation".to_owned(), (generation + 1).into());
    }
    admit::change(request, store, resource, live, &new)?;
    let changes = if is_status { Vec::new() } else { unchangeable(resource, live, &new) };
    check(resource, Some(live), &new, changes)?;
    review(request, resource, Some(live), Some(&new))?;
    managers.write_to(&mut new);
    if is_same(live, &new) {
        return Ok(live.clone());
    }
    let key = resource.key(object::namespace(&new), object::name(&new));
    if object::is_terminating(&new) && super::delete::is_done(resource, &new) {
        let last = store.put(&key, new);
        store.delete(&key);
        return Ok(last);
    }
    Ok(store.put(&key, new))
}

fn set_or_remove(map: &mut Map<String, Value>, field: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(field.to_owned(), value),
        None => map.remove(field),
    };
}

/// Whether anything but metadata and status differs.
fn has_new_spec(resource: &Resource, old: &Value, new: &Value) -> bool {
    let fields = |object: &Value| -> Map<String, Value> {
        let mut map = object.as_object().cloned().unwrap_or_default();
        map.remove("metadata");
        map.remove("apiVersion");
        if resource.has_status {
            map.remove("status");
        }
        map
    };
    fields(old) != fields(new)
}

/// Whether two states differ in nothing but the times of their managed fields.
fn is_same(old: &Value, new: &Value) -> bool {
    let without_times = |object: &Value| {
        let mut object = object.clone();
        let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten() {
            object::ensure_map(entry).remove("time");
        }
        object
    };
    without_times(old) == without_times(new)
}

/// `causes` are those that are known already.
fn check(resource: &Resource, old: Option<&Value>, new: &Value, mut causes: Vec<Cause>) -> Result<(), Failure> {
    causes.extend(names::check_metadata(new, resource.name_rule));
    match resource.builtin {
        Some(builtin) => causes.extend((builtin.validate)(new)),
        None => causes = check::check(new, old, resource.schema(), causes),
    }
    match causes.as_slice() {
        [] => Ok(()),
        causes => Err(Failure::invalid(&resource.group, &resource.kind, object::name(new), causes)),
    }
}

/// What cannot change so.
fn unchangeable(resource: &Resource, old: &Value, new: &Value) -> Vec<Cause> {
    let rules = resource.builtin.map_or(&[][..], |builtin| builtin.immutable);
    let mut causes = validate::changed(rules, old, new);
    causes.extend(resource.builtin.map(|builtin| (builtin.validate_change)(old, new)).unwrap_or_default());
    if object::is_terminating(old)
        && object::finalizers(new).any(|name| !object::finalizers(old).any(|known| known == name))
    {
        let why = "no new finalizers can be added if the object is being deleted";
        causes.push(Cause::forbidden("metadata.finalizers", why));
    }
    causes
}

/// Asks the admission hooks.
pub(super) fn review(
    request: &Request<'_>,
    resource: &Resource,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Result<(), Failure> {
    let review = Review {
        user: request.user,
        group: &resource.group,
        resource: &resource.plural,
        subresource: &request.place.subresource,
        old,
        new,
        dry_run: request.options.dry_run,
    };
    for hook in &request.api.admission {
        hook.review(&review).map_err(|why| {
            let name = new.or(old).map(object::name).unwrap_or_default();
            Failure::forbidden(&resource.group, &resource.plural, name, &why)
        })?;
    }
    Ok(())
}
