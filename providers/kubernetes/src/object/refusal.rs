//! What it means that the API server refuses an object.

use kube::core::Status;
use serde_json::Value as Json;

use crate::error::UNDECLARED;

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
    /// Only fields that cannot be changed stand against it.
    Immutable(Vec<String>),
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
        422 if !causes.is_empty() && causes.iter().all(|cause| is_immutable(&cause.message)) => {
            Refusal::Immutable(causes.iter().map(|cause| cause.field.clone()).collect())
        }
        _ if causes.is_empty() => Refusal::Wrong(vec![(status.message.clone(), String::new())]),
        _ => Refusal::Wrong(causes.iter().map(|cause| (without_value(&cause.message), cause.field.clone())).collect()),
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
    "updates to parameters are forbidden",
];

fn is_immutable(message: &str) -> bool {
    IMMUTABLE.iter().any(|words| message.contains(words))
}

/// What is wrong with a value, without the value: it may be secret, and its place in the configuration is told anyway.
fn without_value(message: &str) -> String {
    // "Invalid value: VALUE: why", where VALUE is JSON, or what Go prints of a structure.
    let Some((what, rest)) = message.split_once(": ").filter(|(what, _)| what.ends_with(" value")) else {
        return message.to_owned();
    };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
    let why = match values.next() {
        Some(Ok(_)) => rest[values.byte_offset()..].strip_prefix(": "),
        _ => rest.rsplit_once(": ").map(|(_, why)| why).filter(|why| !why.contains('"')),
    };
    why.map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"))
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
            (status(422, "", json!({"causes": [fixed.clone()]})), Refusal::Immutable(vec![text("spec.selector")])),
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

    #[test]
    fn values_are_left_out() {
        for (message, expected) in [
            ("Invalid value: \"hun: ter2\": must be base64", "Invalid value: must be base64"),
            ("Invalid value: -1: must be positive", "Invalid value: must be positive"),
            ("Invalid value: {\"a\":\"b: c\"}: field is immutable", "Invalid value: field is immutable"),
            ("Invalid value: v1.Spec{A:\"b: c\"}: field is immutable", "Invalid value: field is immutable"),
            ("Unsupported value: \"x\": supported values: \"y\"", "Unsupported value: supported values: \"y\""),
            ("Duplicate value: \"x\"", "Duplicate value"),
            ("Required value", "Required value"),
        ] {
            assert_eq!(without_value(message), expected);
        }
    }
}
