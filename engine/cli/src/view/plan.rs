//! A whole plan for people: drift, changes with reasons, card map, disruption, capacity, counts.

use engine_model::{
    card::CardChange,
    change::{Action, OutputChange, ReplaceOrder, ResourceChange, ResourceDrift},
    plan::{Plan, PlanMode},
};
use engine_value::Value;

use super::{
    capacity::capacity,
    cards,
    diff::DiffView,
    disruption::{disruption, excluded},
    expression::expression,
    resource,
    style::Paint,
    value::{SENSITIVE, UNKNOWN, hcl, key, pad, width},
};

/// The whole plan.
pub(crate) fn plan(plan: &Plan, paint: Paint) -> String {
    let mut out = String::new();
    out.push_str(&drift(plan, paint));
    let changes: Vec<&ResourceChange> = plan.changes.iter().filter(|c| is_shown(c)).collect();
    if plan.mode == PlanMode::RefreshOnly {
        out.push_str(&refresh_only(plan));
    } else if !plan.changes_anything() {
        if !plan.errored {
            out.push_str(&no_changes(plan, paint));
        }
        out.push_str(&section(&excluded(&plan.excluded)));
        return out;
    } else {
        if !changes.is_empty() {
            out.push_str(&legend(&changes, paint));
            for change in &changes {
                out.push_str(&resource::change(change, paint));
                out.push('\n');
            }
        }
        out.push_str(&on_nodes(plan, paint));
    }
    out.push_str(&section(&excluded(&plan.excluded)));
    if plan.mode != PlanMode::RefreshOnly {
        out.push_str(&counts(plan, paint));
    }
    out.push_str(&outputs(plan, paint));
    out
}

fn is_shown(change: &ResourceChange) -> bool {
    change.action != Action::NoOp || change.previous.as_ref().is_some_and(|previous| *previous != change.addr)
}

fn section(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

fn on_nodes(plan: &Plan, paint: Paint) -> String {
    let cards: Vec<&CardChange> = plan.operations.iter().flat_map(|o| &o.cards).filter(|c| c.now != c.then).collect();
    let mut map = cards::card_map(&cards, paint);
    if let Some(legend) = cards::legend(&cards) {
        map.push_str(&format!("{}\n", paint.dim(legend)));
    }
    let capacity = capacity(&plan.review.capacity);
    [map, disruption(plan), capacity].iter().map(|text| section(text)).collect()
}

fn no_changes(plan: &Plan, paint: Paint) -> String {
    let (what, why) = match plan.mode {
        PlanMode::Destroy => ("No objects need to be destroyed.", "There is nothing in the state to destroy."),
        _ => (
            "Your infrastructure matches the configuration.",
            "Sliceform has compared the cluster and its nodes with your configuration, and found no differences.",
        ),
    };
    format!("{} {what}\n\n{why}\n", paint.bold("No changes."))
}

fn legend(changes: &[&ResourceChange], paint: Paint) -> String {
    let known = [
        (Action::Create, "  +", "create"),
        (Action::Update, "  ~", "update in-place"),
        (Action::Delete, "  -", "destroy"),
        (Action::Replace(ReplaceOrder::DestroyThenCreate), "-/+", "destroy and then create replacement"),
        (Action::Replace(ReplaceOrder::CreateThenDestroy), "+/-", "create replacement and then destroy"),
        (Action::Read, " <=", "read (data resources)"),
    ];
    let mut out = String::from("Sliceform will perform the following actions, indicated with these symbols:\n");
    for (action, symbol, meaning) in known {
        if changes.iter().any(|change| change.action == action) {
            out.push_str(&format!("{} {meaning}\n", paint.symbol(symbol)));
        }
    }
    out.push('\n');
    out
}

fn counts(plan: &Plan, paint: Paint) -> String {
    let summary = plan.summary();
    format!(
        "{} {} to add, {} to change, {} to destroy.\n",
        paint.bold("Plan:"),
        summary.add,
        summary.change,
        summary.destroy
    )
}

fn drift(plan: &Plan, paint: Paint) -> String {
    if plan.drift.is_empty() || plan.mode == PlanMode::Destroy {
        return String::new();
    }
    let mut out = format!("{}\n\n", paint.bold("Note: Objects have changed outside of Sliceform"));
    for drift in &plan.drift {
        out.push_str(&drifted(drift, paint));
        out.push('\n');
    }
    out
}

fn drifted(drift: &ResourceDrift, paint: Paint) -> String {
    let what = if drift.after.is_null() { "has been deleted" } else { "has changed" };
    let mut out = format!("  {} {}\n", paint.bold("#"), paint.bold(&format!("{} {what}", drift.addr)));
    for note in &drift.notes {
        out.push_str(&format!("    {note}\n"));
    }
    if drift.notes.is_empty() && !drift.after.is_null() {
        let view = DiffView { paint, forces: &[] };
        out.push_str(&view.attributes(Some(&drift.before), Some(&drift.after)));
    }
    out
}

fn refresh_only(plan: &Plan) -> String {
    if plan.drift.is_empty() {
        return "No changes. Your infrastructure still matches the state.\n".to_owned();
    }
    "This is a refresh-only plan: apply would only store in the state what is written above, and change nothing else.\n"
        .to_owned()
}

fn outputs(plan: &Plan, paint: Paint) -> String {
    let changed: Vec<(&str, &OutputChange)> =
        plan.outputs.iter().filter(|(_, o)| o.action != Action::NoOp).map(|(name, o)| (&**name, o)).collect();
    if changed.is_empty() {
        return String::new();
    }
    let columns = changed.iter().map(|(name, _)| width(&key(name))).max().unwrap_or(0);
    let mut out = String::from("\nChanges to Outputs:\n");
    for (name, change) in changed {
        let symbol = match change.action {
            Action::Create => "+",
            Action::Delete => "-",
            _ => "~",
        };
        out.push_str(&format!("  {} {} = {}\n", paint.symbol(symbol), pad(&key(name), columns), output(change)));
    }
    out
}

fn output(change: &OutputChange) -> String {
    let side = |value: &Value| match value {
        _ if change.sensitive => SENSITIVE.to_owned(),
        value if !value.is_known() => UNKNOWN.to_owned(),
        value => hcl(value, 4),
    };
    match change.action {
        Action::Create => side(&change.after),
        Action::Delete => format!("{} -> null", side(&change.before)),
        _ if change.sensitive => SENSITIVE.to_owned(),
        _ => format!("{} -> {}", side(&change.before), side(&change.after)),
    }
}

/// The outputs after an apply, and of `output` without a name: as expressions, so that types can be told apart.
pub(crate) fn output_values<'a>(outputs: impl Iterator<Item = (&'a str, &'a Value, bool)>) -> String {
    outputs
        .map(|(name, value, sensitive)| {
            let value = if sensitive { "<sensitive>".to_owned() } else { expression(value, 0) };
            format!("{} = {value}\n", key(name))
        })
        .collect()
}
