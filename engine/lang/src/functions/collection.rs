//! Functions of maps and objects, and of any collection.

use std::{collections::BTreeMap, sync::Arc};

use engine_value::{Data, Marks, Number, Refinements, Type, Unknown, Value, convert, unify};

use crate::functions::{CallError, Function, Parameter, call::unknown_from, string};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "keys",
        description: "The keys of a map, or the attribute names of an object, in order.",
        parameters: &[Parameter::any("inputMap").unknown().marked().described("A map, or an object.")],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| keys(&args[0]),
    },
    Function {
        name: "length",
        description: "How many elements a collection has, or how many characters a text has.",
        parameters: &[Parameter::any("value").unknown().marked()],
        variadic: None,
        returns: |_| Ok(Type::Number),
        run: |args, _| length(&args[0]),
    },
    Function {
        name: "lookup",
        description: "The element of a map under a key, or a default where there is none.",
        parameters: &[Parameter::any("inputMap").marked(), Parameter::string("key").marked()],
        variadic: Some(Parameter::any("default").null().unknown().marked()),
        returns: lookup_type,
        run: |args, _| lookup(args),
    },
    Function {
        name: "merge",
        description: "Several maps or objects as one; where a key is in several, the last one counts.",
        parameters: &[],
        variadic: Some(Parameter::any("maps").null().marked()),
        returns: merge_type,
        run: |args, _| merge(args),
    },
    Function {
        name: "setproduct",
        description: "Every combination that takes one element of each of the given sets or lists.",
        parameters: &[],
        variadic: Some(
            Parameter::any("sets")
                .marked()
                .unknown()
                .described("Sets, or lists and tuples: the order of lists is kept."),
        ),
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| product(args),
    },
    Function {
        name: "transpose",
        description: "A map of lists of texts turned around: each text leads to the keys whose lists have it.",
        parameters: &[Parameter::new("values", lists_by_name)],
        variadic: None,
        returns: |_| Ok(lists_by_name()),
        run: |args, _| transpose(&args[0]),
    },
    Function {
        name: "values",
        description: "The elements of a map, or the attributes of an object, in the order of their keys.",
        parameters: &[Parameter::any("mapping").marked()],
        variadic: None,
        returns: |args| match args[0].type_of() {
            Type::Map(element) => Ok(Type::List(element)),
            Type::Object(attributes) => Ok(Type::tuple(attributes.values().map(|attr| attr.ty.clone()))),
            Type::Dynamic => Ok(Type::Dynamic),
            _ => Err(no_values()),
        },
        run: |args, _| values(&args[0]),
    },
    Function {
        name: "zipmap",
        description: "A map or object made of a list of keys and a list of values.",
        parameters: &[Parameter::list_of_string("keys").marked(), Parameter::any("values").marked()],
        variadic: None,
        returns: |args| match args[1].type_of() {
            Type::List(element) => Ok(Type::Map(element)),
            Type::Tuple(_) | Type::Dynamic => Ok(Type::Dynamic),
            _ => Err(no_list()),
        },
        run: |args, _| zip(&args[0], &args[1]),
    },
];

fn keys(value: &Value) -> Result<Value, CallError> {
    let name = |key: &Arc<str>| Value::from(Data::String(Arc::clone(key)));
    let keys = match &value.data {
        Data::Map(_, elements) => Value::list(Type::String, elements.keys().map(name).collect()),
        Data::Object(attributes) => Value::tuple(attributes.keys().map(name)),
        Data::Unknown(unknown) => match &unknown.ty {
            Type::Object(attributes) => Value::tuple(attributes.keys().map(name)),
            Type::Map(_) => {
                let old = &unknown.refinements;
                let refinements = Refinements::length(old.min_length.unwrap_or(0), old.max_length);
                unknown_from(Type::list(Type::String), refinements, std::slice::from_ref(value))
            }
            Type::Dynamic => unknown_from(Type::Dynamic, Refinements::default(), std::slice::from_ref(value)),
            _ => return Err(CallError::argument(0, "must have map or object type")),
        },
        _ => return Err(CallError::argument(0, "must have map or object type")),
    };
    Ok(keys.mark(value.marks))
}

fn length(value: &Value) -> Result<Value, CallError> {
    let count = |length: usize| Value::number(Number::from(length));
    let length = match &value.data {
        Data::String(text) => count(string::length(text)),
        Data::List(_, elements) | Data::Tuple(elements) => count(elements.len()),
        Data::Map(_, elements) | Data::Object(elements) => count(elements.len()),
        Data::Set(_, elements) if elements.iter().all(Value::is_wholly_known) => count(elements.len()),
        Data::Set(..) => {
            let known = Refinements::of(value);
            length_between(value, known.min_length, known.max_length)
        }
        Data::Unknown(unknown) => {
            let known = &unknown.refinements;
            match &unknown.ty {
                Type::Tuple(elements) => count(elements.len()),
                Type::Object(attributes) => count(attributes.len()),
                Type::List(_) | Type::Set(_) | Type::Map(_) => {
                    length_between(value, known.min_length, known.max_length)
                }
                // The last character of what is known of a text may go on.
                Type::String => {
                    let least = known.prefix.as_ref().map(|prefix| string::length(prefix));
                    length_between(value, least, None)
                }
                Type::Dynamic => length_between(value, None, None),
                Type::Bool | Type::Number => return Err(no_length()),
            }
        }
        _ => return Err(no_length()),
    };
    Ok(length.mark(value.marks))
}

fn no_length() -> CallError {
    CallError::new("argument must be a string, a collection type, or a structural type")
}

fn length_between(value: &Value, min: Option<usize>, max: Option<usize>) -> Value {
    let bound = |length: usize| (Number::from(length), true);
    let refinements = Refinements { max: max.map(bound), ..Refinements::at_least(Number::from(min.unwrap_or(0))) };
    unknown_from(Type::Number, refinements, std::slice::from_ref(value))
}

fn lookup_type(args: &[Value]) -> Result<Type, CallError> {
    Ok(match args[0].type_of() {
        Type::Map(element) => element.as_ref().clone(),
        Type::Object(attributes) => match args[1].as_str() {
            Some(key) => match attributes.get(key) {
                Some(attr) => attr.ty.clone(),
                None => args.get(2).map_or(Type::Dynamic, Value::type_of),
            },
            None => Type::Dynamic,
        },
        Type::Dynamic => Type::Dynamic,
        _ => return Err(CallError::argument(0, "lookup() requires a map as the first argument")),
    })
}

fn lookup(args: &[Value]) -> Result<Value, CallError> {
    if args.len() > 3 {
        return Err(CallError::new(format!("lookup() takes two or three arguments, got {}", args.len())));
    }
    let (map, key) = (&args[0], &args[1]);
    let Some(elements) = map.as_map() else {
        return Err(CallError::argument(0, "lookup() requires a map as the first argument"));
    };
    let marks = map.marks.union(key.marks);
    let name = key.as_str().unwrap_or_default();
    let default = match (args.get(2), &map.data) {
        (Some(default), Data::Map(element, _)) => Some(
            convert(default, element)
                .map_err(|_| CallError::argument(2, "the default value must have the same type as the map elements"))?,
        ),
        (default, _) => default.cloned(),
    };
    if let Some(found) = elements.get(name) {
        return Ok(found.clone().mark(marks));
    }
    match default {
        Some(default) => Ok(default.mark(marks)),
        None if matches!(map.data, Data::Object(_)) && !key.marks.sensitive => {
            Err(CallError::argument(0, format!("the given object has no attribute {name:?}")))
        }
        None if key.marks.sensitive => Err(CallError::new("lookup failed to find key (sensitive value)")),
        None => Err(CallError::new(format!("lookup failed to find key {name:?}"))),
    }
}

/// The type of all, if it is one; else an object of all attributes that are known to be there.
fn merge_type(args: &[Value]) -> Result<Type, CallError> {
    let types: Vec<Type> = args.iter().map(Value::type_of).collect();
    let wrong = types.iter().find(|ty| !matches!(ty, Type::Dynamic | Type::Map(_) | Type::Object(_)));
    if let Some(wrong) = wrong {
        return Err(CallError::new(format!("arguments must be maps or objects, got \"{}\"", wrong.friendly())));
    }
    match types.first() {
        None => return Ok(Type::empty_object()),
        Some(first) if *first != Type::Dynamic && types.iter().all(|ty| ty == first) => return Ok(first.clone()),
        Some(_) => {}
    }
    let mut attributes = BTreeMap::new();
    for (arg, ty) in args.iter().zip(types) {
        match ty {
            _ if arg.is_null() => {}
            Type::Object(types) => {
                attributes.extend(types.iter().map(|(name, attr)| (Arc::clone(name), attr.ty.clone())))
            }
            Type::Map(element) if arg.is_known() => {
                let keys = arg.as_map().into_iter().flat_map(|elements| elements.keys());
                attributes.extend(keys.map(|key| (Arc::clone(key), element.as_ref().clone())));
            }
            _ => return Ok(Type::Dynamic),
        }
    }
    Ok(Type::object(attributes))
}

fn merge(args: &[Value]) -> Result<Value, CallError> {
    let ty = merge_type(args)?;
    let mut merged: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    let mut marks = Marks::NONE;
    for arg in args {
        marks = marks.union(arg.marks);
        let elements = arg.as_map().into_iter().flatten();
        merged.extend(elements.map(|(key, value)| (Arc::clone(key), value.clone())));
    }
    let value = match ty {
        Type::Map(element) => Value::map(element.as_ref().clone(), merged),
        _ => Value::object(merged),
    };
    Ok(value.mark(marks))
}

fn product(args: &[Value]) -> Result<Value, CallError> {
    if args.len() < 2 {
        return Err(CallError::new("at least two arguments are required"));
    }
    let mut types = Vec::with_capacity(args.len());
    let mut all_lists = true;
    for (at, arg) in args.iter().enumerate() {
        types.push(match arg.type_of() {
            Type::Set(element) => {
                all_lists = false;
                element.as_ref().clone()
            }
            Type::List(element) => element.as_ref().clone(),
            Type::Tuple(elements) if elements.is_empty() => Type::Dynamic,
            Type::Tuple(elements) => {
                unify(&elements).ok_or_else(|| CallError::argument(at, "all elements must be of the same type"))?
            }
            Type::Dynamic => {
                return Ok(unknown_from(Type::Dynamic, Refinements::default(), args).mark(all_marks(args)));
            }
            _ => return Err(CallError::argument(at, "a set or a list is required")),
        });
    }
    let element = Type::tuple(types.iter().cloned());
    let ty = if all_lists { Type::list(element.clone()) } else { Type::set(element.clone()) };
    let marks = args.iter().fold(Marks::NONE, |marks, arg| marks.union(arg.marks));
    if args.iter().any(|arg| !arg.is_known() || matches!(arg.data, Data::Set(..)) && arg.has_unknown()) {
        return Ok(unknown_from(ty, Refinements::not_null(), args).mark(marks));
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for (arg, ty) in args.iter().zip(&types) {
        let mut column = Vec::new();
        for value in arg.as_sequence().unwrap_or_default() {
            column.push(convert(value, ty).map_err(|error| CallError::new(error.to_string()))?);
        }
        rows = rows
            .iter()
            .flat_map(|row| column.iter().map(|value| row.iter().chain([value]).cloned().collect()))
            .collect();
    }
    let rows: Vec<Value> = rows.into_iter().map(Value::tuple).collect();
    let value = if all_lists { Value::list(element, rows) } else { Value::set(element, rows) };
    Ok(value.mark(marks))
}

fn all_marks(args: &[Value]) -> Marks {
    args.iter().fold(Marks::NONE, |marks, arg| marks.union(arg.marks))
}

fn lists_by_name() -> Type {
    Type::map(Type::list(Type::String))
}

fn transpose(lists: &Value) -> Result<Value, CallError> {
    if lists.has_unknown() {
        return Ok(unknown_from(lists_by_name(), Refinements::not_null(), std::slice::from_ref(lists)));
    }
    let mut transposed: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (key, list) in lists.as_map().into_iter().flatten() {
        let Some(names) = list.as_sequence() else {
            return Err(CallError::argument(0, format!("cannot use null list for [{key:?}]")));
        };
        for (at, name) in names.iter().enumerate() {
            let Some(name) = name.as_str() else {
                return Err(CallError::argument(0, format!("cannot use null string for [{key:?}][{at}]")));
            };
            transposed.entry(name).or_default().push(Data::String(Arc::clone(key)).into());
        }
    }
    let lists = transposed.into_iter().map(|(name, keys)| (name, Value::list(Type::String, keys)));
    Ok(Value::map(Type::list(Type::String), lists))
}

fn no_values() -> CallError {
    CallError::new("values() requires a map as the first argument")
}

fn values(map: &Value) -> Result<Value, CallError> {
    let values = match &map.data {
        Data::Map(element, elements) => Value::list(element.clone(), elements.values().cloned().collect()),
        Data::Object(attributes) => Value::tuple(attributes.values().cloned()),
        _ => return Err(no_values()),
    };
    Ok(values.mark(map.marks))
}

fn no_list() -> CallError {
    CallError::new("values argument must be a list or tuple value")
}

fn zip(keys: &Value, values: &Value) -> Result<Value, CallError> {
    let (names, elements) = (keys.as_sequence().unwrap_or_default(), values.as_sequence().unwrap_or_default());
    let (Data::List(..) | Data::Tuple(_)) = &values.data else {
        return Err(no_list());
    };
    let mut marks = keys.marks.union(values.marks);
    if keys.has_unknown() {
        let ty = match &values.data {
            Data::List(element, _) => Type::map(element.clone()),
            _ => Type::Dynamic,
        };
        let origin = keys.first_unknown().and_then(|unknown| unknown.origin);
        return Ok(
            Value::unknown_with(Unknown::never_null(ty).from_origin(origin)).mark(keys.marks_deep().union(marks))
        );
    }
    if names.len() != elements.len() {
        return Err(CallError::new(format!(
            "number of keys ({}) does not match number of values ({})",
            names.len(),
            elements.len()
        )));
    }
    let mut zipped: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    for (at, (name, value)) in names.iter().zip(elements).enumerate() {
        marks = marks.union(name.marks);
        match &name.data {
            Data::String(name) => zipped.insert(Arc::clone(name), value.clone()),
            _ => return Err(CallError::new(format!("keys list has null value at index {at}"))),
        };
    }
    let value = match &values.data {
        Data::List(element, _) => Value::map(element.clone(), zipped),
        _ => Value::object(zipped),
    };
    Ok(value.mark(marks))
}
