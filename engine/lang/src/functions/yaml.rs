//! YAML, read and written as Terraform does: of YAML 1.1, as far as it means something in the language.

mod read;
mod scalar;
mod write;

use engine_value::{Type, Value};

use crate::functions::{CallError, Function, Parameter, call::unknown_from};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "yamldecode",
        description: "The value that a YAML document stands for.",
        parameters: &[Parameter::string("src")],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| read::document(args[0].as_str().unwrap_or_default()).map_err(CallError::new),
    },
    Function {
        name: "yamlencode",
        description: "A value as a YAML document.",
        parameters: &[Parameter::any("value").null().unknown()],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| {
            if args[0].has_unknown() {
                return Ok(unknown_from(Type::String, engine_value::Refinements::not_null(), args));
            }
            Ok(Value::string(write::document(&args[0])))
        },
    },
];
