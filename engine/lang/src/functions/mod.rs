//! The functions of the language: what they take, what they give, one file per family.
//!
//! `try` and `can` are not here: they are forms of expressions, since their arguments may fail.

mod call;
mod collection;
mod conversion;
mod csv;
mod digest;
mod encoding;
mod filesystem;
mod format;
mod identity;
mod list;
mod network;
mod numeric;
mod regular;
mod rsa;
mod sensitivity;
mod sequence;
mod set;
mod signature;
mod string;
mod template;
mod time;
mod yaml;

#[cfg(test)]
mod tests;

use engine_value::{Type, Value};

pub(crate) use call::{CallError, call};
pub use signature::{ParameterSignature, Signature, metadata, signatures};
pub use time::rfc3339;

use crate::eval::{Files, Surroundings};

/// The type of a result, as far as the arguments tell.
pub(crate) type Returns = fn(&[Value]) -> Result<Type, CallError>;

/// What a function does.
pub(crate) type Run = fn(&[Value], &Outside<'_>) -> Result<Value, CallError>;

/// What a function reaches beyond its arguments.
pub(crate) struct Outside<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) surroundings: &'a Surroundings,
    /// Is the call part of a template that a function renders?
    pub(crate) in_template: bool,
}

/// A function.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// What it gives, in a sentence.
    description: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// Any number of further arguments.
    pub(crate) variadic: Option<Parameter>,
    /// Asked only where an argument is not known, to refuse at once what cannot become right.
    returns: Returns,
    run: Run,
}

/// One parameter.
#[derive(Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// What it is for, where its name does not tell.
    description: Option<&'static str>,
    ty: fn() -> Type,
    /// The function deals with null itself.
    takes_null: bool,
    /// The function deals with an unknown argument itself.
    takes_unknown: bool,
    /// The function deals with marks itself; otherwise all marks in the argument become marks of the result.
    takes_marks: bool,
}

impl Parameter {
    const fn new(name: &'static str, ty: fn() -> Type) -> Self {
        Self { name, description: None, ty, takes_null: false, takes_unknown: false, takes_marks: false }
    }

    const fn string(name: &'static str) -> Self {
        Self::new(name, || Type::String)
    }

    const fn number(name: &'static str) -> Self {
        Self::new(name, || Type::Number)
    }

    const fn any(name: &'static str) -> Self {
        Self::new(name, || Type::Dynamic)
    }

    const fn list_of_any(name: &'static str) -> Self {
        Self::new(name, || Type::list(Type::Dynamic))
    }

    const fn list_of_string(name: &'static str) -> Self {
        Self::new(name, || Type::list(Type::String))
    }

    const fn null(self) -> Self {
        Self { takes_null: true, ..self }
    }

    const fn unknown(self) -> Self {
        Self { takes_unknown: true, ..self }
    }

    const fn marked(self) -> Self {
        Self { takes_marks: true, ..self }
    }

    const fn described(self, description: &'static str) -> Self {
        Self { description: Some(description), ..self }
    }

    /// Its type.
    pub(crate) fn ty(&self) -> Type {
        (self.ty)()
    }
}

impl Function {
    /// The parameter of an argument.
    pub(crate) fn parameter(&self, at: usize) -> &Parameter {
        self.parameters.get(at).or(self.variadic.as_ref()).expect("the number of arguments has been checked")
    }

    /// `max(numbers...)`.
    pub(crate) fn signature(&self) -> String {
        let mut names: Vec<String> = self.parameters.iter().map(|parameter| parameter.name.to_owned()).collect();
        names.extend(self.variadic.map(|parameter| format!("{}...", parameter.name)));
        format!("{}({})", self.name, names.join(", "))
    }
}

const FAMILIES: &[&[Function]] = &[
    collection::FUNCTIONS,
    conversion::FUNCTIONS,
    csv::FUNCTIONS,
    digest::FUNCTIONS,
    encoding::FUNCTIONS,
    filesystem::FUNCTIONS,
    format::FUNCTIONS,
    identity::FUNCTIONS,
    list::FUNCTIONS,
    network::FUNCTIONS,
    numeric::FUNCTIONS,
    regular::FUNCTIONS,
    rsa::FUNCTIONS,
    sensitivity::FUNCTIONS,
    sequence::FUNCTIONS,
    set::FUNCTIONS,
    string::FUNCTIONS,
    template::FUNCTIONS,
    time::FUNCTIONS,
    yaml::FUNCTIONS,
];

/// A function by its name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter()).find(|function| function.name == name)
}

/// The names of all functions, those that are forms of expressions too.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|function| function.name).chain(["try", "can"])
}
