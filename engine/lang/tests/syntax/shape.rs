//! What is written, and the tree that it gives.

use engine_diag::FileId;
use engine_lang::syntax::{Expr, parse, parse_expression};

use crate::show;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(show::value(text), expected, "for {text}");
}

#[test]
fn operators_bind_as_in_hcl() {
    check("1 + 2 * 3", "(1 + (2 * 3))");
    check("1 - 2 - 3", "((1 - 2) - 3)");
    check("a || b && c == d < e + f * g", "(a || (b && (c == (d < (e + (f * g))))))");
    check("a * b + c < d == e && f || g", "((((((a * b) + c) < d) == e) && f) || g)");
    check("1 < 2 == true", "((1 < 2) == true)");
    check("-a.b[0] + 1", "((- a.b[0]) + 1)");
    check("!a == b", "((! a) == b)");
    check("- -1", "(- (- 1))");
    check("5 % 3 / 2", "((5 % 3) / 2)");
    check("a >= b != (c <= d)", "((a >= b) != paren((c <= d)))");
    check("a-b", "a-b");
    check("a -b", "(a - b)");
}

#[test]
fn conditionals_nest_to_the_right() {
    check("a ? b : c ? d : e", "(a ? b : (c ? d : e))");
    check("a ? b ? 1 : 2 : 3", "(a ? (b ? 1 : 2) : 3)");
    check("a && b ? c + 1 : d", "((a && b) ? (c + 1) : d)");
}

#[test]
fn traversals_are_chains() {
    check("var.a.b[\"c\"][0].d", "var.a.b[\"c\"][0].d");
    check("x[each.key].id", "x[each.key].id");
    check("x.0.y", "x[0].y");
    check("[[1]].0 .0", "[[1]][0][0]");
    check("f(x).a[0]", "f(x).a[0]");
    check("(x).a", "paren(x).a");
    check("{a = 1}.a", "{\"a\": 1}.a");
    check("(\n  x\n  .y\n  [0]\n)", "paren(x.y[0])");
    check("x.for.in.if.null", "x.for.in.if.null");
    check("true.a", "true.a");
}

#[test]
fn splats_know_how_far_they_reach() {
    check("x[*]", "splat(x, @)");
    check("x[*].a[0].b", "splat(x, @.a[0].b)");
    check("x.*.a.b", "splat(x, @.a.b)");
    check("x.*.a[0]", "splat(x, @.a)[0]");
    check("x.*.0.a", "splat(x, @[0].a)");
    check("x.y[*].a[*].b", "splat(x.y, splat(@.a, @.b))");
    check("x.*.a[*].b", "splat(splat(x, @.a), @.b)");
    check("x.*.a[0].*.c", "splat(splat(x, @.a)[0], @.c)");
    check("x[ * ].a", "splat(x, @.a)");
    check("f()[*].a", "splat(f(), @.a)");
}

#[test]
fn calls() {
    check("f()", "f()");
    check("max(1, 2,)", "max(1, 2)");
    check("max([1, 2]...)", "max([1, 2]...)");
    check("max(\n1\n,\n2\n)", "max(1, 2)");
    check("max (1)", "max(1)");
    check("provider::terraform::encode_expr(x)", "provider::terraform::encode_expr(x)");
    check("core :: upper(x)", "core::upper(x)");
    check("null(1)", "null(1)");
}

#[test]
fn collections() {
    check("[]", "[]");
    check("[\n1\n,\n2, # two\n]", "[1, 2]");
    check("{}", "{}");
    check("{ a = 1, b : 2 }", "{\"a\": 1, \"b\": 2}");
    check("{\n  a = 1\n\n  # b\n  b = 2,\n  c = 3\n}", "{\"a\": 1, \"b\": 2, \"c\": 3}");
    check("{a = 1, a = 2}", "{\"a\": 1, \"a\": 2}");
    check("{(x) = 1, \"y${z}\" = 2, 1 = 3}", "{paren(x): 1, `y${z}`: 2, 1: 3}");
    check("{null = 1, true = 2, in = 3}", "{\"null\": 1, \"true\": 2, \"in\": 3}");
    check("{upper(\"a\") = 2, -1 = 2}", "{upper(\"a\"): 2, (- 1): 2}");
    check("{a=1 /* c */, b=2 // d\n}", "{\"a\": 1, \"b\": 2}");
}

#[test]
fn for_expressions() {
    check("[for x in y : x.z]", "[for x in y: x.z]");
    check("[for i, x in y : x if i > 0]", "[for i, x in y: x if (i > 0)]");
    check("{for k, v in y : k => v}", "{for k, v in y: k => v}");
    check("{for v in y : v.k => v... if v.ok}", "{for v in y: v.k => v... if v.ok}");
    check("[\nfor i in [1]\n:\ni\nif\ntrue\n]", "[for i in [1]: i if true]");
    check("{\nfor k, v in y :\nk => v\n}", "{for k, v in y: k => v}");
    check("[for x in y : {for z in x : z => 1}]", "[for x in y: {for z in x: z => 1}]");
}

#[test]
fn an_expression_may_stand_alone() {
    assert_eq!(show::expression("[\n1,\n2]\n"), "[1, 2]");
    assert_eq!(show::expression("1 +\n 2"), "(1 + 2)");
    assert_eq!(show::expression("{\na = 1\nb = 2\n}"), "{\"a\": 1, \"b\": 2}");
    assert_eq!(show::expression("1 2"), "error Extra characters after expression");
    assert_eq!(show::expression(""), "error Invalid expression");
}

#[track_caller]
fn check_body(text: &str, expected: &str) {
    let (body, diagnostics) = parse(FileId(0), text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(show::body(&body), expected);
}

#[test]
fn bodies() {
    check_body("", "");
    check_body("\u{feff}a = 1", "a = 1");
    check_body("a = 1\nb {}\nc = 2\n", "a = 1; b {  }; c = 2");
    check_body("r \"a\" b \"c\\u0064\" {\n  x = 1\n}\n", "r \"a\" \"b\" \"cd\" { x = 1 }");
    check_body("a { b = 1 } # c\n", "a { b = 1 }");
    check_body("a { b = {\n c = 1\n} }", "a { b = {\"c\": 1} }");
    check_body("a { # c\n}", "a {  }");
    check_body("a {\r\n b = 1\r\n}\r\n", "a { b = 1 }");
    check_body("/* x */ a /* y */ { /* z */ }", "a {  }");
    check_body("é = 1\n日本-x = 2", "é = 1; 日本-x = 2");
    check_body("a {\n b {\n c {}\n }\n d {}\n}", "a { b { c {  } }; d {  } }");
}

/// The texts under the traversals of an expression.
#[track_caller]
fn check_traversals(text: &str, expected: &[&str]) {
    let (expr, diagnostics) = parse_expression(FileId(0), text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let under = |expr: &Expr| text[expr.span().start as usize..expr.span().end as usize].to_owned();
    assert_eq!(expr.traversals().iter().map(under).collect::<Vec<_>>(), expected, "in {text}");
}

#[test]
fn traversals_of_an_expression() {
    check_traversals("a.b + f(c[d.e].g, [h, {(i) = j.k}])", &["a.b", "c[d.e].g", "d.e", "h", "i", "j.k"]);
    check_traversals("x.y[*].id", &["x.y"]);
    check_traversals("[for x in var.x : x.a if y && z]", &["var.x", "y", "z"]);
    check_traversals("{for k, v in x : k => [for x in v : x]}", &["x"]);
    check_traversals("[[for x in y : x], x]", &["y", "x"]);
    check_traversals(
        "\"%{ for i in a }${i}${b}%{ endfor }${i}%{ if c }${d}%{ else }${e}%{ endif }\"",
        &["a", "b", "i", "c", "d", "e"],
    );
    check_traversals("a ? b : c ? d : e", &["a", "b", "c", "d", "e"]);
    check_traversals("-a && !b", &["a", "b"]);
}
