//! What it means that the API server refuses an object.

use std::collections::BTreeSet;

use kube::core::Status;
use serde_json::Value as Json;

use super::told::{told, without_value};
use crate::{error::UNDECLARED, schema::Demand};

/// Why an object was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its namespace is not there (yet).
    NoNamespace(String),
    /// Its kind is not served (any more).
    NoKind,
    /// This identity may not write such objects: not even a dry run.
    NotAllowed,
    /// Other managers own fields: who, which.
    Owned(Vec<(String, String)>),
    /// Only fields that cannot be changed stand against it: in which words, which.
    Immutable(Vec<(String, String)>),
    /// Another version of the object, or another object of that name, is there.
    Changed(String),
    /// It is wrong: what, at which field.
    Wrong(Vec<(String, String)>),
}

/// What a refusal to apply means.
pub(crate) fn refusal(status: &Status) -> Refusal {
    let details = status.details.as_ref();
    let causes = details.map_or(&[][..], |details| &details.causes);
    match status.code {
        404 if details.is_some_and(|details| details.kind == "namespaces") => {
            Refusal::NoNamespace(details.map(|details| details.name.clone()).unwrap_or_default())
        }
        404 => Refusal::NoKind,
        403 if ["cannot patch resource", "cannot create resource"]
            .iter()
            .any(|words| status.message.contains(words)) =>
        {
            Refusal::NotAllowed
        }
        400 if status.message.contains(STRICT) => Refusal::Wrong(strict(&status.message)),
        500 if status.message.contains(UNDECLARED) => Refusal::Wrong(undeclared(&status.message)),
        409 if causes.iter().any(|cause| cause.reason == "FieldManagerConflict") => {
            let manager = |message: &str| message.trim_start_matches("conflict with ").to_owned();
            Refusal::Owned(causes.iter().map(|cause| (manager(&cause.message), cause.field.clone())).collect())
        }
        409 => Refusal::Changed(status.message.clone()),
        // A webhook, or an API of its own, that only tells it in words.
        400 | 403 | 422 if causes.is_empty() && is_immutable(&status.message) => {
            Refusal::Immutable(vec![(told(&status.message), named_field(&status.message))])
        }
        _ if causes.is_empty() => Refusal::Wrong(vec![(told(&status.message), String::new())]),
        code => {
            let named = causes.iter().map(|cause| (without_value(&cause.message), cause.field.clone()));
            let named: Vec<(String, String)> = named.collect();
            let is_fixed = code == 422 && named.iter().all(|(message, _)| is_immutable(message));
            if is_fixed { Refusal::Immutable(named) } else { Refusal::Wrong(named) }
        }
    }
}

impl Refusal {
    /// The same by the rules of a definition, which have words of their own. `demanded`: what the rule with these words
    /// demands of a field; `None`: there is no such rule.
    pub(crate) fn by_rules(self, demanded: impl Fn(&str, &str) -> Option<Demand>) -> Self {
        let (Self::Immutable(told) | Self::Wrong(told)) = self else { return self };
        let is_fixed = |(message, field): &(String, String)| match demanded(field, message) {
            Some(demand) => demand == Demand::Change,
            None => is_immutable(message),
        };
        let all = !told.is_empty() && told.iter().all(is_fixed);
        if all { Self::Immutable(told) } else { Self::Wrong(told) }
    }
}

/// How the message begins when fields are unknown or given twice, and the server was asked to refuse that.
const STRICT: &str = "strict decoding error: ";

/// The fields of such a message: `unknown field "spec.a", duplicate field "spec.b"`.
fn strict(message: &str) -> Vec<(String, String)> {
    let list = message.split_once(STRICT).map_or(message, |(_, list)| list);
    list.split(", ")
        .map(|one| match one.split_once('"') {
            Some((what, field)) => (what.trim().to_owned(), field.trim_end_matches('"').to_owned()),
            None => (one.to_owned(), String::new()),
        })
        .collect()
}

/// The fields of a message about fields that the schema does not have: "… (default/web; apps/v1, Kind=Deployment):
/// .spec.replica: field not declared in schema", or "errors:" and one of them per line.
fn undeclared(message: &str) -> Vec<(String, String)> {
    let list = message.split_once("): ").map_or(message, |(_, list)| list);
    let lines = list.trim_start_matches("errors:").lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| match line.split_once(": ") {
            Some((field, what)) if field.starts_with('.') => {
                // "expected string, got &value.valueUnstructured{…}"
                let what = what.split_once(", got ").map_or(what, |(what, _)| what);
                (what.to_owned(), field.to_owned())
            }
            _ => (line.to_owned(), String::new()),
        })
        .collect()
}

/// The words in which Kubernetes' own validation, and the rules of many custom resources, say that a field cannot be
/// changed: there is no machine-readable reason for it.
const IMMUTABLE: &[&str] = &[
    "immutable",
    "may not be changed",
    "may not change",
    "cannot be changed",
    "cannot change",
    "updates to statefulset spec",
    "pod updates may not change",
];

fn is_immutable(message: &str) -> bool {
    // "updates to parameters are forbidden": classes of storage say it of each of their fields.
    let of_a_class = message.contains("updates to ") && message.trim_end_matches('.').ends_with("are forbidden");
    of_a_class || IMMUTABLE.iter().any(|words| message.contains(words))
}

/// The field that a message names before what is wrong with it: "denied the request: spec.podSets[0].count: field is
/// immutable". Empty: it names none.
fn named_field(message: &str) -> String {
    let is_field = |part: &&str| {
        let mut names = part.split('.');
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "[]\"=-/".contains(c))
        };
        part.contains('.') && names.all(is_name)
    };
    message.split(": ").find(is_field).unwrap_or_default().to_owned()
}

/// Where a rule names the fields that may change ("for fields other than 'replicas', …"), those that have changed beside
/// them; else the field itself. `before` and `after` are as they were and will be sent.
pub(crate) fn narrowed(status: &Status, field: &str, before: &Json, after: &Json) -> Vec<String> {
    let causes = status.details.as_ref().map_or(&[][..], |details| &details.causes);
    let cause = causes.iter().find(|cause| cause.field == field).map(|cause| cause.message.as_str());
    // What follows in further lines is the difference, field by field.
    let rule = cause
        .and_then(|message| message.lines().next())
        .filter(|rule| rule.starts_with("Forbidden") && (rule.contains("other than") || rule.contains("except")));
    let Some(rule) = rule else { return vec![field.to_owned()] };
    let may_change: Vec<&str> = rule.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let pointer = format!("/{}", field.replace('.', "/"));
    let parts = |object: &Json| object.pointer(&pointer).and_then(Json::as_object).cloned().unwrap_or_default();
    let (before, after) = (parts(before), parts(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let fixed = |name: &&&String| before.get(**name) != after.get(**name) && !may_change.contains(&name.as_str());
    let found: Vec<String> = names.iter().filter(fixed).map(|name| format!("{field}.{name}")).collect();
    if found.is_empty() { vec![field.to_owned()] } else { found }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status(code: u16, message: &str, details: Json) -> Status {
        serde_json::from_value(json!({"code": code, "message": message, "details": details})).unwrap()
    }

    #[test]
    fn refusals_are_told_apart() {
        let cause =
            |reason: &str, message: &str, field: &str| json!({"reason": reason, "message": message, "field": field});
        let owned = cause("FieldManagerConflict", "conflict with \"kubectl-edit\" using apps/v1", ".spec.replicas");
        let fixed = cause("FieldValueInvalid", "Invalid value: {}: field is immutable", "spec.selector");
        let wrong = cause("FieldValueInvalid", "Invalid value: -1: must be positive", "spec.replicas");
        let named =
            cause("FieldValueInvalid", "Invalid value: \"immutable_\": must be a DNS label", "spec.serviceName");
        let text = str::to_owned;
        for (status, expected) in [
            (status(404, "", json!({"kind": "namespaces", "name": "a"})), Refusal::NoNamespace(text("a"))),
            (status(404, "the server could not find the requested resource", json!({})), Refusal::NoKind),
            (
                status(403, "pods is forbidden: User \"x\" cannot patch resource \"pods\"", json!({})),
                Refusal::NotAllowed,
            ),
            (status(403, "exceeded quota", json!({})), Refusal::Wrong(vec![(text("exceeded quota"), String::new())])),
            (
                status(409, "", json!({"causes": [owned]})),
                Refusal::Owned(vec![(text("\"kubectl-edit\" using apps/v1"), text(".spec.replicas"))]),
            ),
            (
                status(400, "strict decoding error: unknown field \"spec.a\", duplicate field \"b\"", json!({})),
                Refusal::Wrong(vec![(text("unknown field"), text("spec.a")), (text("duplicate field"), text("b"))]),
            ),
            (
                status(
                    500,
                    "failed to create typed patch object (a/b; apps/v1, Kind=Deployment): errors:\n  .spec.replica: field not \
                     declared in schema\n  .spec.x: field not declared in schema",
                    json!({}),
                ),
                Refusal::Wrong(vec![
                    (text("field not declared in schema"), text(".spec.replica")),
                    (text("field not declared in schema"), text(".spec.x")),
                ]),
            ),
            (status(409, "modified", json!({})), Refusal::Changed(text("modified"))),
            (
                status(422, "", json!({"causes": [fixed.clone()]})),
                Refusal::Immutable(vec![(text("Invalid value: field is immutable"), text("spec.selector"))]),
            ),
            (
                status(422, "", json!({"causes": [named]})),
                Refusal::Wrong(vec![(text("Invalid value: must be a DNS label"), text("spec.serviceName"))]),
            ),
            (
                status(422, "", json!({"causes": [fixed, wrong]})),
                Refusal::Wrong(vec![
                    (text("Invalid value: field is immutable"), text("spec.selector")),
                    (text("Invalid value: must be positive"), text("spec.replicas")),
                ]),
            ),
        ] {
            assert_eq!(refusal(&status), expected, "{status:?}");
        }
    }

    /// What API servers of version 1.36 say.
    #[test]
    fn words_for_what_cannot_change_are_known() {
        for (message, expected) in [
            ("Invalid value: {}: field is immutable", true),
            ("Invalid value: [\"10.0.0.1\"]: may not change once set", true),
            ("Forbidden: spec is immutable after creation except resources.requests for bound claims", true),
            ("Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden", true),
            ("Forbidden: updates to parameters are forbidden.", true),
            ("Forbidden: updates to provisioner are forbidden.", true),
            ("Invalid value: {}: cannot change roleRef", true),
            ("Forbidden: may not be changed in an update.", true),
            ("Forbidden: field is immutable when `immutable` is set", true),
            ("Invalid value: -1: must be greater than or equal to 0", false),
            ("Forbidden: field can not be less than status.capacity", false),
        ] {
            assert_eq!(is_immutable(message), expected, "{message}");
        }
        for (message, expected) in [
            (
                "admission webhook \"v.kb.io\" denied the request: spec.podSets[0].count: Invalid value: 2: field is immutable",
                "spec.podSets[0].count",
            ),
            ("the selector is immutable", ""),
        ] {
            let refused = refusal(&status(403, message, json!({})));
            assert_eq!(refused, Refusal::Immutable(vec![(message.to_owned(), expected.to_owned())]));
        }
    }

    #[test]
    fn the_rules_of_a_definition_have_words_of_their_own() {
        let told = |message: &str| vec![(message.to_owned(), "spec".to_owned())];
        let demanded = |_: &str, message: &str| match message {
            "keep it" => Some(Demand::Change),
            "immutable pools need a size" => Some(Demand::Object),
            _ => None,
        };
        for (refusal, expected) in [
            (Refusal::Wrong(told("keep it")), Refusal::Immutable(told("keep it"))),
            (
                Refusal::Immutable(told("immutable pools need a size")),
                Refusal::Wrong(told("immutable pools need a size")),
            ),
            (Refusal::Immutable(told("field is immutable")), Refusal::Immutable(told("field is immutable"))),
            (Refusal::Wrong(told("too small")), Refusal::Wrong(told("too small"))),
            (
                Refusal::Wrong([told("keep it"), told("too small")].concat()),
                Refusal::Wrong([told("keep it"), told("too small")].concat()),
            ),
            (Refusal::NoKind, Refusal::NoKind),
        ] {
            assert_eq!(refusal.by_rules(demanded), expected);
        }
    }

    #[test]
    fn a_rule_that_names_what_may_change_is_about_the_rest() {
        let message =
            "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' are forbidden";
        let cause = json!({"reason": "FieldValueForbidden", "message": message, "field": "spec"});
        let status = status(422, "", json!({"causes": [cause]}));
        let before = json!({"spec": {"replicas": 1, "serviceName": "a", "podManagementPolicy": "x"}});
        let after = json!({"spec": {"replicas": 2, "serviceName": "b"}});
        assert_eq!(narrowed(&status, "spec", &before, &after), ["spec.podManagementPolicy", "spec.serviceName"]);
        assert_eq!(narrowed(&status, "spec", &after, &after), ["spec"]);
        assert_eq!(narrowed(&status, "spec.selector", &before, &after), ["spec.selector"]);
    }
}
