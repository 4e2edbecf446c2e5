//! From the first steps of a traversal to what they name. Keys are not evaluated here.

use std::sync::Arc;

use engine_diag::{Diagnostic, Span};
use engine_model::address::{InstanceKey, Mode};

use crate::syntax::{Expr, Node, Step, StepKind, Symbol, Tree};

/// What a reference names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// `var.NAME`
    Variable(Arc<str>),
    /// `local.NAME`
    Local(Arc<str>),
    /// `TYPE.NAME`, `data.TYPE.NAME`, `ephemeral.TYPE.NAME`
    Resource {
        /// Which of the three.
        mode: Mode,
        /// The type.
        ty: Arc<str>,
        /// The name.
        name: Arc<str>,
        /// One instance; `None` is the whole.
        key: Option<InstanceKey>,
    },
    /// `module.NAME`
    Module {
        /// The name of the call.
        name: Arc<str>,
        /// One instance; `None` is the whole.
        key: Option<InstanceKey>,
        /// One output; `None` is the object of all of them.
        output: Option<Arc<str>>,
    },
    /// `count.index`
    CountIndex,
    /// `each.key`
    EachKey,
    /// `each.value`
    EachValue,
    /// `self`
    SelfObject,
    /// `path.module`, `path.root`, `path.cwd`
    Path(Arc<str>),
    /// `terraform.workspace`
    Terraform(Arc<str>),
    /// `run.NAME` in test files
    Run(Arc<str>),
}

impl Subject {
    /// The reference as it is written, with its key if it has one.
    pub fn text(&self) -> String {
        let bracket = |key: &Option<InstanceKey>| key.as_ref().map_or(String::new(), |key| format!("[{key}]"));
        match self {
            Self::Variable(name) => format!("var.{name}"),
            Self::Local(name) => format!("local.{name}"),
            Self::Resource { mode: Mode::Managed, ty, name, key } => format!("{ty}.{name}{}", bracket(key)),
            Self::Resource { mode: Mode::Data, ty, name, key } => format!("data.{ty}.{name}{}", bracket(key)),
            Self::Resource { mode: Mode::Ephemeral, ty, name, key } => format!("ephemeral.{ty}.{name}{}", bracket(key)),
            Self::Module { name, key, output: None } => format!("module.{name}{}", bracket(key)),
            Self::Module { name, key, output: Some(output) } => format!("module.{name}{}.{output}", bracket(key)),
            Self::CountIndex => "count.index".to_owned(),
            Self::EachKey => "each.key".to_owned(),
            Self::EachValue => "each.value".to_owned(),
            Self::SelfObject => "self".to_owned(),
            Self::Path(name) => format!("path.{name}"),
            Self::Terraform(name) => format!("terraform.{name}"),
            Self::Run(name) => format!("run.{name}"),
        }
    }
}

/// A reference in an expression: what it names, and where. `steps` of the traversal belong to the name.
pub(crate) struct Named {
    pub(crate) subject: Subject,
    pub(crate) steps: usize,
    pub(crate) span: Span,
}

/// What every traversal of an expression names, in source order, keys left out: `x["a"].id` names `x`.
///
/// # Errors
/// The first traversal that names nothing.
pub fn references(expr: &Expr) -> Result<Vec<(Subject, Span)>, Box<Diagnostic>> {
    expr.traversals().iter().map(subject_of).collect()
}

/// What one traversal names, keys left out, and where that stands.
///
/// # Errors
/// If it names nothing.
pub fn subject_of(traversal: &Expr) -> Result<(Subject, Span), Box<Diagnostic>> {
    match traversal.node() {
        Node::Traversal { root, steps } => {
            let tree = traversal.tree();
            let named = name(tree, traversal.span(), root, tree.steps(steps))?;
            Ok((named.subject, named.span))
        }
        _ => Err(invalid(traversal.span(), "A reference begins with a name.")),
    }
}

fn invalid(span: Span, detail: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("Invalid reference", detail).at(span))
}

/// Reads the name at the beginning of a traversal. `span` is the whole traversal.
pub(crate) fn name(tree: &Tree, span: Span, root: Symbol, steps: &[Step]) -> Result<Named, Box<Diagnostic>> {
    let root_text = tree.str(root);
    let found = |subject: Subject, used: usize| {
        let end = match used.checked_sub(1) {
            Some(last) => steps[last].end,
            None => span.start + root_text.len() as u32,
        };
        Ok(Named { subject, steps: used, span: Span { end, ..span } })
    };
    let attr = |at: usize| match steps.get(at).map(|step| step.kind) {
        Some(StepKind::Attr(name)) => Ok(Some(Arc::clone(tree.str(name)))),
        Some(StepKind::Index(_)) => {
            Err(invalid(span, format!("The \"{root_text}\" object does not support this operation.")))
        }
        None => Ok(None),
    };
    let member = || {
        attr(0)?.ok_or_else(|| {
            invalid(
                span,
                format!(
                    "The \"{root_text}\" object cannot be accessed directly. Instead, access one of its attributes."
                ),
            )
        })
    };
    match root_text.as_ref() {
        "var" => found(Subject::Variable(member()?), 1),
        "local" => found(Subject::Local(member()?), 1),
        "module" => found(Subject::Module { name: member()?, key: None, output: None }, 1),
        "path" => match member()?.as_ref() {
            known @ ("module" | "root" | "cwd") => found(Subject::Path(known.into()), 1),
            other => Err(no_attribute(span, "path", other, "path.module, path.root and path.cwd")),
        },
        "terraform" => match member()?.as_ref() {
            known @ ("workspace" | "applying") => found(Subject::Terraform(known.into()), 1),
            other => Err(no_attribute(span, "terraform", other, "terraform.workspace")),
        },
        "run" => found(Subject::Run(member()?), 1),
        "count" => match member()?.as_ref() {
            "index" => found(Subject::CountIndex, 1),
            other => Err(no_attribute(span, "count", other, "count.index, the index of the instance")),
        },
        "each" => match member()?.as_ref() {
            "key" => found(Subject::EachKey, 1),
            "value" => found(Subject::EachValue, 1),
            other => Err(no_attribute(span, "each", other, "each.key and each.value")),
        },
        "self" => found(Subject::SelfObject, 0),
        "template" | "lazy" | "arg" => Err(invalid(
            span,
            format!(
                "The symbol name \"{root_text}\" is reserved. A resource type of that name begins with \"resource.\"."
            ),
        )),
        "data" => {
            resource(Mode::Data, attr(0)?, attr(1)?, span, "data", "data source").and_then(|subject| found(subject, 2))
        }
        "ephemeral" => resource(Mode::Ephemeral, attr(0)?, attr(1)?, span, "ephemeral", "ephemeral resource")
            .and_then(|subject| found(subject, 2)),
        "resource" => resource(Mode::Managed, attr(0)?, attr(1)?, span, "resource", "resource")
            .and_then(|subject| found(subject, 2)),
        _ => match attr(0) {
            Ok(Some(name)) => {
                let ty = Arc::clone(root_text);
                found(Subject::Resource { mode: Mode::Managed, ty, name, key: None }, 1)
            }
            _ => Err(invalid(
                span,
                "A reference to a resource type must be followed by at least one attribute access, specifying the resource \
                 name.",
            )),
        },
    }
}

fn no_attribute(span: Span, object: &str, name: &str, supported: &str) -> Box<Diagnostic> {
    let detail =
        format!("The \"{object}\" object does not have an attribute named \"{name}\". Supported: {supported}.");
    Box::new(Diagnostic::error(format!("Invalid \"{object}\" attribute"), detail).at(span))
}

fn resource(
    mode: Mode,
    ty: Option<Arc<str>>,
    name: Option<Arc<str>>,
    span: Span,
    word: &str,
    what: &str,
) -> Result<Subject, Box<Diagnostic>> {
    match (ty, name) {
        (Some(ty), Some(name)) => Ok(Subject::Resource { mode, ty, name, key: None }),
        _ => Err(invalid(
            span,
            format!(
                "The \"{word}\" object must be followed by two attribute names: the {what} type and the resource name."
            ),
        )),
    }
}
