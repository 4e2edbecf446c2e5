//! `state list` and `state show`: what the state knows.

use engine_diag::{Diagnostic, Diagnostics};
use engine_model::address::{ModuleAddr, ResourceAddr, quoted};
use engine_plan::Providers;
use engine_value::Value;
use state::Snapshot;

use crate::{
    args::StateCommand,
    session::{Exit, Session, failed},
    storage::Storage,
    view::{diff::DiffView, style::Paint},
};

pub(crate) async fn run(session: &Session, storage: &Storage, providers: &Providers, command: &StateCommand) -> Exit {
    let loaded = match storage.load(session).await.and_then(|loaded| super::folded(&loaded)) {
        Ok(loaded) => loaded,
        Err(diagnostics) => return session.fail(diagnostics),
    };
    let Some(snapshot) = loaded else {
        let detail = format!("{} does not exist yet.", storage.store.name());
        return session.fail(Diagnostic::error("No state", detail).hint("Run apply first."));
    };
    let shown = match command {
        StateCommand::List { addresses } => list(&snapshot, addresses),
        StateCommand::Show { address } => show(&snapshot, providers, address, session.paint),
    };
    match shown {
        Ok(text) => {
            session.print(&text);
            Exit::Success
        }
        Err(diagnostics) => session.fail(diagnostics),
    }
}

fn list(snapshot: &Snapshot, wanted: &[String]) -> Result<String, Diagnostics> {
    let mut matched = vec![false; wanted.len()];
    let mut out = String::new();
    for addr in snapshot.resources().keys() {
        let hits: Vec<usize> = (0..wanted.len()).filter(|i| is_in(addr, &wanted[*i])).collect();
        hits.iter().for_each(|i| matched[*i] = true);
        if wanted.is_empty() || !hits.is_empty() {
            out.push_str(&format!("{addr}\n"));
        }
    }
    let missing = wanted.iter().zip(&matched).filter(|(_, matched)| !**matched).map(|(wanted, _)| {
        Diagnostic::error("Nothing in the state", format!("The state has nothing at {wanted}."))
            .hint("Run state list without an address to see everything.")
    });
    let missing = Diagnostics(missing.collect());
    if missing.is_empty() { Ok(out) } else { Err(missing) }
}

/// Is it this resource, an instance of it, or something in this module?
fn is_in(addr: &ResourceAddr, wanted: &str) -> bool {
    match (wanted.parse::<ResourceAddr>(), wanted.parse::<ModuleAddr>()) {
        (Ok(resource), _) => *addr == resource || (resource.key.is_none() && addr.with_key(None) == resource),
        (_, Ok(module)) => addr.module.0.starts_with(&module.0),
        _ => false,
    }
}

fn show(snapshot: &Snapshot, providers: &Providers, text: &str, paint: Paint) -> Result<String, Diagnostics> {
    let addr: ResourceAddr = text.parse().map_err(|error| Diagnostics::from(failed("Invalid address", &error)))?;
    let Some(resource) = snapshot.resource(&addr) else {
        let hint = "Run state list to see what there is.";
        return Err(Diagnostic::error("Nothing in the state", format!("The state has nothing at {addr}."))
            .hint(hint)
            .into());
    };
    let Some(object) = &resource.current else {
        let detail = format!("{addr} has only objects that were replaced and are still to be destroyed.");
        return Err(Diagnostic::error("No current object", detail).into());
    };
    let schema = providers.schema(&resource.provider.provider, addr.mode, &addr.ty).map_err(Diagnostics::from)?;
    let value = object
        .value(&schema.block.value_type())
        .map_err(|error| Diagnostics::from(failed(&format!("Cannot read {addr} of the state"), &error)))?;
    Ok(format!("# {addr}:\n{}", block(&addr, &value, paint)))
}

/// An object as a block of configuration.
pub(crate) fn block(addr: &ResourceAddr, value: &Value, paint: Paint) -> String {
    let kind = match addr.mode {
        engine_model::address::Mode::Managed => "resource",
        engine_model::address::Mode::Data => "data",
        engine_model::address::Mode::Ephemeral => "ephemeral",
    };
    let body = DiffView { paint, forces: &[] }.plain(value);
    format!("{kind} {} {} {{\n{body}}}\n", quoted(&addr.ty), quoted(&addr.name))
}
