use engine_diag::FileId;
use engine_value::{Type, Value, json};
use proptest::prelude::*;

use super::*;
use crate::{eval::evaluate_constant, syntax::parse_expression};

fn value_of(json: &str) -> Value {
    json::infer(json).unwrap()
}

#[test]
fn the_layout_is_that_of_terraform_fmt() {
    let manifest = value_of(
        r#"{"apiVersion":"v1","data":{"a.b/c":"${x} and %{y} $${z}","long":1.5,"script":"set -e\necho ${HOME}\n"},
            "for":true,"items":[{"name":"a","ports":[1,2],"none":{}},{"name":"b"}],"empty":[],"two":"x\ny","mixed":[1,"a",null]}"#,
    );
    let body = Body(vec![Item::Block(Block {
        ty: "resource".into(),
        labels: vec!["kubernetes_manifest".into(), "web".into()],
        body: Body(vec![
            Item::Comment("Two lines\nof it".into()),
            Item::Attribute("manifest".into(), manifest),
            Item::Expression("token".into(), "var.token".into()),
            Item::Attribute("b".into(), Value::bool(true)),
            Item::Block(Block {
                ty: "field_manager".into(),
                labels: vec![],
                body: Body(vec![Item::Attribute("name".into(), "x".into())]),
            }),
            Item::Block(Block { ty: "wait".into(), labels: vec![], body: Body::default() }),
        ]),
    })]);
    let expected = r#"resource "kubernetes_manifest" "web" {
  # Two lines
  # of it
  manifest = {
    apiVersion = "v1"
    data = {
      "a.b/c" = "$${x} and %%{y} $\u0024{z}"
      long    = 1.5
      script  = <<EOT
set -e
echo $${HOME}
EOT
    }
    empty = []
    "for" = true
    items = [
      {
        name  = "a"
        none  = {}
        ports = [1, 2]
      },
      {
        name = "b"
      },
    ]
    mixed = [1, "a", null]
    two   = "x\ny"
  }
  token = var.token
  b     = true

  field_manager {
    name = "x"
  }

  wait {
  }
}
"#;
    assert_eq!(write(&body).unwrap(), expected);
}

#[test]
fn what_no_text_can_say_is_told() {
    let body = Body(vec![Item::Attribute("a".into(), Value::tuple([Value::unknown(Type::String)]))]);
    assert_eq!(write(&body), Err("a".to_owned()));
}

/// What the text of a value evaluates to.
fn again(value: &Value) -> Value {
    let text = value::write(value, 0).unwrap();
    let (expr, diagnostics) = parse_expression(FileId(0), &format!("{{\n  a = {text}\n}}\n"));
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:?}");
    let value = evaluate_constant(&expr).unwrap_or_else(|why| panic!("{text}\n{why:?}"));
    value.get("a").unwrap().clone()
}

#[test]
fn odd_values_are_the_same_again() {
    for text in [
        r#""$${""#,
        r#""$$${a}""#,
        r#""%%%{a}""#,
        r#""$""#,
        r#""${""#,
        r#""a\nEOT\nEOT1\n""#,
        r#""  EOT\nb\n""#,
        r#""\n\n""#,
        r#""a\r\nb\r\n""#,
        r#""\u0000\u2028\ufeff""#,
        r#""\\n\\${a}""#,
        r#""back\\slash\n${x}\n""#,
        r#""$${x}\nb\n""#,
        r#"{"":1,"true":2,"null":3,"for":4,"a-b":5,"1":6,"a b":7,"${x}":8,"é":9}"#,
        r#"[["a\nb\n"],[],{},[{}]]"#,
        "123456789012345678901234567890123456789012345678901234567890",
        "-1.5e-300",
        "1e400",
        r#"{"a":{"b":{"c":[{"d":"x\ny\n"}]}}}"#,
    ] {
        let value = value_of(text);
        assert_eq!(again(&value), value, "{text}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[ -~\\n]{0,20}", "\\PC{0,8}", "[$%{}\"\\\\\\n a]{0,12}", "([ -~]{0,6}\\n){2,4}",];
    let leaf = prop_oneof![
        Just(Value::null(Type::Dynamic)),
        any::<bool>().prop_map(Value::bool),
        any::<i64>().prop_map(Value::int),
        "-?[1-9][0-9]{0,40}(\\.[0-9]{1,20})?".prop_map(|digits| json::infer(&digits).unwrap()),
        text.clone().prop_map(Value::string),
    ];
    leaf.prop_recursive(4, 32, 5, move |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..5).prop_map(Value::tuple),
            prop::collection::btree_map(text.clone(), inside, 0..5).prop_map(Value::object),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_is_the_same_again(value in any_value()) {
        prop_assert_eq!(again(&value), value);
    }
}
