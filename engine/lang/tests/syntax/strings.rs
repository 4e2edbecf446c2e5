//! Strings, heredocs and templates. Expected values were observed with Terraform 1.11.4, where a template is constant.

use engine_diag::FileId;
use engine_lang::syntax::parse_template;

use crate::show;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(show::value(text), expected, "for {text}");
}

#[test]
fn quoted() {
    check(r#""""#, r#""""#);
    check(r#""a\n\r\t\"\\b""#, r#""a\n\r\t\"\\b""#);
    check(r#""\u00e9\U0001F600""#, "\"é😀\"");
    check("\"e\\u0301\"", "\"é\"");
    check("\"e\u{301}\"", "\"é\"");
    check(r#""a $ b % c $$ d $${x} %%{y} $$${1} %%%{z}""#, r#""a $ b % c $$ d ${x} %{y} $${1} %%{z}""#);
    check(r#""$${""#, r#""${""#);
    check("\"x\ty\"", r#""x\ty""#);
    check(r#""\q""#, "error Invalid escape sequence");
    check(r#""\u12""#, "error Invalid escape sequence");
    check(r#""\ud800 \U00110000""#, "error Invalid escape sequence; Invalid escape sequence");
}

#[test]
fn interpolation() {
    check(r#""${x}""#, "wrap(x)");
    check(r#""${ x ~}""#, "wrap(x)");
    check(r#""a${"b${"c"}"}""#, r#"`a${`b${"c"}`}`"#);
    check(r#""${{a=1}.a}""#, r#"wrap({"a": 1}.a)"#);
    check("\"${\n1\n}x\"", "`${1}x`");
    check(r#""~${1}~""#, "`~${1}~`");
    check(r#""a  \n  ${~ 1 ~}  \n  b""#, "`a${1}b`");
    check("\"${<<EOT\na\nEOT\n}\"", r#"wrap("a\n")"#);
    check(r#""${1 2}""#, "error Extra characters after interpolation expression");
    check(r#""${}""#, "error Invalid expression");
}

#[test]
fn directives() {
    check(r#""%{if x}1%{endif}""#, "`<if x|1|>`");
    check(r#""%{ if x }a%{ else }b%{ endif }""#, "`<if x|a|b>`");
    check(r#""%{for i, v in ["x"]}${i}${v}%{endfor}""#, r#"`<for i,v in ["x"]|${i}${v}>`"#);
    check(r#""x  %{~ if t ~}  a  %{~ else ~} b %{~ endif ~}  y""#, "`x<if t|a|b>y`");
    check(r#""%{if a}%{for b in c}%{if d}e%{endif}%{endfor}%{endif}""#, "`<if a|<for b in c|<if d|e|>>|>`");
    check(r#""%{if x}""#, "error Unexpected end of template");
    check(r#""%{endif}""#, "error Unexpected endif directive");
    check(r#""%{else}""#, "error Unexpected else directive");
    check(r#""%{if x}a%{else}b%{else}c%{endif}""#, "error Unexpected else directive");
    check(r#""%{for x in [1]}%{endif}""#, "error Unexpected endif directive");
    check(r#""%{foo}""#, "error Invalid template control keyword");
    check(r#""%{ for }""#, "error Invalid 'for' directive");
}

#[test]
fn heredocs() {
    check("<<EOT\nEOT\n", r#""""#);
    check("<<EOT\nabc\n  EOT  \n", r#""abc\n""#);
    check("<<EOT\nabc\nEOT", r#""abc\n""#);
    check("<<E-T\na\nE-T\n", r#""a\n""#);
    check("<<-EOT\nabc\nEOTX\nEOT\n", r#""abc\nEOTX\n""#);
    check("<<EOT\r\na\r\nb\r\nEOT\r\n", r#""a\r\nb\r\n""#);
    check("<<EOT\n$${a} \\n %%{b} \"q\" $\nEOT\n", r#""${a} \\n %{b} \"q\" $\n""#);
    check("<<EOT\n  a\n    ${~ x ~}\n   b\nEOT\n", r"`  a\n${x}   b\n`");
    check("[<<EOT\na\nEOT\n, 1]", r#"["a\n", 1]"#);
    check("{a=<<EOT\na\nEOT\n b = 2}", r#"{"a": "a\n", "b": 2}"#);
    check("<<EOT\nabc", "error Unterminated template string");
}

#[test]
fn indented_heredocs() {
    check("<<-EOT\n    a\n\n      b\n   \n    c\n  EOT\n", r#""a\n\n  b\n   \nc\n""#);
    check("<<-EOT\n\t\ta\n\t b\n  EOT\n", r#""a\nb\n""#);
    check("<<-EOT\n\n\n  EOT\n", r#""\n\n""#);
    check("<<-EOT\r\n  a\r\n\r\n    b\r\n  EOT\r\n", r#""a\r\n\r\n  b\r\n""#);
    check("<<-EOT\n    ${x}\n      b\n  EOT\n", r"`${x}\n  b\n`");
    check("<<-EOT\n${x}\n      b\n  EOT\n", r"`${x}\n      b\n`");
    check("<<-EOT\n    a ${~ x ~}   \n     b\n  EOT\n", r"`a${x}     b\n`");
    check(
        "<<-EOT\n    %{ for i in [1,2] ~}\n    item ${i}\n    %{ endfor ~}\n  EOT\n",
        r"`<for i in [1, 2]|    item ${i}\n>`",
    );
    check(
        "<<-EOT\n      %{ for i in [1,2] ~}\n    item ${i}\n    %{ endfor ~}\n  EOT\n",
        r"`  <for i in [1, 2]|    item ${i}\n>`",
    );
}

#[test]
fn template_files() {
    let check = |text: &str, expected: &str| {
        let (expr, diagnostics) = parse_template(FileId(0), text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(show::expr(expr.tree(), expr.id()), expected, "for {text}");
    };
    check("", r#""""#);
    check("a\n  ${~ x}", r"`a\n${x}`");
    check("${1 ~}  \n  \n b", r"`${1}  \n b`");
    check("a\n%{ if true ~}\n  x\n%{ endif ~}\nb", r"`a\n<if true|  x\n|>b`");
    check("${x}", "wrap(x)");
    check("\"q\" $${x} \\n", r#""\"q\" ${x} \\n""#);
    assert_eq!(show::errors(&parse_template(FileId(0), "a ${x").1), "error Unclosed template interpolation sequence");
}
