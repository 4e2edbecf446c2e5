//! `output`: the outputs of the root module, as the state has them.

use engine_diag::{Diagnostic, Diagnostics};
use engine_plan::json;
use engine_value::Value;
use state::Snapshot;

use crate::{
    args::OutputArgs,
    session::{Exit, Session, failed},
    storage::Storage,
    view::{expression::expression, plan::output_values},
};

pub(crate) async fn run(session: &Session, storage: &Storage, args: &OutputArgs) -> Exit {
    match show(session, storage, args).await {
        Ok(()) => Exit::Success,
        Err(diagnostics) => session.fail(diagnostics),
    }
}

async fn show(session: &Session, storage: &Storage, args: &OutputArgs) -> Result<(), Diagnostics> {
    let snapshot = super::folded(&storage.load(session).await?)?;
    let Some(snapshot) = snapshot.filter(|snapshot| !snapshot.outputs.is_empty()) else {
        if args.json && args.name.is_none() {
            session.print("{}\n");
            return Ok(());
        }
        let detail = "The state has no outputs, or there is no state yet.";
        let warning =
            Diagnostic::warning("No outputs found", detail).hint("Declare outputs in the root module, and run apply.");
        if args.name.is_some() {
            return Err(missing(args.name.as_deref().unwrap_or_default(), &[]).into());
        }
        session.report(&warning.into());
        return Ok(());
    };
    match &args.name {
        Some(name) => one(session, &snapshot, name, args),
        None => all(session, &snapshot, args),
    }
}

fn all(session: &Session, snapshot: &Snapshot, args: &OutputArgs) -> Result<(), Diagnostics> {
    if args.json {
        let mut text = String::new();
        engine_value::json::pretty(&json::outputs_json(snapshot), 0, &mut text);
        session.print(&format!("{text}\n"));
        return Ok(());
    }
    let mut values: Vec<(&str, Value, bool)> = Vec::new();
    for (name, output) in &snapshot.outputs {
        values.push((name, decoded(name, output)?, output.sensitive));
    }
    session.print(&output_values(values.iter().map(|(name, value, sensitive)| (*name, value, *sensitive))));
    Ok(())
}

/// One output is asked for by name, so it is given, sensitive or not.
fn one(session: &Session, snapshot: &Snapshot, name: &str, args: &OutputArgs) -> Result<(), Diagnostics> {
    let Some(output) = snapshot.outputs.get(name) else {
        let names: Vec<&str> = snapshot.outputs.keys().map(|name| &**name).collect();
        return Err(missing(name, &names).into());
    };
    if args.json {
        session.print(&format!("{}\n", output.value));
        return Ok(());
    }
    let (value, _) = decoded(name, output)?.unmark_deep();
    if !args.raw {
        session.print(&format!("{}\n", expression(&value, 0)));
        return Ok(());
    }
    match engine_value::convert(&value, &engine_value::Type::String) {
        Ok(text) if !text.is_null() => session.print(text.as_str().unwrap_or_default()),
        _ => {
            let detail = format!("-raw writes text, numbers and booleans, and {name:?} is none of these.");
            return Err(Diagnostic::error("Unsupported value for raw output", detail).hint("Use -json.").into());
        }
    }
    Ok(())
}

fn decoded(name: &str, output: &state::Output) -> Result<Value, Diagnostics> {
    output.decoded().map_err(|error| failed(&format!("Cannot read output {name:?} of the state"), &error).into())
}

fn missing(name: &str, names: &[&str]) -> Diagnostic {
    let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let detail = format!("The state has no output {name:?}; it has {has}.");
    Diagnostic::error("Output not found", detail).hint("An output is in the state after apply.")
}
