//! Numbers in what is kept, arguments and outputs of the root: state and JSON hold no infinite ones, and one zero.

use engine_diag::{Diagnostic, Diagnostics};
use engine_lang::{
    config::{Arguments, Output},
    eval::place_of,
};
use engine_model::schema::Block;
use engine_value::{Data, Path, Value};

/// The value of an output of the root, as it is kept.
pub(super) fn of_output(output: &Output, value: Value) -> Result<Value, Box<Diagnostic>> {
    if !has_special(&value) {
        return Ok(value);
    }
    if let Some(path) = infinite(&value).first() {
        let place = if path.is_root() { String::new() } else { format!(" at {path}") };
        let detail = format!("The output \"{}\" is infinite{place}, which no state and no JSON can hold.", output.name);
        return Err(Box::new(Diagnostic::error("Invalid output value", detail).at(output.value.span())));
    }
    Ok(with_one_zero(&value))
}

/// The arguments of a resource, as they are kept.
pub(super) fn in_arguments(arguments: &Arguments, schema: &Block, value: Value) -> Result<Value, Diagnostics> {
    if !has_special(&value) {
        return Ok(value);
    }
    let mut wrong = Diagnostics::new();
    for path in infinite(&value) {
        let detail = format!("The argument {path} is infinite, which no state and no JSON can hold.");
        let span = place_of(arguments, schema, &path).unwrap_or_else(|| arguments.body.lacks());
        wrong.push(Diagnostic::error("Invalid argument value", detail).at(span));
    }
    if wrong.is_empty() { Ok(with_one_zero(&value)) } else { Err(wrong) }
}

/// Is there a number that is not kept as it is? Seldom: so this is asked first.
fn has_special(value: &Value) -> bool {
    match &value.data {
        Data::Number(number) => !number.is_finite() || number.is_zero() && number.is_negative(),
        _ => value.parts().into_iter().any(has_special),
    }
}

/// Where the infinite numbers are.
fn infinite(value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    value.walk(&mut |path, part| {
        if matches!(&part.data, Data::Number(number) if !number.is_finite()) {
            found.push(path.clone());
        }
        true
    });
    found
}

fn with_one_zero(value: &Value) -> Value {
    value.transform(&mut |_, mut part| {
        if let Data::Number(number) = part.data {
            part.data = Data::Number(number.without_negative_zero());
        }
        part
    })
}
