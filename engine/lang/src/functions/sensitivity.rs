//! Functions about the mark *sensitive*.

use engine_value::{Marks, Type, Value};

use crate::functions::{Function, Parameter};

const VALUE: Parameter = Parameter::any("value").null().unknown().marked();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "sensitive",
        parameters: &[VALUE],
        variadic: None,
        returns: |_| Type::Dynamic,
        run: |args, _| Ok(args[0].clone().mark(Marks::SENSITIVE)),
    },
    Function {
        name: "nonsensitive",
        parameters: &[VALUE],
        variadic: None,
        returns: |_| Type::Dynamic,
        run: |args, _| {
            let mut value = args[0].clone();
            value.marks.sensitive = false;
            Ok(value)
        },
    },
    Function {
        name: "issensitive",
        parameters: &[VALUE],
        variadic: None,
        returns: |_| Type::Bool,
        run: |args, _| Ok(Value::bool(args[0].marks.sensitive)),
    },
];
