//! Is a live object as far as it is to be waited for? A pure function of one object and of what is asked of it.

use regex::Regex;
use serde_json::Value as Json;

use super::{
    rollout::rollout,
    rule::{Holds, Rule},
};

/// What is waited for: all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// The roll-out of a workload, or what it is to other kinds.
    pub(crate) rollout: bool,
    /// Fields and what each must be.
    pub(crate) fields: Vec<(String, Expected)>,
    /// Conditions of the status: type, status.
    pub(crate) conditions: Vec<(String, String)>,
    /// Must hold.
    pub(crate) ready_when: Option<Rule>,
    /// Once it holds, nothing more is waited for.
    pub(crate) fail_when: Option<Rule>,
    /// What of it cannot be read: then it is never ready.
    pub(crate) unreadable: Option<String>,
}

impl Wanted {
    /// Is nothing waited for?
    pub(crate) fn is_nothing(&self) -> bool {
        !self.rollout
            && self.fields.is_empty()
            && self.conditions.is_empty()
            && self.ready_when.is_none()
            && self.fail_when.is_none()
            && self.unreadable.is_none()
    }
}

/// What a field must be.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// Anything but nothing.
    Anything,
    /// This text.
    Text(String),
    /// A text that the pattern matches.
    Pattern(Regex),
}

impl Expected {
    /// Reads it as HashiCorp's provider does: `*`, or a pattern, where a text without the signs of one is just that text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "*" => Ok(Self::Anything),
            text if text.contains(|c: char| "^$*+?()[]{}|\\".contains(c)) => {
                Regex::new(text).map(Self::Pattern).map_err(|error| error.to_string())
            }
            text => Ok(Self::Text(text.to_owned())),
        }
    }

    fn is(&self, found: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Text(text) => text == found,
            Self::Pattern(pattern) => pattern.is_match(found),
        }
    }
}

/// How far an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It is as it should be.
    Ready,
    /// It is not yet; what is missing, as a fragment.
    NotYet(String),
    /// It never will be by itself; why.
    Never(String),
}

use Readiness::{Never, NotYet, Ready};

/// How far an object is. A status that tells of an older version of the object counts for nothing, neither for good nor
/// for bad; so does a condition that does.
pub(crate) fn readiness(object: &Json, wanted: &Wanted) -> Readiness {
    if wanted.is_nothing() {
        return Ready;
    }
    if let Some(why) = &wanted.unreadable {
        return Never(why.clone());
    }
    if object.pointer("/metadata/deletionTimestamp").is_some_and(|at| !at.is_null()) {
        return Never("it is being deleted".to_owned());
    }
    let generation = generation(object);
    if is_old(object.get("status"), generation) {
        return NotYet("its controller has not seen the change yet".to_owned());
    }
    let current = without_old_conditions(object, generation);
    let object = current.as_ref().unwrap_or(object);
    if let Some(rule) = &wanted.fail_when {
        match rule.holds(object) {
            Holds::Yes => return Never(format!("`fail_when` holds: {}", rule.reasons(object))),
            Holds::No(_) => {}
            Holds::Broken(why) => return Never(format!("`fail_when` cannot be told: {why}")),
        }
    }
    if wanted.rollout {
        match rollout(object) {
            Ready => {}
            other => return other,
        }
    }
    for (ty, status) in &wanted.conditions {
        match condition(object, ty) {
            Some(found) if text(found, "status") == status => {}
            Some(found) => {
                let message = [text(found, "reason"), text(found, "message")].join(" ");
                return NotYet(format!("condition {ty} is {} {message}", text(found, "status")).trim_end().to_owned());
            }
            None => return NotYet(format!("it has no condition {ty} yet")),
        }
    }
    for (path, expected) in &wanted.fields {
        match field(object, path).map(shown) {
            Some(found) if expected.is(&found) => {}
            Some(found) => return NotYet(format!("{path} is {found:?}")),
            None => return NotYet(format!("there is no {path} yet")),
        }
    }
    match wanted.ready_when.as_ref().map(|rule| rule.holds(object)) {
        None | Some(Holds::Yes) => Ready,
        Some(Holds::No(why)) => NotYet(why),
        Some(Holds::Broken(why)) => Never(format!("`ready_when` cannot be told: {why}")),
    }
}

/// The version of what is wanted of an object; not every kind counts it.
pub(crate) fn generation(object: &Json) -> Option<i64> {
    object.pointer("/metadata/generation").and_then(Json::as_i64)
}

/// Does a status, or a condition, tell of an older version?
fn is_old(told: Option<&Json>, generation: Option<i64>) -> bool {
    let observed = told.and_then(|told| told.get("observedGeneration")).and_then(Json::as_i64);
    matches!((observed, generation), (Some(observed), Some(generation)) if observed < generation)
}

/// The object without the conditions that tell of an older version; `None`: it has none.
fn without_old_conditions(object: &Json, generation: Option<i64>) -> Option<Json> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    if !conditions.iter().any(|one| is_old(Some(one), generation)) {
        return None;
    }
    let current = conditions.iter().filter(|one| !is_old(Some(one), generation)).cloned().collect();
    let mut object = object.clone();
    object["status"]["conditions"] = Json::Array(current);
    Some(object)
}

/// A condition of the status by its type.
pub(super) fn condition<'a>(object: &'a Json, ty: &str) -> Option<&'a Json> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| text(condition, "type") == ty)
}

/// A field that is text, or nothing.
pub(super) fn text<'a>(object: &'a Json, name: &str) -> &'a str {
    object.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// A field by its path: `status.loadBalancer.ingress[0].ip`, `metadata.annotations["a/b"]`.
fn field<'a>(object: &'a Json, path: &str) -> Option<&'a Json> {
    let (mut at, mut rest) = (object, path);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (name, after) = inside.split_once(']')?;
            at = match name.parse::<usize>() {
                Ok(index) => at.get(index)?,
                Err(_) => at.get(name.trim_matches('"'))?,
            };
            rest = after;
        } else {
            let start = rest.strip_prefix('.').unwrap_or(rest);
            let end = start.find(['.', '[']).unwrap_or(start.len());
            at = at.get(&start[..end])?;
            rest = &start[end..];
        }
    }
    Some(at).filter(|found| !found.is_null())
}

fn shown(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn not_yet(what: &str) -> Readiness {
        NotYet(what.to_owned())
    }

    #[test]
    fn what_tells_of_an_older_version_counts_for_nothing() {
        let rule = |text: &str| Some(Rule::parse(text).unwrap());
        let ready = Wanted { ready_when: rule("self.status.phase == \"Ready\""), ..Wanted::default() };
        let fails = Wanted { fail_when: rule("self.status.phase == \"Failed\""), ..Wanted::default() };
        let first = Wanted {
            ready_when: rule("[for c in self.status.conditions : c if c.type == \"Ready\"][0].status == \"True\""),
            ..Wanted::default()
        };
        let object = |observed: i64, phase: &str, condition: i64| {
            json!({"metadata": {"generation": 2}, "status": {"observedGeneration": observed, "phase": phase,
                "conditions": [{"type": "Ready", "status": "True", "observedGeneration": condition}]}})
        };
        let conditions = Wanted { conditions: vec![("Ready".to_owned(), "True".to_owned())], ..Wanted::default() };
        let unseen = "its controller has not seen the change yet";
        for (object, wanted, expected) in [
            (object(1, "Ready", 1), &ready, not_yet(unseen)),
            (object(2, "Ready", 1), &ready, Ready),
            (object(1, "Failed", 1), &fails, not_yet(unseen)),
            (object(2, "Failed", 1), &fails, Never("`fail_when` holds: self.status.phase is \"Failed\"".to_owned())),
            (object(2, "Ready", 2), &fails, Ready),
            (object(2, "", 1), &conditions, not_yet("it has no condition Ready yet")),
            (object(2, "", 2), &conditions, Ready),
            (object(2, "", 2), &first, Ready),
        ] {
            assert_eq!(readiness(&object, wanted), expected, "{object}");
        }
        assert!(matches!(readiness(&object(2, "", 1), &first), NotYet(_)));
        let mut going = object(2, "Ready", 2);
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        assert_eq!(readiness(&going, &ready), Never("it is being deleted".to_owned()));
    }

    #[test]
    fn fields_and_conditions_are_waited_for() {
        let object = json!({
            "metadata": {"annotations": {"a/b": "c"}},
            "status": {"phase": "Running", "ready": 2, "ips": [{"ip": "10.0.0.1"}],
                "conditions": [{"type": "Ready", "status": "False", "reason": "Starting"}]},
        });
        let fields = |path: &str, text: &str| Wanted {
            fields: vec![(path.to_owned(), Expected::parse(text).unwrap())],
            ..Wanted::default()
        };
        let conditions =
            |ty: &str| Wanted { conditions: vec![(ty.to_owned(), "True".to_owned())], ..Wanted::default() };
        for (wanted, expected) in [
            (Wanted::default(), Ready),
            (fields("status.phase", "Running"), Ready),
            (fields("status.phase", "Done"), not_yet("status.phase is \"Running\"")),
            (fields("status.ready", "2"), Ready),
            (fields("status.ips[0].ip", "^(\\d+(\\.|$)){4}"), Ready),
            (fields("status.phase", "^Pend"), not_yet("status.phase is \"Running\"")),
            (fields("status.ips[0].ip", "*"), Ready),
            (fields("status.ips[1].ip", "*"), not_yet("there is no status.ips[1].ip yet")),
            (fields("metadata.annotations[\"a/b\"]", "c"), Ready),
            (conditions("Ready"), not_yet("condition Ready is False Starting")),
            (conditions("Healthy"), not_yet("it has no condition Healthy yet")),
        ] {
            assert_eq!(readiness(&object, &wanted), expected, "{wanted:?}");
        }
    }
}
