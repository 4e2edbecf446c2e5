//! What expressions refer to, and what is suggested for names that nothing declares.

use engine_value::Value;

use super::{Names, expression};
use crate::eval::{Subject, evaluate_constant, references};

#[test]
fn references_name_what_they_need_without_keys() {
    let text =
        "var.a + x.y[each.key].id + data.t.n.v + module.m[0].o + [for q in local.l : q.z + self.w][0] + path.module";
    let found = references(&expression(text)).unwrap();
    let names: Vec<String> = found.iter().map(|(subject, _)| subject.text()).collect();
    assert_eq!(names, ["var.a", "x.y", "each.key", "data.t.n", "module.m", "local.l", "self", "path.module"]);
    let spans: Vec<&str> = found.iter().map(|(_, span)| &text[span.start as usize..span.end as usize]).collect();
    assert_eq!(spans[1], "x.y");
    assert_eq!(spans[3], "data.t.n");
    assert!(matches!(found[0].0, Subject::Variable(_)));
}

#[test]
fn constants_refer_to_nothing() {
    assert_eq!(evaluate_constant(&expression("[1, upper(\"a\")]")).unwrap(), Value::tuple([1.into(), "A".into()]));
    for text in ["var.x", "file(\"hello.txt\")", "x.y"] {
        assert!(evaluate_constant(&expression(text)).is_err(), "{text}");
    }
}

#[test]
fn undeclared_names_suggest_declared_ones() {
    let scope = Names { values: vec![("local.region", Value::int(1))], ..Names::default() };
    let error = super::value_of("local.regoin", &scope).unwrap_err();
    let detail = &error.iter().next().unwrap().detail;
    assert_eq!(detail, "A local value with the name \"regoin\" has not been declared. Did you mean \"region\"?");
}
