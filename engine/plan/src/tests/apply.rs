//! The evaluation as apply uses it.

use engine_value::{Path, Value};

use super::Bench;
use crate::{Evaluation, Stopped};

#[test]
fn what_is_settled_is_known_to_what_depends_on_it() {
    let bench = Bench::new(
        r#"
        resource "mock_object" "a" { }
        resource "mock_object" "b" { name = "of ${mock_object.a.id}" }
        output "b" { value = mock_object.b.name }
        "#,
    );
    let planned = bench.planned();
    let (a, b) = ("mock_object.a".parse().unwrap(), "mock_object.b".parse().unwrap());
    let mut evaluation = Evaluation::resume(bench.program.clone(), &planned.0.plan);
    assert!(!evaluation.change(&a).unwrap().after.get("id").unwrap().is_known());
    assert_eq!(evaluation.arguments(&b), Err(Stopped::Blocked(vec![a.clone()])));
    assert_eq!(evaluation.output("b"), Err(Stopped::Blocked(vec![b.clone()])));
    let id = |value: &Value, id: &str| Path::root().attr("id").set(value, Value::from(id)).unwrap();
    evaluation.settle(&a, id(&planned.change("mock_object.a").after, "7"));
    let change = evaluation.change(&b).unwrap();
    assert_eq!(change.after.get("name"), Some(&Value::from("of 7")));
    assert_eq!(change.config.get("name"), Some(&Value::from("of 7")));
    evaluation.settle(&b, id(&change.after, "8"));
    assert_eq!(evaluation.output("b"), Ok(Value::from("of 7")));
}

#[test]
fn what_contradicts_the_plan_is_told() {
    let bench = Bench::new(
        r#"
        resource "mock_object" "a" { }
        resource "mock_object" "b" { name = mock_object.a.name == null ? "x" : "y" }
        "#,
    );
    let planned = bench.planned();
    let mut evaluation = Evaluation::resume(bench.program.clone(), &planned.0.plan);
    let other = Path::root().attr("name").set(&planned.change("mock_object.a").after, Value::from("set")).unwrap();
    evaluation.settle(&"mock_object.a".parse().unwrap(), other);
    let Err(Stopped::Failed(told)) = evaluation.change(&"mock_object.b".parse().unwrap()) else { panic!() };
    assert!(told.0[0].detail.contains("name: "), "{told:?}");
}

#[test]
fn a_secret_is_still_one_after_it_was_made() {
    let bench = Bench::new(
        r#"
        variable "s" {
          type      = string
          sensitive = true
        }
        resource "mock_object" "a" { name = var.s }
        output "o" {
          value     = mock_object.a.name
          sensitive = true
        }
        "#,
    )
    .variable("s", Value::from("hunter2"));
    let planned = bench.planned();
    let mut evaluation = Evaluation::resume(bench.program.clone(), &planned.0.plan);
    let change = evaluation.change(&"mock_object.a".parse().unwrap()).unwrap();
    assert!(!change.after.contains_sensitive(), "providers get values without marks");
    evaluation.settle(&"mock_object.a".parse().unwrap(), change.after);
    assert!(evaluation.output("o").unwrap().contains_sensitive());
}
