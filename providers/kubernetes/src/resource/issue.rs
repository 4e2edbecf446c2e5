//! From failures and refusals to what is told about a place in the configuration.

use engine_diag::{chain, sentence};
use engine_value::Path;
use providers_api::{Issue, ProviderError};
use serde_json::Value as Json;

use crate::object::place::place;

/// What failed, told about a place.
pub(crate) fn failed(path: Path, summary: &str, error: &ProviderError) -> Issue {
    let issue = Issue::error(path, summary, sentence(&chain(error)));
    match &error.hint {
        Some(hint) => issue.hint(hint.clone()),
        None => issue,
    }
}

/// What is wrong with fields of a manifest, which lies at `root`.
pub(crate) fn wrong(root: &Path, manifest: &Json, what: &str, causes: Vec<(String, String)>) -> Vec<Issue> {
    causes
        .into_iter()
        .map(|(message, field)| {
            let detail = match field.as_str() {
                "" => sentence(&message),
                field => format!("{}: {}", field.trim_start_matches('.'), sentence(&message)),
            };
            Issue::error(within(root, &field, manifest), format!("{what} is refused"), detail)
        })
        .collect()
}

/// Fields that other managers own.
pub(crate) fn owned(root: &Path, manifest: &Json, what: &str, conflicts: &[(String, String)]) -> Vec<Issue> {
    conflicts
        .iter()
        .map(|(manager, field)| {
            let detail = format!(
                "{} of {what} belongs to the field manager {manager}, which gave it another value.",
                field.trim_start_matches('.')
            );
            Issue::error(within(root, field, manifest), "Field owned by another manager", detail)
        })
        .collect()
}

/// The place of a field of a manifest that lies at `root`.
pub(crate) fn within(root: &Path, field: &str, manifest: &Json) -> Path {
    let inside = place(field, manifest);
    Path(root.0.iter().cloned().chain(inside.0).collect())
}
