//! `resource` and `data` blocks.

use std::{fmt, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_model::address::Mode;

use super::{
    arguments::Arguments,
    condition::{Condition, conditions},
    depends::{Quoted, Repeat, depends_on, traversals, unquoted},
    provider::{ProviderName, ProviderRef},
    provisioner,
    shape::{Shape, boolean_argument, check_name, labels, list},
};
use crate::syntax::{BlockRef, Body, Expr, Node, StepKind};

/// A resource block within its module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName {
    /// Resource or data source.
    pub mode: Mode,
    /// `gpu_pool`.
    pub ty: Arc<str>,
    /// `dev`.
    pub name: Arc<str>,
}

/// A `resource` or `data` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// What it is called.
    pub name: ResourceName,
    /// The provider configuration, if the block names one.
    pub provider: Option<ProviderRef>,
    /// How often it is there.
    pub repeat: Repeat,
    /// What it depends on beside what it refers to; traversals.
    pub depends_on: Vec<Expr>,
    /// How it is replaced and kept.
    pub lifecycle: Lifecycle,
    /// What it says to the provider.
    pub arguments: Arguments,
    /// The check that it belongs to.
    pub check: Option<Arc<str>>,
    /// The header of its block.
    pub span: Span,
}

/// A `lifecycle` block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    /// Is a replacement created before the old object is destroyed? `None`: not said, so what depends on it decides.
    pub create_before_destroy: Option<bool>,
    /// Is every plan that would destroy it an error? Where that is said.
    pub prevent_destroy: Option<Span>,
    /// Arguments whose changes in the configuration are ignored.
    pub ignore_changes: IgnoreChanges,
    /// What makes it be replaced when it changes; traversals.
    pub replace_triggered_by: Vec<Expr>,
    /// Conditions that must hold before anything is done.
    pub preconditions: Vec<Condition>,
    /// Conditions that must hold of the result.
    pub postconditions: Vec<Condition>,
}

/// What `ignore_changes` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IgnoreChanges {
    /// Nothing is ignored.
    #[default]
    Nothing,
    /// `all`
    All(Span),
    /// Paths within the resource, each a traversal whose root is an argument.
    Paths(Vec<Expr>),
}

/// What the language itself takes from the block.
const META: [&str; 9] = [
    "provider",
    "count",
    "for_each",
    "depends_on",
    "lifecycle",
    "provisioner",
    "connection",
    "_",
    // Kept by Terraform for itself.
    "locals",
];

const MANAGED_LIFECYCLE: Shape = Shape {
    required: &[],
    optional: &["create_before_destroy", "prevent_destroy", "ignore_changes", "replace_triggered_by"],
    blocks: &["precondition", "postcondition"],
    single_blocks: &[],
};

/// Arguments of managed resources are told apart from unknown ones before this is looked at.
const DATA_LIFECYCLE: Shape = Shape {
    required: &[],
    optional: MANAGED_LIFECYCLE.optional,
    blocks: &["precondition", "postcondition"],
    single_blocks: &[],
};

impl Resource {
    pub(super) fn decode(mode: Mode, block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [(ty, ty_span), (name, name_span)] = labels(block, ["type", "name"], diagnostics)?;
        check_name("resource type", ty, ty_span, diagnostics);
        check_name("resource", name, name_span, diagnostics);
        let body = block.body();
        check_escape(&body, diagnostics);
        check_blocks(mode, &body, diagnostics);
        provisioner::check(&body, diagnostics);
        let provider = body.attribute("provider").and_then(|p| ProviderRef::parse_quoted(&p.value(), diagnostics));
        Some(Self {
            name: ResourceName { mode, ty: ty.clone(), name: name.clone() },
            provider,
            repeat: Repeat::decode(&body, diagnostics),
            depends_on: depends_on(&body, diagnostics),
            lifecycle: Lifecycle::decode(mode, &body, diagnostics),
            arguments: Arguments { body, meta: &META },
            check: None,
            span: block.header(),
        })
    }

    /// The provider configuration as the module names it: what the block says, else the default one of the provider
    /// that the type's prefix names.
    pub fn provider_name(&self) -> ProviderName {
        self.provider.as_ref().map_or_else(
            || {
                let prefix = self.name.ty.split('_').next().unwrap_or(&self.name.ty);
                ProviderName { name: prefix.into(), alias: None }
            },
            |provider| provider.to.clone(),
        )
    }
}

/// There is at most one block in which names are not those of the language (`_ { … }`).
fn check_escape(body: &Body, diagnostics: &mut Diagnostics) {
    let mut blocks = body.blocks().filter(|block| &**block.kind() == "_");
    if let (Some(first), Some(again)) = (blocks.next(), blocks.next()) {
        let detail = "A resource has only one escape block (\"_\").";
        let diagnostic = Diagnostic::error("Duplicate escaping block", detail).at(again.header());
        diagnostics.push(diagnostic.related(first.header(), "the first one"));
    }
}

/// Blocks that the language keeps for itself, or that only managed resources have.
fn check_blocks(mode: Mode, body: &Body, diagnostics: &mut Diagnostics) {
    for block in body.blocks() {
        match &**block.kind() {
            "locals" => {
                let detail = "The block type \"locals\" is kept for a later version of the language.";
                let diagnostic = Diagnostic::error("Reserved block type name in resource block", detail);
                diagnostics.push(diagnostic.at(block.kind_span()));
            }
            kind @ ("provisioner" | "connection") if mode != Mode::Managed => {
                let detail = format!("Blocks of type \"{kind}\" are only for managed resources.");
                diagnostics.push(Diagnostic::error("Unsupported block type", detail).at(block.kind_span()));
            }
            _ => {}
        }
    }
}

impl Lifecycle {
    fn decode(mode: Mode, body: &Body, diagnostics: &mut Diagnostics) -> Self {
        // An override file replaces argument by argument, not the whole block.
        let mut layers = Vec::new();
        for layer in body.layers() {
            let mut blocks = layer.blocks().filter(|block| &**block.kind() == "lifecycle");
            let Some(first) = blocks.next() else { continue };
            for again in blocks {
                let detail = "A resource has only one lifecycle block.";
                let diagnostic = Diagnostic::error("Duplicate lifecycle block", detail).at(again.header());
                diagnostics.push(diagnostic.related(first.header(), "the first one"));
            }
            labels(first, [], diagnostics);
            layers.push(first.body());
        }
        if layers.is_empty() {
            return Self::default();
        }
        let body = layers.remove(0).with_over(layers);
        match mode {
            Mode::Managed => MANAGED_LIFECYCLE.check(&body, diagnostics),
            Mode::Data | Mode::Ephemeral => {
                for attribute in body.attributes() {
                    let name = attribute.name();
                    if MANAGED_LIFECYCLE.optional.contains(&&**name) {
                        let detail = format!("The lifecycle argument \"{name}\" is only for managed resources.");
                        let summary = "Invalid data resource lifecycle argument";
                        diagnostics.push(Diagnostic::error(summary, detail).at(attribute.name_span()));
                    }
                }
                DATA_LIFECYCLE.check(&body, diagnostics);
            }
        }
        let prevent = boolean_argument(&body, "prevent_destroy", diagnostics) == Some(true);
        Self {
            create_before_destroy: boolean_argument(&body, "create_before_destroy", diagnostics),
            prevent_destroy: body.attribute("prevent_destroy").filter(|_| prevent).map(|argument| argument.span()),
            ignore_changes: IgnoreChanges::decode(&body, diagnostics),
            replace_triggered_by: body
                .attribute("replace_triggered_by")
                .map_or_else(Vec::new, |argument| traversals(&argument.value(), Quoted::Never, diagnostics)),
            preconditions: conditions(&body, "precondition", diagnostics),
            postconditions: conditions(&body, "postcondition", diagnostics),
        }
    }
}

impl IgnoreChanges {
    fn decode(body: &Body, diagnostics: &mut Diagnostics) -> Self {
        let Some(argument) = body.attribute("ignore_changes") else { return Self::Nothing };
        let value = argument.value();
        if value.as_keyword().is_some_and(|word| &**word == "all") {
            return Self::All(value.span());
        }
        let mut paths = Vec::new();
        for element in list(&value, diagnostics) {
            let path = match element.node() {
                Node::Text(_) => match unquoted(&element, diagnostics) {
                    Some(path) => path,
                    None => continue,
                },
                Node::Invalid => continue,
                _ => element,
            };
            if is_static(&path) {
                paths.push(path);
            } else {
                let detail =
                    "The name of an argument is required here, with attribute names and constant keys after it.";
                diagnostics.push(Diagnostic::error("Invalid expression", detail).at(path.span()));
            }
        }
        Self::Paths(paths)
    }
}

/// Is it a name with attribute names and constant keys after it?
fn is_static(path: &Expr) -> bool {
    let Node::Traversal { steps, .. } = path.node() else { return false };
    path.tree().steps(steps).iter().all(|step| match step.kind {
        StepKind::Attr(_) => true,
        StepKind::Index(key) => matches!(path.with(key).unparenthesized().node(), Node::Text(_) | Node::Number(_)),
    })
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            Mode::Managed => {}
            Mode::Data => f.write_str("data.")?,
            Mode::Ephemeral => f.write_str("ephemeral.")?,
        }
        write!(f, "{}.{}", self.ty, self.name)
    }
}
