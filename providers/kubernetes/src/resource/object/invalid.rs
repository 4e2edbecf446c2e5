//! What is wrong with an object by a schema, told at its place.

use engine_diag::{Severity, sentence};
use engine_value::Path;
use providers_api::Issue;

use super::{Desired, Places};
use crate::{
    object::similar::similar,
    schema::{Schema, check::check},
};

/// What is wrong with an object of a built-in kind, where no cluster can be asked.
pub(crate) fn alone(desired: &Desired, places: Places<'_>) -> Vec<Issue> {
    let Some((api_version, kind)) = desired.kind() else { return Vec::new() };
    let what = desired.key().map_or_else(|| kind.to_owned(), |key| key.to_string());
    match Schema::of_builtin(api_version, kind) {
        Some(schema) => invalid(&schema, desired, &what, places),
        None => unknown_kind(api_version, kind, places).into_iter().collect(),
    }
}

/// A kind that its group of Kubernetes' own does not have.
pub(crate) fn unknown_kind(api_version: &str, kind: &str, places: Places<'_>) -> Option<Issue> {
    let known: Vec<String> = Schema::builtin_kinds(api_version).into_iter().map(str::to_owned).collect();
    let near = similar(kind, known.iter())?;
    let detail = format!("{api_version} has no kind {kind}.");
    let issue = Issue::error(places(&Path::root().attr("kind")), "Unknown kind", detail);
    Some(issue.hint(format!("Did you mean {near}?")))
}

/// What is wrong with an object by a schema.
pub(crate) fn invalid(schema: &Schema, desired: &Desired, what: &str, places: Places<'_>) -> Vec<Issue> {
    let faults = check(schema, &desired.body).into_iter();
    faults
        .map(|fault| {
            let detail = if fault.path.is_root() {
                sentence(&fault.what)
            } else {
                format!("{}: {}", fault.path, sentence(&fault.what))
            };
            // A newer cluster may have fields that the schema that is compiled in has not; those are rarely near to one.
            let is_sure = !fault.is_unknown_field || !schema.is_builtin() || !fault.hint.is_empty();
            let severity = if is_sure { Severity::Error } else { Severity::Warning };
            let issue = Issue::error(places(&fault.path), format!("{what} is invalid"), detail);
            let issue = Issue { severity, ..issue };
            if fault.hint.is_empty() { issue } else { issue.hint(sentence(&fault.hint)) }
        })
        .collect()
}
