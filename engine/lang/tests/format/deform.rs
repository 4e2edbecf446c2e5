//! The same tokens with other space between them.

use engine_lang::syntax::{TokenKind, tokens};

/// Numbers that look random, the same for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The text with space removed, added and turned into tabs between tokens. Where that makes other tokens, so be it: both
/// tools are asked about the result.
pub(crate) fn deform(text: &str, random: &mut Random) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let all = tokens(text);
    let (mut word_before, mut line_is_closed) = (false, false);
    for (at, token) in all.iter().enumerate() {
        let end = all.get(at + 1).map_or(text.len(), |next| next.start as usize);
        let source = &text[token.start as usize..end];
        match token.kind {
            TokenKind::Whitespace => match random.below(6) {
                0 => {}
                1 => out.push('\t'),
                2 => out.push_str("    "),
                3 => out.push_str(source),
                _ => out.push(' '),
            },
            TokenKind::Newline => {
                // In a comment it would be text, and at the end of a heredoc it stays.
                if !line_is_closed && random.below(12) == 0 {
                    out.push_str("  \t");
                }
                out.push_str(source);
                if random.below(30) == 0 {
                    out.push('\n');
                }
            }
            kind => {
                let is_word = matches!(kind, TokenKind::Ident | TokenKind::Number);
                // Between words something must stay. In templates, space is text.
                if is_word && word_before && !out.ends_with([' ', '\t', '\n']) {
                    out.push(' ');
                } else if !in_template(kind) && random.below(20) == 0 {
                    out.push_str(["  ", "\t", " "][random.below(3) as usize]);
                }
                out.push_str(source);
                word_before = is_word;
            }
        }
        line_is_closed = matches!(token.kind, TokenKind::Comment | TokenKind::HeredocClose);
    }
    out
}

fn in_template(kind: TokenKind) -> bool {
    use TokenKind as K;
    matches!(
        kind,
        K::QuotedText
            | K::QuoteClose
            | K::TemplateText
            | K::HeredocClose
            | K::InterpolationOpen
            | K::DirectiveOpen
            | K::End
    )
}
