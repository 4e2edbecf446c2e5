//! Values and types as JSON, there and back.

use proptest::prelude::*;

use crate::{
    Marks, Number, Type, Value,
    json::{self, Json},
};

#[test]
fn texts_are_terraforms() {
    let value = Value::object([
        ("z", Value::number(Number::from(1).div(&Number::from(8)).unwrap())),
        ("a", Value::string("<a & \"b\">\u{2028}\u{1}é\n")),
        ("n", Value::number(Number::parse("123456789012345678901234567890").unwrap())),
        ("l", Value::tuple([Value::null(Type::String), Value::bool(true)])),
    ]);
    assert_eq!(
        json::encode(&value).unwrap(),
        r#"{"a":"\u003ca \u0026 \"b\"\u003e\u2028\u0001é\n","l":[null,true],"n":123456789012345678901234567890,"z":0.125}"#
    );
    assert!(json::encode(&Value::unknown(Type::String)).is_err());
    assert!(json::encode(&Value::number(Number::INFINITY)).is_err());
}

#[test]
fn reads_strictly() {
    for good in ["1e5", " [ ] ", r#"{"a":{"b":[1,2.5,-0]}}"#, r#""\ud83d\ude00\u00e9\/""#] {
        assert!(json::read(good).is_ok(), "{good}");
    }
    for (bad, error) in [
        ("", "unexpected end of JSON at line 1, column 1"),
        ("[1,]", "expected a JSON value at line 1, column 4"),
        ("{\n \"a\" 1}", "expected ':' at line 2, column 6"),
        ("01", "unexpected text after the end of the JSON document at line 1, column 2"),
        ("\"\n\"", "a control character in a string must be escaped at line 1, column 2"),
        ("nul", "expected a JSON value at line 1, column 1"),
    ] {
        assert_eq!(json::read(bad).unwrap_err().to_string(), error, "{bad}");
    }
    assert!(json::read(&"[".repeat(100_000)).is_err());
    assert_eq!(json::infer(r#""\ud83d\ude00""#).unwrap(), Value::string("😀"));
}

#[test]
fn what_the_type_leaves_open_is_wrapped() {
    let value = Value::object([("input", Value::int(1)), ("id", Value::string("x"))]);
    let ty = Type::object([("input", Type::Dynamic), ("id", Type::String)]);
    let text = json::encode_typed(&value, &ty).unwrap();
    assert_eq!(text, r#"{"id":"x","input":{"value":1,"type":"number"}}"#);
    assert_eq!(json::decode(&text, &ty).unwrap(), value);
}

#[test]
fn decoding_names_the_place() {
    let ty = Type::object([("a", Type::list(Type::Number))]);
    let error = json::decode(r#"{"a":[1,"x"]}"#, &ty).unwrap_err();
    assert_eq!(error.to_string(), "a[1]: a number is required");
    assert!(json::decode(r#"{"b":1}"#, &ty).is_err());
    assert_eq!(json::decode("{}", &ty).unwrap(), Value::object([("a", Value::null(Type::list(Type::Number)))]));
}

#[test]
fn plan_views_mirror_the_structure() {
    let value = Value::object([
        ("id", Value::unknown(Type::String)),
        ("list", Value::tuple([Value::unknown(Type::String), Value::int(1)])),
        ("map", Value::map(Type::String, [("k", Value::unknown(Type::String)), ("l", Value::string("x"))])),
        ("secret", Value::string("s").mark(Marks::SENSITIVE)),
        ("text", Value::string("t")),
    ]);
    let show = |json: Json| json.to_string();
    assert_eq!(
        show(json::known_part(&value, false).unwrap()),
        r#"{"list":[null,1],"map":{"l":"x"},"secret":"s","text":"t"}"#
    );
    assert_eq!(
        show(json::known_part(&value, true).unwrap()),
        r#"{"list":[null,1],"map":{"l":"x"},"secret":null,"text":"t"}"#
    );
    assert_eq!(show(json::after_unknown(&value)), r#"{"id":true,"list":[true,false],"map":{"k":true}}"#);
    assert_eq!(show(json::sensitive_part(&value)), r#"{"list":[false,false],"map":{},"secret":true}"#);
    assert_eq!(show(json::sensitive_part(&Value::null(Type::String))), "false");
    let unknown = [("list", Type::list(Type::String)), ("map", Type::map(Type::String)), ("text", Type::String)];
    let unknown = Value::object(unknown.map(|(name, ty)| (name, Value::unknown(ty))));
    assert_eq!(show(json::sensitive_part(&unknown)), r#"{"list":[],"map":{}}"#);
}

#[test]
fn trees_pass_through_serde_json() {
    let text = r#"{"a":[1,0.1,123456789012345678901234567890.5,"x",null,true]}"#;
    let tree: Json = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&tree).unwrap(), text);
    let value = serde_json::Value::from(&json::read(r#"{"a":[1,0.5,18446744073709551615]}"#).unwrap());
    assert_eq!(value, serde_json::json!({"a": [1, 0.5, 18446744073709551615u64]}));
    assert_eq!(Json::from(&value).to_string(), r#"{"a":[1,0.5,18446744073709551615]}"#);
}

pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::bool),
        any::<i64>().prop_map(Value::int),
        (any::<i64>(), 1..99i64).prop_map(|(a, b)| Value::number(Number::from(a).div(&Number::from(b)).unwrap())),
        any::<String>().prop_map(Value::string),
        Just(Value::null(Type::Dynamic)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::tuple),
            prop::collection::btree_map("[a-z]{1,3}", inner, 0..4).prop_map(Value::object),
            prop::collection::vec(any::<i64>().prop_map(Value::int), 0..4)
                .prop_map(|elements| Value::list(Type::Number, elements)),
            prop::collection::vec("[a-zÀ-ÿ]{0,3}".prop_map(Value::string), 0..4)
                .prop_map(|elements| Value::set(Type::String, elements)),
            prop::collection::btree_map("[a-z]{1,3}", any::<bool>().prop_map(Value::bool), 0..4)
                .prop_map(|elements| Value::map(Type::Bool, elements)),
        ]
    })
}

proptest! {
    #[test]
    fn values_of_a_type_read_back_as_they_were(value in any_value()) {
        let ty = value.type_of();
        let text = json::encode_typed(&value, &ty).unwrap();
        prop_assert_eq!(json::decode(&text, &ty).unwrap(), value.clone());
        let text = json::encode_typed(&value, &Type::Dynamic).unwrap();
        prop_assert_eq!(json::decode(&text, &Type::Dynamic).unwrap(), value);
    }

    #[test]
    fn what_is_inferred_writes_the_same_text(value in any_value()) {
        let text = json::encode(&value).unwrap();
        prop_assert_eq!(json::encode(&json::infer(&text).unwrap()).unwrap(), text);
    }

    #[test]
    fn types_read_back_as_they_were(value in any_value()) {
        let ty = value.type_of();
        prop_assert_eq!(json::type_from_tree(&json::type_to_tree(&ty)), Some(ty));
    }

    #[test]
    fn serde_keeps_a_value_whole(value in any_value()) {
        let value = Value::tuple([value, Value::unknown(Type::String).mark(Marks::EPHEMERAL), Value::number(Number::INFINITY)]);
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
