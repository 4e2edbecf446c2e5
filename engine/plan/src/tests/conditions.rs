//! Conditions that must hold, and values that may be kept nowhere.

use engine_value::{Path, Value};

use super::{Bench, told};
use crate::{Evaluation, Stopped};

/// What a plan tells of one file, with the variable `v` set.
fn check(text: &str, v: Value, expected: &[&str]) {
    let output = Bench::new(text).variable("v", v);
    let found = output.plan();
    let text = told(&found.diagnostics, &output.sources);
    assert_eq!(found.diagnostics.0.len(), expected.len(), "{text}");
    assert_eq!(found.plan.errored, !expected.is_empty(), "{text}");
    for part in expected {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

const VALIDATED: &str = r#"
variable "v" {
  type = number
  validation {
    condition     = var.v > local.least
    error_message = "It is ${var.v}, and must be above ${local.least}."
  }
  validation {
    condition     = var.v != 13
    error_message = "Not 13."
  }
}
locals {
  least = 1
  twice = var.v * 2
}
resource "mock_object" "a" {
  name = local.twice
}
"#;

#[test]
fn values_of_variables_are_validated() {
    check(VALIDATED, Value::int(5), &[]);
    check(VALIDATED, Value::int(0), &["main.tf:2: Invalid value for variable: It is 0, and must be above 1."]);
    check(VALIDATED, Value::int(13), &["Not 13."]);
    check(VALIDATED, Value::int(1), &["main.tf:5: this condition does not hold"]);
}

#[test]
fn a_secret_stays_out_of_the_message() {
    let text = "variable \"v\" {\n  sensitive = true\n  validation {\n    condition = var.v == \"x\"\n    \
                error_message = \"Not ${var.v}.\"\n  }\n}\n";
    check(text, Value::from("hunter2"), &["holds a sensitive value, so it is not shown"]);
    check(text, Value::from("x"), &[]);
}

#[test]
fn arguments_of_modules_are_validated_at_the_call() {
    let bench = Bench::files(&[
        ("main.tf", "module \"m\" {\n  source = \"./m\"\n  for_each = { a = 1, b = 0 }\n  x = each.value\n}\n"),
        (
            "m/main.tf",
            "variable \"x\" {\n  validation {\n    condition = var.x > 0\n    error_message = \"Too small.\"\n  }\n}\n",
        ),
    ]);
    let text = bench.told();
    assert!(text.starts_with("main.tf:4: Invalid value for variable: Too small."), "{text}");
    assert_eq!(text.matches("Too small").count(), 1, "{text}");
}

const PRECONDITIONS: &str = r#"
variable "v" {}
resource "mock_object" "a" {
  name = "x"
  lifecycle {
    precondition {
      condition     = var.v
      error_message = "No object."
    }
  }
}
output "o" {
  value = 1
  precondition {
    condition     = var.v != null
    error_message = "No output."
  }
}
"#;

#[test]
fn preconditions_hold_before_anything_is_planned() {
    check(PRECONDITIONS, Value::from(true), &[]);
    check(PRECONDITIONS, Value::from("true"), &[]);
    check(PRECONDITIONS, Value::from(false), &["main.tf:7: Resource precondition failed: No object."]);
    check(PRECONDITIONS, Value::from("x"), &["main.tf:7: Invalid precondition result"]);
    check(
        PRECONDITIONS,
        Value::null(engine_value::Type::Dynamic),
        &["must be true or false, and is null", "main.tf:15: Module output value precondition failed: No output."],
    );
}

#[test]
fn a_condition_that_is_not_known_holds_until_it_is() {
    let bench = Bench::new(
        r#"
        resource "mock_object" "a" { }
        resource "mock_object" "b" {
          name = mock_object.a.id
          lifecycle {
            precondition {
              condition     = mock_object.a.id != "7"
              error_message = "Seven."
            }
          }
        }
        "#,
    );
    let planned = bench.planned();
    let mut evaluation = Evaluation::resume(bench.program.clone(), &planned.0.plan);
    let a = "mock_object.a".parse().unwrap();
    let id = Path::root().attr("id").set(&planned.change("mock_object.a").after, Value::from("7")).unwrap();
    evaluation.settle(&a, id);
    let Err(Stopped::Failed(told)) = evaluation.change(&"mock_object.b".parse().unwrap()) else { panic!() };
    assert_eq!(told.0[0].detail, "Seven.");
}

#[test]
fn ephemeral_values_are_kept_nowhere() {
    let ephemeral = |rest: &str| format!("variable \"v\" {{\n  ephemeral = true\n}}\n{rest}");
    let module = "variable \"x\" {\n  default = 1\n  ephemeral = EPHEMERAL\n}\noutput \"y\" {\n  value = var.x\n}\n";
    for (rest, expected) in [
        ("resource \"mock_object\" \"a\" {\n  name = var.v\n}\n", "main.tf:5: Invalid use of ephemeral value"),
        ("output \"o\" {\n  value = var.v\n}\n", "main.tf:5: Ephemeral value not allowed"),
        ("resource \"mock_object\" \"a\" {\n  count = var.v\n}\n", "main.tf:5: Invalid count argument"),
    ] {
        // A plan refuses the variable itself, so this is what `validate` tells.
        let bench = Bench::new(&ephemeral(rest));
        let found = told(&crate::validate(&bench.program), &bench.sources);
        assert!(found.contains(expected), "{rest}: {found}");
    }
    for (ephemeral, expected) in [("false", ""), ("true", "m/main.tf:6: Ephemeral value not allowed")] {
        let bench = Bench::files(&[
            ("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"),
            ("m/main.tf", &module.replace("EPHEMERAL", ephemeral)),
        ]);
        let found = told(&crate::validate(&bench.program), &bench.sources);
        assert_eq!(found.split(": The").next().unwrap(), expected, "{found}");
    }
}
