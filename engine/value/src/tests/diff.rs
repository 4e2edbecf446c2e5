//! What differs between two values: aligned lists, sets by element, the smallest changed parts.

use proptest::prelude::*;

use crate::{
    Marks, Type, Value,
    diff::{Aligned, Change, Diff, Parts, diff},
    json,
};

fn value(text: &str) -> Value {
    json::infer(text).unwrap()
}

fn sequence(before: &str, after: &str) -> String {
    let Parts::Sequence(parts) = diff(Some(&value(before)), Some(&value(after))).parts else { panic!("no sequence") };
    let sign = |part: &Aligned| match part.diff.change {
        Change::Unchanged => "=",
        Change::Added => "+",
        Change::Removed => "-",
        Change::Changed => "~",
        Change::Unknown => "?",
    };
    let place = |place: Option<usize>| place.map_or(String::new(), |at| at.to_string());
    parts.iter().map(|p| format!("{}{}:{}", sign(p), place(p.before), place(p.after))).collect::<Vec<_>>().join(" ")
}

#[test]
fn lists_are_aligned() {
    assert_eq!(sequence("[1,2,3]", "[1,3]"), "=0:0 -1: =2:1");
    assert_eq!(sequence("[1,3]", "[1,2,3]"), "=0:0 +:1 =1:2");
    assert_eq!(sequence("[1,2]", "[1,5]"), "=0:0 -1: +:1");
    assert_eq!(sequence("[1,2,3,4]", "[3,4,1,2]"), "-0: -1: =2:0 =3:1 +:2 +:3");
    assert_eq!(sequence(r#"[{"a":1},{"b":1}]"#, r#"[{"a":2},{"b":1}]"#), "~0:0 =1:1");
    assert_eq!(sequence("[]", "[1]"), "+:0");
    assert_eq!(sequence("[7,7,7]", "[7,7]"), "=0:0 =1:1 -2:");
}

fn paths(diff: &Diff) -> Vec<String> {
    diff.changed_paths().iter().map(ToString::to_string).collect()
}

#[test]
fn changed_paths_are_the_smallest_parts() {
    let before = value(r#"{"a":{"b":[1,2],"c":"x"},"d":1,"e":{"f":1}}"#);
    let after = value(r#"{"a":{"b":[1,3],"c":"x"},"d":2,"g":{"f":1}}"#);
    assert_eq!(paths(&diff(Some(&before), Some(&after))), ["a.b[1]", "a.b[1]", "d", "e", "g"]);
    assert!(!diff(Some(&before), Some(&before)).is_change());
    let created = diff(None, Some(&after));
    assert_eq!((created.change, paths(&created)), (Change::Added, vec![String::new()]));
}

#[test]
fn unknown_and_sensitive_parts_say_so() {
    let before = Value::object([("id", Value::string("1")), ("token", Value::string("t"))]);
    let after =
        Value::object([("id", Value::unknown(Type::String)), ("token", Value::string("t").mark(Marks::SENSITIVE))]);
    let whole = diff(Some(&before), Some(&after));
    let Parts::Attributes(parts) = &whole.parts else { panic!("no attributes") };
    assert_eq!(parts[0].1.change, Change::Unknown);
    assert_eq!((parts[1].1.change, parts[1].1.sensitive), (Change::Changed, true));
    assert!(!whole.sensitive);
}

#[test]
fn sets_are_compared_by_element() {
    let set = |elements: &[&str]| Value::set(Type::String, elements.iter().map(Value::string).collect());
    let whole = diff(Some(&set(&["a", "b"])), Some(&set(&["b", "c"])));
    let Parts::Members(members) = &whole.parts else { panic!("no members") };
    let changes: Vec<(Change, &str)> =
        members.iter().map(|m| (m.change, m.after.as_ref().or(m.before.as_ref()).unwrap().as_str().unwrap())).collect();
    assert_eq!(changes, [(Change::Removed, "a"), (Change::Unchanged, "b"), (Change::Added, "c")]);
    assert_eq!(paths(&whole), [""]);
}

proptest! {
    #[test]
    fn aligned_lists_contain_every_element_once(
        before in prop::collection::vec(0..5i64, 0..8),
        after in prop::collection::vec(0..5i64, 0..8),
    ) {
        let list = |ints: &[i64]| Value::list(Type::Number, ints.iter().map(|i| Value::int(*i)).collect());
        let whole = diff(Some(&list(&before)), Some(&list(&after)));
        let Parts::Sequence(parts) = whole.parts else { panic!("no sequence") };
        let places = |pick: fn(&Aligned) -> Option<usize>| parts.iter().filter_map(pick).collect::<Vec<_>>();
        prop_assert_eq!(places(|p| p.before), (0..before.len()).collect::<Vec<_>>());
        prop_assert_eq!(places(|p| p.after), (0..after.len()).collect::<Vec<_>>());
    }
}
