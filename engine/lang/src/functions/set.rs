//! Functions of sets.

use engine_value::{Refinements, Type, Value, convert, unify};

use crate::functions::{CallError, Function, Parameter, call::unknown_from};

const FIRST: Parameter = Parameter::new("first_set", any_set).unknown();
const OTHERS: Parameter = Parameter::new("other_sets", any_set).unknown();

fn any_set() -> Type {
    Type::set(Type::Dynamic)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "setunion",
        description: "The elements that are in any of the given sets.",
        parameters: &[FIRST],
        variadic: Some(OTHERS),
        returns: common,
        run: |args, _| unite(args),
    },
    Function {
        name: "setintersection",
        description: "The elements that are in all of the given sets.",
        parameters: &[FIRST],
        variadic: Some(OTHERS),
        returns: common,
        run: |args, _| combine(args, |all, next| all.into_iter().filter(|e| next.contains(e)).collect()),
    },
    Function {
        name: "setsubtract",
        description: "The elements of a set that are not in another.",
        parameters: &[Parameter::new("a", any_set).unknown(), Parameter::new("b", any_set).unknown()],
        variadic: None,
        returns: common,
        run: |args, _| combine(args, |all, next| all.into_iter().filter(|e| !next.contains(e)).collect()),
    },
];

fn common(args: &[Value]) -> Result<Type, CallError> {
    // An empty set of no type has no say.
    let types: Vec<Type> = args.iter().map(Value::type_of).filter(|ty| *ty != any_set()).collect();
    if types.is_empty() {
        return Ok(any_set());
    }
    unify(&types).ok_or_else(|| CallError::new("given sets must all have compatible element types"))
}

/// What is known to be in one of the sets is in the result, whatever the others hold.
fn unite(args: &[Value]) -> Result<Value, CallError> {
    let ty = common(args)?;
    if !args.iter().all(Value::is_known) {
        return Ok(unknown_from(ty, Refinements::not_null(), args));
    }
    let mut all = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let set = convert(arg, &ty).map_err(|error| CallError::argument(at, error.to_string()))?;
        all.extend(set.as_sequence().unwrap_or_default().iter().cloned());
    }
    Ok(Value::set(ty.element().cloned().unwrap_or(Type::Dynamic), all))
}

fn combine(
    args: &[Value],
    step: fn(Vec<Value>, &std::collections::BTreeSet<Value>) -> Vec<Value>,
) -> Result<Value, CallError> {
    let ty = common(args)?;
    if args.iter().any(Value::has_unknown) {
        return Ok(unknown_from(ty, Refinements::not_null(), args));
    }
    let element = ty.element().cloned().unwrap_or(Type::Dynamic);
    let mut result: Option<Vec<Value>> = None;
    for (at, arg) in args.iter().enumerate() {
        let set = convert(arg, &ty).map_err(|error| CallError::argument(at, error.to_string()))?;
        let elements = set.as_sequence().unwrap_or_default();
        result = Some(match result {
            None => elements.to_vec(),
            Some(all) => step(all, &elements.iter().cloned().collect()),
        });
    }
    Ok(Value::set(element, result.unwrap_or_default()))
}
