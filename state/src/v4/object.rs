//! One object, as a member of `instances`.

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_model::address::{ConfigResourceAddr, ResourceAddr};
use engine_value::json::Json;

use super::{
    FormatError, OUR_DEPENDENCIES,
    field::Field,
    number, object as json_object,
    path::{read_path, write_path},
    text,
};
use crate::{Ancestor, Dependencies, Object, Status, patch};

/// An object without its address: what its instance has besides `index_key` and `deposed`. Members are in the order of
/// their names, as patches keep them.
pub(crate) fn write_object(object: &Object) -> Json {
    let mut members = vec![
        ("schema_version", number(object.schema_version)),
        ("attributes", object.attributes.clone()),
        ("sensitive_attributes", Json::Array(object.sensitive.iter().map(write_path).collect())),
    ];
    if object.status == Status::Tainted {
        members.push(("status", text("tainted")));
    }
    if !object.private.is_empty() {
        members.push(("private", text(&STANDARD.encode(&object.private))));
    }
    let mut configs = match &object.dependencies {
        Dependencies::Nearest(ancestors) => ancestors.iter().map(config).collect::<Vec<_>>(),
        Dependencies::Configured(configs) => configs.iter().map(ToString::to_string).collect(),
    };
    configs.sort();
    configs.dedup();
    if !configs.is_empty() {
        members.push(("dependencies", Json::Array(configs.iter().map(|config| text(config)).collect())));
    }
    if !object.ancestors().is_empty() {
        let ancestors = object.ancestors().iter().map(|ancestor| text(&ancestor.to_string()));
        members.push((OUR_DEPENDENCIES, Json::Array(ancestors.collect())));
    }
    if object.create_before_destroy {
        members.push(("create_before_destroy", Json::Bool(true)));
    }
    members.sort_by_key(|(name, _)| *name);
    json_object(members)
}

fn config(ancestor: &Ancestor) -> String {
    let (Ancestor::Instance(addr) | Ancestor::Block(addr)) = ancestor;
    addr.config().to_string()
}

/// The reverse.
pub(crate) fn read_object(json: &Json) -> Result<Object, FormatError> {
    read(Field::root(json))
}

pub(super) fn read(field: Field<'_>) -> Result<Object, FormatError> {
    if let Some(flat) = field.get("attributes_flat") {
        return Err(flat.error("it was stored by a Terraform before 0.12; apply once with Terraform 1.x"));
    }
    let status = match field.get("status").map(|status| (status, status.text())) {
        None => Status::Ready,
        Some((_, Ok("tainted"))) => Status::Tainted,
        Some((status, _)) => return Err(status.error("\"tainted\" was expected")),
    };
    let private = match field.get("private") {
        None => Vec::new(),
        Some(private) => STANDARD.decode(private.text()?).map_err(|error| private.error(error.to_string()))?,
    };
    let mut sensitive = Vec::new();
    if let Some(paths) = field.get("sensitive_attributes") {
        sensitive = paths.elements()?.map(read_path).collect::<Result<_, _>>()?;
    }
    let mut attributes = field.need("attributes")?.json().clone();
    patch::sort(&mut attributes);
    Ok(Object {
        schema_version: field.need("schema_version")?.number()?,
        attributes,
        sensitive,
        private,
        status,
        dependencies: dependencies(field)?,
        create_before_destroy: match field.get("create_before_destroy") {
            None => false,
            Some(before) => before.boolean()?,
        },
    })
}

fn dependencies(field: Field<'_>) -> Result<Dependencies, FormatError> {
    if let Some(ours) = field.get(OUR_DEPENDENCIES) {
        let mut ancestors = ours.elements()?.map(|a| a.parsed()).collect::<Result<Vec<Ancestor>, _>>()?;
        ancestors.sort();
        ancestors.dedup();
        return Ok(Dependencies::Nearest(ancestors));
    }
    let Some(theirs) = field.get("dependencies") else { return Ok(Dependencies::default()) };
    let mut configs = theirs.elements()?.map(config_addr).collect::<Result<Vec<_>, _>>()?;
    configs.sort();
    configs.dedup();
    Ok(if configs.is_empty() { Dependencies::default() } else { Dependencies::Configured(configs) })
}

fn config_addr(field: Field<'_>) -> Result<ConfigResourceAddr, FormatError> {
    Ok(field.parsed::<ResourceAddr>()?.config())
}
