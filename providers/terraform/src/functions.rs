//! Functions: `provider::terraform::encode_tfvars`, `decode_tfvars`, `encode_expr`.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostics, Sources};
use engine_lang::{config::variable_values, eval::evaluate_constant, syntax::is_identifier, write};
use engine_model::schema::Function;
use engine_value::{Type, Value};

/// The signatures.
pub(crate) fn signatures() -> BTreeMap<Arc<str>, Function> {
    let one = |parameter: &str, ty: Type, returns: Type, description: &str| Function {
        parameters: vec![(parameter.into(), ty)],
        variadic: None,
        returns,
        description: description.to_owned(),
    };
    let (any, text) = (Type::Dynamic, Type::String);
    [
        (
            "decode_tfvars".into(),
            one(
                "src",
                text.clone(),
                any.clone(),
                "The object of the values that a text in the form of a `.tfvars` file gives.",
            ),
        ),
        (
            "encode_expr".into(),
            one("value", any.clone(), text.clone(), "The expression that stands for a value, as source text."),
        ),
        (
            "encode_tfvars".into(),
            one("value", any, text, "The text of a `.tfvars` file that gives the attributes of an object."),
        ),
    ]
    .into()
}

/// Calls a function.
pub(crate) fn call(function: &str, arguments: &[Value]) -> Result<Value, (Option<usize>, String)> {
    let argument = arguments.first().ok_or_else(|| (None, "there is no argument".to_owned()))?;
    if argument.is_null() {
        return Err((Some(0), "argument must not be null".to_owned()));
    }
    match function {
        "decode_tfvars" => decode(argument.as_str().unwrap_or_default()),
        "encode_expr" => write::expression(argument).map(Value::from).ok_or_else(infinite),
        "encode_tfvars" => encode(argument).map(Value::from),
        other => Err(format!("there is no function {other:?}")),
    }
    .map_err(|why| (Some(0), why))
}

fn infinite() -> String {
    "an infinite number cannot be written as an expression".to_owned()
}

fn encode(object: &Value) -> Result<String, String> {
    let Some(attributes) = object.as_map() else {
        return Err("must be an object whose attribute names become the names of the variables".to_owned());
    };
    if let Some(wrong) = attributes.keys().find(|name| !is_identifier(name)) {
        return Err(format!(
            "invalid variable name {wrong:?}: it must be an identifier, as where variables are declared"
        ));
    }
    write::arguments(attributes.iter().map(|(name, value)| (&**name, value))).ok_or_else(infinite)
}

fn decode(text: &str) -> Result<Value, String> {
    let mut sources = Sources::new();
    let file = sources.add("<decode_tfvars argument>", text);
    let (assignments, diagnostics) = variable_values(file, text);
    if diagnostics.has_errors() {
        return Err(told(&sources, &diagnostics));
    }
    let mut values = Vec::with_capacity(assignments.len());
    for (name, assignment) in assignments {
        let value = evaluate_constant(&assignment.value)
            .map_err(|diagnostics| format!("variable {name:?}: {}", told(&sources, &diagnostics)))?;
        values.push((name, value));
    }
    Ok(Value::object(values))
}

/// The first error, with its line.
fn told(sources: &Sources, diagnostics: &Diagnostics) -> String {
    let Some(first) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) else { return String::new() };
    let place = first.span.map_or_else(String::new, |span| format!("{}: ", sources.place(span)));
    format!("{place}{}; {}", first.summary, first.detail.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use engine_diag::FileId;
    use engine_lang::syntax::parse_expression;
    use engine_value::json;

    use super::*;

    fn value(text: &str) -> Value {
        evaluate_constant(&parse_expression(FileId(0), text).0).unwrap()
    }

    /// Function, argument, result: recorded from Terraform 1.11.4.
    #[test]
    fn results_are_terraforms() {
        let long = concat!(
            r#"{ name = "x", n = 1.5, b = true, z = null, l = [1, "a", [], {}], e = [], o = {}, "#,
            r#"m = { "a b" = 1, c = "x\ny", "é" = "$${x} %%{y} \"q\" \\", "1" = 2 }, "#,
            r#"t = { a = 1 }, s = ["a", "b"], ml = "a\nb\n", big = 1e30, ll = [[1, 2], [{ a = 1 }]] }"#
        );
        let vars = concat!(
            "b   = true\nbig = 1000000000000000000000000000000\ne   = []\nl   = [1, \"a\", [], {}]\n",
            "ll = [[1, 2], [{\n  a = 1\n}]]\nm = {\n  \"1\"   = 2\n  \"a b\" = 1\n  c     = \"x\\ny\"\n",
            "  é     = \"$${x} %%{y} \\\"q\\\" \\\\\"\n}\nml   = \"a\\nb\\n\"\nn    = 1.5\nname = \"x\"\no    = {}\n",
            "s    = [\"a\", \"b\"]\nt = {\n  a = 1\n}\nz = null\n"
        );
        for (function, argument, expected) in [
            ("encode_tfvars", long, vars),
            ("encode_tfvars", "{}", ""),
            ("encode_tfvars", r#"{ "for" = 1, bb = 2 }"#, "bb  = 2\nfor = 1\n"),
            ("encode_expr", r#""a\nb""#, r#""a\nb""#),
            ("encode_expr", r#"[1, { a = 1, b = [2] }]"#, "[1, {\n  a = 1\n  b = [2]\n}]"),
            ("encode_expr", "{ a = { b = { c = 1 } } }", "{\n  a = {\n    b = {\n      c = 1\n    }\n  }\n}"),
            (
                "encode_expr",
                r#"{ "for" = 1, null = 2, a-b = 3, _x = 4, if = 5, true = 1 }"#,
                "{\n  _x   = 4\n  a-b  = 3\n  for  = 1\n  if   = 5\n  null = 2\n  true = 1\n}",
            ),
            ("encode_expr", r#""tab\t\u0001\r""#, r#""tab\t\u0001\r""#),
            ("encode_expr", r#""😀\u200b""#, r#""😀\u200b""#),
            ("encode_expr", "[[], {}]", "[[], {}]"),
            ("encode_expr", "-5", "-5"),
        ] {
            assert_eq!(call(function, &[value(argument)]), Ok(Value::from(expected)), "{function}({argument})");
        }
        for (text, expected) in [
            ("a = 1\nb = \"x\"\nc = [1, {d = null}]\n", r#"{"a":1,"b":"x","c":[1,{"d":null}]}"#),
            ("", "{}"),
            ("a=1+2", r#"{"a":3}"#),
        ] {
            let found = call("decode_tfvars", &[Value::from(text)]).unwrap();
            assert_eq!(json::encode(&found).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (function, argument, expected) in [
            ("encode_tfvars", "5", "must be an object"),
            ("encode_tfvars", "[1]", "must be an object"),
            ("encode_tfvars", r#"{ "a b" = 1 }"#, "invalid variable name \"a b\""),
            ("encode_tfvars", "null", "argument must not be null"),
            ("encode_expr", "[1 / 0]", "an infinite number"),
            ("decode_tfvars", r#""a = 1\nb = c""#, "<decode_tfvars argument>:2: Variables not allowed"),
            ("decode_tfvars", r#""a = upper(\"x\")""#, "<decode_tfvars argument>:1: Function calls not allowed"),
            ("decode_tfvars", r#""a {}""#, "<decode_tfvars argument>:1: Unexpected \"a\" block"),
            ("decode_tfvars", r#""a=1\na=2""#, "<decode_tfvars argument>:2: Attribute redefined"),
            ("decode_tfvars", "null", "argument must not be null"),
        ] {
            let (at, why) = call(function, &[value(argument)]).unwrap_err();
            assert_eq!(at, Some(0));
            assert!(why.contains(expected), "{function}({argument}): {why}");
        }
    }
}
