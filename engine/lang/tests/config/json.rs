//! Configurations in JSON say the same as those in the native syntax, and what is wrong in them has its place.

use engine_lang::config::{IgnoreChanges, Repeat};
use engine_value::Type;

use crate::read::read;

/// The diagnostics of a root module of one file in JSON, as `line:column summary`.
fn check(text: &str, expected: &[&str]) {
    let (_, diagnostics) = read(&[("main.tf.json", text)]);
    let diagnostics: Vec<_> =
        diagnostics.iter().map(|line| line.strip_prefix("main.tf.json:").unwrap_or(line).to_owned()).collect();
    assert_eq!(diagnostics, expected, "for {text}");
}

#[test]
fn blocks() {
    let (config, diagnostics) = read(&[
        (
            "main.tf.json",
            r#"{
  "//": "a comment",
  "terraform": {
    "required_version": ">= 1.0",
    "required_providers": {"gpu": {"source": "sliceform/gpu", "configuration_aliases": ["gpu.west"]}},
    "backend": {"local": {"path": "x"}}
  },
  "variable": {
    "a": {"//": "again", "type": "list(object({ name = string, size = optional(number, 1) }))", "default": []},
    "b": {"default": "${not} a template"}
  },
  "locals": [{"x": "${var.a[0].name}-x"}, {"y": ["%{ if true }a%{ endif }", 1.5, null, {"k${local.x}": true}]}],
  "resource": {
    "terraform_data": {
      "a": {
        "count": "${length(var.a)}",
        "provider": "terraform",
        "depends_on": ["terraform_data.b"],
        "input": {"//": "no comment in here"},
        "lifecycle": {
          "ignore_changes": ["input", "triggers_replace[\"a\"]"],
          "replace_triggered_by": ["terraform_data.b.id"],
          "create_before_destroy": true,
          "precondition": [{"condition": "${var.b != null}", "error_message": "b: ${var.b}."}]
        }
      },
      "b": [{"for_each": "${toset([\"x\"])}", "lifecycle": {"ignore_changes": "all"}}]
    }
  },
  "provider": {"gpu": [{"disruption": {}}, {"alias": "west"}]},
  "module": {"m": {"source": "./m", "in": "${local.x}", "providers": {"gpu": "gpu.west"}}},
  "output": {"o": {"value": "${terraform_data.a[0].output}", "description": "100 %{", "depends_on": ["module.m"]}},
  "check": {"c": {"assert": {"condition": "${local.x != \"\"}", "error_message": "x"}}},
  "moved": [{"from": "terraform_data.old[\"a\"]", "to": "terraform_data.b[\"x\"]"}]
}"#,
        ),
        ("m/main.tf.json", r#"{"variable": {"in": {}}, "resource": {"gpu_pool": {"p": {}}}}"#),
    ]);
    assert_eq!(diagnostics, Vec::<String>::new());
    let root = &config.root;
    let Type::List(element) = &root.variables["a"].constraint.ty else { panic!("{:?}", root.variables["a"]) };
    assert!(matches!(&**element, Type::Object(_)));
    let text = root.variables["b"].default.as_ref().and_then(|default| default.as_text().cloned());
    assert_eq!(text.as_deref(), Some("${not} a template"));
    assert_eq!(root.locals.keys().map(|name| &**name).collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(root.locals["y"].value.traversals().len(), 1);
    let [a, b] = &root.resources.values().collect::<Vec<_>>()[..] else { panic!("{:?}", root.resources) };
    assert!(matches!(a.repeat, Repeat::Count(_)) && matches!(b.repeat, Repeat::ForEach(_)));
    assert!(matches!(&a.lifecycle.ignore_changes, IgnoreChanges::Paths(paths) if paths.len() == 2));
    assert!(matches!(&b.lifecycle.ignore_changes, IgnoreChanges::All(_)));
    assert_eq!(
        (a.lifecycle.replace_triggered_by.len(), a.lifecycle.preconditions.len(), a.depends_on.len()),
        (1, 1, 1)
    );
    assert_eq!(a.arguments.attributes().map(|a| a.name().to_string()).collect::<Vec<_>>(), ["input"]);
    assert_eq!(root.providers.keys().map(ToString::to_string).collect::<Vec<_>>(), ["gpu", "gpu.west"]);
    assert_eq!(root.calls["m"].providers.values().map(|one| one.to.to_string()).collect::<Vec<_>>(), ["gpu.west"]);
    assert_eq!(root.settings.required_providers["gpu"].configuration_aliases.len(), 1);
    assert_eq!((root.checks.len(), root.moved.len(), root.outputs["o"].depends_on.len()), (1, 1, 1));
    assert_eq!(config.state_path(), Some("x"));
}

#[test]
fn text_that_is_no_json() {
    check(r#""x""#, &["1:1 Root value must be object"]);
    check(r#"[{"locals": {"a": 1}}, {"locals": {"b": "${local.a}"}}]"#, &[]);
    check("", &["1:1 Missing JSON value"]);
    check("{\"locals\": {\"a\": 1}} x", &["1:22 Extraneous data after value"]);
    check("{\"locals\": {\"a\": 1,}}", &["1:20 Trailing comma in object"]);
    check("{\"locals\": {\"a\": [1,]}}", &["1:21 Trailing comma in array"]);
    check("{\"locals\": {\"a\": 1", &["1:12 Unclosed object"]);
    check("{\"locals\": {\"a\": [1", &["1:18 Unclosed array"]);
    check("{\"locals\": {\"a\": 01}}", &["1:18 Invalid JSON number"]);
    check("{\"locals\": {\"a\": 1.}}", &["1:18 Invalid JSON number"]);
    check("{\"locals\": {\"a\": tru}}", &["1:18 Invalid JSON keyword"]);
    check("{\"locals\": {\"a\": 'x'}}", &["1:18 Invalid JSON value"]);
    check("{\"locals\": {\"a\": \"\\q\"}}", &["1:19 Invalid JSON string"]);
    check("{\"locals\": {\"a\": \"x\ny\"}}", &["1:18 Invalid JSON string"]);
    check("{\"locals\": {\"a\" 1}}", &["1:17 Missing property value colon"]);
    check("{\"locals\": {\"a\": 1 \"b\": 2}}", &["1:20 Missing attribute separator comma"]);
    check("{locals: {}}", &["1:2 Invalid object property name"]);
    let deep = format!("{{\"locals\": {{\"a\": {}{}}}}}", "[".repeat(600), "]".repeat(600));
    check(&deep, &["1:528 Nested too deeply"]);
}

#[test]
fn what_is_no_block() {
    check(r#"{"foo": 1}"#, &["1:2 Unsupported argument"]);
    check(r#"{"output": {"o": {}}}"#, &["1:19 Missing required argument"]);
    check(r#"{"output": {"o": "x"}}"#, &["1:18 Incorrect JSON value type"]);
    check(r#"{"output": {"o": [1]}}"#, &["1:19 Incorrect JSON value type"]);
    check(r#"{"output": {"o": null}}"#, &[]);
    check(r#"{"output": null}"#, &["1:12 Missing block label"]);
    check(r#"{"resource": {"terraform_data": {}}}"#, &["1:33 Missing block label"]);
    check(r#"{"variable": {"//": "x", "a": {}}}"#, &["1:21 Incorrect JSON value type"]);
    check(r#"{"variable": {"a": {}}, "variable": {"a": {}}}"#, &["1:43 Duplicate variable definition"]);
    check(r#"{"locals": {"a": 1, "a": 2}}"#, &["1:21 Duplicate object attribute"]);
    check(r#"{"locals": {"a": {"k": 1, "k": 2}}}"#, &["1:27 Duplicate object attribute"]);
}

#[test]
fn expressions_in_strings_have_their_places() {
    check(r#"{"locals": {"a": "x ${local.b} y"}}"#, &["1:23 Reference to undeclared local value"]);
    check(r#"{"locals": {"a": "\u0041\n${local.b}"}}"#, &["1:29 Reference to undeclared local value"]);
    check(r#"{"locals": {"a": "é\"${local.b}"}}"#, &["1:24 Reference to undeclared local value"]);
    check(r#"{"locals": {"a": {"${local.b}": 1}}}"#, &["1:22 Reference to undeclared local value"]);
    check(r#"{"locals": {"a": "${1 +}"}}"#, &["1:24 Invalid expression"]);
    check(r#"{"locals": {"a": "${local.b"}}"#, &["1:19 Unclosed template interpolation sequence"]);
    check(r#"{"variable": {"a": {"type": "nmber"}}}"#, &["1:30 Invalid type specification"]);
    check(r#"{"variable": {"a": {"type": "list(nmber)"}}}"#, &["1:35 Invalid type specification"]);
    check(
        r#"{"resource": {"terraform_data": {"a": {"depends_on": ["${terraform_data.a}"]}}}}"#,
        &["1:56 Invalid character"],
    );
    check(
        r#"{"resource": {"terraform_data": {"a": {"depends_on": ["terraform_data.b"]}}}}"#,
        &["1:56 Reference to undeclared resource"],
    );
    check(r#"{"output": {"a": {"value": 1, "sensitive": "${true}"}}}"#, &["1:44 Unsuitable value type"]);
    check(r#"{"output": {"a": {"value": 1, "sensitive": "true"}}}"#, &[]);
}

#[test]
fn iterators_are_known_in_what_may_be_a_block() {
    let dynamic = |content: &str| {
        format!(
            r#"{{"resource": {{"terraform_data": {{"a": {{"dynamic": {{"wait": {{"for_each": [1], "iterator": "it",
            "content": {content}}}}}}}}}}}}}"#
        )
    };
    check(&dynamic(r#"{"x": "${it.value}"}"#), &[]);
    check(&dynamic(r#"{"x": "${wait.value}"}"#), &["2:33 Reference to undeclared resource"]);
    check(
        &dynamic(
            r#"{"inner": {"dynamic": {"b": {"for_each": "${it.value}", "content": {"x": "${b.value} ${it.key}"}}}}}"#,
        ),
        &[],
    );
}
