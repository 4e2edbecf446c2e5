//! Snapshot to text.

use engine_model::address::{DeposedKey, InstanceKey, Mode, ModuleAddr, ResourceAddr};
use engine_value::json::{Json, pretty, type_to_tree};

use super::{OUR_DEPENDENCIES, OUR_PROVIDER, OURS, VERSION, number, object, object::write_object, text};
use crate::{Resource, Slot, Snapshot};

/// Members of an instance in Terraform's order; ours where they disturb least.
const INSTANCE: [&str; 11] = [
    "index_key",
    "status",
    "deposed",
    "schema_version",
    "attributes",
    "sensitive_attributes",
    "private",
    "dependencies",
    OUR_DEPENDENCIES,
    OUR_PROVIDER,
    "create_before_destroy",
];

/// The whole file.
pub fn write(snapshot: &Snapshot) -> String {
    let mut members = vec![
        ("version", number(VERSION)),
        ("terraform_version", text(&snapshot.terraform_version)),
        ("serial", number(snapshot.serial)),
        ("lineage", text(&snapshot.lineage.0)),
        ("outputs", outputs(snapshot)),
        ("resources", Json::Array(resources(snapshot))),
        ("check_results", snapshot.check_results.clone()),
    ];
    members.extend(ours(snapshot).map(|ours| (OURS, ours)));
    let mut out = String::new();
    pretty(&object(members), 0, &mut out);
    out.push('\n');
    out
}

fn outputs(snapshot: &Snapshot) -> Json {
    object(snapshot.outputs.iter().map(|(name, output)| {
        let members = [("value", output.value.clone()), ("type", type_to_tree(&output.ty))];
        let sensitive = output.sensitive.then_some(("sensitive", Json::Bool(true)));
        (&**name, object(members.into_iter().chain(sensitive)))
    }))
}

/// Terraform's order: module, mode, type and name as text, then keys.
fn resources(snapshot: &Snapshot) -> Vec<Json> {
    let mut modules: Vec<(String, Vec<Json>)> = Vec::new();
    let mut of_module: Option<&ModuleAddr> = None;
    let mut rest = snapshot.resources().iter().peekable();
    while let Some(first) = rest.next() {
        let mut instances = vec![first];
        while let Some(next) = rest.next_if(|(addr, _)| addr.with_key(None) == first.0.with_key(None)) {
            instances.push(next);
        }
        let module = &first.0.module;
        if of_module.replace(module) != Some(module) {
            modules.push((module.to_string(), Vec::new()));
        }
        if let Some((name, blocks)) = modules.last_mut() {
            blocks.push(block(name, &instances));
        }
    }
    modules.sort_by(|(a, _), (b, _)| a.cmp(b));
    modules.into_iter().flat_map(|(_, blocks)| blocks).collect()
}

fn block(module: &str, instances: &[(&ResourceAddr, &Resource)]) -> Json {
    let (addr, first) = instances[0];
    let mode = match addr.mode {
        Mode::Managed => "managed",
        Mode::Data | Mode::Ephemeral => "data",
    };
    let module = (!module.is_empty()).then(|| ("module", text(module)));
    let objects = instances.iter().flat_map(|(addr, resource)| {
        resource.objects().map(|(slot, object)| {
            let mut json = write_object(object);
            if let Json::Object(members) = &mut json {
                members.extend(addr.key.as_ref().map(|key| ("index_key".into(), index_key(key))));
                if let Slot::Deposed(DeposedKey(key)) = slot {
                    members.push(("deposed".into(), text(&key)));
                }
                if resource.provider != first.provider {
                    members.push((OUR_PROVIDER.into(), text(&resource.provider.to_string())));
                }
                members.sort_by_key(|(name, _)| INSTANCE.iter().position(|known| *known == &**name));
            }
            json
        })
    });
    object(module.into_iter().chain([
        ("mode", text(mode)),
        ("type", text(&addr.ty)),
        ("name", text(&addr.name)),
        ("provider", text(&first.provider.to_string())),
        ("instances", Json::Array(objects.collect())),
    ]))
}

fn index_key(key: &InstanceKey) -> Json {
    match key {
        InstanceKey::Int(index) => number(*index),
        InstanceKey::String(key) => text(key),
    }
}

fn ours(snapshot: &Snapshot) -> Option<Json> {
    let mut members = Vec::new();
    if !snapshot.clusters.is_empty() {
        let clusters = snapshot.clusters.iter().map(|(provider, id)| (provider.to_string(), text(id.as_str())));
        members.push(("clusters", object(clusters)));
    }
    if !snapshot.held.is_empty() {
        let held = snapshot.held.iter().map(|((provider, _), held)| {
            object([
                ("provider", text(&provider.to_string())),
                ("node", text(held.node.as_str())),
                ("plan", text(held.plan.as_str())),
                ("done", Json::Array(held.done.iter().map(|id| text(id.as_str())).collect())),
            ])
        });
        members.push(("held", Json::Array(held.collect())));
    }
    if let Some(run) = &snapshot.last_run {
        members.push(("last_run", object([("plan", text(run.plan.as_str())), ("fence", number(run.fence.0))])));
    }
    (!members.is_empty()).then(|| object(members))
}
