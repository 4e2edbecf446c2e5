//! Bodies to values by a schema: arguments, nested and dynamic blocks, and where everything wrong is told.

use engine_diag::{FileId, Sources};
use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Usage};
use engine_value::{Path, Type, Value, json};

use super::{Names, value_from};
use crate::{
    config::Arguments,
    eval::{Stop, decode, expression_of, place_of},
    syntax::parse,
};

fn text(usage: Usage) -> Attribute {
    Attribute::new(Type::String, usage, "")
}

fn nested(nesting: Nesting, min_items: u64, max_items: u64) -> NestedBlock {
    let block = Block::new([("key", text(Usage::Required)), ("value", text(Usage::Optional))], "");
    NestedBlock { nesting, block, min_items, max_items }
}

fn schema() -> Block {
    let profile = [
        ("cards", Attribute::new(Type::Number, Usage::Optional, "")),
        ("product", text(Usage::Required)),
        ("layout", text(Usage::Computed)),
    ];
    Block::new(
        [
            ("name", text(Usage::Required)),
            ("id", text(Usage::Computed)),
            ("labels", Attribute::new(Type::map(Type::String), Usage::Optional, "")),
            ("profiles", Attribute::nested(Nesting::Map, profile, Usage::Optional, "")),
        ],
        "",
    )
    .with_block("rule", nested(Nesting::List, 0, 3))
    .with_block("only", nested(Nesting::Single, 0, 1))
    .with_block("tag", nested(Nesting::Set, 0, 0))
    .with_block("by_name", nested(Nesting::Map, 0, 0))
}

fn arguments(source: &str) -> Arguments {
    let (body, diagnostics) = parse(FileId(0), source);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    Arguments { body, meta: &["count", "lifecycle"] }
}

fn scope() -> Names {
    Names {
        values: vec![
            ("var.rules", value_from(r#"{"a":"1","b":"2"}"#)),
            ("var.unknown", Value::unknown(Type::map(Type::String))),
            ("var.secret", value_from(r#"["x"]"#).mark(engine_value::Marks::SENSITIVE)),
        ],
        ..Names::default()
    }
}

fn decoded(source: &str) -> Value {
    decode(&arguments(source), &schema(), &scope()).unwrap()
}

fn check(source: &str, attribute: &str, expected: &str) {
    let value = decoded(source);
    assert_eq!(value.type_of(), schema().value_type(), "{source}");
    let part = value.get(attribute).unwrap().clone().unmark_deep().0;
    assert_eq!(json::encode(&part).unwrap(), expected, "{source}");
}

#[test]
fn arguments_and_blocks_become_one_object() {
    check("name = 5\ncount = 3\nlifecycle {}", "name", r#""5""#);
    check("name = \"n\"", "labels", "null");
    check("name = \"n\"\nlabels = { a = 1 }", "labels", r#"{"a":"1"}"#);
    check(
        "name = \"n\"\nprofiles = { p = { product = \"A100\" } }",
        "profiles",
        r#"{"p":{"cards":null,"layout":null,"product":"A100"}}"#,
    );
    let rules = "rule {\n key = \"a\"\n}\nrule {\n key = \"b\"\n value = 1\n}";
    check(&format!("name = \"n\"\n{rules}"), "rule", r#"[{"key":"a","value":null},{"key":"b","value":"1"}]"#);
    check("name = \"n\"", "rule", "[]");
    check("name = \"n\"", "only", "null");
    check("name = \"n\"\nonly {\n key = \"k\"\n}", "only", r#"{"key":"k","value":null}"#);
    check(
        "name = \"n\"\ntag {\n key = \"b\"\n}\ntag {\n key = \"a\"\n}",
        "tag",
        r#"[{"key":"a","value":null},{"key":"b","value":null}]"#,
    );
    check("name = \"n\"\nby_name \"x\" {\n key = \"b\"\n}", "by_name", r#"{"x":{"key":"b","value":null}}"#);
}

#[test]
fn dynamic_blocks_are_expanded() {
    let dynamic = |rest: &str| format!("name = \"n\"\ndynamic {rest}");
    check(
        &dynamic("\"rule\" {\n for_each = var.rules\n content {\n key = rule.key\n value = rule.value\n }\n}"),
        "rule",
        r#"[{"key":"a","value":"1"},{"key":"b","value":"2"}]"#,
    );
    check(
        &dynamic(
            "\"rule\" {\n for_each = [\"x\"]\n iterator = it\n content {\n key = \"${it.key}${it.value}\"\n }\n}\nrule {\n key = \"last\"\n}",
        ),
        "rule",
        r#"[{"key":"0x","value":null},{"key":"last","value":null}]"#,
    );
    check(
        &dynamic(
            "\"by_name\" {\n for_each = var.rules\n labels = [by_name.key]\n content {\n key = by_name.value\n }\n}",
        ),
        "by_name",
        r#"{"a":{"key":"1","value":null},"b":{"key":"2","value":null}}"#,
    );
    let unknown = decoded(&dynamic("\"rule\" {\n for_each = var.unknown\n content {\n key = rule.key\n }\n}"));
    assert!(!unknown.get("rule").unwrap().is_known());
    let secret = decoded(&dynamic("\"rule\" {\n for_each = var.secret\n content {\n key = rule.value\n }\n}"));
    assert!(secret.get("rule").unwrap().contains_sensitive());
}

/// Source, `summary @ text under the span`, in order.
fn fails(source: &str, expected: &[&str]) {
    let Err(Stop::Failed(diagnostics)) = decode(&arguments(source), &schema(), &scope()) else {
        panic!("{source} does not fail");
    };
    let found: Vec<String> = diagnostics
        .iter()
        .map(|d| {
            let span = d.span.unwrap();
            format!("{} @ {}", d.detail.lines().next().unwrap(), &source[span.start as usize..span.end as usize])
        })
        .collect();
    assert_eq!(found, expected, "{source}");
}

#[test]
fn everything_wrong_is_told_with_its_place() {
    fails(
        "nme = 1\nrules {}\nid = \"x\"\nlabels {}",
        &[
            "An argument named \"nme\" is not expected here. Did you mean \"name\"? @ nme",
            "Can't configure a value for \"id\": its value will be decided automatically based on the result of applying \
             this configuration. @ id = \"x\"",
            "The argument \"name\" is required, but no definition was found. @ ",
            "Blocks of type \"rules\" are not expected here. Did you mean \"rule\"? @ rules",
            "Blocks of type \"labels\" are not expected here. Did you mean to define argument \"labels\"? If so, use the \
             equals sign to assign it a value. @ labels",
        ],
    );
    fails(
        "name = \"n\"\nlabels = { a = [1] }",
        &["Inappropriate value for attribute \"labels\": element \"a\": string required, but have tuple. @ [1]"],
    );
    fails("name = null", &["The argument \"name\" is required, but no definition was found. @ null"]);
    fails(
        "name = \"n\"\nprofiles = { p = { product = \"A\", card = 1 }, q = { product = \"B\", layout = \"x\" } }",
        &[
            "An attribute named \"card\" is not expected here. Did you mean \"cards\"? @ 1",
            "Can't configure a value for \"layout\": its value will be decided automatically based on the result of \
             applying this configuration. @ \"x\"",
        ],
    );
    fails(
        "name = \"n\"\nprofiles = { p = {} }",
        &["Inappropriate value for attribute \"profiles\": element \"p\": attribute \"product\" is required. @ {}"],
    );
    fails(
        "name = \"n\"\nonly {\n key = \"a\"\n}\nonly {\n key = \"b\"\n}",
        &["Only one only block is allowed. @ only"],
    );
    fails(
        "name = \"n\"\nrule = []",
        &["An argument named \"rule\" is not expected here. Did you mean to define a block of type \"rule\"? @ rule"],
    );
    let four = "rule {\n key = \"a\"\n}\n".repeat(4);
    fails(&format!("name = \"n\"\n{four}"), &["No more than 3 \"rule\" blocks are allowed. @ rule"]);
    fails("name = \"n\"\nrule \"x\" {\n key = \"a\"\n}", &["No labels are expected for rule blocks. @ \"x\""]);
    fails(
        "name = \"n\"\ndynamic \"rule\" {\n for_each = 5\n content {}\n}",
        &["Cannot use a number value in for_each. An iterable collection is required. @ 5"],
    );
    fails(
        "name = \"n\"\ndynamic \"rul\" {\n for_each = []\n content {}\n}",
        &["Blocks of type \"rul\" are not expected here. Did you mean \"rule\"? @ \"rul\""],
    );
}

#[test]
fn every_part_has_its_place() {
    let source = concat!(
        "name = \"n\"\n",
        "profiles = { \"p\" = { product = \"A100\", cards = 1 + 1 } }\n",
        "labels = var.rules\n",
        "rule {\n key = \"first\"\n}\n",
        "dynamic \"rule\" {\n for_each = [1]\n content {\n key = rule.value\n }\n}\n",
        "only {\n key = \"o\"\n}\n",
    );
    let arguments = arguments(source);
    let mut sources = Sources::new();
    sources.add("a.tf", source);
    let place = |path: Path| place_of(&arguments, &schema(), &path).map(|span| sources.text(span).to_owned());
    let root = Path::root;
    assert_eq!(place(root().attr("name")).as_deref(), Some("\"n\""));
    let profile = root().attr("profiles").key("p");
    assert_eq!(place(profile.clone().attr("cards")).as_deref(), Some("1 + 1"));
    assert_eq!(place(profile.clone().attr("layout")).as_deref(), Some("{ product = \"A100\", cards = 1 + 1 }"));
    assert_eq!(place(root().attr("labels").key("a")).as_deref(), Some("var.rules"));
    assert_eq!(place(root().attr("rule").index(0).attr("key")).as_deref(), Some("\"first\""));
    assert_eq!(place(root().attr("rule").index(1).attr("key")).as_deref(), Some("dynamic \"rule\""));
    assert_eq!(place(root().attr("only").attr("key")).as_deref(), Some("\"o\""));
    assert_eq!(place(root().attr("only").attr("value")).as_deref(), Some("only"));
    assert_eq!(place(root().attr("id")), None);
    let (expr, rest) = expression_of(&arguments, &schema(), &root().attr("labels").key("a")).unwrap();
    assert_eq!((sources.text(expr.span()), rest), ("var.rules", root().key("a")));
}
