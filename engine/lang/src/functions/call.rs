//! What all functions do alike with null, unknown and marked arguments.

use engine_value::{Marks, Refinements, Type, Unknown, Value};

use crate::functions::{Function, Outside};

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallError {
    /// The argument that is to blame, from 0.
    pub(crate) argument: Option<usize>,
    /// A fragment.
    pub(crate) message: String,
}

impl CallError {
    /// Nobody's fault but the call's.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { argument: None, message: message.into() }
    }

    /// That argument is wrong.
    pub(super) fn argument(at: usize, message: impl Into<String>) -> Self {
        Self { argument: Some(at), message: message.into() }
    }
}

/// Calls a function with arguments of its parameters' types.
///
/// # Errors
/// If the function refuses them.
pub(crate) fn call(function: &Function, arguments: &[Value], outside: &Outside<'_>) -> Result<Value, CallError> {
    let mut marks = Marks::NONE;
    let mut values = Vec::with_capacity(arguments.len());
    let mut waits = None;
    for (at, argument) in arguments.iter().enumerate() {
        let parameter = function.parameter(at);
        let value = if parameter.takes_marks {
            argument.clone()
        } else {
            let (value, found) = argument.clone().unmark_deep();
            marks = found.into_iter().fold(marks, |all, (_, one)| all.union(one));
            value
        };
        if value.is_null() && !parameter.takes_null {
            return Err(CallError::argument(at, "argument must not be null"));
        }
        if let Some(unknown) = value.as_unknown()
            && !parameter.takes_unknown
        {
            marks = marks.union(argument.marks);
            waits.get_or_insert(unknown.origin);
        }
        values.push(value);
    }
    let result = match waits {
        Some(origin) => {
            // Its marks would be lost with an argument that the function does not see.
            marks = arguments.iter().fold(marks, |all, one| all.union(one.marks_deep()));
            let ty = (function.returns)(&values)?;
            let refinements = match ty {
                Type::Dynamic => Refinements::default(),
                _ => Refinements::not_null(),
            };
            Value::unknown_with(Unknown { ty, refinements, origin })
        }
        None => (function.run)(&values, outside).map_err(|error| redact(error, arguments))?,
    };
    Ok(result.mark(marks))
}

/// The error without texts of sensitive arguments, which functions quote where they say what they refuse.
fn redact(mut error: CallError, arguments: &[Value]) -> CallError {
    fn secrets<'a>(value: &'a Value, sensitive: bool, found: &mut Vec<&'a str>) {
        let sensitive = sensitive || value.marks.sensitive;
        if let Some(text) = value.as_str()
            && sensitive
        {
            found.push(text);
        }
        value.parts().for_each(|part| secrets(part, sensitive, found));
    }
    let mut found = Vec::new();
    arguments.iter().filter(|argument| argument.contains_sensitive()).for_each(|argument| {
        secrets(argument, false, &mut found);
    });
    for secret in found {
        for quoted in [format!("{secret:?}"), format!("\"{secret}\"")] {
            error.message = error.message.replace(&quoted, "(sensitive value)");
        }
    }
    error
}

/// An unknown value of a type, not null, that waits for the first unknown of these.
pub(super) fn unknown_from(ty: Type, refinements: Refinements, values: &[Value]) -> Value {
    let origin = values.iter().find_map(|value| value.first_unknown()).and_then(|unknown| unknown.origin);
    Value::unknown_with(Unknown { ty, refinements, origin })
}
