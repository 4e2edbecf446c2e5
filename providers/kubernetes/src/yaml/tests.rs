use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn bodies(text: &str) -> Result<Vec<Json>, String> {
    documents(text).map(|all| all.into_iter().map(|one| one.body).collect()).map_err(|error| error.to_string())
}

#[test]
fn scalars_are_those_of_kubernetes() {
    for (text, expected) in [
        ("on", json!(true)),
        ("Off", json!(false)),
        ("y", json!(true)),
        ("NO", json!(false)),
        ("oN", json!("oN")),
        ("'on'", json!("on")),
        ("~", Json::Null),
        ("", Json::Null),
        ("0644", json!(420)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("-0b11", json!(-3)),
        ("1_000", json!(1000)),
        ("089", json!(89.0)),
        ("1:20", json!("1:20")),
        ("2026-01-02", json!("2026-01-02")),
        ("1e3", json!(1000.0)),
        ("1.5", json!(1.5)),
        (".5", json!(0.5)),
        ("-.5", json!(-0.5)),
        ("1.2.3", json!("1.2.3")),
        ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
        ("100m", json!("100m")),
        ("!!str 12", json!("12")),
        ("! 12", json!("12")),
        ("!!int \"12\"", json!(12)),
        ("!!float 1", json!(1)),
        ("!!binary aGVsbG8=", json!("hello")),
    ] {
        let found = bodies(&format!("a: {text}\n")).unwrap();
        assert_eq!(found, [json!({"a": expected})], "{text}");
    }
}

#[test]
fn documents_keys_anchors_and_merges() {
    for (text, expected) in [
        ("", vec![]),
        ("# nothing\n", vec![]),
        ("---\na: 1\n---\n---\n# c\n---\nb: 2\n...\n", vec![json!({"a": 1}), Json::Null, Json::Null, json!({"b": 2})]),
        ("a: |\n  ---\n  b\n", vec![json!({"a": "---\nb\n"})]),
        ("1: a\ntrue: b\n1.5: c\n", vec![json!({"1": "a", "true": "b", "1.5": "c"})]),
        ("a: &x {b: 1}\nc: *x\n", vec![json!({"a": {"b": 1}, "c": {"b": 1}})]),
        (
            "a: &x {b: 1, c: 2}\nd: &y {b: 3}\ne:\n  b: 9\n  <<: [*y, *x]\n",
            vec![json!({"a": {"b": 1, "c": 2}, "d": {"b": 3}, "e": {"b": 9, "c": 2}})],
        ),
        ("a: {'<<': 1}\n", vec![json!({"a": {"<<": 1}})]),
        ("{\"apiVersion\": \"v1\", \"n\": [1, 2]}", vec![json!({"apiVersion": "v1", "n": [1, 2]})]),
        ("\u{feff}a: 1\r\nb: 2\r\n", vec![json!({"a": 1, "b": 2})]),
    ] {
        assert_eq!(bodies(text).unwrap(), expected, "{text:?}");
    }
}

#[test]
fn errors_say_where() {
    for (text, expected) in [
        ("a: 1\nb: 2\na: 3\n", "document 1, line 3: the key \"a\" is there twice; the first is on line 1"),
        ("---\na: 1\n---\nb:\n  c: .inf\n", "document 2, line 5: JSON has no such number, and so the API has none"),
        ("a: !Ref x\n", "document 1, line 1: the tag !Ref means nothing here"),
        ("a: !!int x\n", "document 1, line 1: this is no !!int"),
        ("? [a]\n: 1\n", "document 1, line 1: a key must be text, not a collection"),
        ("~: 1\n", "document 1, line 1: a key must be text, not null"),
        ("a: {<<: 1}\n", "document 1, line 1: what `<<` brings in must be a mapping, or a list of them"),
        ("a: &x [*x]\n", "document 1, line 1: an alias stands inside what it names"),
    ] {
        assert_eq!(bodies(text).unwrap_err(), expected, "{text:?}");
    }
    let broken = bodies("a: 1\n---\nb: [\n").unwrap_err();
    assert!(broken.starts_with("document 2, line "), "{broken}");
    let unknown = bodies("a: *nobody\n").unwrap_err();
    assert!(unknown.starts_with("document 1, line 1: "), "{unknown}");
}

#[test]
fn bombs_are_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(", "));
    }
    assert!(bodies(&bomb).unwrap_err().contains("its aliases stand for more than 16 MiB"));
    let mut deep = String::from("a0: &a0 {}\n");
    for level in 1..400 {
        deep += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
    }
    assert!(bodies(&deep).unwrap_err().contains("nested more than 200 levels deep"));
    let nested = "[".repeat(250);
    assert!(bodies(&nested).is_err());
}

#[test]
fn the_layout_is_that_of_kubernetes_tools() {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {}, "finalizers": ["x", "y"]},
        "data": {"script": "#!/bin/sh\necho hi\n", "on": "on", "n": "0644", "e": "", "t": "a\tb", "c": "a: b", "last": "x\ny"},
        "list": [{"a": 1, "b": [[1.5, null], []]}, true],
    });
    let expected = "apiVersion: v1\ndata:\n  c: 'a: b'\n  e: \"\"\n  last: |-\n    x\n    y\n  \"n\": \"0644\"\n  \"on\": \
                    \"on\"\n  script: |\n    #!/bin/sh\n    echo hi\n  t: \"a\\tb\"\nkind: ConfigMap\nlist:\n- a: 1\n  b:\n  \
                    - - 1.5\n    - null\n  - []\n- true\nmetadata:\n  finalizers:\n  - x\n  - \"y\"\n  labels: {}\n  name: \
                    a\n";
    assert_eq!(write(&object), expected);
}

fn any_json() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        "[ -~\\n]{0,12}",
        "\\PC{0,6}",
        "[ \\n#:|>'\"-]{0,6}",
        prop::sample::select(vec![
            "on", "~", "<<", "=", "0x1", "1e3", "1:30", "---", "... a", "null", " a", "a ", "\r\n", "\u{2028}"
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-1e12..1e12_f64).prop_map(Json::from),
        text.clone().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((text.clone(), inside), 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(value in any_json()) {
        let text = write(&value);
        prop_assert_eq!(bodies(&text), Ok(vec![value]), "{}", text);
    }

    #[test]
    fn any_text_is_an_answer_or_an_error(text in "[a-z&*<:\\[\\]{}!|>'\"# \\n\\t,0-9-]{0,60}") {
        let _ = documents(&text);
    }
}
