//! How much of a name evaluation asks for, where it stops, and what its errors show.

use engine_value::{Origin, Refinements, Type, Unknown, Value};

use super::{Names, expression, value_from, value_of};
use crate::eval::{Repetition, Stop, evaluate};

fn fleet() -> Names {
    Names {
        values: vec![
            ("x.a", value_from(r#"[{"id":"0"},{"id":"1"}]"#)),
            ("x.a[1]", value_from(r#"{"id":"1"}"#)),
            ("x.e", value_from(r#"{"k":{"id":"k"}}"#)),
            ("x.e[\"k\"]", value_from(r#"{"id":"k"}"#)),
            ("x.s", value_from(r#"{"id":"s","list":[1,2]}"#)),
            ("each.key", Value::string("k")),
            ("count.index", Value::int(1)),
            ("module.m[\"k\"].out", value_from(r#"{"v":7}"#)),
            ("module.one.out", Value::int(3)),
            ("module.one", value_from(r#"{"out":3}"#)),
            ("local.u", Value::unknown(Type::Number)),
            ("module.m", value_from(r#"{"k":{"out":{"v":7}}}"#)),
        ],
        repeated: vec![("x.a", Repetition::Count), ("x.e", Repetition::ForEach), ("module.m", Repetition::ForEach)],
        ..Names::default()
    }
}

#[test]
fn references_ask_for_no_more_than_they_need() {
    for (text, result, asked) in [
        ("x.a[1].id", r#""1""#, &["x.a[1]"][..]),
        ("x.a[count.index].id", r#""1""#, &["count.index", "x.a[1]"]),
        ("x.e[each.key].id", r#""k""#, &["each.key", "x.e[\"k\"]"]),
        ("x.e[\"k\"]", r#"{"id":"k"}"#, &["x.e[\"k\"]"]),
        ("x.a[*].id", r#"["0","1"]"#, &["x.a"]),
        ("x.a.*.id", r#"["0","1"]"#, &["x.a"]),
        ("[for v in x.a : v.id]", r#"["0","1"]"#, &["x.a"]),
        ("x.e", r#"{"k":{"id":"k"}}"#, &["x.e"]),
        ("x.s.id", r#""s""#, &["x.s"]),
        ("x.s[\"id\"]", r#""s""#, &["x.s"]),
        ("x.s.list[1]", "2", &["x.s"]),
        ("module.m[each.key].out.v", "7", &["each.key", "module.m[\"k\"].out"]),
        ("module.one.out", "3", &["module.one.out"]),
        ("module.one[\"out\"]", "3", &["module.one"]),
        ("[for k in [\"k\"] : x.e[k].id]", r#"["k"]"#, &["x.e[\"k\"]"]),
    ] {
        let scope = fleet();
        let value = value_of(text, &scope).unwrap();
        assert_eq!(engine_value::json::encode(&value).unwrap(), result, "{text}");
        assert_eq!(*scope.asked.borrow(), asked, "{text}");
    }
}

#[test]
fn an_unknown_key_asks_for_the_whole() {
    let scope = fleet();
    let value = value_of("x.a[local.u].id", &scope).unwrap();
    assert!(!value.is_known());
    assert_eq!(*scope.asked.borrow(), ["local.u", "x.a", "local.u"]);
}

#[test]
fn a_repeated_resource_needs_a_key() {
    let error = value_of("x.e.id", &fleet()).unwrap_err();
    let error = error.iter().next().unwrap();
    assert_eq!(error.summary, "Missing resource instance key");
    assert!(error.detail.starts_with("Because x.e has \"for_each\" set"), "{}", error.detail);
    assert!(error.detail.ends_with("x.e[each.key]"), "{}", error.detail);
}

#[test]
fn what_is_blocked_ends_evaluation() {
    for text in ["local.blocked", "[local.u, local.blocked]", "true ? 1 : local.blocked", "try(local.blocked, 1)"] {
        let result = evaluate(&expression(text), &fleet());
        assert_eq!(result, Err(Stop::Blocked("local.blocked".to_owned())), "{text}");
    }
}

#[test]
fn and_and_or_stop_where_the_left_side_decides() {
    assert_eq!(value_of("false && tobool(\"x\")", &fleet()).unwrap(), Value::bool(false));
    assert_eq!(value_of("true || null", &fleet()).unwrap(), Value::bool(true));
    assert!(value_of("true && tobool(\"x\")", &fleet()).is_err());
}

#[test]
fn several_failures_are_told_at_once() {
    let error = value_of("[1 + [], {a = nosuch()}, 5 ? 1 : 2]", &fleet()).unwrap_err();
    let summaries: Vec<&str> = error.iter().map(|d| d.summary.as_str()).collect();
    assert_eq!(summaries, ["Invalid operand", "Call to unknown function", "Incorrect condition type"]);
}

#[test]
fn errors_show_the_values_that_they_are_about() {
    let scope = Names {
        values: vec![
            ("var.name", Value::string("abc")),
            ("var.secret", Value::string("hidden").mark(engine_value::Marks::SENSITIVE)),
            ("var.list", value_from("[1,2]")),
        ],
        ..Names::default()
    };
    let values = |text: &str| {
        let error = value_of(text, &scope).unwrap_err();
        error.iter().next().unwrap().values.clone()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(values("var.name + 1"), [pair("var.name", "is \"abc\"")]);
    assert_eq!(values("tonumber(var.secret)"), [pair("var.secret", "has a sensitive value")]);
    assert_eq!(values("var.list[5]"), [pair("var.list", "is tuple with 2 elements")]);
    assert_eq!(values("[for v in var.list : v.a]"), [pair("v", "is 1")]);
}

#[test]
fn no_error_tells_a_secret() {
    let secret = |json: &str| value_from(json).mark(engine_value::Marks::SENSITIVE);
    let scope = Names {
        values: vec![
            ("var.text", secret("\"s3cr3t\"")),
            ("var.number", secret("40.25")),
            ("var.map", secret(r#"{"s3cr3t":1}"#)),
            ("var.list", Value::tuple([secret("\"s3cr3t\""), secret("\"s3cr3t\"")])),
        ],
        ..Names::default()
    };
    for text in [
        "base64decode(\"${var.text}!\")",
        "parseint(var.text, 10)",
        "file(var.text)",
        "tonumber(var.text)",
        "tobool(var.text)",
        "jsondecode(var.text)",
        "lookup({a = 1}, var.text)",
        "lookup(tomap({a = 1}), var.text)",
        "{for t in var.list : t => 1}",
        "[1][var.number]",
        "[1][var.text]",
        "{a = 1}[var.text]",
        "var.map.s3cr3",
        "var.map[\"s3cr3\"]",
        "var.text.a",
        "var.number + \"x\"",
        "format(\"%d\", var.text)",
        "element(var.list, var.text)",
        "range(var.number * 1000)",
        "regex(var.text, \"\")",
        "regex(\"${var.text}(\", \"\")",
        "merge(var.text)",
        "sort([var.text, null])",
        "try(var.text.a, tonumber(var.text))",
    ] {
        let errors = format!("{:?}", value_of(text, &scope).unwrap_err());
        assert!(!errors.contains("s3cr3t") && !errors.contains("40.25"), "{text}: {errors}");
    }
}

#[test]
fn unknown_results_know_what_they_wait_for() {
    let waiting = Unknown { ty: Type::String, refinements: Refinements::not_null(), origin: Some(Origin(4)) };
    let scope =
        Names { values: vec![("x.s", Value::object([("id", Value::unknown_with(waiting))]))], ..Names::default() };
    for text in [
        "\"a${x.s.id}\"",
        "x.s.id == \"a\"",
        "x.s.id == \"a\" ? 1 : 2",
        "upper(x.s.id)",
        "jsonencode([x.s.id])",
        "length(x.s.id) + 1",
        "[for k in [x.s.id] : k if k == \"a\"]",
        "try(x.s.id, 1)",
        "x.s.id == \"a\" && true",
    ] {
        let value = value_of(text, &scope).unwrap();
        assert_eq!(value.as_unknown().unwrap().origin, Some(Origin(4)), "{text}");
    }
}

#[test]
fn long_chains_work() {
    let scope = fleet();
    let sum = vec!["1"; 20_000].join(" + ");
    assert_eq!(value_of(&sum, &scope).unwrap(), Value::int(20_000));
    let chain = format!("{}5", "false ? 1 : ".repeat(20_000));
    assert_eq!(value_of(&chain, &scope).unwrap(), Value::int(5));
}

/// As deep as the parser lets them be, without optimisation, in the stack that the evaluator asks for.
#[test]
fn deep_nesting_fits_in_the_stack() {
    const FORMS: [(&str, &str, usize); 15] = [
        ("[", "]", 505),
        ("(", ")", 505),
        ("{a = ", "}", 505),
        ("max(1, ", ")", 505),
        ("\"${1 == ", "}\"", 250),
        ("true ? (", ") : 1", 250),
        ("[for x in [1] : ", "]", 500),
        ("{for x in [1] : \"k\" => ", "}", 500),
        ("1 + (", ")", 250),
        ("-(", ")", 250),
        ("try(", ")", 505),
        ("[1][0 * (", ")]", 160),
        ("[[", "][*]][0]", 120),
        ("\"%{ if true }${", "}%{ endif }\"", 170),
        ("\"%{ for x in [1] }${", "}%{ endfor }\"", 170),
    ];
    let run = || {
        let scope = fleet();
        for (open, close, levels) in FORMS {
            let text = format!("{}1{}", open.repeat(levels), close.repeat(levels));
            let (expr, diagnostics) = crate::syntax::parse_expression(engine_diag::FileId(0), &text);
            assert!(!diagnostics.has_errors(), "{open}: {:?}", diagnostics.iter().next());
            assert!(evaluate(&expr, &scope).is_ok(), "{open}");
        }
    };
    std::thread::Builder::new().stack_size(4 << 20).spawn(run).unwrap().join().unwrap();
}
