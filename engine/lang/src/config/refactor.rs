//! `moved`, `removed` and `import` blocks: what became of objects, where the configuration alone does not tell.

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_model::address::Mode;

use super::{
    endpoint::Endpoint,
    provider::ProviderRef,
    provisioner::{self, is_on_destroy},
    shape::{Shape, boolean_argument, labels},
};
use crate::syntax::{BlockRef, Body, Expr};

/// A `moved` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// What the objects were called.
    pub from: Endpoint,
    /// What they are called now.
    pub to: Endpoint,
    /// The header of its block.
    pub span: Span,
}

/// A `removed` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// What is no longer in the configuration.
    pub from: Endpoint,
    /// Is it destroyed, or only forgotten?
    pub destroy: bool,
    /// The whole body, with what is run when it is destroyed.
    pub body: Body,
    /// The header of its block.
    pub span: Span,
}

/// An `import` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The address that the object is given.
    pub to: Endpoint,
    /// What the provider finds it by.
    pub id: Expr,
    /// The provider configuration, if the block names one.
    pub provider: Option<ProviderRef>,
    /// One import for each element.
    pub for_each: Option<Expr>,
    /// The header of its block.
    pub span: Span,
}

const MOVED: Shape = Shape { required: &["from", "to"], optional: &[], blocks: &[], single_blocks: &[] };

const REMOVED: Shape =
    Shape { required: &["from"], optional: &[], blocks: &["provisioner"], single_blocks: &["lifecycle", "connection"] };

const REMOVED_LIFECYCLE: Shape = Shape { required: &[], optional: &["destroy"], blocks: &[], single_blocks: &[] };

const IMPORT: Shape =
    Shape { required: &["to", "id"], optional: &["provider", "for_each"], blocks: &[], single_blocks: &[] };

impl Moved {
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<Self> {
        labels(block, [], diagnostics)?;
        let body = block.body();
        MOVED.check(&body, diagnostics);
        let mut endpoint = |name| {
            let endpoint = Endpoint::parse(&body.attribute(name)?.value(), diagnostics)?;
            endpoint.check_static("moved", diagnostics).then_some(endpoint)
        };
        let (from, to) = (endpoint("from"), endpoint("to"));
        let (from, to) = (from?, to?);
        if from.resource.is_some() != to.resource.is_some() {
            let detail =
                "The \"from\" and \"to\" addresses must either both refer to resources or both refer to modules.";
            diagnostics.push(Diagnostic::error("Invalid \"moved\" addresses", detail).at(block.header()));
            return None;
        }
        Some(Self { from, to, span: block.header() })
    }
}

impl Removed {
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<Self> {
        labels(block, [], diagnostics)?;
        let body = block.body();
        REMOVED.check(&body, diagnostics);
        let mut destroy = true;
        if let Some(lifecycle) = body.blocks().find(|inner| &**inner.kind() == "lifecycle") {
            let inner = lifecycle.body();
            REMOVED_LIFECYCLE.check(&inner, diagnostics);
            destroy = boolean_argument(&inner, "destroy", diagnostics).unwrap_or(true);
        }
        for provisioner in body.blocks().filter(|inner| &**inner.kind() == "provisioner") {
            if !is_on_destroy(provisioner) || !destroy {
                let detail = "Only destroy-time provisioners are valid in \"removed\" blocks, and only where the object is \
                              destroyed.";
                let diagnostic = Diagnostic::error("Invalid provisioner block", detail).at(provisioner.header());
                diagnostics.push(diagnostic.hint("To declare one, use when = destroy."));
            }
        }
        provisioner::check(&body, diagnostics);
        let from = Endpoint::parse(&body.attribute("from")?.value(), diagnostics)?;
        if !from.check_whole(diagnostics) || !from.check_managed("removed", diagnostics) {
            return None;
        }
        Some(Self { from, destroy, body, span: block.header() })
    }
}

impl Import {
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<Self> {
        labels(block, [], diagnostics)?;
        let body = block.body();
        IMPORT.check(&body, diagnostics);
        let provider = body.attribute("provider").and_then(|p| ProviderRef::parse(&p.value(), diagnostics));
        let value = body.attribute("to")?.value();
        let to = Endpoint::parse(&value, diagnostics)?;
        if to.resource.as_ref().is_none_or(|(name, _)| name.mode != Mode::Managed) {
            let detail = "The object must be imported to a managed resource: TYPE.NAME, perhaps in a module.";
            diagnostics.push(Diagnostic::error("Invalid import address", detail).at(value.span()));
            return None;
        }
        Some(Self {
            to,
            id: body.attribute("id")?.value(),
            provider,
            for_each: body.attribute("for_each").map(|each| each.value()),
            span: block.header(),
        })
    }
}
