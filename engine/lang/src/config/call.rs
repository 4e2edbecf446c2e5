//! `module` blocks, and where the modules that they call are.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::{
    arguments::Arguments,
    depends::{Repeat, depends_on},
    module::Module,
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
            let detail = "A module call needs a source: the directory of the module, such as \"./modules/pool\".";
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

    /// The directory of the module, relative to the directory of the module that calls it. What is wrong is reported.
    pub(super) fn local_source(&self, diagnostics: &mut Diagnostics) -> Option<&str> {
        if !is_local(&self.source) {
            diagnostics.push(unsupported_source(&self.source).at(self.source_span));
            return None;
        }
        if let Some((_, span)) = &self.version {
            let detail = "A local module has no version: it is read as it is.";
            let diagnostic = Diagnostic::error("Version of a local module", detail).at(*span);
            diagnostics.push(diagnostic.hint("Remove the argument \"version\"."));
            return None;
        }
        Some(&self.source)
    }
}

/// Is it a path that begins with `./` or `../`?
pub(super) fn is_local(source: &str) -> bool {
    source.starts_with("./") || source.starts_with("../") || matches!(source, "." | "..")
}

/// The error for a source that is not local, by what it is.
fn unsupported_source(source: &str) -> Diagnostic {
    let kind = source_kind(source);
    let hint = match kind {
        None => {
            let detail = format!("\"{source}\" does not say what kind of source it is.");
            let hint = format!("A directory relative to this module is written with a dot: \"./{source}\".");
            return Diagnostic::error("Invalid module source address", detail).hint(hint);
        }
        Some(SourceKind::Absolute) => "Write the path relative to this module, beginning with ./ or ../.",
        Some(_) => {
            "Copy the module into a directory of this repository (a submodule or subtree keeps its history), and \
                    name that: \"./modules/NAME\"."
        }
    };
    let what = kind.map_or("", SourceKind::words);
    let detail = format!("\"{source}\" is {what}. Only modules in local directories are supported yet.");
    Diagnostic::error("Unsupported module source", detail).hint(hint)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceKind {
    Absolute,
    Git,
    Mercurial,
    Archive,
    S3,
    Gcs,
    Registry,
}

impl SourceKind {
    fn words(self) -> &'static str {
        match self {
            Self::Absolute => "an absolute path",
            Self::Git => "a Git repository",
            Self::Mercurial => "a Mercurial repository",
            Self::Archive => "an archive to be downloaded",
            Self::S3 => "an S3 object",
            Self::Gcs => "a Google Cloud Storage object",
            Self::Registry => "a module of a registry",
        }
    }
}

fn source_kind(source: &str) -> Option<SourceKind> {
    let prefixes = [
        ("/", SourceKind::Absolute),
        ("git::", SourceKind::Git),
        ("git@", SourceKind::Git),
        ("github.com/", SourceKind::Git),
        ("bitbucket.org/", SourceKind::Git),
        ("gitlab.com/", SourceKind::Git),
        ("hg::", SourceKind::Mercurial),
        ("s3::", SourceKind::S3),
        ("gcs::", SourceKind::Gcs),
        ("http://", SourceKind::Archive),
        ("https://", SourceKind::Archive),
    ];
    if let Some((_, kind)) = prefixes.iter().find(|(prefix, _)| source.starts_with(prefix)) {
        return Some(*kind);
    }
    let package = source.split("//").next().unwrap_or(source);
    let parts: Vec<&str> = package.split('/').collect();
    let is_part =
        |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    (matches!(parts.len(), 3 | 4) && parts.iter().all(is_part)).then_some(SourceKind::Registry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_named_by_what_they_are() {
        for (source, kind) in [
            ("/srv/modules/x", Some(SourceKind::Absolute)),
            ("github.com/owner/repo//sub?ref=v1", Some(SourceKind::Git)),
            ("git::https://example.com/x.git", Some(SourceKind::Git)),
            ("git@github.com:owner/repo.git", Some(SourceKind::Git)),
            ("hg::http://example.com/x", Some(SourceKind::Mercurial)),
            ("https://example.com/x.zip", Some(SourceKind::Archive)),
            ("s3::https://s3.example.com/x", Some(SourceKind::S3)),
            ("hashicorp/consul/aws", Some(SourceKind::Registry)),
            ("app.example.com/a/b/c//sub", Some(SourceKind::Registry)),
            ("modules/x", None),
            ("x", None),
        ] {
            assert_eq!(source_kind(source), kind, "{source}");
            assert!(!is_local(source));
        }
        assert!(["./x", "../x", ".", ".."].into_iter().all(is_local));
        assert!(!is_local(".x"));
    }
}
