//! Functions that render templates.

use engine_value::{Type, Value, convert};

use crate::{
    eval::{RenderError, render},
    functions::{CallError, Function, Outside, Parameter, filesystem},
};

const VARS: Parameter = Parameter::any("vars").marked();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "templatefile",
        description: "The content of a file as a template, rendered with the given variables.",
        parameters: &[Parameter::string("path"), VARS],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, outside| {
            check_depth("templatefile", outside)?;
            let path = args[0].as_str().unwrap_or_default();
            let text = filesystem::read_text(path, outside)?;
            rendered(path, &text, &args[1], outside)
        },
    },
    Function {
        name: "templatestring",
        description: "A text from elsewhere as a template, rendered with the given variables.",
        parameters: &[
            Parameter::string("template")
                .described("A reference to the text of the template, such as `local.greeting`."),
            VARS.described("The variables of the template, by name."),
        ],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, outside| {
            check_depth("templatestring", outside)?;
            let text = args[0].as_str().unwrap_or_default();
            let value = rendered("<templatestring argument>", text, &args[1], outside)?;
            let text = convert(&value, &Type::String);
            text.map_err(|error| CallError::new(format!("invalid template result: {error}")))
        },
    },
];

/// A template that renders others could do so without end.
fn check_depth(name: &str, outside: &Outside<'_>) -> Result<(), CallError> {
    if outside.in_template {
        return Err(CallError::new(format!("cannot recursively call {name} from inside another template function")));
    }
    Ok(())
}

fn rendered(name: &str, text: &str, variables: &Value, outside: &Outside<'_>) -> Result<Value, CallError> {
    let (variables, marks) = (variables, variables.marks_deep());
    match render(name, text, variables, outside.files, outside.surroundings) {
        // Which of the variables the template uses is nobody's business.
        Ok(value) => Ok(value.mark(marks)),
        Err(RenderError::Template(why)) => Err(CallError::argument(0, format!("invalid template: {why}"))),
        Err(RenderError::Variables(why)) => Err(CallError::argument(1, why)),
        Err(RenderError::Failed(why)) => Err(CallError::new(why)),
    }
}
