//! `change`: what happens to one object or output.

use engine_model::{
    change::{Action, OutputChange, ResourceChange, ResourceDrift},
    reason::Reason,
};
use engine_value::{
    Path, Step, Value,
    json::{Json, after_unknown, known_part, sensitive_part, to_tree},
};

use super::{modules, object, text};

/// An element of `resource_changes`.
pub(super) fn resource(change: &ResourceChange, show_sensitive: bool) -> Json {
    let mut members = vec![("address", text(change.addr.to_string()))];
    members.extend(change.previous.as_ref().map(|previous| ("previous_address", text(previous.to_string()))));
    members.extend(module_address(change));
    members.extend(modules::address(&change.addr));
    members.extend(change.deposed.as_ref().map(|key| ("deposed", text(&*key.0))));
    members.push(("provider_name", text(change.provider.provider.to_string())));
    let mut inner = both(change.action, &change.before, &change.after, show_sensitive, object([]));
    let replaces = change.action.is_replace();
    if replaces && !change.replace_paths.is_empty() {
        inner.push(("replace_paths", Json::Array(change.replace_paths.iter().map(path).collect())));
    }
    members.push(("change", object(inner)));
    let reason = change.reason.as_ref().and_then(|reason| reason.action_reason(replaces));
    members.extend(reason.map(|reason| ("action_reason", text(reason))));
    object(members)
}

/// An element of `resource_drift`.
pub(super) fn drift(drift: &ResourceDrift, show_sensitive: bool) -> Json {
    let mut members = vec![("address", text(drift.addr.to_string()))];
    if !drift.addr.module.is_root() {
        members.push(("module_address", text(drift.addr.module.to_string())));
    }
    members.extend(modules::address(&drift.addr));
    members.push(("provider_name", text(drift.provider.provider.to_string())));
    let action = if drift.after.is_null() { Action::Delete } else { Action::Update };
    members.push(("change", object(both(action, &drift.before, &drift.after, show_sensitive, object([])))));
    object(members)
}

/// A member of `output_changes`.
pub(super) fn output(change: &OutputChange, show_sensitive: bool) -> Json {
    let redact = change.sensitive && !show_sensitive;
    let part = |value: &Value| if redact && value.is_known() { Some(Json::Null) } else { known_part(value, false) };
    let mut members = vec![("actions", actions(change.action)), ("before", part(&change.before).unwrap_or(Json::Null))];
    members.extend(part(&change.after).map(|after| ("after", after)));
    members.push(("after_unknown", unless_known(&change.after, Json::Bool(false))));
    members.push(("before_sensitive", Json::Bool(change.sensitive)));
    members.push(("after_sensitive", Json::Bool(change.sensitive)));
    object(members)
}

fn module_address(change: &ResourceChange) -> Option<(&'static str, Json)> {
    let module = &change.addr.module;
    (!module.is_root()).then(|| ("module_address", text(module.to_string())))
}

fn both(
    action: Action,
    before: &Value,
    after: &Value,
    show_sensitive: bool,
    nothing_unknown: Json,
) -> Vec<(&'static str, Json)> {
    let redact = !show_sensitive;
    let mut members = vec![("actions", actions(action)), ("before", known_part(before, redact).unwrap_or(Json::Null))];
    members.extend(known_part(after, redact).map(|after| ("after", after)));
    // A value that does not change is known as a whole: no placeholders for its parts.
    let unknown = if action == Action::NoOp || after.is_null() { nothing_unknown } else { after_unknown(after) };
    members.push(("after_unknown", unknown));
    members.push(("before_sensitive", sensitive_part(before)));
    members.push(("after_sensitive", sensitive_part(after)));
    members
}

fn unless_known(value: &Value, known: Json) -> Json {
    if value.is_wholly_known() { known } else { after_unknown(value) }
}

fn actions(action: Action) -> Json {
    Json::Array(action.names().iter().map(|name| text(*name)).collect())
}

/// A path as an array of its steps. A member of a set stands for itself.
pub(super) fn path(path: &Path) -> Json {
    let step = |step: &Step| match step {
        Step::Attr(name) | Step::Key(name) => text(&**name),
        Step::Index(index) => super::number(*index as u64),
        Step::Element(element) => to_tree(element, None).unwrap_or(Json::Null),
    };
    Json::Array(path.0.iter().map(step).collect())
}

/// Why a change is planned, with everything that Terraform has no word for.
pub(super) fn reason(reason: &Reason) -> Json {
    let paths = |paths: &[Path]| Json::Array(paths.iter().map(path).collect());
    let kind = |name: &str| vec![("kind", text(name))];
    let with = |name: &str, member: &'static str, value: Json| vec![("kind", text(name)), (member, value)];
    object(match reason {
        Reason::Configuration(changed) => with("configuration", "paths", paths(changed)),
        Reason::Drift(drifted) => with("drift", "paths", paths(drifted)),
        Reason::ConfigurationAndDrift { configuration, drift } => vec![
            ("kind", text("configuration_and_drift")),
            ("configuration", paths(configuration)),
            ("drift", paths(drift)),
        ],
        Reason::Immutable(fixed) => with("immutable", "paths", paths(fixed)),
        Reason::Unfinished { done, total, unit } => vec![
            ("kind", text("unfinished")),
            ("done", super::number(*done)),
            ("total", super::number(*total)),
            ("unit", text(&**unit)),
        ],
        Reason::NodesJoined(nodes) => {
            with("nodes_joined", "nodes", Json::Array(nodes.iter().map(|node| text(node.as_str())).collect()))
        }
        Reason::Orphan(_) => with("orphan", "why", reason.action_reason(false).map_or(Json::Null, text)),
        Reason::Tainted => kind("tainted"),
        Reason::Requested => kind("requested"),
        Reason::Triggered(by) => with("triggered", "by", Json::Array(by.iter().map(|by| text(&**by)).collect())),
        Reason::ReadUnknown => kind("read_unknown"),
        Reason::ReadPending => kind("read_pending"),
        Reason::ReadCheck => kind("read_check"),
        Reason::New => kind("new"),
        Reason::Destroy => kind("destroy"),
        Reason::Removed => kind("removed"),
    })
}
