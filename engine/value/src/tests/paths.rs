//! Paths into values: reading, setting, walking, and marks on them.

use proptest::prelude::*;

use crate::{Marks, Path, Type, Value};

fn sample() -> Value {
    Value::object([
        (
            "a",
            Value::object([(
                "b",
                Value::map(Type::list(Type::Number), [("c", Value::list(Type::Number, vec![Value::int(7)]))]),
            )]),
        ),
        ("s", Value::set(Type::String, vec![Value::string("x")])),
    ])
}

#[test]
fn paths_read_as_terraform_writes_them() {
    let path = Path::root().attr("a").attr("b").key("c\"d").index(0).element(Value::string("x"));
    assert_eq!(path.to_string(), r#"a.b["c\"d"][0]["x"]"#);
    assert_eq!(Path::root().to_string(), "");
}

#[test]
fn gets_and_sets() {
    let value = sample();
    let path = Path::root().attr("a").attr("b").key("c").index(0);
    assert_eq!(path.get(&value), Some(Value::int(7)));
    let changed = path.set(&value, Value::int(8)).unwrap();
    assert_eq!(path.get(&changed), Some(Value::int(8)));
    assert_eq!(path.set(&changed, Value::int(7)).unwrap(), value);
    assert_eq!(Path::root().attr("no").attr("where").set(&value, Value::int(1)), None);
    assert_eq!(Path::root().attr("s").element(Value::string("x")).get(&value), Some(Value::string("x")));
    let inside_secret = Path::root().attr("a").get(&value.clone().mark(Marks::SENSITIVE)).unwrap();
    assert!(inside_secret.marks.sensitive);
}

#[test]
fn walks_in_order_and_transforms_from_the_leaves() {
    let mut seen = Vec::new();
    sample().walk(&mut |path, _| {
        seen.push(path.to_string());
        true
    });
    assert_eq!(seen, ["", "a", "a.b", r#"a.b["c"]"#, r#"a.b["c"][0]"#, "s", r#"s["x"]"#]);
    let doubled = sample().transform(&mut |_, value| match value.as_i64() {
        Some(int) => Value::int(int * 2),
        None => value,
    });
    assert_eq!(Path::root().attr("a").attr("b").key("c").index(0).get(&doubled), Some(Value::int(14)));
}

#[test]
fn marks_come_off_and_go_back() {
    let secret = |value: Value| value.mark(Marks::SENSITIVE);
    let value = Value::object([
        ("a", secret(Value::tuple([Value::int(1), Value::int(2).mark(Marks::EPHEMERAL)]))),
        ("b", secret(Value::set(Type::String, vec![Value::string("x")]))),
    ]);
    let (bare, places) = value.clone().unmark_deep();
    assert!(bare.marks_deep().is_none());
    let names: Vec<String> = places.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(names, ["a", "a[1]", "b"]);
    assert_eq!(bare.mark_paths(&places), value);
    assert!(value.contains_sensitive() && value.contains_ephemeral());
}

#[test]
fn a_mark_on_what_is_not_there_marks_what_is_around_it() {
    let value = Value::object([("a", Value::unknown(Type::Dynamic))]);
    let marked = value.mark_paths(&[(Path::root().attr("a").attr("b"), Marks::SENSITIVE)]);
    assert!(marked.get("a").unwrap().marks.sensitive && !marked.marks.sensitive);
}

proptest! {
    #[test]
    fn every_walked_path_leads_there(value in super::json::any_value()) {
        value.walk(&mut |path, part| {
            assert_eq!(path.get(&value).as_ref(), Some(part));
            true
        });
    }

    #[test]
    fn transforming_with_nothing_changes_nothing(value in super::json::any_value()) {
        prop_assert_eq!(value.transform(&mut |_, part| part), value);
    }
}
