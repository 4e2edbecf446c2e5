//! Conversion of values to types and type constraints, by the rules of the language.

use std::{collections::BTreeMap, fmt, sync::Arc};

use crate::{Data, Marks, Number, Path, Refinements, Step, Type, Unknown, Value, mismatch::mismatch, unify};

/// A value is not of the type that is wanted, and cannot become it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    /// The part that is wrong, from the value that was to be converted.
    pub path: Path,
    /// What is wrong with that part: `string required`.
    pub message: String,
}

impl ConvertError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { path: Path::root(), message: message.into() }
    }

    pub(crate) fn under(mut self, step: Step) -> Self {
        self.path.0.insert(0, step);
        self
    }
}

impl fmt::Display for ConvertError {
    /// `attribute "a": element 2: string required`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path.0 {
            match step {
                Step::Attr(name) => write!(f, "attribute \"{name}\": ")?,
                Step::Key(key) => write!(f, "element \"{key}\": ")?,
                Step::Index(index) => write!(f, "element {index}: ")?,
                Step::Element(_) => f.write_str("set element: ")?,
            }
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConvertError {}

/// The value as one of the wanted type. `any` inside a collection is decided by what the elements have in common.
///
/// Attributes that the type does not have are dropped, optional ones that are absent become null. Marks stay.
///
/// # Errors
/// The first part, in order, that has no counterpart in the type.
pub fn convert(value: &Value, ty: &Type) -> Result<Value, ConvertError> {
    match convert_bare(value, ty) {
        Ok(converted) => Ok(converted.mark(value.marks)),
        // The keys of a sensitive map are as secret as what they lead to.
        Err(error) if value.marks.sensitive => Err(ConvertError { path: Path::root(), ..error }),
        Err(error) => Err(error),
    }
}

fn convert_bare(value: &Value, ty: &Type) -> Result<Value, ConvertError> {
    match (&value.data, ty) {
        (_, Type::Dynamic) => Ok(value.clone()),
        (Data::Null(from), _) => {
            possible(from, ty)?;
            Ok(Value::null(settle(from, ty)))
        }
        (Data::Unknown(unknown), _) => convert_unknown(unknown, ty),
        (Data::Bool(_), Type::Bool) | (Data::Number(_), Type::Number) | (Data::String(_), Type::String) => {
            Ok(value.clone())
        }
        (Data::Bool(value), Type::String) => Ok(Value::string(if *value { "true" } else { "false" })),
        (Data::Number(number), Type::String) => Ok(Value::string(number.to_string())),
        (Data::String(text), Type::Number) => {
            Number::parse(text).map(Value::number).ok_or_else(|| ConvertError::new("a number is required"))
        }
        (Data::String(text), Type::Bool) => parse_bool(text),
        (Data::List(_, elements) | Data::Tuple(elements), Type::List(want)) => {
            sequence_to_list(value, elements, want, "list")
        }
        (Data::Set(_, elements), Type::List(want)) => {
            let list = sequence_to_list(value, elements, want, "list")?;
            match list.first_unknown() {
                None => Ok(list),
                // How many there are is not known: unknown elements may turn out to be the same one.
                Some(unknown) => {
                    let known = Refinements::of(value);
                    let refinements = Refinements::length(known.min_length.unwrap_or(0), known.max_length);
                    Ok(Value::unknown_with(Unknown { ty: list.type_of(), refinements, origin: unknown.origin }))
                }
            }
        }
        (Data::List(_, elements) | Data::Tuple(elements) | Data::Set(_, elements), Type::Set(want)) => {
            let list = sequence_to_list(value, elements, want, "set")?;
            match list.data {
                Data::List(element, elements) => Ok(Value::set(element, elements.to_vec())),
                _ => Ok(list),
            }
        }
        (Data::Map(_, elements) | Data::Object(elements), Type::Map(want)) => named_to_map(value, elements, want),
        (Data::Tuple(elements), Type::Tuple(want)) if elements.len() == want.len() => {
            let mut converted = Vec::with_capacity(elements.len());
            for (index, (element, want)) in elements.iter().zip(want.iter()).enumerate() {
                converted.push(convert(element, want).map_err(|error| error.under(Step::Index(index)))?);
            }
            Ok(Value::tuple(converted))
        }
        (Data::Object(_) | Data::Map(..), Type::Object(_)) => named_to_object(value, ty),
        _ => Err(mismatch(&value.type_of(), ty)),
    }
}

fn parse_bool(text: &str) -> Result<Value, ConvertError> {
    match text {
        "true" | "1" => Ok(Value::bool(true)),
        "false" | "0" => Ok(Value::bool(false)),
        _ => {
            let lower = text.to_lowercase();
            Err(ConvertError::new(if lower == "true" || lower == "false" {
                format!("a bool is required; to convert from string, use lowercase \"{lower}\"")
            } else {
                "a bool is required".to_owned()
            }))
        }
    }
}

/// Can a value of a type that is known, but not the value itself, become one of the other?
fn possible(from: &Type, to: &Type) -> Result<(), ConvertError> {
    if unify::convertible(from, to) { Ok(()) } else { Err(mismatch(from, to)) }
}

fn convert_unknown(unknown: &Unknown, ty: &Type) -> Result<Value, ConvertError> {
    possible(&unknown.ty, ty)?;
    let target = settle(&unknown.ty, ty);
    if target == unknown.ty {
        return Ok(Data::Unknown(Arc::new(unknown.clone())).into());
    }
    let old = &unknown.refinements;
    let mut refinements = Refinements { not_null: old.not_null, ..Refinements::default() };
    let (min, max) = match &unknown.ty {
        Type::Tuple(elements) => (Some(elements.len()), Some(elements.len())),
        Type::Object(attributes) => (Some(attributes.len()), Some(attributes.len())),
        ty if ty.is_collection() => (old.min_length, old.max_length),
        _ => (None, None),
    };
    if target.is_collection() {
        let distinct = matches!(target, Type::Set(_)) && !matches!(unknown.ty, Type::Set(_));
        refinements.min_length = if distinct { min.map(|min| min.min(1)) } else { min };
        refinements.max_length = max;
    }
    Ok(Value::unknown_with(Unknown { ty: target, refinements, origin: unknown.origin }))
}

/// The type of the result where only the type of the source is known: `any` in the wanted type is filled from it.
fn settle(from: &Type, to: &Type) -> Type {
    let unified = |types: Vec<Type>| unify::unify(&types).unwrap_or(Type::Dynamic);
    match (from, to) {
        (Type::Dynamic, _) => to.without_optional(),
        (_, Type::Dynamic) => from.clone(),
        (_, Type::Bool | Type::Number | Type::String) => to.clone(),
        (Type::List(from) | Type::Set(from), Type::List(to)) => Type::list(settle(from, to)),
        (Type::List(from) | Type::Set(from), Type::Set(to)) => Type::set(settle(from, to)),
        (Type::Tuple(from), Type::List(to)) => Type::list(settle(&unified(from.to_vec()), to)),
        (Type::Tuple(from), Type::Set(to)) => Type::set(settle(&unified(from.to_vec()), to)),
        (Type::Map(from), Type::Map(to)) => Type::map(settle(from, to)),
        (Type::Object(from), Type::Map(to)) => {
            Type::map(settle(&unified(from.values().map(|attr| attr.ty.clone()).collect()), to))
        }
        (Type::Tuple(from), Type::Tuple(to)) => Type::tuple(from.iter().zip(to.iter()).map(|(f, t)| settle(f, t))),
        (Type::Object(from), Type::Object(to)) => Type::object(to.iter().map(|(name, attr)| {
            let ty = from.get(name).map_or_else(|| attr.ty.without_optional(), |f| settle(&f.ty, &attr.ty));
            (name.clone(), ty)
        })),
        (Type::Map(from), Type::Object(to)) => {
            Type::object(to.iter().map(|(name, attr)| (name.clone(), settle(from, &attr.ty))))
        }
        _ => to.without_optional(),
    }
}

fn sequence_to_list(value: &Value, elements: &[Value], want: &Type, kind: &str) -> Result<Value, ConvertError> {
    if elements.is_empty() {
        let from = match &value.data {
            Data::List(from, _) | Data::Set(from, _) => from.clone(),
            _ => Type::Dynamic,
        };
        possible(&Type::list(from.clone()), &Type::list(want.clone()))?;
        return Ok(Value::list(settle(&from, want), Vec::new()));
    }
    let (element, converted) = common(elements.iter().enumerate().map(|(i, e)| (Step::Index(i), e)), want, kind)?;
    Ok(Value::list(element, converted))
}

fn named_to_map(value: &Value, elements: &BTreeMap<Arc<str>, Value>, want: &Type) -> Result<Value, ConvertError> {
    if elements.is_empty() {
        let from = match &value.data {
            Data::Map(from, _) => from.clone(),
            _ => Type::Dynamic,
        };
        possible(&Type::map(from.clone()), &Type::map(want.clone()))?;
        return Ok(Value::map(settle(&from, want), std::iter::empty::<(&str, Value)>()));
    }
    let parts = elements.iter().map(|(key, element)| (Step::Key(Arc::clone(key)), element));
    let (element, converted) = common(parts, want, "map")?;
    Ok(Value::map(element, elements.keys().zip(converted)))
}

/// Every element as the wanted type, and, where that leaves something open, as the type that all have in common.
fn common<'a>(
    parts: impl Iterator<Item = (Step, &'a Value)>,
    want: &Type,
    kind: &str,
) -> Result<(Type, Vec<Value>), ConvertError> {
    let mut converted = Vec::new();
    let mut steps = Vec::new();
    for (step, element) in parts {
        match convert(element, want) {
            Ok(value) => converted.push(value),
            Err(error) => return Err(error.under(step)),
        }
        steps.push(step);
    }
    if !want.has_dynamic() {
        return Ok((want.without_optional(), converted));
    }
    let types: Vec<Type> = converted.iter().map(Value::type_of).collect();
    // A bare `null` is of any type, so it has no say.
    let is_bare_null = |value: &Value| matches!(value.data, Data::Null(Type::Dynamic));
    let mut deciding: Vec<Type> =
        converted.iter().zip(&types).filter(|(value, _)| !is_bare_null(value)).map(|(_, ty)| ty.clone()).collect();
    if deciding.is_empty() {
        deciding.push(Type::Dynamic);
    }
    let Some(unified) = unify::unify(&deciding) else {
        return Err(ConvertError::new(if *want == Type::Dynamic {
            format!("all {kind} elements must have the same type")
        } else {
            "cannot find a common base type for all elements".to_owned()
        }));
    };
    let mut result = Vec::with_capacity(converted.len());
    for ((step, value), ty) in steps.into_iter().zip(converted).zip(types) {
        result.push(if ty == unified {
            value
        } else if unified == Type::Dynamic {
            // Some element's type is not known yet, so neither is that of the others.
            let marks = value.marks_deep();
            Value::unknown(Type::Dynamic).mark(marks)
        } else {
            convert(&value, &unified).map_err(|error| error.under(step))?
        });
    }
    Ok((unified, result))
}

fn named_to_object(value: &Value, ty: &Type) -> Result<Value, ConvertError> {
    let (Some(elements), Some(want)) = (value.as_map(), ty.attributes()) else {
        return Err(mismatch(&value.type_of(), ty));
    };
    let missing: Vec<&Arc<str>> =
        want.iter().filter(|(name, attr)| !attr.optional && !elements.contains_key(*name)).map(|(n, _)| n).collect();
    if !missing.is_empty() {
        return Err(ConvertError::new(crate::mismatch::required(&missing)));
    }
    let is_map = matches!(value.data, Data::Map(..));
    let mut attributes = BTreeMap::new();
    for (name, attr) in want.iter() {
        let converted = match elements.get(name) {
            Some(element) => convert(element, &attr.ty).map_err(|error| {
                error.under(if is_map { Step::Key(Arc::clone(name)) } else { Step::Attr(Arc::clone(name)) })
            })?,
            None => Value::null(attr.ty.clone()),
        };
        attributes.insert(Arc::clone(name), converted);
    }
    Ok(Value { data: Data::Object(Arc::new(attributes)), marks: Marks::NONE })
}
