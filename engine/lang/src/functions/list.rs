//! Questions about lists and tuples, and what is picked from them.

use std::collections::BTreeSet;

use engine_value::{Data, Number, Refinements, Type, Value, convert, equals, unify};

use crate::functions::{CallError, Function, Parameter, call::unknown_from};

const LIST: Parameter = Parameter::any("list");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "alltrue",
        description: "Are all elements of a list true? An empty list counts as all true.",
        parameters: &[Parameter::new("list", || Type::list(Type::Bool))],
        variadic: None,
        returns: |_| Ok(Type::Bool),
        run: |args, _| all_true(&args[0]),
    },
    Function {
        name: "anytrue",
        description: "Is at least one element of a list true?",
        parameters: &[Parameter::new("list", || Type::list(Type::Bool))],
        variadic: None,
        returns: |_| Ok(Type::Bool),
        run: |args, _| any_true(&args[0]),
    },
    Function {
        name: "contains",
        description: "Is a value one of the elements of a list, tuple or set?",
        parameters: &[LIST, Parameter::any("value")],
        variadic: None,
        returns: |_| Ok(Type::Bool),
        run: |args, _| contains(&args[0], &args[1]),
    },
    Function {
        name: "element",
        description: "One element of a list, by its index; an index beyond the end starts over from the beginning.",
        parameters: &[LIST.marked(), Parameter::number("index")],
        variadic: None,
        returns: |args| match args[0].type_of() {
            Type::List(element) => Ok(element.as_ref().clone()),
            Type::Tuple(_) | Type::Dynamic => Ok(Type::Dynamic),
            other => Err(no_elements(&other)),
        },
        run: |args, _| element(&args[0], &args[1]),
    },
    Function {
        name: "index",
        description: "The position of the first element of a list that equals a value.",
        parameters: &[LIST, Parameter::any("value")],
        variadic: None,
        returns: |_| Ok(Type::Number),
        run: |args, _| index_of(&args[0], &args[1]),
    },
    Function {
        name: "matchkeys",
        description: "The elements of a list whose counterparts in a second list occur in a third.",
        parameters: &[
            Parameter::list_of_any("values"),
            Parameter::list_of_any("keys"),
            Parameter::list_of_any("searchset"),
        ],
        variadic: None,
        returns: |args| Ok(args[0].type_of()),
        run: |args, _| match_keys(args),
    },
    Function {
        name: "one",
        description: "The only element of a list, tuple or set, or null where it is empty.",
        parameters: &[LIST],
        variadic: None,
        returns: |args| match args[0].type_of() {
            Type::List(element) | Type::Set(element) => Ok(element.as_ref().clone()),
            Type::Tuple(elements) if elements.len() < 2 => Ok(elements.first().cloned().unwrap_or(Type::Dynamic)),
            Type::Dynamic => Ok(Type::Dynamic),
            _ => Err(not_one()),
        },
        run: |args, _| one(&args[0]),
    },
    Function {
        name: "slice",
        description: "The elements of a list from one index up to, and without, another.",
        parameters: &[LIST.marked(), Parameter::number("start_index"), Parameter::number("end_index")],
        variadic: None,
        returns: |args| match args[0].type_of() {
            list @ Type::List(_) => Ok(list),
            Type::Tuple(_) | Type::Dynamic => Ok(Type::Dynamic),
            other => Err(not_sliceable(&other)),
        },
        run: |args, _| slice(args),
    },
];

/// The elements of a known list, set or tuple.
pub(super) fn elements(value: &Value) -> &[Value] {
    value.as_sequence().unwrap_or_default()
}

pub(super) fn element_type(list: &Value) -> Type {
    match list.type_of() {
        Type::List(element) | Type::Set(element) => element.as_ref().clone(),
        _ => Type::Dynamic,
    }
}

fn all_true(list: &Value) -> Result<Value, CallError> {
    let elements = elements(list);
    // What is false for certain decides, wherever the unknown ones stand.
    if elements.iter().any(|e| e.is_null() || e.as_bool() == Some(false)) {
        return Ok(Value::bool(false));
    }
    if list.has_unknown() {
        return Ok(unknown_from(Type::Bool, Refinements::not_null(), std::slice::from_ref(list)));
    }
    Ok(Value::bool(true))
}

fn any_true(list: &Value) -> Result<Value, CallError> {
    if elements(list).iter().any(|e| e.as_bool() == Some(true)) {
        return Ok(Value::bool(true));
    }
    if list.has_unknown() {
        return Ok(unknown_from(Type::Bool, Refinements::not_null(), std::slice::from_ref(list)));
    }
    Ok(Value::bool(false))
}

fn contains(list: &Value, wanted: &Value) -> Result<Value, CallError> {
    let Some(elements) = list.as_sequence() else {
        return Err(CallError::new("argument must be list, tuple, or set"));
    };
    let mut unknown = None;
    for element in elements {
        let equal = equals(wanted, element);
        match equal.as_bool() {
            Some(true) => return Ok(Value::bool(true)),
            Some(false) => {}
            None => unknown = Some(equal),
        }
    }
    Ok(unknown.unwrap_or_else(|| Value::bool(false)))
}

fn no_elements(ty: &Type) -> CallError {
    CallError::new(format!("cannot read elements from {}", ty.friendly()))
}

fn element(list: &Value, index: &Value) -> Result<Value, CallError> {
    let (Data::List(_, elements) | Data::Tuple(elements)) = &list.data else {
        return Err(no_elements(&list.type_of()));
    };
    let Some(index) = index.as_i64() else {
        return Err(CallError::argument(1, "a whole number is required"));
    };
    if elements.is_empty() {
        return Err(CallError::new("cannot use element function with an empty list"));
    }
    let at = index.rem_euclid(elements.len() as i64);
    Ok(elements[at as usize].clone().mark(list.marks))
}

fn index_of(list: &Value, wanted: &Value) -> Result<Value, CallError> {
    let (Data::List(_, elements) | Data::Tuple(elements)) = &list.data else {
        return Err(CallError::argument(0, "argument must be a list or tuple"));
    };
    if elements.is_empty() {
        return Err(CallError::argument(0, "cannot search an empty list"));
    }
    for (at, element) in elements.iter().enumerate() {
        match equals(element, wanted).as_bool() {
            Some(true) => return Ok(Value::number(Number::from(at))),
            Some(false) => {}
            None => {
                let values = [element.clone(), wanted.clone()];
                return Ok(unknown_from(Type::Number, Refinements::not_null(), &values));
            }
        }
    }
    Err(CallError::new("item not found"))
}

fn match_keys(args: &[Value]) -> Result<Value, CallError> {
    let Some(ty) = unify(&[args[1].type_of(), args[2].type_of()]) else {
        return Err(CallError::new("keys and searchset must be of the same type"));
    };
    if elements(&args[0]).len() != elements(&args[1]).len() {
        return Err(CallError::new("length of keys and values should be equal"));
    }
    if args.iter().any(Value::has_unknown) {
        return Ok(unknown_from(args[0].type_of(), Refinements::not_null(), args));
    }
    let converted = |at: usize| convert(&args[at], &ty).map_err(|error| CallError::argument(at, error.to_string()));
    let (keys, wanted) = (converted(1)?, converted(2)?);
    let wanted: BTreeSet<&Value> = elements(&wanted).iter().collect();
    let pairs = elements(&args[0]).iter().zip(elements(&keys));
    let kept = pairs.filter(|(_, key)| wanted.contains(key)).map(|(value, _)| value.clone()).collect();
    Ok(Value::list(element_type(&args[0]), kept))
}

fn not_one() -> CallError {
    CallError::argument(0, "must be a list, set, or tuple value with either zero or one elements")
}

fn one(list: &Value) -> Result<Value, CallError> {
    match list.as_sequence().ok_or_else(not_one)? {
        [] => Ok(Value::null(element_type(list))),
        [single] => Ok(single.clone()),
        // Unknown elements of a set may turn out to be the same one.
        several if matches!(list.data, Data::Set(..)) && several.iter().filter(|e| e.is_wholly_known()).count() < 2 => {
            Ok(unknown_from(element_type(list), Refinements::default(), several))
        }
        _ => Err(not_one()),
    }
}

fn not_sliceable(ty: &Type) -> CallError {
    let message = match ty {
        Type::Set(_) => {
            "cannot slice a set, because its elements do not have indices; explicitly convert to a list if the ordering of \
             the result is not important"
        }
        _ => "must be a list or tuple value",
    };
    CallError::argument(0, message)
}

fn slice(args: &[Value]) -> Result<Value, CallError> {
    let list = &args[0];
    let elements = match &list.data {
        Data::List(_, elements) | Data::Tuple(elements) => elements,
        _ => return Err(not_sliceable(&list.type_of())),
    };
    let bound = |at: usize, name: &str| -> Result<usize, CallError> {
        let int = args[at].as_i64();
        let int =
            int.ok_or_else(|| CallError::argument(at, format!("invalid {name} index: a whole number is required")))?;
        let int = usize::try_from(int)
            .map_err(|_| CallError::argument(at, format!("{name} index must not be less than zero")))?;
        if int > elements.len() {
            let message = format!("{name} index must not be greater than the length of the list");
            return Err(CallError::argument(at, message));
        }
        Ok(int)
    };
    let (start, end) = (bound(1, "start")?, bound(2, "end")?);
    if start > end {
        return Err(CallError::argument(1, "start index must not be greater than end index"));
    }
    let kept = elements[start..end].to_vec();
    let value = match &list.data {
        Data::Tuple(_) => Value::tuple(kept),
        _ => Value::list(element_type(list), kept),
    };
    Ok(value.mark(list.marks))
}
