//! Calls of functions of providers.

use engine_model::schema::Function;
use engine_value::{Marks, Type, Value};

use super::{Names, value_of};

fn scope() -> Names {
    let function = Function {
        parameters: vec![("text".into(), Type::String)],
        variadic: None,
        returns: Type::String,
        description: String::new(),
    };
    let values = vec![
        ("local.secret", Value::from("s").mark(Marks::SENSITIVE)),
        ("local.later", Value::unknown(Type::String)),
        ("local.none", Value::null(Type::String)),
    ];
    Names { values, function: Some(function), ..Names::default() }
}

#[test]
fn arguments_are_converted_and_marks_are_kept() {
    let value = |text: &str| value_of(text, &scope()).unwrap();
    assert_eq!(value("provider::p::twice(12)"), Value::from("1212"));
    assert_eq!(value("provider::p::twice([\"a\"]...)"), Value::from("aa"));
    assert_eq!(value("provider::p::twice(local.secret)"), Value::from("ss").mark(Marks::SENSITIVE));
    let later = value("provider::p::twice(local.later)");
    assert!(!later.is_known() && later.type_of() == Type::String);
}

#[test]
fn what_is_wrong_with_a_call_is_told() {
    for (text, expected) in [
        (
            "provider::p::twise(1)",
            "There is no function named \"provider::p::twise\". Did you mean \"provider::p::twice\"?",
        ),
        ("provider::p::twice()", "Function \"provider::p::twice\" expects 1 argument(s). Missing value for \"text\"."),
        ("provider::p::twice(1, 2)", "Function \"provider::p::twice\" expects only 1 argument(s)."),
        ("provider::p::twice({})", "Invalid value for \"text\" parameter: string required, but have object."),
        ("provider::p::twice(\"wrong\")", "Invalid value for \"text\" parameter: it is wrong."),
        ("provider::p::twice(local.none)", "Call to function \"provider::p::twice\" failed: it is no text."),
    ] {
        let diagnostics = value_of(text, &scope()).unwrap_err();
        let details: Vec<&str> = diagnostics.iter().map(|one| one.detail.as_str()).collect();
        assert_eq!(details, [expected], "{text}");
    }
}
