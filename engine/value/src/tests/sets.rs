//! Elements of sets: their order, marks, and unknown ones.

use crate::{Number, Type, Value};

fn texts(value: &Value) -> Vec<String> {
    value.as_sequence().unwrap().iter().map(|v| crate::json::encode(v).unwrap()).collect()
}

#[test]
fn elements_are_distinct_and_in_cty_order() {
    let set = |ty: Type, elements: Vec<Value>| texts(&Value::set(ty, elements));
    let ints = |ints: &[i64]| ints.iter().map(|i| Value::int(*i)).collect::<Vec<_>>();
    assert_eq!(set(Type::Number, ints(&[10, 9, 2, 9])), ["2", "9", "10"]);
    assert_eq!(set(Type::String, ["b", "a", "É"].map(Value::string).to_vec()), [r#""a""#, r#""b""#, r#""É""#]);
    let objects: Vec<Value> = ints(&[2, 10, 9]).into_iter().map(|v| Value::object([("v", v)])).collect();
    assert_eq!(set(Type::object([("v", Type::Number)]), objects), [r#"{"v":10}"#, r#"{"v":2}"#, r#"{"v":9}"#]);
    let tuples: Vec<Value> = ints(&[2, 10, 9]).into_iter().map(|v| Value::tuple([v])).collect();
    assert_eq!(set(Type::tuple([Type::Number]), tuples), ["[10]", "[2]", "[9]"]);
}

#[test]
fn marks_of_elements_move_to_the_set() {
    let secret = Value::string("x").mark(crate::Marks::SENSITIVE);
    let set = Value::set(Type::String, vec![secret, Value::string("y")]);
    assert!(set.marks.sensitive);
    assert!(set.as_sequence().unwrap().iter().all(|v| v.marks.is_none()));
}

#[test]
fn unknown_elements_are_never_equal_and_null_comes_last() {
    let set = Value::set(
        Type::Number,
        vec![Value::null(Type::Number), Value::unknown(Type::Number), Value::unknown(Type::Number), Value::int(1)],
    );
    let elements = set.as_sequence().unwrap();
    assert_eq!(elements.len(), 4);
    assert_eq!(elements[0].as_number(), Some(&Number::from(1)));
    assert!(!elements[1].is_known() && !elements[2].is_known() && elements[3].is_null());
}
