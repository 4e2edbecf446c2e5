//! Steps and errors in words.

use engine_diag::{Diagnostic, Diagnostics, chain, sentence};
use engine_model::{
    address::ResourceAddr,
    execution::{Step, Which},
};
use providers_api::{Issue, ProviderError};

/// What a step does: "creating gpu_pool.dev".
pub(crate) fn step(step: &Step) -> String {
    match step {
        Step::Configure(provider) => format!("configuring {provider}"),
        Step::Read(addr) => format!("reading {addr}"),
        Step::Create(addr) => format!("creating {addr}"),
        Step::Update(addr) => format!("updating {addr}"),
        Step::Delete(addr, Which::Current | Which::Replaced) => format!("destroying {addr}"),
        Step::Delete(addr, Which::Deposed(key)) => format!("destroying the object {key:?} that {addr} replaced"),
        Step::Forget(addr) => format!("forgetting {addr}"),
        Step::StateOnly(addr) => format!("storing {addr}"),
        Step::Open(addr) => format!("opening {addr}"),
        Step::Close(addr) => format!("closing {addr}"),
        Step::Hold(_, node) => format!("holding {node}"),
        Step::Operation(id) => format!("operation {id}"),
        Step::Release(_, node) => format!("releasing {node}"),
        Step::Gate(wave) => format!("checking wave {}", wave + 1),
        Step::Group(name) => name.clone(),
    }
}

/// A provider's error as a diagnostic: "Error creating gpu_pool.dev".
pub(crate) fn failure(doing: &str, about: Option<&ResourceAddr>, error: &ProviderError) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(format!("Error {doing}"), sentence(&chain(error)));
    diagnostic.hint.clone_from(&error.hint);
    diagnostic.address = about.map(ToString::to_string);
    diagnostic
}

/// A provider's issue as a diagnostic.
pub(crate) fn issue(addr: &ResourceAddr, issue: &Issue) -> Diagnostic {
    let detail = if issue.path.is_root() { issue.detail.clone() } else { format!("{}: {}", issue.path, issue.detail) };
    let mut diagnostic = Diagnostic::new(issue.severity, issue.summary.clone(), detail).about(addr);
    diagnostic.hint.clone_from(&issue.hint);
    diagnostic
}

/// The first error in one line, for the journal.
pub(crate) fn first(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().find(|d| d.is_error()).map(|d| d.summary.clone()).unwrap_or_default()
}
