//! `terraform` blocks: what a module requires, and where the state is.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::{
    arguments::Arguments,
    provider::{RequiredProvider, check_local_name, version},
    shape::{Shape, constant, labels, list, text_argument, unsupported_block},
    version::Version,
};
use crate::syntax::{BlockRef, Body};

/// What all `terraform` blocks of a module say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Providers by the names that the module gives to them.
    pub required_providers: BTreeMap<Arc<str>, RequiredProvider>,
    /// Where the block of those is.
    pub required_providers_span: Option<Span>,
    /// Where the state is. Only the root module's counts.
    pub backend: Option<Backend>,
    /// What the module tells to its providers about itself, by their names.
    pub provider_meta: BTreeMap<Arc<str>, Arguments>,
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
    optional: &["required_version", "experiments", "language"],
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
        self.all(block, Place::Primary, diagnostics);
    }

    /// Replaces what a `terraform` block of an override file says: providers one by one, the backend as a whole.
    pub(super) fn decode_over(&mut self, block: BlockRef<'_>, diagnostics: &mut Diagnostics) {
        self.all(block, Place::Override, diagnostics);
    }

    fn all(&mut self, block: BlockRef<'_>, place: Place, diagnostics: &mut Diagnostics) {
        labels(block, [], diagnostics);
        let body = block.body();
        SHAPE.check(&body, diagnostics);
        check_version(&body, diagnostics);
        check_experiments(&body, diagnostics);
        if place == Place::Override && body.blocks().any(|inner| matches!(&**inner.kind(), "backend" | "cloud")) {
            self.backend = None;
        }
        for inner in body.blocks() {
            match &**inner.kind() {
                "required_providers" => self.required_providers(inner, place, diagnostics),
                "backend" => self.backend(inner, diagnostics),
                "cloud" => {
                    let detail = "HCP Terraform is not supported: there is no service that runs Sliceform.";
                    let diagnostic = Diagnostic::error("Unsupported block type", detail).at(inner.header());
                    diagnostics.push(diagnostic.hint("Use a backend \"local\" block, or none."));
                }
                "provider_meta" => self.provider_meta(inner, diagnostics),
                _ => {}
            }
        }
    }

    fn provider_meta(&mut self, block: BlockRef<'_>, diagnostics: &mut Diagnostics) {
        let Some([(name, span)]) = labels(block, ["provider"], diagnostics) else { return };
        if self.provider_meta.contains_key(name) {
            let detail = format!("There is already a provider_meta block for the provider {name} in this module.");
            diagnostics.push(Diagnostic::error("Duplicate provider_meta block", detail).at(span));
            return;
        }
        check_local_name(name, span, diagnostics);
        for attribute in block.body().attributes() {
            constant(&attribute.value(), diagnostics);
        }
        self.provider_meta.insert(name.clone(), Arguments { body: block.body(), meta: &[] });
    }

    fn required_providers(&mut self, block: BlockRef<'_>, place: Place, diagnostics: &mut Diagnostics) {
        labels(block, [], diagnostics);
        let body = block.body();
        if let Some(first) = self.required_providers_span.filter(|_| place == Place::Primary) {
            let detail = "A module may have only one required_providers block: write all of its providers there.";
            let diagnostic = Diagnostic::error("Duplicate required providers configuration", detail).at(block.header());
            diagnostics.push(diagnostic.related(first, "the first one"));
            return;
        }
        self.required_providers_span.get_or_insert(block.header());
        for inner in body.blocks() {
            diagnostics.push(unsupported_block(inner.kind(), []).at(inner.kind_span()));
        }
        for attribute in body.attributes() {
            let required =
                RequiredProvider::decode(attribute.name(), &attribute.value(), attribute.span(), diagnostics);
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

/// Where a `terraform` block stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Primary,
    Override,
}

/// Experiments of Terraform are those of one of its versions: there are none here. Those that became part of the language
/// may be left in.
fn check_experiments(body: &Body, diagnostics: &mut Diagnostics) {
    for element in body.attribute("experiments").map(|a| list(&a.value(), diagnostics)).unwrap_or_default() {
        let name = element.as_keyword().map_or("", |word| &**word);
        let (summary, detail) = match name {
            "variable_validation" | "module_variable_optional_attrs" | "provider_sensitive_attrs" => (
                "Experiment has concluded",
                format!("The experiment \"{name}\" is part of the language, and need not be enabled."),
            ),
            _ => ("Unknown experiment keyword", format!("There is no experiment \"{name}\" in this release.")),
        };
        let diagnostic = Diagnostic::error(summary, detail).at(element.span());
        diagnostics.push(diagnostic.hint("Remove it from \"experiments\"."));
    }
    if let Some(language) = body.attribute("language") {
        let value = language.value();
        if value.as_keyword().is_none_or(|word| &**word != "TF2021") {
            let detail = "The only edition of the language is TF2021, which is what is read without this argument.";
            diagnostics.push(Diagnostic::error("Unsupported language edition", detail).at(value.span()));
        }
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
