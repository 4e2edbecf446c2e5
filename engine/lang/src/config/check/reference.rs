//! What the expressions of a module refer to must be declared, and may have a key only where there are instances; the
//! functions that they call must be there.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Span};

use crate::{
    config::{Module, ModuleCall, ROOT, Repeat, ResourceName},
    eval::{Subject, check_call, did_you_mean, subject_of, undeclared},
    syntax::{Body, Expr, Node, Step, StepKind},
};

/// Reports references of a module that cannot be right.
pub(super) fn check(module: &Module, diagnostics: &mut Diagnostics) {
    Checker { module, undeclared: 0, diagnostics }.module();
}

pub(super) struct Checker<'a> {
    pub(super) module: &'a Module,
    /// How many references to what is not declared were found.
    undeclared: usize,
    pub(super) diagnostics: &'a mut Diagnostics,
}

/// For so many undeclared names a similar one is looked for, which takes a look at all of the module. More mistakes than
/// that have another cause than spelling, and the time must not grow with the square of the module.
const MAX_SUGGESTIONS: usize = 50;

/// What an expression may refer to beside what the module declares.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// How what it stands in is repeated.
    pub(super) repeat: Option<&'a Repeat>,
    /// Names that `dynamic` blocks around it bind.
    pub(super) iterators: &'a [Arc<str>],
    /// Is there an object that `self` is?
    pub(super) own: bool,
    /// The check that it stands in, whose data source is known there alone.
    pub(super) check: Option<&'a Arc<str>>,
}

pub(super) const NOWHERE: Place<'static> = Place { repeat: None, iterators: &[], own: false, check: None };

impl Checker<'_> {
    fn module(&mut self) {
        let module = self.module;
        self.conditions();
        self.refactorings();
        for provider in module.providers.values() {
            self.body(&provider.arguments.body, &["alias"], NOWHERE);
        }
        for local in module.locals.values() {
            self.expr(&local.value, NOWHERE);
        }
        for output in module.outputs.values() {
            self.expr(&output.value, NOWHERE);
            self.depends_on(&output.depends_on);
        }
        for resource in module.resources.values() {
            self.repeat(&resource.repeat);
            self.depends_on(&resource.depends_on);
            let place = Place { repeat: Some(&resource.repeat), check: resource.check.as_ref(), ..NOWHERE };
            self.body(&resource.arguments.body, resource.arguments.meta, place);
            self.provisioners(&resource.arguments.body, place);
            self.triggers(&resource.lifecycle.replace_triggered_by, place);
        }
        for call in module.calls.values() {
            self.repeat(&call.repeat);
            self.depends_on(&call.depends_on);
            let place = Place { repeat: Some(&call.repeat), ..NOWHERE };
            self.body(&call.arguments.body, call.arguments.meta, place);
        }
    }

    fn repeat(&mut self, repeat: &Repeat) {
        if let Some(expr) = repeat.expr() {
            self.expr(expr, NOWHERE);
        }
    }

    pub(super) fn body(&mut self, body: &Body, meta: &[&str], place: Place<'_>) {
        for attribute in body.attributes().filter(|attribute| !meta.contains(&&**attribute.name())) {
            self.value(&attribute.value(), place);
        }
        for block in body.blocks().filter(|block| !meta.contains(&&**block.kind())) {
            match (&**block.kind(), block.labels().next()) {
                ("dynamic", Some((label, _))) => self.dynamic(&block.body(), label, place),
                _ => self.body(&block.body(), &[], place),
            }
        }
    }

    /// A value; in JSON perhaps blocks, and `dynamic` blocks in them.
    fn value(&mut self, expr: &Expr, place: Place<'_>) {
        match (expr.node(), expr.as_body()) {
            (Node::Object(items), Some(body)) => {
                for item in expr.tree().items(items) {
                    self.expr(&expr.with(item.key), place);
                }
                self.body(&body, &[], place);
            }
            (Node::Tuple(elements), _) if expr.tree().is_json() => {
                expr.tree().exprs(elements).iter().for_each(|element| self.value(&expr.with(*element), place));
            }
            _ => self.expr(expr, place),
        }
    }

    /// Of a `dynamic` block only the content knows the iterator.
    fn dynamic(&mut self, body: &Body, label: &Arc<str>, place: Place<'_>) {
        for name in ["for_each", "labels"] {
            if let Some(attribute) = body.attribute(name) {
                self.expr(&attribute.value(), place);
            }
        }
        let named = body.attribute("iterator").map(|attribute| attribute.value());
        let iterator = named.as_ref().and_then(Expr::as_keyword).unwrap_or(label);
        let iterators: Vec<_> = place.iterators.iter().chain([iterator]).cloned().collect();
        for content in body.blocks().filter(|block| &**block.kind() == "content") {
            self.body(&content.body(), &[], Place { iterators: &iterators, ..place });
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr, place: Place<'_>) {
        for object in expr.find(|node| matches!(node, Node::Object(_))) {
            self.keys(&object);
        }
        for call in expr.find(|node| matches!(node, Node::Call { .. })) {
            self.diagnostics.extend(check_call(&call));
        }
        for traversal in expr.traversals() {
            let Node::Traversal { root, .. } = traversal.node() else { continue };
            if place.iterators.contains(traversal.tree().str(root)) {
                continue;
            }
            match subject_of(&traversal) {
                Ok((subject, named)) => self.reference(&traversal, &subject, named, place),
                Err(diagnostic) => self.diagnostics.push(*diagnostic),
            }
        }
    }

    fn keys(&mut self, object: &Expr) {
        let Node::Object(items) = object.node() else { return };
        for item in object.tree().items(items) {
            let key = object.with(item.key);
            if matches!(key.node(), Node::Traversal { .. }) {
                let detail = "This key can be read as a reference and as a name that holds periods.";
                let hint = "For a reference, put parentheses around it; for a name, quotes.";
                let diagnostic = Diagnostic::error("Ambiguous attribute key", detail).at(key.span());
                self.diagnostics.push(diagnostic.hint(hint));
            }
        }
    }

    fn reference(&mut self, traversal: &Expr, subject: &Subject, named: Span, place: Place<'_>) {
        let module = self.module;
        let declared = match subject {
            Subject::Variable(name) => module.variables.contains_key(name),
            Subject::Local(name) => module.locals.contains_key(name),
            Subject::Resource { mode, ty, name, .. } => {
                let name = ResourceName { mode: *mode, ty: ty.clone(), name: name.clone() };
                let resource = module.resources.get(&name);
                if let Some(resource) = resource {
                    if resource.check.is_some() && resource.check.as_ref() != place.check {
                        self.scoped(&name, named, resource.span);
                    }
                    self.key(traversal, named, &resource.repeat, &format!("resource {name}"));
                }
                resource.is_some()
            }
            Subject::Module { name, .. } => {
                let call = module.calls.get(name);
                if let Some(call) = call {
                    self.key(traversal, named, &call.repeat, &format!("module {name}"));
                    self.output(traversal, named, call);
                }
                call.is_some()
            }
            Subject::CountIndex => matches!(place.repeat, Some(Repeat::Count(_))),
            Subject::EachKey | Subject::EachValue => matches!(place.repeat, Some(Repeat::ForEach(_))),
            Subject::Path(_) => true,
            Subject::Terraform(name) => &**name == "workspace",
            Subject::SelfObject => place.own,
            Subject::Run(_) => false,
        };
        if !declared {
            self.undeclared(subject, named);
        }
    }

    fn scoped(&mut self, name: &ResourceName, at: Span, declared: Span) {
        let detail = format!("{name} belongs to a check block, and is known only in it.");
        let diagnostic = Diagnostic::error("Reference to scoped resource", detail).at(at);
        self.diagnostics.push(diagnostic.related(declared, "declared here"));
    }

    pub(super) fn undeclared(&mut self, subject: &Subject, at: Span) {
        let module = self.module;
        self.undeclared += 1;
        let names: Vec<String> = match subject {
            _ if self.undeclared > MAX_SUGGESTIONS => Vec::new(),
            Subject::Variable(_) => module.variables.keys().map(ToString::to_string).collect(),
            Subject::Local(_) => module.locals.keys().map(ToString::to_string).collect(),
            Subject::Module { .. } => module.calls.keys().map(ToString::to_string).collect(),
            Subject::Resource { mode, .. } => {
                let same = module.resources.keys().filter(|name| name.mode == *mode);
                same.map(|name| format!("{}.{}", name.ty, name.name)).collect()
            }
            _ => Vec::new(),
        };
        let module = match &*module.directory {
            ROOT => "the root module".to_owned(),
            directory => format!("the module in \"{directory}\""),
        };
        let diagnostic = undeclared(subject, names.iter().map(String::as_str), &module);
        self.diagnostics.push(diagnostic.at(at));
    }

    /// The step after the name: a key if what is named is repeated, and none if it is not.
    fn key(&mut self, traversal: &Expr, named: Span, repeat: &Repeat, what: &str) {
        let (summary, detail, hint) = match (repeat, after(traversal, named).first().map(|step| step.kind)) {
            (Repeat::Once, Some(StepKind::Index(_))) => (
                "Unexpected instance key",
                format!("The {what} has neither \"count\" nor \"for_each\", so it has no instances to choose from."),
                "Remove the key in brackets.".to_owned(),
            ),
            (Repeat::Count(_), Some(StepKind::Attr(_))) => (
                "Missing instance key",
                format!("The {what} has \"count\": its attributes are those of its instances."),
                "Add the key of an instance, such as [0] or [count.index], or [*] for all.".to_owned(),
            ),
            (Repeat::ForEach(_), Some(StepKind::Attr(_))) => (
                "Missing instance key",
                format!("The {what} has \"for_each\": its attributes are those of its instances."),
                "Add the key of an instance, such as [\"name\"] or [each.key].".to_owned(),
            ),
            _ => return,
        };
        self.diagnostics.push(Diagnostic::error(summary, detail).at(traversal.span()).hint(hint));
    }

    /// The output that is taken from a called module, if a name says which.
    fn output(&mut self, traversal: &Expr, named: Span, call: &ModuleCall) {
        let Some(called) = &call.module else { return };
        let mut steps = after(traversal, named).iter();
        let mut step = steps.next();
        if step.is_some_and(|step| matches!(step.kind, StepKind::Index(_))) {
            step = steps.next();
        }
        if let Some(Step { kind: StepKind::Attr(output), .. }) = step {
            let output = traversal.tree().str(*output);
            if !called.outputs.contains_key(output) {
                let name = &call.name;
                let meant = did_you_mean(output, called.outputs.keys().map(|name| &**name));
                let detail = format!("The module {name} has no output named \"{output}\".{meant}");
                self.diagnostics.push(Diagnostic::error("Unsupported attribute", detail).at(traversal.span()));
            }
        }
    }

    /// References to whole objects that are declared.
    fn depends_on(&mut self, traversals: &[Expr]) {
        for traversal in traversals {
            let (subject, named) = match subject_of(traversal) {
                Ok(found) => found,
                Err(diagnostic) => {
                    self.diagnostics.push(*diagnostic);
                    continue;
                }
            };
            let mut rest = after(traversal, named);
            if let (Subject::Module { name, .. }, [first, others @ ..]) = (&subject, rest)
                && let (StepKind::Attr(output), Some(call)) = (first.kind, self.module.calls.get(name))
                && call.module.as_ref().is_none_or(|m| m.outputs.contains_key(traversal.tree().str(output)))
            {
                rest = others;
            }
            if rest.iter().any(|step| matches!(step.kind, StepKind::Attr(_))) {
                let detail = "What is depended on is a whole resource or module call, not an attribute of it.";
                let hint = format!("Write {}.", subject.text());
                let diagnostic = Diagnostic::error("Invalid depends_on reference", detail).at(traversal.span());
                self.diagnostics.push(diagnostic.hint(hint));
                continue;
            }
            let declared = match &subject {
                Subject::Variable(name) => self.module.variables.contains_key(name),
                Subject::Local(name) => self.module.locals.contains_key(name),
                Subject::Module { name, .. } => self.module.calls.contains_key(name),
                Subject::Resource { mode, ty, name, .. } => {
                    let name = ResourceName { mode: *mode, ty: ty.clone(), name: name.clone() };
                    self.module.resources.contains_key(&name)
                }
                _ => false,
            };
            if !declared {
                self.undeclared(&subject, named);
            }
        }
    }
}

/// The steps of a traversal after the name that it begins with.
fn after(traversal: &Expr, named: Span) -> &[Step] {
    let Node::Traversal { steps, .. } = traversal.node() else { return &[] };
    let steps = traversal.tree().steps(steps);
    &steps[steps.partition_point(|step| step.end <= named.end)..]
}
