//! `terraform` blocks: what a module requires, and where the state is.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::{
    provider::{RequiredProvider, version},
    shape::{Shape, duplicate, labels, text_argument, unsupported_block},
    version::Version,
};
use crate::syntax::{BlockRef, Body};

/// What all `terraform` blocks of a module say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Providers by the names that the module gives to them.
    pub required_providers: BTreeMap<Arc<str>, RequiredProvider>,
    /// Where the state is. Only the root module's counts.
    pub backend: Option<Backend>,
}

/// Where the state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// Which kind.
    pub kind: BackendKind,
    /// The header of its block.
    pub span: Span,
}

/// A kind of backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// `local`: a file.
    Local {
        /// Its path; without one, `sliceform.tfstate` in the root module's directory.
        path: Option<Arc<str>>,
    },
}

/// The level of the language: what `required_version` is compared with.
pub fn language_version() -> Version {
    Version::new(1, 11, 4)
}

const SHAPE: Shape = Shape {
    required: &[],
    optional: &["required_version"],
    blocks: &["required_providers", "backend", "cloud", "provider_meta"],
    single_blocks: &[],
};

const LOCAL: Shape = Shape { required: &[], optional: &["path"], blocks: &[], single_blocks: &[] };

/// Backends that Terraform knows and we do not have.
const OTHER_BACKENDS: [&str; 11] =
    ["s3", "kubernetes", "pg", "http", "gcs", "azurerm", "consul", "oss", "cos", "remote", "etcdv3"];

impl Settings {
    /// Adds what one more `terraform` block says.
    pub(super) fn decode(&mut self, block: BlockRef<'_>, diagnostics: &mut Diagnostics) {
        labels(block, [], diagnostics);
        let body = block.body();
        SHAPE.check(&body, diagnostics);
        check_version(&body, diagnostics);
        for inner in body.blocks() {
            match &**inner.kind() {
                "required_providers" => self.required_providers(inner, diagnostics),
                "backend" => self.backend(inner, diagnostics),
                "cloud" => {
                    let detail = "HCP Terraform is not supported: there is no service that runs Sliceform.";
                    let diagnostic = Diagnostic::error("Unsupported block type", detail).at(inner.header());
                    diagnostics.push(diagnostic.hint("Use a backend \"local\" block, or none."));
                }
                "provider_meta" => {
                    let detail = "No provider here takes metadata from a module.";
                    diagnostics.push(Diagnostic::error("Unsupported block type", detail).at(inner.header()));
                }
                _ => {}
            }
        }
    }

    fn required_providers(&mut self, block: BlockRef<'_>, diagnostics: &mut Diagnostics) {
        labels(block, [], diagnostics);
        let body = block.body();
        for inner in body.blocks() {
            diagnostics.push(unsupported_block(inner.kind(), []).at(inner.kind_span()));
        }
        for attribute in body.attributes() {
            let required =
                RequiredProvider::decode(attribute.name(), &attribute.value(), attribute.span(), diagnostics);
            if let Some(first) = self.required_providers.get(attribute.name()) {
                let diagnostic = duplicate("required provider", attribute.name(), attribute.name_span(), first.span);
                diagnostics.push(diagnostic);
                continue;
            }
            self.required_providers.insert(attribute.name().clone(), required);
        }
    }

    fn backend(&mut self, block: BlockRef<'_>, diagnostics: &mut Diagnostics) {
        let Some([(kind, span)]) = labels(block, ["type"], diagnostics) else { return };
        if &**kind != "local" {
            let detail = if OTHER_BACKENDS.contains(&&**kind) {
                format!("The backend \"{kind}\" is not supported yet.")
            } else {
                format!("There is no backend \"{kind}\".")
            };
            let hint =
                "Use backend \"local\", which keeps the state in a file, or no backend block, which does the same.";
            diagnostics.push(Diagnostic::error("Unsupported backend type", detail).at(span).hint(hint));
            return;
        }
        if let Some(first) = &self.backend {
            let diagnostic = Diagnostic::error("Duplicate backend configuration", "A module has only one backend.");
            diagnostics.push(diagnostic.at(block.header()).related(first.span, "the first one"));
            return;
        }
        let body = block.body();
        LOCAL.check(&body, diagnostics);
        let path = text_argument(&body, "path", diagnostics);
        self.backend = Some(Backend { kind: BackendKind::Local { path }, span: block.header() });
    }
}

fn check_version(body: &Body, diagnostics: &mut Diagnostics) {
    let Some(attribute) = body.attribute("required_version") else { return };
    let Some((constraints, span)) = version(&attribute.value(), diagnostics) else { return };
    let language = language_version();
    if !constraints.allow(&language) {
        let detail = format!(
            "This module requires the language at version {constraints}. Sliceform reads version {language} of it."
        );
        let hint = "If the module needs nothing that is newer or was removed, widen the constraint.";
        diagnostics.push(Diagnostic::error("Unsupported language version", detail).at(span).hint(hint));
    }
}
