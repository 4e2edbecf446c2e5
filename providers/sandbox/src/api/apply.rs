//! Server-side apply: a patch that says what one manager wants, and nothing about the rest.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::body::Body;
use super::check;
use super::conform;
use super::hooks::Attributes;
use super::managed::Managers;
use super::object::{self, metadata_mut};
use super::request::Request;
use super::resource::Resource;
use super::status::{Cause, Failure};
use super::write;

/// `PATCH` with `application/apply-patch+yaml`. Creates the object when it is not there.
pub(super) fn apply(
    request: &mut Request<'_>,
    resource: &Resource,
    body: &Body,
) -> Result<(bool, Arc<Value>), Failure> {
    let Some(manager) = request.options.field_manager.clone() else {
        let cause = Cause {
            message: "Required value: is required for apply patch".to_owned(),
            ..Cause::required("fieldManager")
        };
        return Err(Failure::invalid("meta.k8s.io", "PatchOptions", "", &[cause]));
    };
    let mut config = body.object()?;
    check_config(request, resource, &config)?;
    conform_config(request, resource, &mut config)?;
    let status_only = request.place.subresource == "status";
    trim(resource, &mut config, status_only);
    metadata_mut(&mut config).insert("name".to_owned(), request.name().into());

    let time = request.time();
    let version = resource.api_version();
    let force = request.options.force;
    let mut store = request.begin();
    let live = store.get(&request.key(resource)).cloned();
    let writer = request.writer(&manager, &version, &time);
    let (created, object) = match live {
        Some(live) => {
            write::check_version(resource, &live, &config)?;
            forget_version(&mut config);
            let managers = Managers::of(&live);
            let mut before = (*live).clone();
            metadata_mut(&mut before).remove("managedFields");
            let (merged, managers) = managers.apply(&before, &config, resource.schema(), &writer, force)?;
            (false, write::replace(request, &mut store, resource, &live, merged, Some(managers))?)
        }
        None if status_only => return Err(request.not_found(resource)),
        None if !object::uid(&config).is_empty() || !object::resource_version(&config).is_empty() => {
            return Err(Failure::conflict(
                &resource.group,
                &resource.plural,
                request.name(),
                "uid mismatch: the object does not exist",
            ));
        }
        None => {
            request.api.authorize(
                &store,
                request.user,
                &Attributes {
                    verb: "create",
                    group: &resource.group,
                    resource: &resource.plural,
                    subresource: "",
                    namespace: request.namespace(),
                    name: request.name(),
                },
            )?;
            let nothing = Value::Object(Map::new());
            let (merged, managers) = Managers::default().apply(&nothing, &config, resource.schema(), &writer, force)?;
            (true, write::insert(request, &mut store, resource, merged, Some(managers))?)
        }
    };
    write::finish(request, store)?;
    Ok((created, object))
}

fn check_config(request: &Request<'_>, resource: &Resource, config: &Value) -> Result<(), Failure> {
    let (version, kind) = (object::text(config, "/apiVersion"), object::text(config, "/kind"));
    if version != resource.api_version() || kind != resource.kind {
        return Err(Failure::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {version}, {kind}, expected: {}, {}",
            resource.api_version(),
            resource.kind
        )));
    }
    if config.pointer("/metadata/managedFields").is_some_and(|fields| !fields.is_null()) {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    let (name, namespace) = (object::name(config), object::namespace(config));
    if !name.is_empty() && name != request.name() {
        return Err(Failure::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            request.name()
        )));
    }
    if resource.namespaced && !namespace.is_empty() && namespace != request.namespace() {
        return Err(Failure::bad_request(format!(
            "the namespace of the object ({namespace}) does not match the namespace on the URL ({})",
            request.namespace()
        )));
    }
    Ok(())
}

/// An apply cannot own what the schema does not know, so such fields are an error even where updates drop them.
fn conform_config(request: &Request<'_>, resource: &Resource, config: &mut Value) -> Result<(), Failure> {
    let findings = conform::conform(config, resource.schema(), resource.flavour);
    let object = || {
        let namespace = if resource.namespaced { request.namespace() } else { "" };
        format!("({namespace}/{}; {}, Kind={})", request.name(), resource.api_version(), resource.kind)
    };
    if !findings.unknown.is_empty() {
        let unknown: Vec<String> =
            findings.unknown.iter().map(|path| format!(".{path}: field not declared in schema")).collect();
        return Err(Failure::unexplained(format!(
            "failed to create typed patch object {}: {}",
            object(),
            unknown.join(", ")
        )));
    }
    if !findings.causes.is_empty() {
        let texts: Vec<String> =
            findings.causes.iter().map(|cause| format!(".{}: {}", cause.field, cause.message)).collect();
        return Err(Failure::bad_request(format!(
            "failed to create typed patch object {}: {}",
            object(),
            texts.join(", ")
        ))
        .with_causes(&findings.causes));
    }
    let duplicates: Vec<Cause> = check::duplicates(config, resource.schema());
    if !duplicates.is_empty() {
        let texts: Vec<String> =
            duplicates.iter().map(|cause| format!(".{}: {}", cause.field, cause.message)).collect();
        return Err(Failure::bad_request(format!(
            "failed to create typed patch object {}: {}",
            object(),
            texts.join(", ")
        )));
    }
    Ok(())
}

/// Keeps what this path may write, with the metadata that names the object.
fn trim(resource: &Resource, config: &mut Value, status_only: bool) {
    let map = object::ensure_map(config);
    map.remove("apiVersion");
    map.remove("kind");
    if status_only {
        map.retain(|field, _| ["metadata", "status"].contains(&field.as_str()));
        let metadata = metadata_mut(config);
        match resource.builtin {
            Some(builtin) => metadata.retain(|field, _| !builtin.kept_by_status.contains(&field.as_str())),
            None => {
                metadata.retain(|field, _| ["name", "namespace", "uid", "resourceVersion"].contains(&field.as_str()))
            }
        }
    } else if resource.has_status {
        map.remove("status");
    }
}

/// The version was a precondition; it is not part of what is wanted.
fn forget_version(config: &mut Value) {
    let metadata = metadata_mut(config);
    for field in ["uid", "resourceVersion", "creationTimestamp", "generation", "selfLink"] {
        metadata.remove(field);
    }
}
