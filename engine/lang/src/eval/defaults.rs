//! Defaults of optional attributes: `object({ a = optional(string, "x") })`.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::Diagnostics;
use engine_value::{ConvertError, Data, Value, convert};

use crate::{
    config::{Constraint, Defaults},
    eval::{evaluate_constant, failed_conversion},
};

/// Why a value is not one of a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstraintError {
    /// The value is not of the type.
    Value(ConvertError),
    /// A default in the constraint itself is wrong.
    Default(Diagnostics),
}

/// The value as one of a constraint: defaults are put in for attributes that are absent or null, then the whole is
/// converted.
///
/// # Errors
/// If it is not of the type, or a default is not.
pub fn apply_constraint(value: &Value, constraint: &Constraint) -> Result<Value, ConstraintError> {
    let value = match &constraint.defaults {
        Some(defaults) => apply(value, defaults).map_err(ConstraintError::Default)?,
        None => value.clone(),
    };
    convert(&value, &constraint.ty).map_err(ConstraintError::Value)
}

/// With defaults put in. What is null or unknown as a whole stays so.
fn apply(value: &Value, defaults: &Defaults) -> Result<Value, Diagnostics> {
    let filled: Value = match &value.data {
        Data::Object(given) | Data::Map(_, given) => {
            let mut attributes = given.as_ref().clone();
            if let Some(element) = &defaults.elements {
                for attribute in attributes.values_mut() {
                    *attribute = apply(attribute, element)?;
                }
            }
            fill(&mut attributes, defaults)?;
            Data::Object(Arc::new(attributes)).into()
        }
        Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => {
            let mut filled = Vec::with_capacity(elements.len());
            for (at, element) in elements.iter().enumerate() {
                filled.push(match defaults.elements.as_deref().or_else(|| defaults.places.get(&at)) {
                    Some(defaults) => apply(element, defaults)?,
                    None => element.clone(),
                });
            }
            Value::tuple(filled)
        }
        _ => return Ok(value.clone()),
    };
    Ok(filled.mark(value.marks))
}

fn fill(attributes: &mut BTreeMap<Arc<str>, Value>, defaults: &Defaults) -> Result<(), Diagnostics> {
    for (name, default) in &defaults.values {
        let missing = attributes.get(name).is_none_or(Value::is_null);
        if missing {
            attributes.insert(Arc::clone(name), evaluate_constant(default)?);
        }
    }
    for (name, inner) in &defaults.attributes {
        if let Some(attribute) = attributes.get_mut(name) {
            *attribute = apply(attribute, inner)?;
        }
    }
    Ok(())
}

/// Checks that every default in a constraint is of its type.
///
/// # Errors
/// One diagnostic for each that is not.
pub fn check_defaults(constraint: &Constraint) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    if let Some(defaults) = &constraint.defaults {
        check(&constraint.ty, defaults, &mut diagnostics);
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

fn check(ty: &engine_value::Type, defaults: &Defaults, diagnostics: &mut Diagnostics) {
    use engine_value::Type;
    match ty {
        Type::Object(attributes) => {
            for (name, default) in &defaults.values {
                let Some(attr) = attributes.get(name) else { continue };
                let filled = evaluate_constant(default).and_then(|value| match defaults.attributes.get(name) {
                    Some(inner) => apply(&value, inner),
                    None => Ok(value),
                });
                match filled {
                    Err(found) => diagnostics.extend(found),
                    Ok(value) => {
                        if let Err(error) = convert(&value, &attr.ty) {
                            let what = format!("default for optional attribute \"{name}\"");
                            diagnostics.push(failed_conversion(default, &error, &what));
                        }
                    }
                }
            }
            for (name, inner) in &defaults.attributes {
                if let Some(attr) = attributes.get(name) {
                    check(&attr.ty, inner, diagnostics);
                }
            }
        }
        Type::Tuple(types) => {
            for (at, inner) in &defaults.places {
                if let Some(ty) = types.get(*at) {
                    check(ty, inner, diagnostics);
                }
            }
        }
        _ => {
            if let (Some(element), Some(inner)) = (ty.element(), &defaults.elements) {
                check(element, inner, diagnostics);
            }
        }
    }
}
