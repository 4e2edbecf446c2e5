//! The state as `show -json` has it without a plan, `prior_state` of a plan, and `output -json`.

use engine_diag::Diagnostic;
use engine_model::address::{Ancestor, ConfigResourceAddr, ResourceAddr};
use engine_value::{
    Value,
    json::{Json, known_part, sensitive_part, type_to_tree},
};
use state::{Dependencies, Object, Output, Slot, Snapshot, Status, TERRAFORM_VERSION};

use super::{modules, modules::Modules, named, object, text};
use crate::{Providers, stored::stored_value};

/// The whole state. Secrets are null unless they are asked for.
///
/// # Errors
/// An object of a provider or type that this release does not have, or that is not of its type.
pub fn state_json(snapshot: &Snapshot, providers: &Providers, show_sensitive: bool) -> Result<Json, Box<Diagnostic>> {
    let mut modules = Modules::default();
    for (addr, resource) in snapshot.resources() {
        for (slot, stored) in resource.objects() {
            let (value, version) = stored_value(providers, addr, &resource.provider, stored)?;
            let provider = resource.provider.provider.to_string();
            let remembered = Some((&slot, stored));
            modules.add(addr, of_object(addr, &provider, version, &value, remembered, show_sensitive));
        }
    }
    let outputs = snapshot.outputs.iter().map(|(name, output)| (name.to_string(), of_output(output, show_sensitive)));
    Ok(whole(named(outputs), modules.root()))
}

/// `output -json`: the values of the root module's outputs, secrets too, as they are asked for by name.
pub fn outputs_json(snapshot: &Snapshot) -> Json {
    let output = |output: &Output| {
        object([
            ("sensitive", Json::Bool(output.sensitive)),
            ("type", type_to_tree(&output.ty)),
            ("value", output.value.clone()),
        ])
    };
    named(snapshot.outputs.iter().map(|(name, value)| (name.to_string(), output(value))))
}

/// A state around its outputs and its root module.
pub(super) fn whole(outputs: Json, root: Json) -> Json {
    let mut values = Vec::new();
    if outputs != Json::Object(Vec::new()) {
        values.push(("outputs", outputs));
    }
    values.push(("root_module", root));
    object([
        ("format_version", text("1.0")),
        ("terraform_version", text(TERRAFORM_VERSION)),
        ("values", object(values)),
    ])
}

/// An object as an element of `resources`.
pub(super) fn of_object(
    addr: &ResourceAddr,
    provider: &str,
    version: u64,
    value: &Value,
    remembered: Option<(&Slot, &Object)>,
    show_sensitive: bool,
) -> Json {
    let mut members = vec![("address", text(addr.to_string()))];
    members.extend(modules::address(addr));
    members.push(("provider_name", text(provider)));
    members.push(("schema_version", super::number(version)));
    // Terraform leaves out what would be empty.
    let values = known_part(value, !show_sensitive).filter(|values| *values != Json::Object(Vec::new()));
    members.extend(values.map(|values| ("values", values)));
    members.push(("sensitive_values", sensitive_part(value)));
    if let Some((slot, object)) = remembered {
        let needs = ancestors(object);
        if !needs.is_empty() {
            members.push(("depends_on", Json::Array(needs.iter().map(text).collect())));
        }
        if object.status == Status::Tainted {
            members.push(("tainted", Json::Bool(true)));
        }
        if let Slot::Deposed(key) = slot {
            members.push(("deposed_key", text(&*key.0)));
        }
    }
    object(members)
}

/// What an object needs, as blocks of the configuration: the nearest ones where we wrote the state, all of them where
/// Terraform did.
fn ancestors(object: &Object) -> Vec<String> {
    let found: Vec<ConfigResourceAddr> = match &object.dependencies {
        Dependencies::Nearest(nearest) => nearest
            .iter()
            .map(|ancestor| match ancestor {
                Ancestor::Instance(addr) | Ancestor::Block(addr) => addr.config(),
            })
            .collect(),
        Dependencies::Configured(all) => all.clone(),
    };
    let mut found: Vec<String> = found.iter().map(ToString::to_string).collect();
    found.sort();
    found.dedup();
    found
}

/// A member of `outputs`.
fn of_output(output: &Output, show_sensitive: bool) -> Json {
    let value = if output.sensitive && !show_sensitive { Json::Null } else { output.value.clone() };
    object([("sensitive", Json::Bool(output.sensitive)), ("value", value), ("type", type_to_tree(&output.ty))])
}
