//! Conditions in a status.

use serde_json::{Value, json};

/// The condition of a type.
pub(super) fn of<'o>(object: &'o Value, kind: &str) -> Option<&'o Value> {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    conditions.into_iter().find(|condition| condition["type"] == kind)
}

/// Whether the condition of a type is true.
pub(super) fn holds(object: &Value, kind: &str) -> bool {
    of(object, kind).is_some_and(|condition| condition["status"] == "True")
}

/// A condition as it is to be.
pub(super) struct Wanted<'t> {
    pub(super) kind: &'t str,
    pub(super) status: &'t str,
    pub(super) reason: &'t str,
    pub(super) message: &'t str,
}

impl Wanted<'_> {
    fn is(&self, known: &Value) -> bool {
        known["status"] == self.status && known["reason"] == self.reason
    }
}

/// Sets a condition. One that has this status and reason stays as it is; one that has this status keeps the time of its
/// transition. `updates` tells whether conditions of this kind of object say when they were last updated.
pub(super) fn set(conditions: &mut Vec<Value>, wanted: &Wanted<'_>, now: &str, updates: bool) {
    let at = conditions.iter().position(|condition| condition["type"] == wanted.kind);
    if at.is_some_and(|at| wanted.is(&conditions[at])) {
        return;
    }
    replace(conditions, wanted, now, updates);
}

/// The same, but one that has this status and reason is updated, too.
pub(super) fn replace(conditions: &mut Vec<Value>, wanted: &Wanted<'_>, now: &str, updates: bool) {
    let at = conditions.iter().position(|condition| condition["type"] == wanted.kind);
    let known = at.map(|at| conditions.remove(at));
    let transition =
        known.filter(|known| known["status"] == wanted.status).map(|known| known["lastTransitionTime"].clone());
    let mut condition = json!({
        "type": wanted.kind, "status": wanted.status, "reason": wanted.reason, "message": wanted.message,
        "lastTransitionTime": transition.unwrap_or_else(|| now.into()),
    });
    if updates {
        condition["lastUpdateTime"] = now.into();
    }
    conditions.push(condition);
}

/// Removes a condition.
pub(super) fn remove(conditions: &mut Vec<Value>, kind: &str) {
    conditions.retain(|condition| condition["type"] != kind);
}

/// The conditions of an object, to be changed.
pub(super) fn all(object: &Value) -> Vec<Value> {
    object.pointer("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default()
}
