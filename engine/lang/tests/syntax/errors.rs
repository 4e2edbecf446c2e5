//! What is wrong, where, and that the rest of the file is read all the same.

use std::fmt::Write;

use engine_diag::Sources;
use engine_lang::syntax::parse;

use crate::show;

/// The diagnostics of `text`, one a line as `line:column summary`, then the shape of what was read.
fn report(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("main.tf", text);
    let (body, diagnostics) = parse(file, text);
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        let (start, _) = sources.range(diagnostic.span.expect("every syntax error has a place"));
        writeln!(out, "{}:{} {}", start.line, start.column, diagnostic.summary).unwrap();
    }
    write!(out, "{}", show::body(&body)).unwrap();
    out
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(report(text), expected.join("\n"), "for {text}");
}

#[test]
fn several_errors_in_one_file() {
    check(
        "a = \nb = 2\nc = [1 2]\nd {\n  e = (1\n  f = 3\n  g = 'x'\n}\nh = \"x\ni = 5\nj k = 1\nl = {\n  m 1\n}\nn = 6\n",
        &[
            "1:5 Invalid expression",
            "3:8 Missing item separator",
            "6:3 Unbalanced parentheses",
            "7:7 Invalid character",
            "9:5 Invalid multi-line string",
            "11:5 Invalid block definition",
            "13:5 Missing attribute value",
            "b = 2; d { f = 3 }; i = 5; n = 6",
        ],
    );
}

#[test]
fn one_mistake_gives_one_error() {
    check("a = ${b}\nb = 2\n", &["1:5 Invalid character", "b = 2"]);
    check("a = \"${1\"\nb = 2\n", &["1:6 Unclosed template interpolation sequence", "b = 2"]);
    check("a = \"${foo\nb = 2\n", &["2:1 Extra characters after interpolation expression", ""]);
    check("a = [\nb = 2\n", &["2:3 Missing item separator", "b = 2"]);
    check("a = [\n  1,\n  2\n\nr \"x\" {}\n", &["5:1 Missing item separator", "r \"x\" {  }"]);
    check("a = f(1\nb = 2\n", &["2:1 Missing argument separator", "b = 2"]);
    check("a = {\n  b = 1\n", &["3:1 Unclosed object", ""]);
    check("a {\n  b = [1\n}\nc = 1\n", &["3:1 Missing item separator", "a {  }; c = 1"]);
    check("a }\nb = 1", &["1:3 Argument or block definition required", "1:3 Unexpected closing brace", "b = 1"]);
    check("}\nb = 1", &["1:1 Unexpected closing brace", "b = 1"]);
    check("a {\n b = 1\n", &["1:3 Unclosed configuration block", "a { b = 1 }"]);
    check("a = 1 /* x", &["1:7 Unterminated comment", "a = 1"]);
    check("a = <<EOT\n${\"x\n}\nEOT\nb = 1\n", &["2:3 Invalid multi-line string", "b = 1"]);
    check("a = << EOT\nb = 1\n", &["1:5 Invalid expression", "b = 1"]);
}

#[test]
fn bodies() {
    check("a = 1\na = 2\n", &["2:1 Attribute redefined", "a = 1"]);
    check("a { b = 1, c = 2 }\nd = 1\n", &["1:10 Invalid single-argument block definition", "d = 1"]);
    check("a { b = 1 c = 2 }", &["1:11 Invalid single-argument block definition", ""]);
    check("a { b = 1\n}\nd = 1\n", &["1:10 Invalid single-argument block definition", "d = 1"]);
    check("a { b {} }\nd = 1\n", &["1:5 Argument definition required", "d = 1"]);
    check("a\n{\n b = 1\n}\nd = 1\n", &["1:2 Argument or block definition required", "d = 1"]);
}

#[test]
fn names_and_characters() {
    check("\"a\" = 1\nb = 2", &["1:1 Argument or block definition required", "b = 2"]);
    check("a : 1\nb = 2", &["1:3 Argument or block definition required", "b = 2"]);
    check("a = 1a\nb = 2", &["1:6 Missing newline after argument", "a = 1; b = 2"]);
    check("a = 1; b = 2\nc = 3", &["1:6 Invalid character", "a = 1; c = 3"]);
}

#[test]
fn a_missing_brace_is_looked_for_where_indentation_shows_it() {
    let text = "resource \"a\" \"b\" {\n  x {\n    y = 1\n}\nresource \"c\" \"d\" {\n}\n";
    let (_, diagnostics) = parse(engine_diag::FileId(0), text);
    let found: Vec<_> = diagnostics.iter().map(|d| (d.summary.as_str(), d.related.len())).collect();
    assert_eq!(found, [("Unclosed configuration block", 1)]);
    let suspect = diagnostics.0[0].related[0].span;
    assert_eq!(&text[suspect.start as usize..suspect.end as usize], "resource \"c\" \"d\"");
}
