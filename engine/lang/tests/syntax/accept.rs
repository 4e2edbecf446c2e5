//! Which texts are accepted. `hcl-edit`, an independent parser, is asked too: where it differs from Terraform, the
//! table says so.

use engine_diag::FileId;
use engine_lang::syntax::parse;

/// Whether a file is accepted by us (as by Terraform), and whether `hcl-edit` differs.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Ok,
    No,
    /// Accepted, but not by `hcl-edit`.
    OkAlone,
    /// Rejected, but not by `hcl-edit`.
    NoAlone,
}

use Expect::{No, NoAlone, Ok, OkAlone};

fn check(cases: &[(&str, Expect)], wrap: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (case, expect) in cases {
        let text = wrap(case);
        let (_, diagnostics) = parse(FileId(0), &text);
        if diagnostics.is_empty() != matches!(expect, Ok | OkAlone) {
            wrong.push(format!("{text:?}: {diagnostics:?}"));
        }
        if hcl_edit::parser::parse_body(&text).is_ok() != matches!(expect, Ok | NoAlone) {
            wrong.push(format!("hcl-edit on {text:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files() {
    let cases = [
        ("", Ok),
        ("a = 1", Ok),
        ("a {}\n", Ok),
        ("a {\n}\nb {}", Ok),
        ("a \"b\" c {}\n", Ok),
        ("a { b = 1 }\n", Ok),
        ("a { b = 1, c = 2 }\n", No),
        ("a { b = 1\n}\n", No),
        ("a {\nb = 1 }\n", No),
        ("a { b {} }\n", No),
        ("a\n{\n}\n", No),
        ("a \"b\"\n{}", No),
        ("a.b {}", No),
        ("a = 1 b = 2", No),
        ("a {}{}", No),
        ("a {} b {}", No),
        ("a \"${b}\" {}", No),
        ("a {", No),
        ("}", No),
        ("1 = 2", No),
        ("\"a\" = 1", No),
        ("a == 1", No),
        ("a : 1", No),
        ("a = 1\na = 2", No),
        ("\u{feff}a = 1", OkAlone),
        ("a = 1\r\nb = 2\r\n", Ok),
        ("# c\n// d\n/* e */\n", Ok),
        ("a = 1 /* x\n */\n", Ok),
        ("a = 1 /* x", No),
        ("é = 1\n", Ok),
        ("a-b = 1\n_c = 2\n", Ok),
        ("x² = 1\n", No),
        ("a = \u{a0}1\n", No),
    ];
    check(&cases, str::to_owned);
}

#[test]
fn expressions() {
    let cases = [
        ("123456789012345678901234567890", Ok),
        ("1e400", OkAlone),
        ("1.", No),
        (".5", No),
        ("0x10", No),
        ("1_000", No),
        ("007", Ok),
        ("1E+3", Ok),
        ("[1,,2]", No),
        ("[1\n2]", No),
        ("[1,2,]", Ok),
        ("{a=1 b=2}", No),
        ("{a=1\n,b=2}", No),
        ("{a=\n1}", No),
        ("{a=1,a=2}", OkAlone),
        ("{for=1}", NoAlone),
        ("1 +\n2", No),
        ("(1 +\n2)", Ok),
        ("true ? 1 :\n 2", No),
        ("true ? 1", No),
        ("max([1,2]..., 3)", No),
        ("max([1]...,)", No),
        ("max(1 2)", No),
        ("[[1]].0.0", NoAlone),
        ("[[1]].*.*", NoAlone),
        ("a[0,1]", No),
        ("a[]", No),
        ("a.", No),
        ("[for i in [1]: i...]", No),
        ("{for k in [1]: k}", No),
        ("[for k in [1]: k => 1]", No),
        ("[for i, in [1]: i]", No),
        ("\"a\nb\"", NoAlone),
        ("\"\\q\"", No),
        ("\"${1\"", No),
        ("\"%{if true}\"", No),
        ("\"%{endif}\"", No),
        ("1 & 2", No),
        ("1 ; 2", No),
        ("'a'", No),
        ("`a`", No),
        ("foo::bar", No),
        ("::a()", No),
        ("provider::a::b(1)", Ok),
        ("<< EOT\na\nEOT\n", No),
        ("<<EOT\na\nEOT\n", Ok),
        ("[<<EOT\na\nEOT, 1]", NoAlone),
        ("~1", No),
        ("a => 1", No),
    ];
    check(&cases, |text| format!("x = {text}\n"));
}

#[test]
fn long_chains_and_deep_nesting() {
    let ours = |text: String| parse(FileId(0), &text).1;
    assert!(ours(format!("x = 1{}", " + 1".repeat(100_000))).is_empty());
    assert!(ours(format!("x = {} 0", "a ? 1 : ".repeat(100_000))).is_empty());
    assert!(ours(format!("x = a{}", ".b[0]".repeat(100_000))).is_empty());
    assert!(ours(format!("x = {}1{}", "[".repeat(500), "]".repeat(500))).is_empty());
    for (before, inner, after) in [
        ("[", "1", "]"),
        ("(", "1", ")"),
        ("{a=", "1", "}"),
        ("f(", "1", ")"),
        ("-", "1", ""),
        ("\"${", "1", "}\""),
        ("a[", "1", "]"),
        ("", "a", "[*]"),
        ("", "a", ".*[0]"),
        ("a ? ", "1", " : 1"),
        ("%{ if a }", "1", "%{ endif }"),
        ("[for a in b : ", "1", "]"),
    ] {
        for depth in [600, 100_000] {
            let mut text = format!("{}{inner}{}", before.repeat(depth), after.repeat(depth));
            if before.starts_with('%') {
                text = format!("\"{text}\"");
            }
            let diagnostics = ours(format!("x = {text}\ny = 1 2\n"));
            let summaries: Vec<_> = diagnostics.iter().map(|d| d.summary.as_str()).collect();
            assert_eq!(
                summaries,
                ["Nested too deeply", "Missing newline after argument"],
                "for {before}{inner}{after}"
            );
        }
    }
    let blocks = ours(format!("{}{}x = 1 2\n", "a {\n".repeat(600), "}\n".repeat(600)));
    let summaries: Vec<_> = blocks.iter().map(|d| d.summary.as_str()).collect();
    assert_eq!(summaries, ["Nested too deeply", "Missing newline after argument"]);
}
