//! From failures and refusals to what is told about a place in the configuration.

use engine_diag::{chain, sentence};
use engine_value::{Path, Secrets};
use providers_api::{Issue, ProviderError};

/// What failed, told about a place.
pub(crate) fn failed(path: Path, summary: &str, error: &ProviderError) -> Issue {
    let issue = Issue::error(path, summary, sentence(&chain(error)));
    match &error.hint {
        Some(hint) => issue.hint(hint.clone()),
        None => issue,
    }
}

/// From a field, as the API server names it, to its place.
pub(crate) type At<'a> = &'a dyn Fn(&str) -> Path;

/// What is wrong with fields of an object.
pub(crate) fn wrong(at: At<'_>, what: &str, causes: Vec<(String, String)>) -> Vec<Issue> {
    causes
        .into_iter()
        .map(|(message, field)| {
            let detail = match field.as_str() {
                "" => sentence(&message),
                field => format!("{}: {}", field.trim_start_matches('.'), sentence(&message)),
            };
            Issue::error(at(&field), format!("{what} is refused"), detail)
        })
        .collect()
}

/// Fields that other managers own.
pub(crate) fn owned(at: At<'_>, what: &str, conflicts: &[(String, String)]) -> Vec<Issue> {
    conflicts
        .iter()
        .map(|(manager, field)| {
            let detail = format!(
                "{} of {what} belongs to the field manager {manager}, which gave it another value.",
                field.trim_start_matches('.')
            );
            Issue::error(at(field), "Field owned by another manager", detail)
        })
        .collect()
}

/// An issue in the server's words, without what it must not tell.
pub(crate) fn without(secrets: &Secrets, issue: Issue) -> Issue {
    Issue {
        summary: secrets.redact(&issue.summary),
        detail: secrets.redact(&issue.detail),
        hint: issue.hint.map(|hint| secrets.redact(&hint)),
        ..issue
    }
}
