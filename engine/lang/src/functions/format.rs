//! `format` and `formatlist`: verbs as in C and Go.

mod verb;
mod write;

use engine_value::{Data, Refinements, Type, Unknown, Value};

use crate::functions::{CallError, Function, Parameter, call::unknown_from};

const ARGS: Parameter = Parameter::any("args").null().unknown();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "format",
        description: "A text in which each verb, such as `%s` or `%05.2f`, is replaced by an argument.",
        parameters: &[Parameter::string("format")],
        variadic: Some(ARGS),
        returns: |_| Ok(Type::String),
        run: |args, _| {
            let (pattern, rest) = args.split_first().expect("the pattern is a parameter");
            format(pattern.as_str().unwrap_or_default(), rest)
        },
    },
    Function {
        name: "formatlist",
        description: "One formatted text for each element of the lists among the arguments.",
        parameters: &[Parameter::string("format")],
        variadic: Some(ARGS),
        returns: |_| Ok(Type::list(Type::String)),
        run: |args, _| {
            let (pattern, rest) = args.split_first().expect("the pattern is a parameter");
            format_list(pattern.as_str().unwrap_or_default(), rest)
        },
    },
];

fn format(pattern: &str, args: &[Value]) -> Result<Value, CallError> {
    let mut out = String::new();
    let mut most_used = 0;
    let mut next = 0;
    for piece in verb::pieces(pattern)? {
        match piece {
            verb::Piece::Text(text) => out.push_str(text),
            verb::Piece::Verb(verb) => {
                let at = verb.argument.map_or(next, |given| given - 1);
                next = at + 1;
                most_used = most_used.max(next);
                let Some(arg) = args.get(at) else {
                    return Err(CallError::new(format!(
                        "not enough arguments for \"{}\" at {}: need index {} but have {} total",
                        verb.text,
                        verb.offset,
                        at + 1,
                        args.len()
                    )));
                };
                if arg.has_unknown() {
                    // Up to here the text is known, whatever follows.
                    let refinements = Refinements::begins_with(&out);
                    let origin = arg.first_unknown().and_then(|unknown| unknown.origin);
                    return Ok(Value::unknown_with(Unknown { ty: Type::String, refinements, origin }));
                }
                write::verb(&verb, arg, &mut out)?;
            }
        }
    }
    if most_used < args.len() {
        let message = match most_used {
            0 => "too many arguments; no verbs in format string".to_owned(),
            used => format!("too many arguments; only {used} used by format string"),
        };
        return Err(CallError::argument(most_used + 1, message));
    }
    Ok(Value::string(out))
}

/// One text for each place of the lists, which are all of one length; what is no list is the same at every place.
fn format_list(pattern: &str, args: &[Value]) -> Result<Value, CallError> {
    let mut length: Option<(usize, usize)> = None;
    for (at, arg) in args.iter().enumerate() {
        let is_list = matches!(arg.type_of(), Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic);
        // Unknown elements of a set may turn out to be the same one.
        let is_open = !arg.is_known() && is_list || matches!(arg.data, Data::Set(..)) && arg.has_unknown();
        if is_open {
            return Ok(unknown_from(Type::list(Type::String), Refinements::not_null(), args));
        }
        let Some(elements) = arg.as_sequence() else { continue };
        match length {
            None => length = Some((at, elements.len())),
            Some((first, wanted)) if wanted != elements.len() => {
                return Err(CallError::argument(
                    at + 1,
                    format!(
                        "argument {} has length {}, which is inconsistent with argument {} of length {wanted}",
                        at + 1,
                        elements.len(),
                        first + 1
                    ),
                ));
            }
            Some(_) => {}
        }
    }
    let rows = length.map_or(1, |(_, length)| length);
    let mut out = Vec::with_capacity(rows);
    for row in 0..rows {
        let columns: Vec<Value> = args
            .iter()
            .map(|arg| match &arg.data {
                Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => elements[row].clone(),
                _ => arg.clone(),
            })
            .collect();
        out.push(format(pattern, &columns).map_err(|error| {
            let message = if rows > 1 || length.is_some() {
                format!("error on format iteration {row}: {}", error.message)
            } else {
                error.message
            };
            CallError { argument: error.argument, message }
        })?);
    }
    Ok(Value::list(Type::String, out))
}
