//! Functions about the marks *sensitive* and *ephemeral*.

use engine_value::{Marks, Refinements, Type, Value};

use crate::functions::{Function, Parameter, call::unknown_from};

const VALUE: Parameter = Parameter::any("value").null().unknown().marked();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "sensitive",
        description: "A value with the mark that it is never shown.",
        parameters: &[VALUE],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| Ok(args[0].clone().mark(Marks::SENSITIVE)),
    },
    Function {
        name: "nonsensitive",
        description: "A value without its mark as sensitive: whoever calls this says that it may be shown.",
        parameters: &[VALUE],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| {
            let mut value = args[0].clone();
            value.marks.sensitive = false;
            Ok(value)
        },
    },
    Function {
        name: "ephemeralasnull",
        description: "A value in which every part that is ephemeral is null instead.",
        parameters: &[VALUE],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| {
            Ok(args[0].transform(&mut |_, part| if part.marks.ephemeral { Value::null(part.type_of()) } else { part }))
        },
    },
    Function {
        name: "issensitive",
        description: "Is a value marked as sensitive?",
        parameters: &[VALUE],
        variadic: None,
        returns: |_| Ok(Type::Bool),
        run: |args, _| {
            // What is not known yet may still turn out to be sensitive.
            if args[0].is_known() || args[0].marks.sensitive {
                return Ok(Value::bool(args[0].marks.sensitive));
            }
            Ok(unknown_from(Type::Bool, Refinements::not_null(), args))
        },
    },
];
