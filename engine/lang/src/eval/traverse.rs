//! Attributes and elements of values: `a.b`, `a[k]`.

use std::sync::Arc;

use engine_diag::{Diagnostic, Span};
use engine_value::{Data, Type, Unknown, Value, convert};

use crate::eval::did_you_mean;

/// An unknown value of a type that comes out of an unknown value, waiting for the same.
pub(crate) fn unknown_part(of: &Unknown, ty: Type) -> Value {
    Value::unknown_with(Unknown { ty, refinements: engine_value::Refinements::default(), origin: of.origin })
}

const ATTRIBUTE_OF_NULL: &str = "Attempt to get attribute from null value";
const INDEX_OF_NULL: &str = "Attempt to index null value";
const NO_ELEMENT: &str = "Missing map element";
const UNSUPPORTED: &str = "Unsupported attribute";
const NO_ATTRIBUTE: &str = "This object does not have an attribute named";
const INVALID_INDEX: &str = "Invalid index";

/// Does an error of an evaluation say that a part is not there: no such attribute, element or index, or one of null? Who
/// asks about an object that others still fill in may ask again later; every other error stays.
pub fn is_absence(error: &Diagnostic) -> bool {
    match error.summary.as_str() {
        ATTRIBUTE_OF_NULL | INDEX_OF_NULL | NO_ELEMENT => true,
        UNSUPPORTED => error.detail.starts_with(NO_ATTRIBUTE),
        INVALID_INDEX => error.detail.starts_with(NO_SUCH),
        _ => false,
    }
}

fn unsupported(span: Span, detail: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(UNSUPPORTED, detail).at(span))
}

/// `value.name`. The marks of the value go with it.
///
/// # Errors
/// If it has no such attribute.
pub fn take_attribute(value: &Value, name: &str, span: Span) -> Result<Value, Box<Diagnostic>> {
    let part = match &value.data {
        Data::Null(_) => {
            let detail = "This value is null, so it does not have any attributes.";
            return Err(Box::new(Diagnostic::error(ATTRIBUTE_OF_NULL, detail).at(span)));
        }
        Data::Object(attributes) => match attributes.get(name) {
            Some(part) => part.clone(),
            None => return Err(no_attribute(name, &suggestion(name, value, attributes.keys()), span)),
        },
        Data::Map(_, elements) => match elements.get(name) {
            Some(part) => part.clone(),
            None => {
                let meant = suggestion(name, value, elements.keys());
                let detail = format!("This map does not have an element with the key \"{name}\".{meant}");
                return Err(Box::new(Diagnostic::error(NO_ELEMENT, detail).at(span)));
            }
        },
        Data::Unknown(unknown) => match &unknown.ty {
            Type::Dynamic => unknown_part(unknown, Type::Dynamic),
            Type::Map(element) => unknown_part(unknown, element.as_ref().clone()),
            Type::Object(attributes) => match attributes.get(name) {
                Some(attr) => unknown_part(unknown, attr.ty.clone()),
                None => return Err(no_attribute(name, &suggestion(name, value, attributes.keys()), span)),
            },
            other => return Err(cannot_have(other, name, span)),
        },
        _ => return Err(cannot_have(&value.type_of(), name, span)),
    };
    Ok(part.mark(value.marks))
}

/// ` Did you mean "x"?`, unless that would tell what is in a sensitive value.
fn suggestion<'a>(name: &str, value: &Value, names: impl Iterator<Item = &'a Arc<str>>) -> String {
    if value.marks.sensitive { String::new() } else { did_you_mean(name, names.map(AsRef::as_ref)) }
}

fn no_attribute(name: &str, meant: &str, span: Span) -> Box<Diagnostic> {
    unsupported(span, format!("{NO_ATTRIBUTE} \"{name}\".{meant}"))
}

fn cannot_have(ty: &Type, name: &str, span: Span) -> Box<Diagnostic> {
    match ty {
        Type::List(element) | Type::Set(element) if matches!(**element, Type::Object(_)) => {
            let kind = if matches!(ty, Type::List(_)) { "list" } else { "set" };
            let has = element.attributes().is_some_and(|attributes| attributes.contains_key(name));
            let hint = match (has, kind) {
                (true, "list") => format!(
                    " Did you mean to access attribute \"{name}\" for a specific element of the list, or across all \
                     elements of the list?"
                ),
                (true, _) => format!(" Did you mean to access attribute \"{name}\" across all elements of the set?"),
                _ => String::new(),
            };
            unsupported(span, format!("Can't access attributes on a {kind} of objects.{hint}"))
        }
        ty if ty.is_primitive() => {
            unsupported(span, format!("Can't access attributes on a primitive-typed value ({}).", ty.friendly()))
        }
        _ => unsupported(span, "This value does not have any attributes."),
    }
}

fn invalid(span: Span, detail: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(INVALID_INDEX, detail).at(span))
}

const NO_SUCH: &str = "The given key does not identify an element in this collection value";

/// `value[key]`. The marks of both go with it.
///
/// # Errors
/// If it has no such element.
pub fn index(value: &Value, key: &Value, span: Span) -> Result<Value, Box<Diagnostic>> {
    if value.is_null() {
        let detail = "This value is null, so it does not have any indices.";
        return Err(Box::new(Diagnostic::error(INDEX_OF_NULL, detail).at(span)));
    }
    if key.is_null() {
        return Err(invalid(span, "Can't use a null value as an indexing key."));
    }
    let part = match (value.as_unknown(), key.as_unknown()) {
        // A key that may be anything may be a wrong one, so not even the type is known.
        (_, Some(key)) if key.ty == Type::Dynamic && has_indices(value) => unknown_part(key, Type::Dynamic),
        (Some(unknown), _) => index_unknown(unknown, key, span)?,
        (None, _) => index_known(value, key, span)?,
    };
    Ok(part.mark(value.marks).mark(key.marks_deep()))
}

fn has_indices(value: &Value) -> bool {
    match value.as_unknown() {
        Some(unknown) => !unknown.ty.is_primitive() && !matches!(unknown.ty, Type::Set(_)),
        None => matches!(value.data, Data::List(..) | Data::Map(..) | Data::Tuple(_) | Data::Object(_)),
    }
}

fn key_as(key: &Value, ty: &Type, span: Span) -> Result<Value, Box<Diagnostic>> {
    convert(key, ty).map_err(|error| invalid(span, format!("{NO_SUCH}: {error}.")))
}

fn index_known(value: &Value, key: &Value, span: Span) -> Result<Value, Box<Diagnostic>> {
    match &value.data {
        Data::List(_, elements) | Data::Tuple(elements) => {
            let key = key_as(key, &Type::Number, span)?;
            if let Some(unknown) = key.as_unknown() {
                let element = match &value.data {
                    Data::List(element, _) => element.clone(),
                    _ => Type::Dynamic,
                };
                return Ok(unknown_part(unknown, element));
            }
            let at = place(&key, span)?;
            elements.get(at).cloned().ok_or_else(|| {
                let why = if elements.is_empty() {
                    "the collection has no elements"
                } else {
                    "the given index is greater than or equal to the length of the collection"
                };
                invalid(span, format!("{NO_SUCH}: {why}."))
            })
        }
        Data::Map(_, elements) | Data::Object(elements) => {
            let key = key_as(key, &Type::String, span)?;
            if let Some(unknown) = key.as_unknown() {
                let element = match &value.data {
                    Data::Map(element, _) => element.clone(),
                    _ => Type::Dynamic,
                };
                return Ok(unknown_part(unknown, element));
            }
            let name = key.as_str().unwrap_or_default();
            elements.get(name).cloned().ok_or_else(|| {
                let meant = suggestion(name, value, elements.keys());
                invalid(span, format!("{NO_SUCH}.{meant}"))
            })
        }
        _ => Err(no_indices(&value.type_of(), span)),
    }
}

/// Of a value that is not known yet, only the type tells what is wrong; whether the element is there shows later.
fn index_unknown(unknown: &Unknown, key: &Value, span: Span) -> Result<Value, Box<Diagnostic>> {
    match &unknown.ty {
        Type::List(element) => {
            key_as(key, &Type::Number, span)?;
            Ok(unknown_part(unknown, element.as_ref().clone()))
        }
        Type::Map(element) => {
            key_as(key, &Type::String, span)?;
            Ok(unknown_part(unknown, element.as_ref().clone()))
        }
        Type::Tuple(elements) => {
            let key = key_as(key, &Type::Number, span)?;
            if !key.is_known() {
                return Ok(unknown_part(unknown, Type::Dynamic));
            }
            let at = place(&key, span)?;
            let ty = elements.get(at).cloned().ok_or_else(|| {
                let detail =
                    format!("{NO_SUCH}: the given index is greater than or equal to the length of the collection.");
                invalid(span, detail)
            })?;
            Ok(unknown_part(unknown, ty))
        }
        Type::Dynamic | Type::Object(_) => {
            if unknown.ty != Type::Dynamic {
                key_as(key, &Type::String, span)?;
            }
            Ok(unknown_part(unknown, Type::Dynamic))
        }
        other => Err(no_indices(other, span)),
    }
}

/// The place that a known number stands for.
fn place(key: &Value, span: Span) -> Result<usize, Box<Diagnostic>> {
    let Some(number) = key.as_number() else { return Err(invalid(span, format!("{NO_SUCH}."))) };
    if let Some(at) = number.to_usize() {
        return Ok(at);
    }
    let why = if number.is_negative() {
        "a negative number is not a valid index for a sequence".to_owned()
    } else if key.marks.sensitive {
        "indexing a sequence requires a whole number below its length".to_owned()
    } else if !number.is_whole() && number.is_finite() {
        format!("indexing a sequence requires a whole number, but the given index ({number}) has a fractional part")
    } else {
        "the given index is greater than or equal to the length of the collection".to_owned()
    };
    Err(invalid(span, format!("{NO_SUCH}: {why}.")))
}

fn no_indices(ty: &Type, span: Span) -> Box<Diagnostic> {
    match ty {
        Type::Set(_) => invalid(
            span,
            "Elements of a set are identified only by their value and don't have any separate index or key to select with, \
             so it's only possible to perform operations across all elements of the set.",
        ),
        _ => invalid(span, "This value does not have any indices."),
    }
}

/// The text of a known key of an object.
pub(crate) fn key_text(key: &Value) -> Option<Arc<str>> {
    match &key.data {
        Data::String(text) => Some(Arc::clone(text)),
        _ => None,
    }
}
