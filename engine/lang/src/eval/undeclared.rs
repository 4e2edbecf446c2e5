//! References to what is not declared.

use engine_diag::Diagnostic;
use engine_model::address::Mode;

use crate::eval::{Subject, did_you_mean};

/// The error for a reference to what is not declared. `declared` are the names of its kind that are (`TYPE.NAME` for
/// resources); `module` is how the module is called in a sentence: `the root module`, `module.a`.
pub fn undeclared<'a>(subject: &Subject, declared: impl IntoIterator<Item = &'a str>, module: &str) -> Diagnostic {
    let (summary, detail, given) = match subject {
        Subject::Variable(name) => (
            "Reference to undeclared input variable",
            format!("An input variable with the name \"{name}\" has not been declared."),
            name.to_string(),
        ),
        Subject::Local(name) => (
            "Reference to undeclared local value",
            format!("A local value with the name \"{name}\" has not been declared."),
            name.to_string(),
        ),
        Subject::Module { name, .. } => (
            "Reference to undeclared module",
            format!("No module call named \"{name}\" is declared in {module}."),
            name.to_string(),
        ),
        Subject::Resource { mode, ty, name, .. } => {
            let what = match mode {
                Mode::Managed => "A managed resource",
                Mode::Data => "A data resource",
                Mode::Ephemeral => "An ephemeral resource",
            };
            (
                "Reference to undeclared resource",
                format!("{what} \"{ty}\" \"{name}\" has not been declared in {module}."),
                format!("{ty}.{name}"),
            )
        }
        Subject::CountIndex => (
            "Reference to \"count\" in non-counted context",
            "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" blocks, and only when the \
             \"count\" argument is set."
                .to_owned(),
            String::new(),
        ),
        Subject::EachKey | Subject::EachValue => (
            "Reference to \"each\" in context without for_each",
            "The \"each\" object can be used only in \"module\" or \"resource\" blocks, and only when the \"for_each\" \
             argument is set."
                .to_owned(),
            String::new(),
        ),
        Subject::SelfObject => (
            "Invalid \"self\" reference",
            "The \"self\" object is not available in this context. This object can be used only in resource provisioner, \
             connection, and postcondition blocks."
                .to_owned(),
            String::new(),
        ),
        Subject::Path(_) | Subject::Terraform(_) | Subject::Run(_) => (
            "Invalid reference",
            format!("\"{}\" is not available in this context.", subject.text()),
            String::new(),
        ),
    };
    let meant = match (did_you_mean(&given, declared), subject) {
        (nothing, Subject::Variable(name)) if nothing.is_empty() => {
            format!(" This variable can be declared with a variable \"{name}\" {{}} block.")
        }
        (meant, _) => meant,
    };
    Diagnostic::error(summary, format!("{detail}{meant}"))
}
