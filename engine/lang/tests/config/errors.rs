//! What is refused, and where.

use crate::read::read;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (_, diagnostics) = read(&[("main.tf", text)]);
    let diagnostics: Vec<_> =
        diagnostics.iter().map(|line| line.strip_prefix("main.tf:").unwrap_or(line).to_owned()).collect();
    assert_eq!(diagnostics, expected, "for {text}");
}

#[test]
fn blocks_and_arguments() {
    check("foo \"a\" {}\n", &["1:1 Unsupported block type"]);
    check("resurce \"a\" \"b\" {}\n", &["1:1 Unsupported block type"]);
    check("foo = 1\n", &["1:1 Unsupported argument"]);
    check("variable \"a\" {\n  descripton = 1\n}\n", &["2:3 Unsupported argument"]);
    check("variable \"a\" \"b\" {}\n", &["1:14 Extraneous label for variable"]);
    check("resource \"a\" {}\n", &["1:1 Missing name for resource"]);
    check("locals \"x\" {}\n", &["1:8 Extraneous label for locals"]);
    check("locals {\n  a {}\n}\n", &["2:3 Unsupported block type"]);
    check("output \"a\" {}\n", &["1:12 Missing required argument"]);
    check("variable \"a\" {\n  sensitive = var.b\n}\n", &["2:15 Variables not allowed"]);
    check("variable \"a\" {\n  default = local.x\n}\n", &["2:13 Variables not allowed"]);
    check("variable \"a\" {\n  default = upper(\"x\")\n}\n", &["2:13 Function calls not allowed"]);
    check("variable \"a\" {\n  nullable = false\n  default = null\n}\n", &["3:13 Invalid default value for variable"]);
    check("variable \"a\" {\n  description = 1\n}\n", &[]);
    check("variable \"a\" {\n  description = []\n}\n", &["2:17 Unsuitable value type"]);
}

#[test]
fn defaults_are_of_their_type() {
    let check = |ty: &str, default: &str, expected: &[&str]| {
        check(&format!("variable \"a\" {{\n  type = {ty}\n  default = {default}\n}}\n"), expected);
    };
    check("number", "\"5\"", &[]);
    check("object({ a = optional(string, \"x\") })", "{}", &[]);
    check("string", "null", &[]);
    check("number", "\"x\"", &["3:13 Invalid default value for variable"]);
    check("map(any)", "[1]", &["3:13 Invalid default value for variable"]);
    check("object({ a = string })", "{}", &["3:13 Invalid default value for variable"]);
    check("list(number)", "[\n1,\n\"x\"]", &["5:1 Invalid default value for variable"]);
    check("object({ a = optional(number, \"x\") })", "{}", &["2:40 Incorrect attribute value type"]);
}

#[test]
fn names() {
    check("variable \"1a\" {}\n", &["1:10 Invalid variable name"]);
    check("variable \"version\" {}\n", &["1:10 Invalid variable name"]);
    check("resource \"terraform_data\" \"1a\" {}\n", &["1:27 Invalid resource name"]);
    check("variable \"a\" {}\nvariable \"a\" {}\n", &["2:1 Duplicate variable definition"]);
    check("locals {\n  a = 1\n}\nlocals {\n  a = 2\n}\n", &["5:3 Duplicate local value definition"]);
    check(
        "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"a\" {}\n",
        &["2:1 Duplicate resource definition"],
    );
    check(
        "provider \"terraform\" {}\nprovider \"terraform\" {}\n",
        &["2:1 Duplicate provider configuration definition"],
    );
}

#[test]
fn meta_arguments() {
    let resource = |inner: &str| format!("resource \"terraform_data\" \"a\" {{\n{inner}\n}}\n");
    let check = |inner: &str, expected: &[&str]| check(&resource(inner), expected);
    check("count = 1\nfor_each = {}", &["3:1 Invalid combination of \"count\" and \"for_each\""]);
    check("lifecycle {\n foo = 1\n }", &["3:2 Unsupported argument"]);
    check("lifecycle {}\nlifecycle {}", &["3:1 Duplicate lifecycle block"]);
    check("lifecycle {\nprevent_destroy = var.x\n}", &["3:19 Variables not allowed"]);
    check("provider = foo.bar.baz", &["2:12 Invalid provider configuration reference"]);
    check("depends_on = \"x\"", &["2:14 Invalid expression"]);
    check("depends_on = [\"x\"]", &["2:15 Quoted references are deprecated", "2:16 Invalid reference"]);
    check("depends_on = [\"x-${1}\"]", &["2:15 Invalid expression"]);
}

#[test]
fn settings() {
    let check = |inner: &str, expected: &[&str]| check(&format!("terraform {{\n{inner}\n}}\n"), expected);
    check("foo = 1", &["2:1 Unsupported argument"]);
    check("foo {}", &["2:1 Unsupported block type"]);
    check("required_version = \"> 99\"", &["2:20 Unsupported language version"]);
    check("required_version = \"x\"", &["2:20 Invalid version constraint"]);
    check("required_version = var.x", &["2:20 Variables not allowed"]);
    check("backend \"s3\" {}", &["2:9 Unsupported backend type"]);
    check("backend \"foo\" {}", &["2:9 Unsupported backend type"]);
    check("backend \"local\" {}\nbackend \"local\" {}", &["3:1 Duplicate backend configuration"]);
    check("cloud {}", &["2:1 Unsupported block type"]);
    check("required_providers {\na = { source = \"x/y/z/w\" }\n}", &["3:16 Invalid provider source string"]);
    check("required_providers {\na = { foo = 1 }\n}", &["3:7 Invalid required_providers object"]);
}

#[test]
fn what_is_not_executed_is_refused_when_a_plan_is_made() {
    for (text, line) in [
        ("check \"a\" {\nassert {\ncondition = path.root == \".\"\nerror_message = \"x\"\n}\n}\n", 1),
        ("resource \"terraform_data\" \"a\" {}\nmoved {\nfrom = terraform_data.b\nto = terraform_data.a\n}\n", 2),
        ("removed {\nfrom = terraform_data.b\n}\n", 1),
        ("import {\nto = terraform_data.a\nid = \"x\"\n}\nresource \"terraform_data\" \"a\" {}\n", 1),
        ("ephemeral \"a\" \"b\" {}\n", 1),
        ("resource \"terraform_data\" \"a\" {\nprovisioner \"local-exec\" {\ncommand = \"x\"\n}\n}\n", 2),
        ("resource \"terraform_data\" \"a\" {\nconnection {}\n}\n", 2),
        ("resource \"terraform_data\" \"a\" {\n_ {}\n}\n", 2),
        ("resource \"terraform_data\" \"a\" {\nlifecycle {\nignore_changes = all\n}\n}\n", 3),
        ("resource \"terraform_data\" \"a\" {\nlifecycle {\nignore_changes = [input]\n}\n}\n", 3),
        ("variable \"a\" {\n  ephemeral = true\n}\n", 1),
    ] {
        let mut tree = engine_lang::config::SourceTree::new();
        tree.insert("main.tf", text.as_bytes());
        let mut sources = engine_diag::Sources::new();
        let (config, diagnostics) = engine_lang::config::load(&tree, &mut sources);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        let refused = engine_lang::config::not_executed(&config);
        let lines: Vec<_> =
            refused.iter().map(|d| (d.summary.as_str(), sources.range(d.span.unwrap()).0.line)).collect();
        assert_eq!(lines, [("Not supported yet", line)], "{text}");
    }
}

#[test]
fn several_errors_in_several_files() {
    let (_, diagnostics) = read(&[
        ("a.tf", "locals {\n  x = \n}\nvariable \"y\" {\n  typo = 1\n}\n"),
        ("b.tf", "output \"o\" {}\nfoo {}\n"),
        ("c.txt", "not read"),
        (".hidden.tf", "not read"),
    ]);
    assert_eq!(
        diagnostics,
        [
            "a.tf:2:7 Invalid expression",
            "a.tf:5:3 Unsupported argument",
            "b.tf:1:12 Missing required argument",
            "b.tf:2:1 Unsupported block type",
        ]
    );
}

#[test]
fn files_that_are_no_text() {
    let mut tree = engine_lang::config::SourceTree::new();
    tree.insert("main.tf", *b"a = \xff");
    let mut sources = engine_diag::Sources::new();
    let (_, diagnostics) = engine_lang::config::load(&tree, &mut sources);
    let summaries: Vec<_> = diagnostics.iter().map(|d| d.summary.as_str()).collect();
    assert_eq!(summaries, ["Invalid character encoding"]);
    assert_eq!(read(&[("README.md", "")]).1, ["No configuration files"]);
}
