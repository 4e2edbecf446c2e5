//! `module` blocks, and where the modules that they call are.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::{
    arguments::Arguments,
    depends::{Repeat, depends_on},
    module::Module,
    module_source::ModuleSource,
    provider::{ProviderName, ProviderRef, version},
    shape::{check_name, labels, object, text},
    version::VersionConstraints,
};
use crate::syntax::{BlockRef, Expr};

/// A `module` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCall {
    /// Its name.
    pub name: Arc<str>,
    /// Where the module is, as it is written: `./modules/pool`.
    pub source: Arc<str>,
    /// Where that stands.
    pub source_span: Span,
    /// Which versions, for sources that have any.
    pub version: Option<(VersionConstraints, Span)>,
    /// How often it is there.
    pub repeat: Repeat,
    /// What everything in it depends on; traversals.
    pub depends_on: Vec<Expr>,
    /// Which configurations of this module are those of the called one, by the names there.
    pub providers: BTreeMap<ProviderName, ProviderRef>,
    /// The values of its variables.
    pub arguments: Arguments,
    /// The module. `None` only if it could not be loaded, which is reported.
    pub module: Option<Arc<Module>>,
    /// The header of the block.
    pub span: Span,
}

const META: [&str; 6] = ["source", "version", "providers", "count", "for_each", "depends_on"];

impl ModuleCall {
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [(name, name_span)] = labels(block, ["name"], diagnostics)?;
        check_name("module", name, name_span, diagnostics);
        let body = block.body();
        let arguments = Arguments { body: body.clone(), meta: &META };
        for inner in arguments.blocks() {
            let detail = match &**inner.kind() {
                "lifecycle" => "A module call has no lifecycle: it belongs to the resources inside of the module.",
                "provider" | "providers" => "Providers are passed with \"providers = { NAME = NAME }\".",
                _ => "A module call has only arguments, one for each variable of the module.",
            };
            diagnostics.push(Diagnostic::error("Unsupported block type", detail).at(inner.header()));
        }
        let mut providers = BTreeMap::new();
        if let Some(argument) = body.attribute("providers") {
            for (key, value) in object(&argument.value(), diagnostics) {
                let inner = ProviderRef::parse(&key, diagnostics);
                let outer = ProviderRef::parse(&value, diagnostics);
                if let (Some(inner), Some(outer)) = (inner, outer) {
                    let name = inner.to.to_string();
                    if providers.insert(inner.to, outer).is_some() {
                        let detail = format!("The provider configuration {name} of the module is passed already.");
                        diagnostics.push(Diagnostic::error("Duplicate provider address", detail).at(key.span()));
                    }
                }
            }
        }
        let Some(source) = body.attribute("source") else {
            let detail = "A module call needs a source: where the module is, such as the directory \"./modules/pool\".";
            diagnostics.push(Diagnostic::error("Missing required argument", detail).at(body.lacks()));
            return None;
        };
        let source_span = source.value().span();
        Some(Self {
            name: name.clone(),
            source: text(&source.value(), diagnostics)?,
            source_span,
            version: body.attribute("version").and_then(|argument| version(&argument.value(), diagnostics)),
            repeat: Repeat::decode(&body, diagnostics),
            depends_on: depends_on(&body, diagnostics),
            providers,
            arguments,
            module: None,
            span: block.header(),
        })
    }

    /// Where the module is. What is wrong with that is reported.
    pub fn module_source(&self, diagnostics: &mut Diagnostics) -> Option<ModuleSource> {
        match ModuleSource::parse(&self.source, self.version.is_some()) {
            Ok(source) => Some(source),
            Err(error) => {
                diagnostics.push(error.at(self.source_span));
                None
            }
        }
    }
}
