//! `provider` blocks, references to them, and where providers come from.

use std::{fmt, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_model::address::ProviderAddr;

use super::{
    arguments::Arguments,
    shape::{check_name, is_name, labels, list, object, text, text_argument},
    version::VersionConstraints,
};
use crate::syntax::{BlockRef, Expr, Node, StepKind};

/// A provider configuration as a module names it: `kubernetes`, `kubernetes.west`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderName {
    /// The name that the module gives to the provider.
    pub name: Arc<str>,
    /// Which configuration; `None` is the default one.
    pub alias: Option<Arc<str>>,
}

/// A reference to a provider configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderRef {
    /// What it names.
    pub to: ProviderName,
    /// Where it stands.
    pub span: Span,
}

/// A `provider` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderBlock {
    /// Its name and alias.
    pub name: ProviderName,
    /// What it says to the provider.
    pub arguments: Arguments,
    /// The header of the block.
    pub span: Span,
}

/// An entry of `required_providers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredProvider {
    /// Which provider.
    pub addr: ProviderAddr,
    /// Is its source written?
    pub has_source: bool,
    /// Which versions.
    pub version: Option<(VersionConstraints, Span)>,
    /// Configurations that the caller of the module must pass.
    pub configuration_aliases: Vec<ProviderRef>,
    /// Name and value of the entry.
    pub span: Span,
}

const META: [&str; 2] = ["alias", "version"];

/// Arguments that the language keeps for itself.
const RESERVED: [&str; 6] = ["count", "depends_on", "for_each", "lifecycle", "locals", "source"];

impl ProviderBlock {
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [(name, name_span)] = labels(block, ["name"], diagnostics)?;
        let body = block.body();
        check_local_name(name, name_span, diagnostics);
        let alias = text_argument(&body, "alias", diagnostics);
        if let (Some(alias), Some(attribute)) = (&alias, body.attribute("alias")) {
            check_name("provider alias", alias, attribute.value().span(), diagnostics);
        }
        if let Some(version) = body.attribute("version") {
            let detail = "The version of a provider is not set in its provider block.";
            let hint = format!("Write it in terraform {{ required_providers {{ {name} = {{ version = … }} }} }}.");
            diagnostics.push(Diagnostic::error("Unsupported argument", detail).at(version.name_span()).hint(hint));
        }
        for block in body.blocks().filter(|block| matches!(&**block.kind(), "lifecycle" | "locals")) {
            let detail = format!("The block type \"{}\" is kept for a later version of the language.", block.kind());
            let diagnostic = Diagnostic::error("Reserved block type name in provider block", detail);
            diagnostics.push(diagnostic.at(block.kind_span()));
        }
        for attribute in body.attributes().filter(|attribute| RESERVED.contains(&&**attribute.name())) {
            let detail = format!("The argument \"{}\" is reserved in provider blocks.", attribute.name());
            let diagnostic = Diagnostic::error("Reserved argument name in provider block", detail);
            diagnostics.push(diagnostic.at(attribute.name_span()));
        }
        Some(Self {
            name: ProviderName { name: name.clone(), alias },
            arguments: Arguments { body, meta: &META },
            span: block.header(),
        })
    }
}

impl ProviderBlock {
    /// Does it say nothing but its name?
    pub fn is_empty(&self) -> bool {
        self.arguments.attributes().next().is_none() && self.arguments.blocks().next().is_none()
    }
}

impl ProviderRef {
    /// `name` or `name.alias`; the old form in quotes is accepted too, with a warning.
    pub(super) fn parse_quoted(expr: &Expr, diagnostics: &mut Diagnostics) -> Option<Self> {
        let found = Self::parse(expr, diagnostics)?;
        check_local_name(&found.to.name, found.span, diagnostics);
        if expr.as_text().is_some() && !expr.tree().is_json() {
            let detail = "References stand here as they are; in quotes they are accepted for old configurations only.";
            let diagnostic = Diagnostic::warning("Quoted references are deprecated", detail).at(expr.span());
            diagnostics.push(diagnostic.hint("Remove the quotes."));
        }
        Some(found)
    }

    /// `name` or `name.alias`, bare or as the text of a key.
    pub(super) fn parse(expr: &Expr, diagnostics: &mut Diagnostics) -> Option<Self> {
        let tree = expr.tree();
        let name = match expr.unparenthesized().node() {
            Node::Traversal { root, steps } => match tree.steps(steps) {
                [] => Some(ProviderName { name: tree.str(root).clone(), alias: None }),
                [step] => match step.kind {
                    StepKind::Attr(alias) => {
                        Some(ProviderName { name: tree.str(root).clone(), alias: Some(tree.str(alias).clone()) })
                    }
                    StepKind::Index(_) => None,
                },
                _ => None,
            },
            Node::Text(text) => {
                let text = tree.str(text);
                let (name, alias) = text.split_once('.').map_or((&**text, None), |(name, alias)| (name, Some(alias)));
                (is_name(name) && alias.is_none_or(is_name))
                    .then(|| ProviderName { name: name.into(), alias: alias.map(Into::into) })
            }
            _ => None,
        };
        if name.is_none() {
            let detail = "A provider configuration is named by the provider, and by a period and an alias if it is not \
                          the default one: kubernetes.west.";
            diagnostics.push(Diagnostic::error("Invalid provider configuration reference", detail).at(expr.span()));
        }
        Some(Self { to: name?, span: expr.span() })
    }
}

/// The provider that a name means where `required_providers` does not say it.
pub fn implied_provider(name: &str) -> ProviderAddr {
    match name {
        "terraform" => ProviderAddr::new("terraform.io", "builtin", "terraform"),
        "gpu" => ProviderAddr::new(REGISTRY, "sliceform", "gpu"),
        _ => ProviderAddr::new(REGISTRY, "hashicorp", name),
    }
}

const REGISTRY: &str = "registry.terraform.io";

/// The provider that a source names: `kubernetes`, `hashicorp/kubernetes` or with a host before it. Our own Kubernetes
/// provider answers to `sliceform/kubernetes` too.
fn provider_source(source: &str) -> Option<ProviderAddr> {
    let source = source.to_lowercase();
    let parts: Vec<&str> = source.split('/').collect();
    let addr = match parts[..] {
        [ty] => implied_provider(ty),
        [namespace, ty] => ProviderAddr::new(REGISTRY, namespace, ty),
        [host, namespace, ty] => ProviderAddr::new(host, namespace, ty),
        _ => return None,
    };
    if !is_source_part(&addr.namespace) || !is_source_part(&addr.ty) || addr.ty.starts_with("terraform-") {
        return None;
    }
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'))
    };
    if !is_part(&addr.host) {
        return None;
    }
    if *addr.host == *REGISTRY && *addr.namespace == *"sliceform" && *addr.ty == *"kubernetes" {
        return Some(ProviderAddr::new(REGISTRY, "hashicorp", "kubernetes"));
    }
    Some(addr)
}

/// Letters, digits and single dashes inside.
fn is_source_part(part: &str) -> bool {
    let known = |c: char| c.is_alphanumeric() || c == '-';
    !part.is_empty()
        && part.chars().all(known)
        && !part.starts_with('-')
        && !part.ends_with('-')
        && !part.contains("--")
}

/// Reports what no provider can be called within a module.
pub(super) fn check_local_name(name: &str, span: Span, diagnostics: &mut Diagnostics) {
    if !is_source_part(name) || name.to_lowercase() != name {
        let detail = format!(
            "\"{name}\" is not a name of a provider: it may hold lowercase letters, digits and dashes, and neither begin \
             nor end with a dash."
        );
        diagnostics.push(Diagnostic::error("Invalid provider local name", detail).at(span));
    }
}

/// An element of `configuration_aliases`: `NAME.ALIAS`, of the provider that it stands in.
fn alias_of(name: &str, element: &Expr, diagnostics: &mut Diagnostics) -> Option<ProviderRef> {
    if element.as_text().is_some() && !element.tree().is_json() {
        let detail = "References stand here as they are, not in quotes.";
        diagnostics.push(Diagnostic::error("Invalid expression", detail).at(element.span()).hint("Remove the quotes."));
        return None;
    }
    let found = ProviderRef::parse(element, diagnostics)?;
    if *found.to.name != *name {
        let detail = format!("A configuration of the provider {name} is named here: {name}.ALIAS.");
        diagnostics.push(Diagnostic::error("Invalid configuration_aliases value", detail).at(element.span()));
        return None;
    }
    Some(found)
}

impl RequiredProvider {
    /// `version`, or `{ source, version, configuration_aliases }`.
    pub(super) fn decode(name: &str, value: &Expr, span: Span, diagnostics: &mut Diagnostics) -> Self {
        check_local_name(name, span, diagnostics);
        let mut required = Self {
            addr: implied_provider(name),
            has_source: false,
            version: None,
            configuration_aliases: Vec::new(),
            span,
        };
        if value.as_text().is_some() {
            required.version = version(value, diagnostics);
            return required;
        }
        for (key, value) in object(value, diagnostics) {
            match key.as_text().map(|key| &**key) {
                Some("source") => {
                    let Some(source) = text(&value, diagnostics) else { continue };
                    required.has_source = true;
                    match provider_source(&source) {
                        Some(addr) => required.addr = addr,
                        None => {
                            let detail = format!(
                                "\"{source}\" is not a provider source. It has the form NAMESPACE/TYPE, or \
                                 HOST/NAMESPACE/TYPE."
                            );
                            let diagnostic = Diagnostic::error("Invalid provider source string", detail);
                            diagnostics.push(diagnostic.at(value.span()));
                        }
                    }
                }
                Some("version") => required.version = version(&value, diagnostics),
                Some("configuration_aliases") => {
                    for element in list(&value, diagnostics) {
                        required.configuration_aliases.extend(alias_of(name, &element, diagnostics));
                    }
                }
                _ => {
                    let detail = "An entry of required_providers has only \"source\", \"version\" and \
                                  \"configuration_aliases\".";
                    let diagnostic = Diagnostic::error("Invalid required_providers object", detail).at(key.span());
                    diagnostics.push(diagnostic.hint("To configure a provider, use a provider block."));
                }
            }
        }
        required
    }
}

/// A version constraint.
pub(super) fn version(expr: &Expr, diagnostics: &mut Diagnostics) -> Option<(VersionConstraints, Span)> {
    let text = text(expr, diagnostics)?;
    let constraints = VersionConstraints::parse(&text);
    if constraints.is_none() {
        let detail = format!(
            "\"{text}\" is not a version constraint. Write conditions with commas between them, such as \
             \">= 1.2, < 2.0\" or \"~> 1.4\"."
        );
        diagnostics.push(Diagnostic::error("Invalid version constraint", detail).at(expr.span()));
    }
    Some((constraints?, expr.span()))
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.alias.as_ref().map_or(Ok(()), |alias| write!(f, ".{alias}"))
    }
}
