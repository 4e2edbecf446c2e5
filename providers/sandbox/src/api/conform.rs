//! Bringing an object into the form in which its kind is stored: unknown fields out, nulls and empty maps out, quantities
//! in canonical spelling, defaults of the schema in; and telling what does not fit.

use serde_json::Value;

use super::check::shown;
use super::schema::{Scalar, Shape, Type};
use super::status::Cause;
use providers_kubernetes::Quantity;

/// What was found on the way.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Paths of fields that the schema does not know, as messages quote them (`spec.foo`, `spec.items[0].bar`).
    pub(super) unknown: Vec<String>,
    /// What does not fit the schema.
    pub(super) causes: Vec<Cause>,
}

/// Which kind's habits to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// Go types: a null, an empty map and an empty optional list are as good as absent.
    BuiltIn,
    /// A custom resource: values stay as written; a null counts as absent only where the schema has a default.
    Custom,
}

/// Conforms a whole object or the patch of an apply. Rules beyond types are [`super::check`]'s.
pub(super) fn conform(object: &mut Value, schema: Type<'_>, flavour: Flavour) -> Findings {
    let mut findings = Findings::default();
    shape(object, schema, flavour, &mut String::new(), &mut findings);
    findings
}

fn shape(value: &mut Value, schema: Type<'_>, flavour: Flavour, path: &mut String, findings: &mut Findings) {
    let wrong = |value: &Value, expected: &str| Cause::wrong_type(shown(path), value, expected);
    match (schema.shape(), &mut *value) {
        (Shape::Any, _) => {}
        (Shape::Scalar(scalar), found) => {
            if found.is_null() && (schema.rules().nullable || flavour == Flavour::BuiltIn) {
                return;
            }
            match (scalar, &*found) {
                (Scalar::String, Value::String(_))
                | (Scalar::Boolean, Value::Bool(_))
                | (Scalar::Number, Value::Number(_))
                | (Scalar::IntOrString, Value::String(_)) => {}
                (Scalar::Integer | Scalar::IntOrString, Value::Number(number)) => {
                    // JSON has one kind of number: 1.0 is an integer, too.
                    match number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9.0e15) {
                        Some(float) if number.is_f64() => *found = Value::from(float as i64),
                        Some(_) => {}
                        None if number.is_i64() || number.is_u64() => {}
                        None => findings.causes.push(wrong(found, "integer")),
                    }
                }
                (Scalar::Quantity, _) => match Quantity::parse(found) {
                    Some(quantity) => *found = Value::String(quantity.to_string()),
                    None => findings.causes.push(Cause::invalid(
                        shown(path),
                        found,
                        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                    )),
                },
                (expected, _) => findings.causes.push(wrong(found, scalar_name(*expected))),
            }
        }
        (Shape::Map { .. }, Value::Object(_)) => map(value, schema, flavour, path, findings),
        (Shape::List { .. }, Value::Array(list)) => {
            let items = schema.items().expect("a list has a type of items");
            for (index, item) in list.iter_mut().enumerate() {
                let length = path.len();
                path.push_str(&format!("[{index}]"));
                shape(item, items, flavour, path, findings);
                path.truncate(length);
            }
        }
        (_, Value::Null) if flavour == Flavour::BuiltIn || schema.rules().nullable => {}
        (Shape::Map { .. }, found) => findings.causes.push(wrong(found, "object")),
        (Shape::List { .. }, found) => findings.causes.push(wrong(found, "array")),
    }
}

fn map(value: &mut Value, schema: Type<'_>, flavour: Flavour, path: &mut String, findings: &mut Findings) {
    // Metadata is a Go type in every kind.
    let flavour = if path == ".metadata" { Flavour::BuiltIn } else { flavour };
    let map = value.as_object_mut().expect("the caller matched an object");
    let mut dropped = Vec::new();
    for (name, value) in map.iter_mut() {
        let length = path.len();
        path.push('.');
        path.push_str(name);
        match schema.field(name) {
            None => {
                findings.unknown.push(shown(path));
                dropped.push(name.clone());
            }
            Some(field) => {
                let is_required = schema.rules().required.contains(name);
                if !is_absent(value, field, flavour, is_required) {
                    shape(value, field, flavour, path, findings);
                }
                // What held unknown fields only may be empty now.
                if is_absent(value, field, flavour, is_required) {
                    dropped.push(name.clone());
                }
            }
        }
        path.truncate(length);
    }
    for name in dropped {
        map.remove(&name);
    }
}

/// Whether Go would not write this field.
fn is_absent(value: &Value, schema: Type<'_>, flavour: Flavour, is_required: bool) -> bool {
    match (flavour, value, schema.shape()) {
        (Flavour::BuiltIn, Value::Null, shape) => *shape != Shape::Any,
        (Flavour::Custom, Value::Null, _) => schema.rules().default.is_some() && !schema.rules().nullable,
        (Flavour::BuiltIn, Value::Array(list), Shape::List { .. }) => list.is_empty() && !is_required,
        // Structs are pointers where being empty means something (`emptyDir: {}`); maps are not.
        (Flavour::BuiltIn, Value::Object(map), Shape::Map { fields, .. }) => map.is_empty() && fields.is_empty(),
        _ => false,
    }
}

/// Fills in the defaults of the schema, wherever their parent is there.
pub(super) fn fill_defaults(value: &mut Value, schema: Type<'_>) {
    match (schema.shape(), value) {
        (Shape::Map { fields, .. }, Value::Object(map)) => {
            for name in fields.keys() {
                let field = schema.field(name).expect("the field is declared");
                let is_null = field.rules().nullable && map.get(name) == Some(&Value::Null);
                if let Some(default) = field.rules().default.as_ref().filter(|_| !is_null) {
                    super::object::default_field(map, name, default.clone());
                }
            }
            for (name, value) in map.iter_mut() {
                if let Some(field) = schema.field(name) {
                    fill_defaults(value, field);
                }
            }
        }
        (Shape::List { .. }, Value::Array(list)) => {
            let items = schema.items().expect("a list has a type of items");
            list.iter_mut().for_each(|item| fill_defaults(item, items));
        }
        _ => {}
    }
}

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::String => "string",
        Scalar::Integer => "integer",
        Scalar::Number => "number",
        Scalar::Boolean => "boolean",
        Scalar::IntOrString => "integer,string",
        Scalar::Quantity => "quantity",
    }
}
