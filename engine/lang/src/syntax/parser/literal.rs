//! Literals: numbers, and the decoding of quoted text.

use std::borrow::Cow;

use engine_value::Number;
use unicode_normalization::{UnicodeNormalization, is_nfc_quick};

use super::{Parsed, Parser, TokenKind};
use crate::syntax::tree::{ExprId, Label, Node, NumberId, Symbol};

impl<'a> Parser<'a> {
    /// The number literal under `range`.
    pub(super) fn number(&mut self, range: (u32, u32)) -> Parsed<ExprId> {
        let text = self.slice(range);
        let Some(number) = Number::parse(text) else {
            let detail = format!("\"{text}\" is not a number that can be represented.");
            return Err(self.fail(range, "Invalid number literal", detail));
        };
        self.tree.numbers.push(number);
        let id = NumberId(self.tree.numbers.len() as u32 - 1);
        Ok(self.push(Node::Number(id), range))
    }

    /// A quoted block label, at its opening quote. It is text alone.
    pub(super) fn quoted_label(&mut self) -> Parsed<Label> {
        let open = self.bump();
        let mut text = self.intern("");
        if let Some(range) = self.eat(TokenKind::QuotedText) {
            let decoded = self.decode_quoted(range);
            text = self.text_symbol(decoded);
        }
        match self.peek() {
            TokenKind::QuoteClose => {
                self.bump();
                Ok(Label { text, span: (open.0, self.end) })
            }
            TokenKind::InterpolationOpen | TokenKind::DirectiveOpen => {
                let here = self.here();
                let detail = "Template sequences are not allowed in a block label. To write a literal \"${\" or \
                              \"%{\", double its first character.";
                Err(self.fail(here, "Invalid string literal", detail))
            }
            _ => Err(self.unexpected("Unterminated string literal", "The label must end with a quote.")),
        }
    }

    /// A text as a symbol, NFC-normalised as all strings are.
    pub(super) fn text_symbol(&mut self, text: Cow<'a, str>) -> Symbol {
        if let Cow::Owned(normal) = normalized(&text) {
            return self.symbol(&normal);
        }
        match text {
            Cow::Borrowed(text) => self.intern(text),
            Cow::Owned(text) => self.symbol(&text),
        }
    }

    /// The text between quotes, with its escapes replaced. A wrong escape is reported and left as it is.
    pub(super) fn decode_quoted(&mut self, range: (u32, u32)) -> Cow<'a, str> {
        let text = self.slice(range);
        if !text.bytes().any(|b| matches!(b, b'\\' | b'$' | b'%')) {
            return Cow::Borrowed(text);
        }
        let mut decoded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['\\', '$', '%']) {
            decoded.push_str(&rest[..at]);
            rest = &rest[at..];
            let start = range.1 - rest.len() as u32;
            let length = if rest.starts_with('\\') {
                let (replacement, length) = self.escape(rest, start);
                match replacement {
                    Some(c) => decoded.push(c),
                    None => decoded.push_str(&rest[..length]),
                }
                length
            } else {
                push_template_escape(rest, &mut decoded)
            };
            rest = &rest[length..];
        }
        decoded.push_str(rest);
        Cow::Owned(decoded)
    }

    /// The text of a heredoc or template file, in which only `$${` and `%%{` are escapes.
    pub(super) fn decode_template(&self, range: (u32, u32)) -> Cow<'a, str> {
        let text = self.slice(range);
        if !text.contains("$${") && !text.contains("%%{") {
            return Cow::Borrowed(text);
        }
        let mut decoded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '%']) {
            decoded.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = push_template_escape(rest, &mut decoded);
            rest = &rest[length..];
        }
        decoded.push_str(rest);
        Cow::Owned(decoded)
    }

    /// The escape at the start of `rest`: what it stands for, and its length.
    fn escape(&mut self, rest: &str, start: u32) -> (Option<char>, usize) {
        let selector = rest[1..].chars().next();
        let (digits, what) = match selector {
            Some('n') => return (Some('\n'), 2),
            Some('r') => return (Some('\r'), 2),
            Some('t') => return (Some('\t'), 2),
            Some('"') => return (Some('"'), 2),
            Some('\\') => return (Some('\\'), 2),
            Some('u') => (4, "four"),
            Some('U') => (8, "eight"),
            _ => {
                let length = 1 + selector.map_or(0, char::len_utf8);
                let shown = selector.map_or("The end of the text".to_owned(), |c| format!("The symbol \"{c}\""));
                let detail = format!("{shown} is not a valid escape sequence selector.");
                self.report((start, start + length as u32), "Invalid escape sequence", detail).hint =
                    Some("Write \\\\ for a backslash; known escapes are \\n \\r \\t \\\" \\\\ \\uXXXX.".to_owned());
                return (None, length);
            }
        };
        let length = 2 + rest[2..].bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
        let code = &rest[2..length];
        let detail = if code.len() < digits {
            let selector = &rest[1..2];
            format!("The \\{selector} escape sequence must be followed by {what} hexadecimal digits.")
        } else {
            match u32::from_str_radix(code, 16).ok().and_then(char::from_u32) {
                Some(c) => return (Some(c), length),
                None => format!("U+{code} is not a Unicode character."),
            }
        };
        self.report((start, start + length as u32), "Invalid escape sequence", detail);
        (None, length)
    }
}

/// The text in Unicode's normal form C, as all strings of the language are.
pub(crate) fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == unicode_normalization::IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// Decodes the `$` or `%` at the start of `rest`, and tells its length: `$${` stands for `${`, `%%{` for `%{`, and
/// anything else for itself.
fn push_template_escape(rest: &str, decoded: &mut String) -> usize {
    match rest.as_bytes() {
        [a, b, b'{', ..] if a == b => {
            decoded.push_str(&rest[1..3]);
            3
        }
        _ => {
            decoded.push_str(&rest[..1]);
            1
        }
    }
}
