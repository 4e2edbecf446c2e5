//! `x-kubernetes-validations`: rules in CEL, with Kubernetes' functions by `kube-cel`.
//!
//! Not here: the static types of rules (a field that the schema does not know fails when the rule runs, not when the
//! definition is created) and cost budgets.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use kube_cel::KubeCelExt as _;
use kube_cel::cel::objects::{Key, Map, OptionalValue};
use kube_cel::cel::{self, Context, ExecutionError, Program};
use serde::Deserialize;
use serde_json::Value;

use super::check::{OldItems, old_part, shown};
use super::schema::{Shape, Type};
use super::status::Cause;

/// A rule as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rule {
    rule: String,
    message: String,
    message_expression: String,
    reason: String,
    field_path: String,
    optional_old_self: bool,
}

/// A rule that has been compiled, or could not be.
#[derive(Debug)]
pub(super) struct Expression {
    rule: Rule,
    program: Result<Program, String>,
    message: Option<Result<Program, String>>,
    uses_old: bool,
}

impl Expression {
    /// Compiles one entry of `x-kubernetes-validations`.
    pub(super) fn compile(json: &Value) -> Expression {
        let rule: Rule = serde_json::from_value(json.clone()).unwrap_or_default();
        let program = compile(&rule.rule);
        let uses_old = program.as_ref().is_ok_and(|program| program.references().has_variable("oldSelf"));
        let message = match rule.message_expression.as_str() {
            "" => None,
            text => Some(compile(text)),
        };
        Expression { rule, program, message, uses_old }
    }

    /// What is wrong with it: the field of the rule, its text, and why.
    pub(super) fn problem(&self) -> Option<(&'static str, &str, &str)> {
        match (&self.program, &self.message) {
            (Err(why), _) => Some(("rule", &self.rule.rule, why)),
            (_, Some(Err(why))) => Some(("messageExpression", &self.rule.message_expression, why)),
            _ => None,
        }
    }

    /// Whether it compares a value with what it was.
    pub(super) fn uses_old(&self) -> bool {
        self.uses_old
    }

    /// How the rule is named in messages.
    fn shown(&self) -> &str {
        let text = if self.rule.message.is_empty() { &self.rule.rule } else { &self.rule.message };
        text.trim()
    }
}

fn compile(text: &str) -> Result<Program, String> {
    Program::compile(text.trim()).map_err(|errors| errors.to_string())
}

/// What the rules of a schema say about an object; `old` is what an update replaces.
pub(super) fn check(value: &Value, old: Option<&Value>, schema: Type<'_>) -> Vec<Cause> {
    let mut walk = Walk { context: Context::default().with_all(), path: String::new(), causes: Vec::new() };
    walk.value(value, old, schema);
    walk.causes
}

struct Walk {
    /// With all functions and no variables.
    context: Context<'static>,
    path: String,
    causes: Vec<Cause>,
}

impl Walk {
    fn value(&mut self, value: &Value, old: Option<&Value>, schema: Type<'_>) {
        if value.is_null() {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        if !schema.rules().expressions.is_empty() {
            self.evaluate(value, old, schema);
        }
        for id in &schema.rules().all_of {
            self.value(value, old, schema.sibling(*id));
        }
        match (schema.shape(), value) {
            (Shape::Map { .. }, Value::Object(map)) => {
                for (name, value) in map {
                    let Some(field) = schema.field(name) else { continue };
                    let old = old_part(old, name, schema);
                    let step = if schema.declares(name) { format!(".{name}") } else { format!("[{name}]") };
                    self.below(&step, |walk| walk.value(value, old, field));
                }
            }
            (Shape::List { .. }, Value::Array(list)) => {
                let Some(items) = schema.items() else { return };
                let old = OldItems::of(old, schema);
                for (index, item) in list.iter().enumerate() {
                    let old = old.get(item, schema);
                    self.below(&format!("[{index}]"), |walk| walk.value(item, old, items));
                }
            }
            _ => {}
        }
    }

    fn below(&mut self, step: &str, work: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(step);
        work(self);
        self.path.truncate(length);
    }

    fn evaluate(&mut self, value: &Value, old: Option<&Value>, schema: Type<'_>) {
        let itself = to_cel(value, Some(schema));
        let before = old.map(|old| to_cel(old, Some(schema)));
        for expression in &schema.rules().expressions {
            let is_optional = expression.rule.optional_old_self;
            if expression.uses_old && before.is_none() && !is_optional {
                continue;
            }
            // What does not depend on the past is not held against a value that stays as it was.
            if !expression.uses_old && old == Some(value) {
                continue;
            }
            let mut scope = self.context.new_inner_scope();
            scope.add_variable_from_value("self", itself.clone());
            if is_optional {
                let optional = before.clone().map_or_else(OptionalValue::none, OptionalValue::of);
                scope.add_variable_from_value("oldSelf", cel::Value::Opaque(Arc::new(optional)));
            } else if let Some(before) = &before {
                scope.add_variable_from_value("oldSelf", before.clone());
            }
            let cause = judge(expression, &scope, value, &shown(&self.path));
            drop(scope);
            self.causes.extend(cause);
        }
    }
}

/// What a rule says about a value.
fn judge(expression: &Expression, scope: &Context<'_>, value: &Value, path: &str) -> Option<Cause> {
    let rule = &expression.rule;
    let at_type = |why: String| Cause::invalid(path, &type_name(value).into(), &why);
    let program = match &expression.program {
        Ok(program) => program,
        Err(why) => return Some(at_type(format!("rule compile error: {why}"))),
    };
    match program.execute(scope) {
        Ok(cel::Value::Bool(true)) => None,
        Ok(cel::Value::Bool(false)) => {
            let computed = expression.message.as_ref().and_then(|message| message.as_ref().ok());
            let computed = computed.and_then(|message| match message.execute(scope) {
                Ok(cel::Value::String(text)) if !text.trim().is_empty() && !text.contains('\n') => {
                    Some(text.to_string())
                }
                _ => None,
            });
            let message = computed.unwrap_or_else(|| match rule.message.trim() {
                "" => format!("failed rule: {}", rule.rule.trim()),
                message => message.to_owned(),
            });
            let field = format!("{path}{}", rule.field_path);
            Some(refusal(&rule.reason, shown(&field), value, &message))
        }
        Ok(other) => Some(at_type(format!("rule is not a yes or no ({:?}): {}", other.type_of(), expression.shown()))),
        Err(ExecutionError::UndeclaredReference(name)) => {
            Some(at_type(format!("the sandbox cannot evaluate {name:?} in rule: {}", expression.shown())))
        }
        Err(ExecutionError::NoSuchKey(key)) => {
            Some(at_type(format!("no such key: {key} evaluating rule: {}", expression.shown())))
        }
        Err(error) => {
            let why = error.to_string().to_lowercase();
            Some(at_type(format!("{why} evaluating rule: {}", expression.shown())))
        }
    }
}

fn refusal(reason: &str, field: String, value: &Value, message: &str) -> Cause {
    // Objects and lists are not printed.
    let shown = match value {
        Value::Object(_) | Value::Array(_) => String::new(),
        value => format!(": {value}"),
    };
    match reason {
        "FieldValueForbidden" => Cause::forbidden(field, message),
        "FieldValueRequired" => Cause { message: format!("Required value: {message}"), ..Cause::required(field) },
        "FieldValueDuplicate" => {
            Cause { reason: "FieldValueDuplicate", message: format!("Duplicate value{shown}"), field }
        }
        _ => Cause { reason: "FieldValueInvalid", message: format!("Invalid value{shown}: {message}"), field },
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value as rules see it: names of fields are escaped where CEL has other uses for them, times are times.
fn to_cel(value: &Value, schema: Option<Type<'_>>) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(*flag),
        Value::Number(number) => number_to_cel(number, schema),
        Value::String(text) => text_to_cel(text, schema),
        Value::Array(list) => {
            let items = schema.and_then(Type::items);
            cel::Value::List(Arc::new(list.iter().map(|item| to_cel(item, items)).collect()))
        }
        Value::Object(map) => {
            let declares = |name: &str| schema.is_some_and(|schema| schema.declares(name));
            let entries = map.iter().map(|(name, value)| {
                let field = schema.and_then(|schema| schema.field(name));
                let key = if declares(name) { escape(name) } else { name.clone() };
                (Key::String(Arc::new(key)), to_cel(value, field))
            });
            cel::Value::Map(Map { map: Arc::new(entries.collect::<HashMap<_, _>>()) })
        }
    }
}

fn number_to_cel(number: &serde_json::Number, schema: Option<Type<'_>>) -> cel::Value {
    use super::schema::Scalar;
    let is_number = schema.is_some_and(|schema| *schema.shape() == Shape::Scalar(Scalar::Number));
    match number.as_i64() {
        Some(integer) if !is_number => cel::Value::Int(integer),
        _ => cel::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

fn text_to_cel(text: &str, schema: Option<Type<'_>>) -> cel::Value {
    let format = schema.and_then(|schema| schema.rules().format.as_deref()).unwrap_or_default();
    let plain = || cel::Value::String(Arc::new(text.to_owned()));
    static TIME: OnceLock<Option<Program>> = OnceLock::new();
    static DURATION: OnceLock<Option<Program>> = OnceLock::new();
    // A format that the text does not have is another rule's refusal.
    let by_function = |program: &OnceLock<Option<Program>>, source: &str| {
        let program = program.get_or_init(|| Program::compile(source).ok()).as_ref()?;
        let mut context = Context::default();
        context.add_variable_from_value("text", plain());
        program.execute(&context).ok()
    };
    match format.replace('-', "").as_str() {
        "datetime" | "date" => by_function(&TIME, "timestamp(text)").unwrap_or_else(plain),
        "duration" => by_function(&DURATION, "duration(text)").unwrap_or_else(plain),
        "byte" => match base64::engine::general_purpose::STANDARD.decode(text) {
            Ok(bytes) => cel::Value::Bytes(Arc::new(bytes)),
            Err(_) => plain(),
        },
        _ => plain(),
    }
}

/// The names that CEL has other uses for.
const RESERVED: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// A field's name as rules write it.
fn escape(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__").replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__")
}
