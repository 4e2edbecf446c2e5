//! One change of a resource, as a plan shows it.

use engine_model::{
    address::{Mode, ResourceAddr, quoted},
    change::{Action, ReplaceOrder, ResourceChange},
    reason::{Orphan, Reason},
};
use engine_value::Path;

use super::{diff::DiffView, style::Paint};

/// The change with its reason and everything that changes in the object.
pub(crate) fn change(change: &ResourceChange, paint: Paint) -> String {
    let mut out = format!("  {} {}", paint.bold("#"), paint.bold(&headline(change)));
    if let Some(reason) = change.reason.as_ref().and_then(reason) {
        out.push_str(&format!("   ({reason})"));
    }
    out.push('\n');
    if let Some(why) = &change.unverified {
        out.push_str(&format!("  # (unverified: {why})\n"));
    }
    if change.deposed.is_some() || matches!(change.action, Action::NoOp | Action::Forget) {
        return out;
    }
    let view = DiffView { paint, forces: &change.replace_paths };
    let body = view.attributes(Some(&change.before), Some(&change.after));
    out.push_str(&format!("{} {} {{\n{body}    }}\n", symbol(change.action, paint), block(&change.addr)));
    out
}

fn block(addr: &ResourceAddr) -> String {
    let kind = match addr.mode {
        Mode::Managed => "resource",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
    };
    format!("{kind} {} {}", quoted(&addr.ty), quoted(&addr.name))
}

fn symbol(action: Action, paint: Paint) -> String {
    match action {
        Action::Create => format!("  {}", paint.symbol("+")),
        Action::Update => format!("  {}", paint.symbol("~")),
        Action::Delete => format!("  {}", paint.symbol("-")),
        Action::Read => format!(" {}", paint.symbol("<=")),
        Action::Replace(ReplaceOrder::DestroyThenCreate) => paint.symbol("-/+"),
        Action::Replace(ReplaceOrder::CreateThenDestroy) => paint.symbol("+/-"),
        Action::NoOp | Action::Forget => "   ".to_owned(),
    }
}

fn headline(change: &ResourceChange) -> String {
    let addr = match &change.previous {
        Some(previous) if *previous != change.addr => return moved(previous, change),
        _ => &change.addr,
    };
    if let Some(key) = &change.deposed {
        return format!("{addr} (deposed object {}) will be destroyed", key.0);
    }
    match change.action {
        Action::NoOp => format!("{addr} will not change"),
        Action::Create => format!("{addr} will be created"),
        Action::Read => format!("{addr} will be read during apply"),
        Action::Update => format!("{addr} will be updated in-place"),
        Action::Replace(_) if change.reason == Some(Reason::Tainted) => {
            format!("{addr} is tainted, so must be replaced")
        }
        Action::Replace(_) if matches!(change.reason, Some(Reason::Requested | Reason::Triggered(_))) => {
            format!("{addr} will be replaced")
        }
        Action::Replace(_) => format!("{addr} must be replaced"),
        Action::Delete => format!("{addr} will be destroyed"),
        Action::Forget => format!("{addr} will no longer be managed, and stays as it is"),
    }
}

fn moved(previous: &ResourceAddr, change: &ResourceChange) -> String {
    match change.action {
        Action::NoOp => format!("{previous} has moved to {}", change.addr),
        _ => format!("{} (moved from {previous}) changes", change.addr),
    }
}

/// Why, in words; nothing where the headline says it.
pub(crate) fn reason(reason: &Reason) -> Option<String> {
    Some(match reason {
        Reason::New | Reason::Tainted => return None,
        Reason::Configuration(at) => format!("differs from configuration{}", listed(at)),
        Reason::Drift(at) => format!("drifted{}", listed(at)),
        Reason::ConfigurationAndDrift { configuration, drift } => {
            format!("differs from configuration{}; drifted{}", listed(configuration), listed(drift))
        }
        Reason::Immutable(at) => format!("cannot be changed in place{}", listed(at)),
        Reason::Unfinished { done, total, unit } => format!("unfinished: {done} of {total} {unit} done"),
        Reason::NodesJoined(nodes) => {
            let names: Vec<&str> = nodes.iter().map(engine_model::name::NodeName::as_str).collect();
            format!("{} joined: {}", if nodes.len() == 1 { "a node" } else { "nodes" }, names.join(", "))
        }
        Reason::Orphan(orphan) => orphaned(*orphan).to_owned(),
        Reason::Requested => "requested with -replace".to_owned(),
        Reason::Triggered(by) => format!("triggered by {}", by.join(", ")),
        Reason::ReadUnknown => "its arguments are not known yet".to_owned(),
        Reason::ReadPending => "depends on something with changes pending".to_owned(),
        Reason::ReadCheck => "needed by a check".to_owned(),
        Reason::Destroy => "destroy".to_owned(),
        Reason::Removed => "removed".to_owned(),
    })
}

fn orphaned(orphan: Orphan) -> &'static str {
    match orphan {
        Orphan::NoResourceConfig => "not in configuration",
        Orphan::WrongRepetition => "the resource uses another repetition now",
        Orphan::CountIndex => "index is out of range for count",
        Orphan::EachKey => "key is not in for_each",
        Orphan::NoModule => "its module instance is not in configuration",
        Orphan::NoMoveTarget => "its target of a move is not in configuration",
    }
}

/// A few paths: a reader wants to know where to look, not everything twice.
fn listed(paths: &[Path]) -> String {
    const SHOWN: usize = 3;
    // The whole object is no place to look at.
    let paths: Vec<&Path> = paths.iter().filter(|path| !path.is_root()).collect();
    let shown: Vec<String> = paths.iter().take(SHOWN).map(ToString::to_string).collect();
    match paths.len() {
        0 => String::new(),
        n if n > SHOWN => format!(": {} and {} more", shown.join(", "), n - SHOWN),
        _ => format!(": {}", shown.join(", ")),
    }
}
