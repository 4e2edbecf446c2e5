//! Addresses as `moved`, `removed` and `import` write them: `module.a["x"].gpu_pool.dev[0]`.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_model::address::Mode;

use super::resource::ResourceName;
use crate::syntax::{Expr, Node, Step, StepKind};

/// The address of a resource, a module or an instance, relative to the module in which it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The module calls on the way, each with its key.
    pub modules: Vec<(Arc<str>, Option<Expr>)>,
    /// The resource, with its key; `None`: a module is meant.
    pub resource: Option<(ResourceName, Option<Expr>)>,
    /// Where it stands.
    pub span: Span,
}

impl Endpoint {
    /// What is no address is reported.
    pub(super) fn parse(expr: &Expr, diagnostics: &mut Diagnostics) -> Option<Self> {
        let found = read(&expr.unparenthesized());
        if found.is_none() {
            let detail = "The address of a resource or of a module is required here, without attributes, such as \
                          gpu_pool.dev or module.a.";
            diagnostics.push(Diagnostic::error("Invalid address", detail).at(expr.span()));
        }
        found
    }

    fn keys(&self) -> impl Iterator<Item = &Expr> {
        let modules = self.modules.iter().filter_map(|(_, key)| key.as_ref());
        modules.chain(self.resource.iter().filter_map(|(_, key)| key.as_ref()))
    }

    /// Reports what is no managed object.
    pub(super) fn check_managed(&self, kind: &str, diagnostics: &mut Diagnostics) -> bool {
        let managed = self.resource.as_ref().is_none_or(|(name, _)| name.mode == Mode::Managed);
        if !managed {
            let detail =
                format!("Only managed resources and modules can stand in a \"{kind}\" block: nothing else is kept.");
            diagnostics.push(Diagnostic::error(format!("Invalid \"{kind}\" address"), detail).at(self.span));
        }
        managed
    }

    /// Reports keys that are no constants, and what is no managed object.
    pub(super) fn check_static(&self, kind: &str, diagnostics: &mut Diagnostics) -> bool {
        let mut right = self.check_managed(kind, diagnostics);
        for key in self.keys().filter(|key| !matches!(key.unparenthesized().node(), Node::Text(_) | Node::Number(_))) {
            let detail = "Only constant keys may stand here: texts and whole numbers.";
            diagnostics.push(Diagnostic::error("Invalid expression", detail).at(key.span()));
            right = false;
        }
        right
    }

    /// Reports keys.
    pub(super) fn check_whole(&self, diagnostics: &mut Diagnostics) -> bool {
        let Some(key) = self.keys().next() else { return true };
        let detail = "Only whole resources and modules can be removed: write the address without keys.";
        diagnostics.push(Diagnostic::error("Invalid address with a key", detail).at(key.span()));
        false
    }
}

fn read(expr: &Expr) -> Option<Endpoint> {
    let Node::Traversal { root, steps } = expr.node() else { return None };
    let tree = expr.tree();
    let mut word = Some(tree.str(root).clone());
    let mut steps = tree.steps(steps);
    let mut modules = Vec::new();
    while word.as_deref() == Some("module") {
        let name = attr(expr, &mut steps)?;
        modules.push((name, key(expr, &mut steps)));
        if steps.is_empty() {
            return Some(Endpoint { modules, resource: None, span: expr.span() });
        }
        word = attr(expr, &mut steps);
    }
    let mode = match word.as_deref()? {
        "data" => Mode::Data,
        "ephemeral" => Mode::Ephemeral,
        _ => Mode::Managed,
    };
    // Roots of other references.
    const OTHERS: [&str; 9] = ["var", "local", "each", "count", "self", "path", "terraform", "output", "module"];
    if word.as_deref().is_some_and(|word| OTHERS.contains(&word)) {
        return None;
    }
    let ty = match (mode, word.as_deref()) {
        (Mode::Managed, Some(word)) if word != "resource" => word.into(),
        _ => attr(expr, &mut steps)?,
    };
    let name = attr(expr, &mut steps)?;
    let key = key(expr, &mut steps);
    let resource = Some((ResourceName { mode, ty, name }, key));
    steps.is_empty().then_some(Endpoint { modules, resource, span: expr.span() })
}

fn attr(expr: &Expr, steps: &mut &[Step]) -> Option<Arc<str>> {
    let (first, rest) = steps.split_first()?;
    let StepKind::Attr(name) = first.kind else { return None };
    *steps = rest;
    Some(expr.tree().str(name).clone())
}

fn key(expr: &Expr, steps: &mut &[Step]) -> Option<Expr> {
    let (first, rest) = steps.split_first()?;
    let StepKind::Index(key) = first.kind else { return None };
    *steps = rest;
    Some(expr.with(key))
}
