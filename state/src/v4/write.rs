//! Snapshot to text.

use engine_model::address::{DeposedKey, InstanceKey, ModuleAddr, ResourceAddr};

use super::{OUR_DEPENDENCIES, OUR_PROVIDER, OURS, VERSION, object::write_object, ty::write_type};
use crate::{
    Json, Resource, Snapshot,
    json::{pretty, pretty_in_order},
};

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
    let mut out = String::from("{");
    let head = [
        ("version", Json::from(VERSION)),
        ("terraform_version", Json::text(&*snapshot.terraform_version)),
        ("serial", Json::from(snapshot.serial)),
        ("lineage", Json::text(&*snapshot.lineage.0)),
    ];
    for (name, value) in &head {
        member(name, &mut out);
        pretty(value, 1, &mut out);
    }
    member("outputs", &mut out);
    outputs(snapshot, &mut out);
    member("resources", &mut out);
    resources(snapshot, &mut out);
    member("check_results", &mut out);
    pretty(&snapshot.check_results, 1, &mut out);
    if let Some(ours) = ours(snapshot) {
        member(OURS, &mut out);
        pretty(&ours, 1, &mut out);
    }
    out.push_str("\n}\n");
    out
}

fn member(name: &str, out: &mut String) {
    if out.len() > 1 {
        out.push(',');
    }
    out.push_str("\n  \"");
    out.push_str(name);
    out.push_str("\": ");
}

fn outputs(snapshot: &Snapshot, out: &mut String) {
    if snapshot.outputs.is_empty() {
        out.push_str("{}");
        return;
    }
    out.push('{');
    for (i, (name, output)) in snapshot.outputs.iter().enumerate() {
        out.push_str(if i > 0 { ",\n    " } else { "\n    " });
        out.push_str(&Json::String(name.clone()).to_string());
        out.push_str(": ");
        let (ty, sensitive) = (write_type(&output.ty), Json::Bool(true));
        let members = [("value", &output.value), ("type", &ty)];
        let sensitive = output.sensitive.then_some(("sensitive", &sensitive));
        pretty_in_order(members.into_iter().chain(sensitive), 2, out);
    }
    out.push_str("\n  }");
}

/// Terraform's order: module, mode, type and name as text, then keys.
fn resources(snapshot: &Snapshot, out: &mut String) {
    let mut modules: Vec<(String, &ModuleAddr)> = Vec::new();
    for addr in snapshot.resources().keys() {
        if modules.last().is_none_or(|(_, last)| **last != addr.module) {
            modules.push((addr.module.to_string(), &addr.module));
        }
    }
    modules.sort();
    if modules.is_empty() {
        out.push_str("[]");
        return;
    }
    out.push('[');
    let mut is_first = true;
    for (text, module) in modules {
        let start = ResourceAddr {
            module: module.clone(),
            mode: engine_model::address::Mode::Data,
            ty: "".into(),
            name: "".into(),
            key: None,
        };
        let mut rest = snapshot.resources().range(start..).take_while(|(addr, _)| addr.module == *module).peekable();
        while let Some((first, resource)) = rest.next() {
            let mut instances = vec![(first, resource)];
            while let Some(next) = rest.next_if(|(addr, _)| addr.with_key(None) == first.with_key(None)) {
                instances.push(next);
            }
            out.push_str(if is_first { "\n    " } else { ",\n    " });
            is_first = false;
            block(&text, &instances, out);
        }
    }
    out.push_str("\n  ]");
}

fn block(module: &str, instances: &[(&ResourceAddr, &Resource)], out: &mut String) {
    let (addr, first) = instances[0];
    out.push('{');
    let mode = serde_json::to_value(addr.mode).ok();
    let provider = first.provider.to_string();
    let mut head = vec![
        ("mode", Json::text(mode.as_ref().and_then(|mode| mode.as_str()).expect("a mode is a word"))),
        ("type", Json::String(addr.ty.clone())),
        ("name", Json::String(addr.name.clone())),
        ("provider", Json::text(&*provider)),
    ];
    if !module.is_empty() {
        head.insert(0, ("module", Json::text(module)));
    }
    for (name, value) in head {
        out.push_str("\n      \"");
        out.push_str(name);
        out.push_str("\": ");
        pretty(&value, 3, out);
        out.push(',');
    }
    out.push_str("\n      \"instances\": [");
    let mut is_first = true;
    for (addr, resource) in instances {
        for (slot, object) in resource.objects() {
            let mut json = write_object(object);
            if let Json::Object(members) = &mut json {
                members.extend(addr.key.as_ref().map(|key| ("index_key".into(), index_key(key))));
                if let crate::Slot::Deposed(DeposedKey(key)) = slot {
                    members.insert("deposed".into(), Json::String(key));
                }
                if resource.provider != first.provider {
                    members.insert(OUR_PROVIDER.into(), Json::text(resource.provider.to_string()));
                }
            }
            out.push_str(if is_first { "\n        " } else { ",\n        " });
            is_first = false;
            pretty_in_order(INSTANCE.iter().filter_map(|name| Some((*name, json.get(name)?))), 4, out);
        }
    }
    out.push_str("\n      ]\n    }");
}

fn index_key(key: &InstanceKey) -> Json {
    match key {
        InstanceKey::Int(number) => Json::from(*number),
        InstanceKey::String(text) => Json::String(text.clone()),
    }
}

fn ours(snapshot: &Snapshot) -> Option<Json> {
    let mut members = Vec::new();
    if !snapshot.clusters.is_empty() {
        let clusters = snapshot.clusters.iter().map(|(provider, id)| (provider.to_string(), Json::text(id.as_str())));
        members.push(("clusters", Json::object(clusters)));
    }
    if !snapshot.held.is_empty() {
        let held = snapshot.held.iter().map(|((provider, _), held)| {
            Json::object([
                ("provider", Json::text(provider.to_string())),
                ("node", Json::text(held.node.as_str())),
                ("plan", Json::text(held.plan.as_str())),
                ("done", Json::Array(held.done.iter().map(|id| Json::text(id.as_str())).collect())),
            ])
        });
        members.push(("held", Json::Array(held.collect())));
    }
    if let Some(run) = &snapshot.last_run {
        let run = [("plan", Json::text(run.plan.as_str())), ("fence", Json::from(run.fence.0))];
        members.push(("last_run", Json::object(run)));
    }
    if members.is_empty() { None } else { Some(Json::object(members)) }
}
