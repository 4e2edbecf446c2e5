//! Functions that make one type of another.

use engine_value::{Marks, Refinements, Type, Value, convert, convertible, unify};

use crate::functions::{CallError, Function, Parameter, call::unknown_from};

const V: Parameter = Parameter::any("v").null().unknown().marked();

macro_rules! to {
    ($name:literal, $description:literal, $ty:expr) => {
        Function {
            name: $name,
            description: $description,
            parameters: &[V],
            variadic: None,
            returns: |_| Ok($ty),
            run: |args, _| to(&args[0], &$ty),
        }
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    to!("tobool", "A value as a bool.", Type::Bool),
    to!("tolist", "A value as a list.", Type::list(Type::Dynamic)),
    to!("tomap", "A value as a map.", Type::map(Type::Dynamic)),
    to!("tonumber", "A value as a number.", Type::Number),
    to!("toset", "A value as a set: without its order, and each element once.", Type::set(Type::Dynamic)),
    to!("tostring", "A value as a text.", Type::String),
    Function {
        name: "coalesce",
        description: "The first argument that is neither null nor an empty text.",
        parameters: &[],
        variadic: Some(Parameter::any("vals").null().unknown()),
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| coalesce(args),
    },
    Function {
        name: "coalescelist",
        description: "The first list or tuple that is not empty.",
        parameters: &[],
        variadic: Some(Parameter::any("vals").null().unknown().described("Lists or tuples.")),
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| coalesce_list(args),
    },
];

fn to(value: &Value, ty: &Type) -> Result<Value, CallError> {
    let from = value.type_of();
    if !convertible(&from, ty) {
        let message = format!("cannot convert {} to {}", from.friendly(), ty.friendly_constraint());
        return Err(CallError::argument(0, message));
    }
    convert(value, ty).map_err(|error| {
        let marks = value.marks_deep();
        let shown = match (value.as_str(), marks == Marks::NONE) {
            (Some(text), true) => format!("{text:?}"),
            _ if marks.sensitive => format!("this sensitive {}", from.friendly()),
            _ => from.friendly(),
        };
        let message = match (&from, ty) {
            (Type::String, Type::Bool) => {
                format!("cannot convert {shown} to bool; only the strings \"true\" or \"false\" are allowed")
            }
            (Type::String, Type::Number) => {
                format!("cannot convert {shown} to number; given string must be a decimal representation of a number")
            }
            _ if error.path.is_root() => format!("cannot convert {shown} to {}", ty.friendly_constraint()),
            _ => format!("cannot convert {shown} to {}: {error}", ty.friendly_constraint()),
        };
        CallError::argument(0, message)
    })
}

fn coalesce(args: &[Value]) -> Result<Value, CallError> {
    let types: Vec<Type> = args.iter().map(Value::type_of).collect();
    let Some(ty) = unify(&types) else {
        return Err(CallError::new("all arguments must have the same type"));
    };
    for arg in args {
        let value = convert(arg, &ty).map_err(|error| CallError::new(error.to_string()))?;
        if !value.is_known() {
            return Ok(unknown_from(ty, Refinements::not_null(), &[value]));
        }
        if !value.is_null() && value.as_str() != Some("") {
            return Ok(value);
        }
    }
    Err(CallError::new("no non-null, non-empty-string arguments"))
}

fn coalesce_list(args: &[Value]) -> Result<Value, CallError> {
    if args.is_empty() {
        return Err(CallError::new("at least one argument is required"));
    }
    let is_list = |arg: &Value| match arg.type_of() {
        Type::List(_) | Type::Tuple(_) => true,
        Type::Dynamic => !arg.is_null(),
        _ => false,
    };
    if !args.iter().all(is_list) {
        return Err(CallError::new("coalescelist arguments must be lists or tuples"));
    }
    for arg in args {
        if !arg.is_known() {
            return Ok(unknown_from(Type::Dynamic, Refinements::not_null(), std::slice::from_ref(arg)));
        }
        if arg.as_sequence().is_some_and(|elements| !elements.is_empty()) {
            return Ok(arg.clone());
        }
    }
    Err(CallError::new("no non-null arguments"))
}
