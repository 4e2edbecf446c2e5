//! The evaluator: one method per form of expression; the larger ones are in files of their own.
//!
//! Recursion follows the tree, whose height the parser bounds; the two chains that it does not bound are loops here.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_model::address::InstanceKey;
use engine_value::{ConvertError, Data, Marks, Type, Unknown, Value, convert};

use crate::{
    eval::{
        Repetition, Scope, Stop, Subject, describe, place,
        reference::{self, Named},
        traverse,
    },
    syntax::{Expr, ExprId, List, Node, ObjectItem, Step, StepKind, Symbol, Tree},
};

/// The value of an expression.
///
/// An expression as deep as the parser allows needs 4 MiB of stack in a build without optimisation.
///
/// # Errors
/// See [`Stop`]. Failures of several parts are all told, if none of the parts is blocked.
pub fn evaluate<S: Scope>(expr: &Expr, scope: &S) -> Result<Value, Stop<S::Key>> {
    Evaluator::new(expr.tree(), scope).eval(expr.id())
}

/// The value of an expression, as one of a type.
///
/// # Errors
/// As [`evaluate`]; and if the value is not of the type: `what` says what it is for, as in `value for attribute "x"`.
pub fn evaluate_as<S: Scope>(expr: &Expr, ty: &Type, what: &str, scope: &S) -> Result<Value, Stop<S::Key>> {
    let value = evaluate(expr, scope)?;
    convert(&value, ty).map_err(|error| {
        let mut diagnostic = failed_conversion(expr, &error, what);
        Evaluator { quiet: 0, ..Evaluator::new(expr.tree(), scope) }.explain(&mut diagnostic, expr.id());
        diagnostic.into()
    })
}

/// The error for an expression whose value is not of the type that is wanted: `Inappropriate value for attribute "x": …`,
/// at the part of the expression that is wrong, as far as that can be told from its literals.
pub fn failed_conversion(expr: &Expr, error: &ConvertError, what: &str) -> Diagnostic {
    Diagnostic::error("Incorrect attribute value type", format!("Inappropriate {what}: {error}."))
        .at(place::in_expression(expr, &error.path))
}

/// Collects the failures of several parts; what is blocked ends evaluation at once.
pub(super) struct Gather(Diagnostics);

impl Gather {
    pub(super) fn new() -> Self {
        Self(Diagnostics::new())
    }

    /// The value, or `None` if it failed.
    pub(super) fn take<T, K>(&mut self, result: Result<T, Stop<K>>) -> Result<Option<T>, Stop<K>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Failed(diagnostics)) => {
                self.0.extend(diagnostics);
                Ok(None)
            }
            Err(blocked) => Err(blocked),
        }
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// The failures, if there were any.
    pub(super) fn finish<K>(self) -> Result<(), Stop<K>> {
        if self.0.is_empty() { Ok(()) } else { Err(Stop::Failed(self.0)) }
    }
}

pub(super) type Outcome<K> = Result<Value, Stop<K>>;

pub(super) struct Evaluator<'a, S> {
    pub(super) tree: &'a Arc<Tree>,
    pub(super) scope: &'a S,
    /// Names that are bound by `for`, innermost last.
    pub(super) bound: Vec<(Arc<str>, Value)>,
    /// Elements of the splats around, innermost last.
    pub(super) items: Vec<Value>,
    /// Above zero, failures are going to be dropped, so nobody needs their explanation.
    pub(super) quiet: usize,
    /// Is it a template that a function renders?
    pub(super) in_template: bool,
}

impl<'a, S: Scope> Evaluator<'a, S> {
    pub(super) fn new(tree: &'a Arc<Tree>, scope: &'a S) -> Self {
        Self { tree, scope, bound: Vec::new(), items: Vec::new(), quiet: 0, in_template: false }
    }

    pub(super) fn eval(&mut self, id: ExprId) -> Outcome<S::Key> {
        match self.tree.node(id) {
            // The parser has told why; whoever evaluates all the same gets a value that fits everywhere.
            Node::Invalid => Ok(Value::unknown(Type::Dynamic)),
            Node::Null => Ok(Value::null(Type::Dynamic)),
            Node::Bool(value) => Ok(Value::bool(value)),
            Node::Number(number) => Ok(Value::number(self.tree.number(number).clone())),
            Node::Text(text) => Ok(Data::String(Arc::clone(self.tree.str(text))).into()),
            Node::Template(parts) => self.template(id, parts),
            Node::Wrap(inner) | Node::Paren(inner) => self.eval(inner),
            Node::Tuple(elements) => self.tuple(elements),
            Node::Object(items) => self.object(items),
            Node::For(it) => self.for_expression(it),
            Node::Traversal { root, steps } => self.traversal(id, root, steps),
            Node::Access { of, steps } => {
                let value = self.eval(of)?;
                self.steps(id, value, self.tree.steps(steps))
            }
            Node::Splat { of, each } => self.splat(of, each),
            Node::SplatItem => Ok(self.items.last().cloned().expect("a splat item stands inside of a splat")),
            Node::Call { name, args, expand } => self.call(id, name, args, expand),
            Node::Conditional { .. } => self.conditional(id),
            Node::Unary { operator, operand } => self.unary(id, operator, operand),
            Node::Binary { .. } => self.binary(id),
        }
    }

    pub(super) fn span(&self, id: ExprId) -> Span {
        self.tree.span(id)
    }

    /// An error at an expression, with the values of the references in it.
    pub(super) fn error<K>(&mut self, id: ExprId, summary: &str, detail: impl Into<String>) -> Stop<K>
    where
        S: Scope<Key = K>,
    {
        let mut diagnostic = Diagnostic::error(summary, detail).at(self.span(id));
        self.explain(&mut diagnostic, id);
        diagnostic.into()
    }

    /// Adds the values of the references in an expression to an error about it. They have all been resolved before.
    pub(super) fn explain(&mut self, diagnostic: &mut Diagnostic, id: ExprId) {
        /// More than these tell nothing new.
        const MOST: usize = 8;
        if self.quiet > 0 {
            return;
        }
        for traversal in Expr::new(Arc::clone(self.tree), id).traversals() {
            if diagnostic.values.len() == MOST {
                return;
            }
            let Node::Traversal { root, steps } = traversal.node() else { continue };
            self.quiet += 1;
            let value = self.eval(traversal.id());
            self.quiet -= 1;
            if let Ok(value) = value {
                let text = self.written(root, self.tree.steps(steps));
                if !diagnostic.values.iter().any(|(known, _)| *known == text) {
                    diagnostic.values.push((text, describe(&value)));
                }
            }
        }
    }

    /// A traversal as it is written, keys that are no literals as `[...]`.
    fn written(&self, root: Symbol, steps: &[Step]) -> String {
        let mut text = self.tree.str(root).to_string();
        for step in steps {
            match step.kind {
                StepKind::Attr(name) => {
                    text.push('.');
                    text.push_str(self.tree.str(name));
                }
                StepKind::Index(key) => match self.tree.node(key) {
                    Node::Number(number) => text.push_str(&format!("[{}]", self.tree.number(number))),
                    Node::Text(key) => text.push_str(&format!("[{:?}]", self.tree.str(key))),
                    Node::Traversal { root, steps } => {
                        text.push_str(&format!("[{}]", self.written(root, self.tree.steps(steps))));
                    }
                    _ => text.push_str("[...]"),
                },
            }
        }
        text
    }

    fn tuple(&mut self, elements: List<ExprId>) -> Outcome<S::Key> {
        let mut gather = Gather::new();
        let mut values = Vec::with_capacity(elements.len());
        for element in self.tree.exprs(elements) {
            let result = self.eval(*element);
            values.extend(gather.take(result)?);
        }
        gather.finish()?;
        Ok(Value::tuple(values))
    }

    fn object(&mut self, items: List<ObjectItem>) -> Outcome<S::Key> {
        let mut gather = Gather::new();
        let mut attributes = BTreeMap::new();
        let mut marks = Marks::NONE;
        let mut unknown_key = None;
        for item in self.tree.items(items) {
            let key = self.object_key(item.key);
            let key = gather.take(key)?;
            let value = self.eval(item.value);
            let value = gather.take(value)?;
            let (Some(key), Some(value)) = (key, value) else { continue };
            marks = marks.union(key.marks);
            match traverse::key_text(&key) {
                Some(text) => {
                    attributes.insert(text, value);
                }
                None => {
                    marks = marks.union(value.marks_deep());
                    unknown_key = key.as_unknown().map(|unknown| unknown.origin).or(unknown_key);
                }
            }
        }
        gather.finish()?;
        let value = match unknown_key {
            Some(origin) => Value::unknown_with(Unknown::never_null(Type::Dynamic).from_origin(origin)),
            None => Data::Object(Arc::new(attributes)).into(),
        };
        Ok(value.mark(marks))
    }

    fn object_key(&mut self, id: ExprId) -> Outcome<S::Key> {
        if let Node::Traversal { .. } = self.tree.node(id) {
            // A single word is text already. `providers = { p.a = p.b }` is no expression and read elsewhere.
            let detail = "If this expression is intended to be a reference, wrap it in parentheses. If it's instead \
                          intended as a literal name containing periods, wrap it in quotes to create a string literal.";
            return Err(Diagnostic::error("Ambiguous attribute key", detail).at(self.span(id)).into());
        }
        let key = self.eval(id)?;
        if key.is_null() {
            return Err(self.error(id, "Null value as key", "Can't use a null value as a key."));
        }
        convert(&key, &Type::String)
            .map_err(|error| self.error(id, "Incorrect key type", format!("Can't use this value as a key: {error}.")))
    }

    /// A name and its steps.
    fn traversal(&mut self, id: ExprId, root: Symbol, steps: List<Step>) -> Outcome<S::Key> {
        let steps = self.tree.steps(steps);
        let name = self.tree.str(root);
        if let Some((_, value)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            let value = value.clone();
            return self.steps(id, value, steps);
        }
        let named = reference::name(self.tree, self.span(id), root, steps)?;
        let (value, used) = self.resolve(named, steps)?;
        self.steps(id, value, &steps[used..])
    }

    /// The value of what a reference names, in its real width, and how many steps belong to that.
    fn resolve(&mut self, named: Named, steps: &[Step]) -> Result<(Value, usize), Stop<S::Key>> {
        let Named { mut subject, steps: mut used, mut span } = named;
        if !matches!(subject, Subject::Resource { .. } | Subject::Module { .. }) {
            return Ok((self.scope.resolve(&subject, span)?, used));
        }
        let repetition = self.scope.repetition(&subject, span)?;
        let mut marks = Marks::NONE;
        match (repetition, steps.get(used).map(|step| step.kind)) {
            (Repetition::Single, _) | (_, None) => {}
            (Repetition::Count | Repetition::ForEach, Some(StepKind::Attr(_))) => {
                return Err(missing_key(&subject, repetition, span).into());
            }
            (Repetition::Count | Repetition::ForEach, Some(StepKind::Index(at))) => {
                let key = self.eval(at)?;
                if let Some(instance) = instance_key(repetition, &key) {
                    marks = key.marks_deep();
                    let (Subject::Resource { key, .. } | Subject::Module { key, .. }) = &mut subject else {
                        return Ok((self.scope.resolve(&subject, span)?, used));
                    };
                    *key = Some(instance);
                    used += 1;
                }
            }
        }
        let is_one = repetition == Repetition::Single || used > 0 && matches!(subject_key(&subject), Some(Some(_)));
        if let Subject::Module { output, .. } = &mut subject
            && is_one
            && let Some(StepKind::Attr(name)) = steps.get(used).map(|step| step.kind)
        {
            *output = Some(Arc::clone(self.tree.str(name)));
            used += 1;
        }
        if let Some(last) = used.checked_sub(1) {
            span.end = steps[last].end;
        }
        Ok((self.scope.resolve(&subject, span)?.mark(marks), used))
    }

    /// Attributes and elements of a value.
    fn steps(&mut self, id: ExprId, mut value: Value, steps: &[Step]) -> Outcome<S::Key> {
        for step in steps {
            let span = self.tree.at((step.start, step.end));
            let taken = match step.kind {
                StepKind::Attr(name) => traverse::take_attribute(&value, self.tree.str(name), span),
                StepKind::Index(key) => {
                    let key = self.eval(key)?;
                    traverse::index(&value, &key, span)
                }
            };
            match taken {
                Ok(part) => value = part,
                Err(mut diagnostic) => {
                    if let StepKind::Index(key) = step.kind {
                        self.explain(&mut diagnostic, key);
                    }
                    self.explain_start(&mut diagnostic, id, &value);
                    return Err(diagnostic.into());
                }
            }
        }
        Ok(value)
    }

    /// Says what the value is on which the next step failed.
    fn explain_start(&self, diagnostic: &mut Diagnostic, id: ExprId, value: &Value) {
        let Some(failed) = diagnostic.span else { return };
        if self.quiet > 0 {
            return;
        }
        if let Node::Traversal { root, steps } = self.tree.node(id) {
            let before = self.tree.steps(steps).iter().take_while(|step| step.start < failed.start).count();
            let text = self.written(root, &self.tree.steps(steps)[..before]);
            diagnostic.values.insert(0, (text, describe(value)));
        }
    }
}

fn subject_key(subject: &Subject) -> Option<&Option<InstanceKey>> {
    match subject {
        Subject::Resource { key, .. } | Subject::Module { key, .. } => Some(key),
        _ => None,
    }
}

/// The key of one instance, if the value is one; if not, the whole is asked for and indexed, which tells what is wrong.
fn instance_key(repetition: Repetition, key: &Value) -> Option<InstanceKey> {
    match repetition {
        Repetition::Single => None,
        Repetition::Count => {
            let number = convert(key, &Type::Number).ok()?;
            number.as_i64().and_then(|int| u64::try_from(int).ok()).map(InstanceKey::Int)
        }
        Repetition::ForEach => {
            let text = convert(key, &Type::String).ok()?;
            text.as_str().map(|text| InstanceKey::String(text.into()))
        }
    }
}

fn missing_key(subject: &Subject, repetition: Repetition, span: Span) -> Diagnostic {
    let text = subject.text();
    let (argument, example) = match repetition {
        Repetition::ForEach => ("for_each", "each.key"),
        Repetition::Count | Repetition::Single => ("count", "count.index"),
    };
    let detail = format!(
        "Because {text} has \"{argument}\" set, its attributes must be accessed on specific instances.\n\nFor example, to \
         correlate with indices of a referring resource, use:\n    {text}[{example}]"
    );
    Diagnostic::error("Missing resource instance key", detail).at(span)
}

/// The unknown value of a type that waits for what another value waits for, with its marks.
pub(super) fn unknown_like(value: &Value, ty: Type) -> Value {
    let origin = value.first_unknown().and_then(|unknown| unknown.origin);
    Value::unknown_with(Unknown { ty, refinements: engine_value::Refinements::default(), origin }).mark(value.marks)
}
