//! Operations on unknown values: what can be answered already.

use crate::{
    Marks, Number, Origin, Refinements, Type, Unknown, Value, equals,
    ops::{self, Arithmetic, Order},
};

fn unknown(ty: Type, refinements: Refinements) -> Value {
    Value::unknown_with(Unknown { ty, refinements, origin: Some(Origin(7)) })
}

fn number_from(min: i64) -> Value {
    unknown(Type::Number, Refinements::at_least(min))
}

/// `Some` of the answer, `None` if it is unknown.
fn answer(value: &Value) -> Option<bool> {
    value.as_bool()
}

#[test]
fn equality_answers_as_soon_as_it_can() {
    let id = unknown(Type::String, Refinements::not_null());
    let maybe = Value::unknown(Type::String);
    let null = Value::null(Type::Dynamic);
    let prefixed = unknown(Type::String, Refinements::begins_with("pre-"));
    let table = [
        (Value::int(1), Value::string("1"), Some(false)),
        (Value::int(1), Value::int(1), Some(true)),
        (null.clone(), Value::null(Type::String), Some(true)),
        (null.clone(), Value::string(""), Some(false)),
        (id.clone(), null.clone(), Some(false)),
        (maybe.clone(), null.clone(), None),
        (id.clone(), Value::string("x"), None),
        (id.clone(), Value::int(1), Some(false)),
        (Value::unknown(Type::Dynamic), Value::int(1), None),
        (prefixed.clone(), Value::string("other"), Some(false)),
        (prefixed.clone(), Value::string("pre-x"), None),
        (prefixed.clone(), Value::string("pre"), Some(false)),
        (number_from(3), Value::int(2), Some(false)),
        (number_from(3), Value::int(3), None),
        (Value::tuple([id.clone(), Value::int(1)]), Value::tuple([id.clone(), Value::int(2)]), Some(false)),
        (Value::tuple([id.clone(), Value::int(1)]), Value::tuple([id.clone(), Value::int(1)]), None),
        (Value::tuple([]), Value::list(Type::String, vec![]), Some(false)),
        (
            unknown(Type::list(Type::String), Refinements::length(1, None)),
            Value::list(Type::String, vec![]),
            Some(false),
        ),
    ];
    for (a, b, expected) in table {
        assert_eq!(answer(&equals(&a, &b)), expected, "{a:?} == {b:?}");
        assert_eq!(answer(&equals(&b, &a)), expected, "{b:?} == {a:?}");
    }
}

#[test]
fn answers_carry_marks_and_origin() {
    let id = unknown(Type::String, Refinements::not_null());
    let result = equals(&id, &Value::string("x").mark(Marks::SENSITIVE));
    assert!(result.marks.sensitive);
    assert_eq!(result.as_unknown().unwrap().origin, Some(Origin(7)));
    let sum = ops::arithmetic(Arithmetic::Add, &number_from(3), &Value::int(1).mark(Marks::EPHEMERAL)).unwrap();
    assert!(sum.marks.ephemeral);
    assert_eq!(sum.as_unknown().unwrap().refinements.min, Some((Number::from(4), true)));
    assert_eq!(sum.as_unknown().unwrap().origin, Some(Origin(7)));
}

#[test]
fn ranges_answer_comparisons() {
    let from_three = number_from(3);
    assert_eq!(answer(&ops::order(Order::Greater, &from_three, &Value::int(2))), Some(true));
    assert_eq!(answer(&ops::order(Order::Greater, &from_three, &Value::int(3))), None);
    assert_eq!(answer(&ops::order(Order::GreaterOrEqual, &from_three, &Value::int(3))), Some(true));
    assert_eq!(answer(&ops::order(Order::Less, &from_three, &Value::int(3))), Some(false));
    assert_eq!(answer(&ops::order(Order::Less, &ops::negate(&from_three), &Value::int(0))), Some(true));
    let double = ops::arithmetic(Arithmetic::Multiply, &from_three, &from_three).unwrap();
    assert_eq!(answer(&ops::order(Order::GreaterOrEqual, &double, &Value::int(9))), Some(true));
}

#[test]
fn one_operand_can_decide_logic() {
    let maybe = Value::unknown(Type::Bool);
    let (yes, no) = (Value::bool(true), Value::bool(false));
    assert_eq!(answer(&ops::and(&maybe, &no)), Some(false));
    assert_eq!(answer(&ops::and(&maybe, &yes)), None);
    assert_eq!(answer(&ops::or(&yes, &maybe)), Some(true));
    assert_eq!(answer(&ops::or(&no, &maybe)), None);
    assert_eq!(answer(&ops::not(&no)), Some(true));
}

#[test]
fn only_one_possible_value_is_a_known_value() {
    let empty = unknown(Type::list(Type::String), Refinements::length(0, Some(0)));
    assert_eq!(empty, Value::list(Type::String, vec![]));
    let bound = Some((Number::from(3), true));
    let three = Refinements { min: bound.clone(), max: bound, ..Refinements::not_null() };
    assert_eq!(unknown(Type::Number, three), Value::int(3));
}

#[test]
fn a_prefix_stops_before_what_may_still_change() {
    let prefix = |text: &str| Refinements::begins_with(text).prefix.map(|p| p.to_string());
    assert_eq!(prefix("pre-"), Some("pre-".to_owned()));
    assert_eq!(prefix("pre"), Some("pr".to_owned()));
    assert_eq!(prefix("x"), None);
    assert_eq!(prefix("ab\u{1ab0}"), Some("a".to_owned()));
}

#[test]
fn either_of_two_keeps_what_both_have() {
    let a = Refinements { max: Some((Number::from(5), true)), ..Refinements::at_least(1) };
    let b = Refinements::of(&Value::int(9));
    let both = a.either(&b);
    assert_eq!(both.min, Some((Number::from(1), true)));
    assert_eq!(both.max, Some((Number::from(9), true)));
    assert!(both.not_null);
    let prefixes = Refinements::begins_with("abc-x-").either(&Refinements::begins_with("abc-y-"));
    assert_eq!(prefixes.prefix.as_deref(), Some("abc-"));
}
