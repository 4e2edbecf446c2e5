//! Optional attributes of type constraints and their defaults.

use engine_diag::Diagnostics;
use engine_value::json;

use super::expression;
use crate::{
    config::Constraint,
    eval::{ConstraintError, apply_constraint, check_defaults, evaluate_constant},
};

fn constraint(text: &str) -> Constraint {
    let mut diagnostics = Diagnostics::new();
    let constraint = Constraint::parse(&expression(text), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    constraint
}

#[test]
fn defaults_fill_in_as_terraforms_do() {
    for line in include_str!("defaults.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [ty, value, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let constraint = constraint(ty);
        check_defaults(&constraint).unwrap();
        let value = evaluate_constant(&expression(value)).unwrap();
        let value = apply_constraint(&value, &constraint).unwrap();
        assert_eq!(json::encode(&value).unwrap(), expected, "{line}");
    }
}

#[test]
fn wrong_defaults_and_values_are_told_apart() {
    let wrong = constraint("object({ a = optional(object({ b = optional(number, \"x\") }), {}) })");
    let errors = check_defaults(&wrong).unwrap_err();
    let details: Vec<&str> = errors.iter().map(|d| d.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "Inappropriate default for optional attribute \"a\": attribute \"b\": a number is required.",
            "Inappropriate default for optional attribute \"b\": a number is required.",
        ]
    );
    let fine = constraint("object({ a = optional(number, 1) })");
    let value = evaluate_constant(&expression("{ a = [] }")).unwrap();
    let Err(ConstraintError::Value(error)) = apply_constraint(&value, &fine) else { panic!("no error") };
    assert_eq!(error.to_string(), "attribute \"a\": number required, but have tuple");
}
