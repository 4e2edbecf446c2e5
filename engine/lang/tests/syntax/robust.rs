//! Any text at all: the parser returns, tokens are the text, spans are in it.

use engine_diag::{Diagnostics, FileId};
use engine_lang::syntax::{TokenKind, parse, parse_expression, parse_template, tokens};
use proptest::prelude::*;

fn invariants(text: &str) {
    let tokens = tokens(text);
    let mut rebuilt = String::new();
    for pair in tokens.windows(2) {
        rebuilt.push_str(&text[pair[0].start as usize..pair[1].start as usize]);
    }
    assert_eq!(rebuilt, text);
    assert_eq!(tokens[0].start, 0);
    assert_eq!(tokens.last().map(|token| token.kind), Some(TokenKind::End));
    let inside = |diagnostics: &Diagnostics| {
        for span in diagnostics.iter().filter_map(|d| d.span) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} of {text:?}");
        }
    };
    let (body, diagnostics) = parse(FileId(0), text);
    inside(&diagnostics);
    for attribute in body.attributes() {
        assert!(text.get(attribute.span().start as usize..attribute.span().end as usize).is_some());
        attribute.value().traversals();
    }
    inside(&parse_expression(FileId(0), text).1);
    inside(&parse_template(FileId(0), text).1);
}

/// Pieces that make mistakes likely.
fn piece() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "a", "b_1", "for ", "in ", "if ", "else", "endif", "endfor", "null", "1", "2.5e3", "\"", "\"x\"", "${", "%{",
        "}", "~}", "~", "{", "[", "]", "(", ")", "=", "==", "=>", "!", "<", "<<EOT\n", "<<-EOT\n", "EOT\n", "  EOT\n",
        "&&", "||", "+", "-", "*", "/", "%", "?", ":", "::", ",", ".", "...", "\n", "\r\n", "\r", " ", "\t", "# c\n",
        "/*", "*/", "\\", "\\u00e9", "$${", "%%{", "é", "e\u{301}", "\u{feff}", "\u{a0}", "'", ";", "\0",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_pieces(pieces in proptest::collection::vec(piece(), 0..60)) {
        invariants(&pieces.concat());
    }

    #[test]
    fn any_characters(text in "\\PC{0,60}") {
        invariants(&text);
    }

    #[test]
    fn a_valid_file_cut_anywhere(at in 0usize..600, remove in 0usize..40) {
        let from = VALID.floor_char_boundary(at.min(VALID.len()));
        let to = VALID.floor_char_boundary((from + remove).min(VALID.len()));
        invariants(&VALID[..from]);
        invariants(&format!("{}{}", &VALID[..from], &VALID[to..]));
    }
}

const VALID: &str = r#"
terraform {
  required_version = ">= 1.0" # comment
}
resource "gpu_pool" "dev" {
  selector = { "example.com/pool" = "dev", (var.x) : [for k, v in local.m : "${k}=${v}" if v != null] }
  profiles = merge({ a = { mig = { "1g.10gb" = 3 } } }, var.more...)
  text     = <<-EOT
    hällo ${upper("x${1 + 2}")}
      %{ for i in [1, 2] ~}
      item ${i} $${not}
      %{ endfor ~}
  EOT
  count = var.enabled ? length(data.a.b[*].id) : 0 /* none */
  lifecycle { prevent_destroy = true }
}
"#;

#[test]
fn the_valid_file_is_valid() {
    let (_, diagnostics) = parse(FileId(0), VALID);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    invariants(VALID);
}
