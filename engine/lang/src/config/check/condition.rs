//! Conditions, provisioners, triggers: expressions that may refer to more, or to less, than arguments may.

use engine_diag::Diagnostic;

use super::reference::{Checker, NOWHERE, Place};
use crate::{
    config::{Condition, ResourceName, provisioner::is_on_destroy},
    eval::{Subject, subject_of},
    syntax::{Body, Expr, Node, StepKind},
};

impl Checker<'_> {
    pub(super) fn conditions(&mut self) {
        let module = self.module;
        for variable in module.variables.values() {
            for condition in &variable.validations {
                self.condition("validation", condition, NOWHERE);
                let is_own = |traversal: &Expr| matches!(subject_of(traversal), Ok((Subject::Variable(name), _)) if name == variable.name);
                if !condition.condition.traversals().iter().any(is_own) {
                    let name = &variable.name;
                    let detail =
                        format!("The condition does not refer to var.{name}, so it says nothing about its value.");
                    let summary = "Invalid variable validation condition";
                    self.diagnostics.push(Diagnostic::error(summary, detail).at(condition.condition.span()));
                }
            }
        }
        for output in module.outputs.values() {
            output.preconditions.iter().for_each(|one| self.condition("precondition", one, NOWHERE));
        }
        for resource in module.resources.values() {
            let place = Place { repeat: Some(&resource.repeat), check: resource.check.as_ref(), ..NOWHERE };
            for condition in &resource.lifecycle.preconditions {
                self.condition("precondition", condition, place);
                self.not_itself("precondition", condition, &resource.name);
            }
            for condition in &resource.lifecycle.postconditions {
                self.condition("postcondition", condition, Place { own: true, ..place });
                self.not_itself("postcondition", condition, &resource.name);
            }
        }
        for check in module.checks.values() {
            let place = Place { check: Some(&check.name), ..NOWHERE };
            check.asserts.iter().for_each(|one| self.condition("assert", one, place));
        }
    }

    fn condition(&mut self, kind: &str, condition: &Condition, place: Place<'_>) {
        self.expr(&condition.condition, place);
        self.expr(&condition.error_message, place);
        if condition.condition.traversals().is_empty() {
            let detail = "The condition refers to nothing, so it is the same whatever the configuration is.";
            let diagnostic = Diagnostic::error(format!("Invalid {kind} expression"), detail);
            self.diagnostics.push(diagnostic.at(condition.condition.span()));
        }
    }

    /// A condition does not call the object by its name: before it is made there is nothing that could be said of it, and
    /// after that it is `self`, this instance alone.
    fn not_itself(&mut self, kind: &str, condition: &Condition, own: &ResourceName) {
        for expr in [&condition.condition, &condition.error_message] {
            for traversal in expr.traversals() {
                let Ok((Subject::Resource { mode, ty, name, .. }, at)) = subject_of(&traversal) else { continue };
                if (ResourceName { mode, ty, name }) == *own {
                    let detail = format!("A {kind} of {own} may not refer to {own} itself.");
                    let diagnostic = Diagnostic::error(format!("Invalid reference in {kind}"), detail).at(at);
                    self.diagnostics.push(diagnostic.hint("In a postcondition the object is known as self."));
                }
            }
        }
    }

    /// The provisioners and connections in the body of a resource.
    pub(super) fn provisioners(&mut self, body: &Body, place: Place<'_>) {
        let place = Place { own: true, ..place };
        // A connection is that of all provisioners that have none of their own.
        let connected = body.blocks().any(|block| {
            let has_own = || block.body().blocks().any(|inner| &**inner.kind() == "connection");
            &**block.kind() == "provisioner" && is_on_destroy(block) && !has_own()
        });
        for block in body.blocks() {
            let on_destroy = match &**block.kind() {
                "provisioner" => is_on_destroy(block),
                "connection" => connected,
                _ => continue,
            };
            let inner = block.body();
            self.body(&inner, &["when", "on_failure"], place);
            if on_destroy {
                let expressions = inner.attributes().map(|attribute| attribute.value());
                let nested = inner
                    .blocks()
                    .flat_map(|block| block.body().attributes().map(|attribute| attribute.value()).collect::<Vec<_>>());
                expressions.chain(nested).collect::<Vec<_>>().iter().for_each(|expr| self.at_the_end(expr));
            }
        }
    }

    /// When an object is destroyed, only what is in the state of that object is there.
    fn at_the_end(&mut self, expr: &Expr) {
        for traversal in expr.traversals() {
            let Ok((subject, at)) = subject_of(&traversal) else { continue };
            let there = matches!(
                subject,
                Subject::SelfObject | Subject::CountIndex | Subject::EachKey | Subject::Path(_) | Subject::Terraform(_)
            );
            if !there {
                let detail = "Provisioners that run before an object is destroyed may refer only to self, count.index and \
                              each.key: nothing else is sure to be there then.";
                let diagnostic = Diagnostic::error("Invalid reference from destroy provisioner", detail);
                self.diagnostics.push(diagnostic.at(at));
            }
        }
    }

    /// `replace_triggered_by`: resources, instances and their attributes, with keys of this instance alone.
    pub(super) fn triggers(&mut self, triggers: &[Expr], place: Place<'_>) {
        for trigger in triggers {
            let Node::Traversal { steps, .. } = trigger.node() else { continue };
            match subject_of(trigger) {
                Ok((Subject::Resource { .. }, _)) => {}
                Ok((_, at)) => {
                    let detail = "Only a resource, an instance of it or an attribute of one can stand here.";
                    let summary = "Invalid replace_triggered_by expression";
                    self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
                    continue;
                }
                Err(mut diagnostic) => {
                    "Invalid replace_triggered_by expression".clone_into(&mut diagnostic.summary);
                    self.diagnostics.push(*diagnostic);
                    continue;
                }
            }
            for step in trigger.tree().steps(steps) {
                let StepKind::Index(key) = step.kind else { continue };
                let key = trigger.with(key);
                let own =
                    |traversal: &Expr| matches!(subject_of(traversal), Ok((Subject::CountIndex | Subject::EachKey, _)));
                if key.traversals().iter().all(own) {
                    self.expr(&key, place);
                } else {
                    let detail = "A key here is a constant, count.index or each.key.";
                    let summary = "Invalid reference in replace_triggered_by expression";
                    self.diagnostics.push(Diagnostic::error(summary, detail).at(key.span()));
                }
            }
        }
    }
}
