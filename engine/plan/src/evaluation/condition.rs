//! Conditions with a message: validation of variables, preconditions, and what `validate` looks at beside them.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_lang::{
    config::{Condition, Variable},
    eval::evaluate,
};
use engine_model::address::ResourceAddr;
use engine_value::{Data, Marks, Type, Value, convert};

use super::{
    Evaluation, Key, Slot,
    values::Made,
    view::{View, failures},
};
use crate::program::Program;

/// What a condition is for.
pub(super) struct Purpose<'a> {
    /// The error if it does not hold.
    pub(super) failed: &'a str,
    /// What kind of block it is.
    pub(super) kind: &'a str,
    /// The primary place of that error; without one, the condition.
    pub(super) at: Option<Span>,
    /// Is it an error if it does not hold? If not, only what is wrong whatever the values are is one.
    pub(super) told: bool,
}

/// Evaluates conditions. One that is not known yet holds so far.
pub(super) fn hold(view: &View<'_>, conditions: &[Condition], purpose: &Purpose<'_>) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    for condition in conditions {
        match one(view, condition, purpose) {
            Ok(()) => {}
            Err(found) => wrong.extend(found),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn one(view: &View<'_>, condition: &Condition, purpose: &Purpose<'_>) -> Result<(), Diagnostics> {
    let result = evaluate(&condition.condition, view).map_err(failures);
    let message = evaluate(&condition.error_message, view).map_err(failures);
    let (result, message) = match (result, message) {
        (Ok(result), Ok(message)) => (result, message),
        (result, message) => {
            let mut wrong = result.err().unwrap_or_default();
            wrong.extend(message.err().unwrap_or_default());
            return Err(wrong);
        }
    };
    let span = condition.condition.span();
    let invalid =
        |detail: String| Err(Diagnostic::error(format!("Invalid {} result", purpose.kind), detail).at(span).into());
    if result.is_null() {
        return invalid("The condition must be true or false, and is null.".to_owned());
    }
    let holds = match convert(&result, &Type::Bool) {
        Ok(value) => match value.data {
            Data::Bool(holds) => holds,
            _ => return Ok(()),
        },
        Err(error) => return invalid(format!("The condition must be true or false: {error}.")),
    };
    if holds || !purpose.told {
        return Ok(());
    }
    let detail = told(&message);
    let error = match purpose.at {
        Some(at) => Diagnostic::error(purpose.failed, detail).at(at).related(span, "this condition does not hold"),
        None => Diagnostic::error(purpose.failed, detail).at(span),
    };
    Err(error.into())
}

/// The message, as far as it may be told.
fn told(message: &Value) -> String {
    if message.contains_sensitive() {
        return "The message of this condition holds a sensitive value, so it is not shown.".to_owned();
    }
    if !message.clone().unmark_deep().1.is_empty() {
        return "The message of this condition holds an ephemeral value, so it is not shown.".to_owned();
    }
    match convert(message, &Type::String).as_ref().map(|text| &text.data) {
        Ok(Data::String(text)) => text.trim().to_owned(),
        _ => "The condition does not hold; its message is not known yet.".to_owned(),
    }
}

impl Evaluation {
    /// Whether the value of a variable is one that its declaration allows. The variable itself does not wait for this:
    /// the conditions may refer to what is made from it.
    pub(super) fn validated(&self, program: &Program, view: &View<'_>, variable: &Variable) -> Made {
        let given = match program.call(view.addr) {
            Some((_, call)) => call.arguments.body.attribute(&variable.name).map(|argument| argument.value().span()),
            None => program.given_at(&variable.name),
        };
        let at = given.or(variable.default.as_ref().map(|default| default.span())).unwrap_or(variable.span);
        let purpose = Purpose { failed: "Invalid value for variable", kind: "validation", at: Some(at), told: true };
        hold(view, &variable.validations, &purpose).map(|()| Slot::Done)
    }

    /// Whether an object is as its block says that it must be once it is there.
    pub(super) fn postconditions<'a>(&self, program: &'a Program, view: &mut View<'a>, addr: &'a ResourceAddr) -> Made {
        let Some(block) = program.resource(addr) else { return Ok(Slot::Failed) };
        let own = addr.with_key(None);
        let object = view.value(Key::Object(addr.clone()));
        let inner = View {
            instance: Some((Key::Instances(own), addr.key.clone())),
            self_object: Some(object),
            asked: std::cell::RefCell::new(view.asked.take()),
            ..*view
        };
        let purpose = Purpose {
            failed: "Resource postcondition failed",
            kind: "postcondition",
            at: None,
            told: !self.validating,
        };
        let held = hold(&inner, &block.lifecycle.postconditions, &purpose);
        view.asked = inner.asked;
        held.map(|()| Slot::Done)
    }
}

/// Whether the conditions of a check can be evaluated; whether they hold is only a warning.
pub(super) fn check(view: &View<'_>, name: &Arc<str>) -> Made {
    let Some(check) = view.module.checks.get(name) else { return Ok(Slot::Failed) };
    let mut wrong = Diagnostics::new();
    for condition in &check.asserts {
        match evaluate(&condition.condition, view).map_err(failures) {
            Ok(value) if value.marks == Marks::NONE && convert(&value, &Type::Bool).is_err() => {
                let detail = "The condition must be true or false.";
                wrong.push(Diagnostic::error("Invalid assert result", detail).at(condition.condition.span()));
            }
            Ok(_) => {}
            Err(found) => wrong.extend(found),
        }
        wrong.extend(evaluate(&condition.error_message, view).map_err(failures).err().unwrap_or_default());
    }
    if wrong.is_empty() { Ok(Slot::Done) } else { Err(wrong) }
}
