//! What a value must satisfy beyond its type: the value validations of a schema.

use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use super::cel::Expression;
use super::schema::Id;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) required: Vec<String>,
    pub(super) allowed: Vec<Value>,
    pub(super) nullable: bool,
    pub(super) default: Option<Value>,
    pub(super) minimum: Option<Limit>,
    pub(super) maximum: Option<Limit>,
    pub(super) multiple_of: Option<f64>,
    pub(super) lengths: Sizes,
    pub(super) items: Sizes,
    pub(super) properties: Sizes,
    pub(super) pattern: Option<Arc<Pattern>>,
    /// As written in the schema.
    pub(super) format: Option<String>,
    pub(super) all_of: Vec<Id>,
    pub(super) any_of: Vec<Id>,
    pub(super) one_of: Vec<Id>,
    pub(super) not: Option<Id>,
    /// A whole object inside another, with kind and metadata.
    pub(super) embedded: bool,
    /// CEL rules.
    pub(super) expressions: Vec<Arc<Expression>>,
}

/// A bound of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limit {
    pub(super) number: f64,
    pub(super) is_exclusive: bool,
}

/// Bounds of a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

/// A regular expression.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    /// None: it is not one. A definition with it is refused.
    pub(super) regex: Option<Regex>,
}

impl Rules {
    /// What a JSON schema says, apart from what it says by other schemas.
    pub(super) fn of(json: &Value) -> Rules {
        let list = |field: &str| json.get(field).and_then(Value::as_array).into_iter().flatten();
        let flag = |field: &str| json.get(field).and_then(Value::as_bool) == Some(true);
        let number = |field: &str| json.get(field).and_then(Value::as_f64);
        let limit =
            |field: &str, exclusive: &str| number(field).map(|number| Limit { number, is_exclusive: flag(exclusive) });
        let size = |field: &str| json.get(field).and_then(Value::as_u64);
        let text = |field: &str| json.get(field).and_then(Value::as_str);
        Rules {
            required: list("required").filter_map(Value::as_str).map(str::to_owned).collect(),
            allowed: list("enum").cloned().collect(),
            nullable: flag("nullable"),
            default: json.get("default").cloned(),
            minimum: limit("minimum", "exclusiveMinimum"),
            maximum: limit("maximum", "exclusiveMaximum"),
            multiple_of: number("multipleOf"),
            lengths: Sizes { least: size("minLength"), most: size("maxLength") },
            items: Sizes { least: size("minItems"), most: size("maxItems") },
            properties: Sizes { least: size("minProperties"), most: size("maxProperties") },
            pattern: text("pattern").map(|text| Arc::new(Pattern::new(text))),
            format: text("format").map(str::to_owned),
            embedded: flag("x-kubernetes-embedded-resource"),
            expressions: list("x-kubernetes-validations").map(|rule| Arc::new(Expression::compile(rule))).collect(),
            ..Rules::default()
        }
    }
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        Pattern { text: text.to_owned(), regex: Regex::new(text).ok() }
    }
}
