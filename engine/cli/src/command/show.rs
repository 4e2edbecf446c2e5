//! `show`: a saved plan, or the state.

use engine_diag::{Diagnostic, Diagnostics};
use engine_plan::{Providers, json};
use state::{Slot, Status};

use crate::{
    args::ShowArgs,
    configuration::from_plan,
    session::{Exit, Session, failed},
    storage::Storage,
    view,
};

pub(crate) async fn run(session: &mut Session, storage: &Storage, providers: &Providers, args: &ShowArgs) -> Exit {
    let text = match &args.plan {
        Some(path) => plan(session, providers, path, args),
        None => state(session, storage, providers, args).await,
    };
    match text {
        Ok(text) => {
            session.print(&text);
            Exit::Success
        }
        Err(diagnostics) => session.fail(diagnostics),
    }
}

fn plan(session: &mut Session, providers: &Providers, path: &str, args: &ShowArgs) -> Result<String, Diagnostics> {
    let file = super::apply::read_plan(session, path)?;
    if !args.json {
        return Ok(view::plan::plan(&file.plan, session.paint));
    }
    if !args.show_sensitive {
        return Ok(format!("{}\n", file.json));
    }
    let config = from_plan(session, &file)?;
    let snapshot = state::v4::read(&file.prior)
        .map_err(|error| Diagnostics::from(failed("The plan holds a damaged state", &error)))?;
    let view =
        json::PlanView { plan: &file.plan, snapshot: &snapshot, config: &config, providers, show_sensitive: true };
    Ok(format!("{}\n", view.to_json()))
}

async fn state(
    session: &Session,
    storage: &Storage,
    providers: &Providers,
    args: &ShowArgs,
) -> Result<String, Diagnostics> {
    let Some(snapshot) = super::folded(&storage.load(session).await?)? else {
        return Ok(if args.json { "{\"format_version\":\"1.0\"}\n" } else { "No state.\n" }.to_owned());
    };
    if args.json {
        let json = json::state_json(&snapshot, providers, args.show_sensitive).map_err(Diagnostics::from)?;
        return Ok(format!("{json}\n"));
    }
    if snapshot.resources().is_empty() && snapshot.outputs.is_empty() {
        return Ok("The state is empty. No resources are represented.\n".to_owned());
    }
    let mut out = String::new();
    for (addr, resource) in snapshot.resources() {
        let schema = providers.schema(&resource.provider.provider, addr.mode, &addr.ty).map_err(Diagnostics::from)?;
        for (slot, object) in resource.objects() {
            let value = object.value(&schema.block.value_type()).map_err(|error| {
                Diagnostics::from(Diagnostic::error("Cannot read the state", format!("{addr}: {error}.")))
            })?;
            let what = match (slot, object.status) {
                (Slot::Deposed(key), _) => format!(" (deposed object {})", key.0),
                (Slot::Current, Status::Tainted) => " (tainted)".to_owned(),
                (Slot::Current, Status::Ready) => String::new(),
            };
            out.push_str(&format!("# {addr}:{what}\n{}\n", super::state::block(addr, &value, session.paint)));
        }
    }
    out.push_str(&super::outputs(&snapshot));
    Ok(out)
}
