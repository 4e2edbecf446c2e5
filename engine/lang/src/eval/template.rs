//! Templates: text with interpolations and directives.

use std::sync::Arc;

use engine_value::{Marks, Origin, Refinements, Type, Unknown, Value, convert};

use crate::{
    eval::{
        Scope, Stop,
        expression::{Evaluator, Gather, Outcome},
    },
    syntax::{ExprId, List, Part},
};

/// What is known of the text so far.
#[derive(Default)]
struct Written {
    text: String,
    marks: Marks,
    /// Set at the first part that is not known: the text stops there.
    unknown: Option<Option<Origin>>,
}

impl Written {
    fn push(&mut self, text: &str) {
        if self.unknown.is_none() {
            self.text.push_str(text);
        }
    }

    fn wait_for(&mut self, value: &Value) {
        let origin = value.first_unknown().and_then(|unknown| unknown.origin);
        self.unknown.get_or_insert(origin);
    }
}

impl<S: Scope> Evaluator<'_, S> {
    pub(super) fn template(&mut self, id: ExprId, parts: List<Part>) -> Outcome<S::Key> {
        /// A longer prefix tells nothing that matters.
        const LONGEST_PREFIX: usize = 128;
        let mut written = Written::default();
        let mut gather = Gather::new();
        self.parts(id, parts, &mut written, &mut gather)?;
        gather.finish()?;
        let value = match written.unknown {
            None => Value::string(written.text),
            Some(origin) => {
                let end = (0..=LONGEST_PREFIX.min(written.text.len()))
                    .rev()
                    .find(|end| written.text.is_char_boundary(*end))
                    .unwrap_or(0);
                let refinements = Refinements::begins_with(&written.text[..end]);
                Value::unknown_with(Unknown { ty: Type::String, refinements, origin })
            }
        };
        Ok(value.mark(written.marks))
    }

    fn parts(
        &mut self,
        id: ExprId,
        parts: List<Part>,
        written: &mut Written,
        gather: &mut Gather,
    ) -> Result<(), Stop<S::Key>> {
        for part in self.tree.parts(parts) {
            match *part {
                Part::Text(text) => written.push(self.tree.str(text)),
                Part::Interpolation(expr) => {
                    let result = self.interpolation(expr, written);
                    gather.take(result)?;
                }
                Part::If { condition, then, otherwise } => {
                    self.directive_if(id, condition, then, otherwise, written, gather)?;
                }
                Part::For { key_name, value_name, collection, body } => {
                    let elements = self.elements(collection, "'for' directive");
                    let Some((collection, elements)) = gather.take(elements)? else { continue };
                    written.marks = written.marks.union(collection.marks);
                    let Some(elements) = elements else {
                        written.wait_for(&collection);
                        continue;
                    };
                    let key_name = key_name.map(|name| Arc::clone(self.tree.str(name)));
                    let value_name = Arc::clone(self.tree.str(value_name));
                    for (key, value) in elements {
                        self.with_element((key_name.as_ref(), &value_name), key, value, |evaluator| {
                            evaluator.parts(id, body, written, gather)
                        })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn directive_if(
        &mut self,
        id: ExprId,
        condition_id: ExprId,
        then: List<Part>,
        otherwise: List<Part>,
        written: &mut Written,
        gather: &mut Gather,
    ) -> Result<(), Stop<S::Key>> {
        let condition = self.directive_condition(condition_id);
        let Some(condition) = gather.take(condition)? else { return Ok(()) };
        written.marks = written.marks.union(condition.marks);
        let (taken, other) = match condition.as_bool() {
            Some(true) => (then, otherwise),
            Some(false) => (otherwise, then),
            None => {
                written.wait_for(&condition);
                // The marks of both arms count; what fails in one of them may never be asked for.
                let mut unasked = Gather::new();
                self.quiet += 1;
                let both = self
                    .parts(id, then, written, &mut unasked)
                    .and_then(|()| self.parts(id, otherwise, written, &mut unasked));
                self.quiet -= 1;
                return both;
            }
        };
        self.parts(id, taken, written, gather)?;
        // The marks of the other arm count too, as in a conditional; what fails in it is not asked for.
        let mut unasked = Written::default();
        self.quiet += 1;
        let marked = self.parts(id, other, &mut unasked, &mut Gather::new());
        self.quiet -= 1;
        written.marks = written.marks.union(unasked.marks);
        marked
    }

    fn directive_condition(&mut self, id: ExprId) -> Outcome<S::Key> {
        let condition = self.eval(id)?;
        if condition.is_null() {
            let detail = "The condition value is null. Conditions must either be true or false.";
            return Err(self.error(id, "Null condition", detail));
        }
        if !condition.is_known() {
            return Ok(condition);
        }
        convert(&condition, &Type::Bool).map_err(|_| {
            let detail = "The condition expression must be of type bool.";
            self.error(id, "Incorrect condition type", detail)
        })
    }

    fn interpolation(&mut self, id: ExprId, written: &mut Written) -> Result<(), Stop<S::Key>> {
        let summary = "Invalid template interpolation value";
        let value = self.eval(id)?;
        if value.is_null() {
            let detail = "The expression result is null. Cannot include a null value in a string template.";
            return Err(self.error(id, summary, detail));
        }
        if let Some(unknown) = value.as_unknown() {
            written.marks = written.marks.union(value.marks);
            // What is known of the beginning of this part is known of the whole, too.
            if let Some(prefix) = &unknown.refinements.prefix {
                written.push(prefix);
            }
            written.wait_for(&value);
            return Ok(());
        }
        let text = match convert(&value, &Type::String) {
            Ok(text) => text,
            Err(error) => {
                let detail = format!("Cannot include the given value in a string template: {error}.");
                return Err(self.error(id, summary, detail));
            }
        };
        written.marks = written.marks.union(value.marks);
        written.push(text.as_str().unwrap_or_default());
        Ok(())
    }
}
