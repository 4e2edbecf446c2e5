//! Conversion to a type, and the type that several have in common.

use proptest::prelude::*;

use crate::{Attr, Marks, Refinements, Type, Unknown, Value, convert, json, unify};

fn ty(text: &str) -> Type {
    json::type_from_tree(&json::read(text).unwrap()).unwrap()
}

/// Value as JSON, type as JSON; the converted value as JSON or the error.
fn check(value: &str, target: &str, expected: Result<&str, &str>) {
    let result = convert(&json::infer(value).unwrap(), &ty(target));
    let shown = match &result {
        Ok(value) => Ok(json::encode(value).unwrap()),
        Err(error) => Err(error.to_string()),
    };
    assert_eq!(shown, expected.map(str::to_owned).map_err(str::to_owned), "{value} as {target}");
}

#[test]
fn converts_by_the_rules_of_the_language() {
    check("1", r#""string""#, Ok(r#""1""#));
    check("true", r#""string""#, Ok(r#""true""#));
    check(r#""1""#, r#""bool""#, Ok("true"));
    check(r#""12.50""#, r#""number""#, Ok("12.5"));
    check("null", r#""number""#, Ok("null"));
    check("[1,\"a\"]", r#"["list","string"]"#, Ok(r#"["1","a"]"#));
    check("[1,\"a\"]", r#"["list","dynamic"]"#, Ok(r#"["1","a"]"#));
    check("[1,\"a\",true]", r#"["set","dynamic"]"#, Ok(r#"["1","a","true"]"#));
    check("[3,1,3]", r#"["set","number"]"#, Ok("[1,3]"));
    check(r#"[{"a":1},{"a":"x"}]"#, r#"["list",["map","dynamic"]]"#, Ok(r#"[{"a":"1"},{"a":"x"}]"#));
    check(r#"{"a":1,"b":"x"}"#, r#"["map","dynamic"]"#, Ok(r#"{"a":"1","b":"x"}"#));
    check(r#"{"a":1,"b":2}"#, r#"["object",{"a":"string"}]"#, Ok(r#"{"a":"1"}"#));
    check(r#"{"a":1}"#, r#"["object",{"a":"string","b":"bool"},["b"]]"#, Ok(r#"{"a":"1","b":null}"#));
    check("[]", r#"["set","string"]"#, Ok("[]"));
    check("{}", r#"["map","string"]"#, Ok("{}"));
    check("[null,1]", r#"["list","dynamic"]"#, Ok("[null,1]"));
    check("[null,[1],[\"a\",2]]", r#"["list","dynamic"]"#, Ok("[null,[\"1\"],[\"a\",\"2\"]]"));
}

#[test]
fn says_what_is_wrong_and_where() {
    let object = r#"["object",{"a":["list","number"],"b":["map",["object",{"c":"bool"}]]},["b"]]"#;
    check(r#"{"a":[1,2,"x"]}"#, object, Err("attribute \"a\": element 2: a number is required"));
    check(r#"{"a":[1,2,{}]}"#, object, Err("attribute \"a\": element 2: number required, but have object"));
    check(r#"{"a":1}"#, object, Err("attribute \"a\": list of number required, but have number"));
    check("{}", object, Err("attribute \"a\" is required"));
    check(
        r#"{"a":[],"b":{"k":{"c":"maybe"}}}"#,
        object,
        Err("attribute \"b\": element \"k\": attribute \"c\": a bool is required"),
    );
    check(r#"{"a":[],"b":{"k":{}}}"#, object, Err("attribute \"b\": element \"k\": attribute \"c\" is required"));
    check("{}", r#"["list","string"]"#, Err("list of string required"));
    check("1", r#""bool""#, Err("bool required, but have number"));
    check(r#""True""#, r#""bool""#, Err("a bool is required; to convert from string, use lowercase \"true\""));
    check(r#"[1,{}]"#, r#"["list","dynamic"]"#, Err("all list elements must have the same type"));
    check(r#"{"a":1,"b":[]}"#, r#"["map","dynamic"]"#, Err("all map elements must have the same type"));
    check(
        "{}",
        r#"["object",{"a":"bool","b":"bool","c":"bool"}]"#,
        Err("attributes \"a\", \"b\", and \"c\" are required"),
    );
}

#[test]
fn marks_stay_where_they_are() {
    let secret = Value::string("1").mark(Marks::SENSITIVE);
    let converted = convert(&Value::tuple([secret.clone(), Value::int(2)]), &Type::list(Type::Number)).unwrap();
    assert!(converted.as_sequence().unwrap()[0].marks.sensitive && !converted.marks.sensitive);
    let converted = convert(&Value::tuple([secret]), &Type::set(Type::Number)).unwrap();
    assert!(converted.marks.sensitive);
}

#[test]
fn errors_do_not_tell_keys_of_sensitive_maps() {
    let map = Value::object([("k", Value::tuple([]))]).mark(Marks::SENSITIVE);
    let error = convert(&map, &Type::map(Type::Number)).unwrap_err();
    assert_eq!(error.to_string(), "number required, but have tuple");
}

#[test]
fn unknown_values_keep_what_is_known() {
    let two = Value::unknown(Type::tuple([Type::Number, Type::Dynamic]));
    let list = convert(&two, &Type::list(Type::String)).unwrap();
    let unknown = list.as_unknown().unwrap();
    assert_eq!(unknown.ty, Type::list(Type::String));
    assert_eq!((unknown.refinements.min_length, unknown.refinements.max_length), (Some(2), Some(2)));
    assert!(convert(&Value::unknown(Type::list(Type::String)), &Type::Bool).is_err());
    let some = Unknown { ty: Type::list(Type::String), refinements: Refinements::length(3, None), origin: None };
    let set = convert(&Value::unknown_with(some), &Type::set(Type::Dynamic)).unwrap();
    assert_eq!(set.as_unknown().unwrap().refinements.min_length, Some(1));
    assert_eq!(set.type_of(), Type::set(Type::String));
}

#[test]
fn unifies_types() {
    let table: &[(&[&str], Option<&str>)] = &[
        (&[r#""number""#, r#""string""#], Some(r#""string""#)),
        (&[r#""bool""#, r#""number""#], None),
        (&[r#""bool""#, r#""number""#, r#""string""#], Some(r#""string""#)),
        (&[r#"["list","number"]"#, r#"["list","string"]"#], Some(r#"["list","string"]"#)),
        (&[r#"["list","number"]"#, r#"["tuple",["string","bool"]]"#], Some(r#"["list","string"]"#)),
        (&[r#"["tuple",["number"]]"#, r#"["tuple",["string","bool"]]"#], Some(r#"["list","string"]"#)),
        (&[r#"["object",{"a":"number"}]"#, r#"["object",{"b":"string"}]"#], Some(r#"["map","string"]"#)),
        (&[r#"["object",{"a":"number"}]"#, r#"["object",{"a":"string"}]"#], Some(r#"["object",{"a":"string"}]"#)),
        (&[r#"["map","number"]"#, r#"["object",{"a":"string"}]"#], Some(r#"["map","string"]"#)),
        (&[r#"["object",{}]"#, r#"["tuple",[]]"#], None),
        (&[r#"["list","string"]"#, r#""dynamic""#], Some(r#""dynamic""#)),
        (&[], None),
    ];
    for (types, expected) in table {
        let types: Vec<Type> = types.iter().map(|t| ty(t)).collect();
        assert_eq!(unify(&types), expected.map(ty), "{types:?}");
    }
}

#[test]
fn types_are_written_as_constraints() {
    let object = Type::Object(std::sync::Arc::new(
        [
            ("a".into(), Attr::required(Type::list(Type::Dynamic))),
            ("b".into(), Attr::optional(Type::tuple([Type::Bool, Type::Number]))),
        ]
        .into(),
    ));
    assert_eq!(object.to_string(), "object({a = list(any), b = optional(tuple([bool, number]))})");
    assert_eq!(object.without_optional().to_string(), "object({a = list(any), b = tuple([bool, number])})");
}

proptest! {
    #[test]
    fn converting_to_its_own_type_changes_nothing(value in super::json::any_value()) {
        prop_assert_eq!(convert(&value, &value.type_of()).unwrap(), value);
    }

    #[test]
    fn converting_twice_is_converting_once(value in super::json::any_value()) {
        for target in [Type::list(Type::Dynamic), Type::set(Type::String), Type::map(Type::Dynamic), Type::String] {
            if let Ok(once) = convert(&value, &target) {
                prop_assert_eq!(convert(&once, &target).unwrap(), once);
            }
        }
    }
}
