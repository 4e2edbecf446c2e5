//! Regular expressions, in RE2's syntax.

use engine_value::{Refinements, Type, Value};
use regex::{Captures, Regex};

use crate::functions::{CallError, Function, Parameter, call::unknown_from};

const PATTERN: Parameter = Parameter::string("pattern").unknown();
const TEXT: Parameter = Parameter::string("string").unknown();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "regex",
        description: "What a regular expression finds first in a text: the match, or its groups.",
        parameters: &[PATTERN, TEXT],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| {
            let Some(regex) = pattern(args)? else { return waits(Type::Dynamic, args) };
            let Some(text) = args[1].as_str() else { return waits(result_type(&regex), args) };
            match regex.captures(text) {
                Some(found) => Ok(result(&regex, &found)),
                None => Err(CallError::new("pattern did not match any part of the given string")),
            }
        },
    },
    Function {
        name: "regexall",
        description: "Everything that a regular expression finds in a text, as a list.",
        parameters: &[PATTERN, TEXT],
        variadic: None,
        returns: |_| Ok(Type::list(Type::Dynamic)),
        run: |args, _| {
            let Some(regex) = pattern(args)? else { return waits(Type::list(Type::Dynamic), args) };
            let ty = result_type(&regex);
            let Some(text) = args[1].as_str() else { return waits(Type::list(ty), args) };
            Ok(Value::list(ty, regex.captures_iter(text).map(|found| result(&regex, &found)).collect()))
        },
    },
];

fn pattern(args: &[Value]) -> Result<Option<Regex>, CallError> {
    let Some(pattern) = args[0].as_str() else { return Ok(None) };
    let regex =
        compile(pattern).map_err(|why| CallError::argument(0, format!("invalid regular expression pattern: {why}")))?;
    let names = regex.capture_names().skip(1);
    let (named, plain) = names.fold((0, 0), |(named, plain), name| match name {
        Some(_) => (named + 1, plain),
        None => (named, plain + 1),
    });
    if named > 0 && plain > 0 {
        let message = "invalid regular expression pattern: cannot mix both named and unnamed capture groups";
        return Err(CallError::argument(0, message));
    }
    Ok(Some(regex))
}

/// A regular expression, or one line of why it is none.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| {
        // The whole message draws the pattern, too.
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    })
}

fn waits(ty: Type, args: &[Value]) -> Result<Value, CallError> {
    Ok(unknown_from(ty, Refinements::not_null(), args))
}

/// A string without groups, a tuple of plain groups, an object of named ones.
fn result_type(regex: &Regex) -> Type {
    let names: Vec<Option<&str>> = regex.capture_names().skip(1).collect();
    if names.is_empty() {
        return Type::String;
    }
    match names.iter().copied().collect::<Option<Vec<&str>>>() {
        Some(names) => Type::object(names.into_iter().map(|name| (name, Type::String))),
        None => Type::tuple(names.iter().map(|_| Type::String)),
    }
}

fn result(regex: &Regex, found: &Captures<'_>) -> Value {
    let group = |at: usize| found.get(at).map_or(Value::null(Type::String), |group| Value::string(group.as_str()));
    match result_type(regex) {
        Type::String => group(0),
        Type::Tuple(types) => Value::tuple((1..=types.len()).map(group)),
        _ => Value::object(
            regex.capture_names().enumerate().filter_map(|(at, name)| name.map(|name| (name.to_owned(), group(at)))),
        ),
    }
}
