//! Source text to tokens. One pass, linear, with a stack of modes, because what a `}` or a line end means depends on
//! the templates around it.
//!
//! Reports nothing: what is wrong becomes a token of its own kind, and the parser says so where it meets it.

use super::token::{Token, TokenKind};

/// What the lexer begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Configuration or an expression.
    Normal,
    /// Text with interpolations, as a template file has it.
    Template,
}

enum Mode {
    /// Configuration and expressions, with the number of braces that are open in it. Inside of a template the `}` at
    /// zero ends it.
    Normal { braces: u32, in_template: bool },
    /// Between quotes.
    Quoted,
    /// In a heredoc, with the bytes of its marker.
    Heredoc { marker: (usize, usize) },
    /// A whole text that is a template.
    Bare,
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
    modes: Vec<Mode>,
    tokens: Vec<Token>,
}

/// The tokens of a configuration file. The last one is [`TokenKind::End`]; the text must be shorter than 4 GiB.
pub fn tokens(text: &str) -> Vec<Token> {
    lex(text, Start::Normal)
}

/// Is the whole text one name?
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && ident_length(text) == text.len()
}

pub(super) fn lex(text: &str, start: Start) -> Vec<Token> {
    let base = match start {
        Start::Normal => Mode::Normal { braces: 0, in_template: false },
        Start::Template => Mode::Bare,
    };
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        position: 0,
        modes: vec![base],
        tokens: Vec::with_capacity(text.len() / 3 + 2),
    };
    if start == Start::Normal && text.starts_with('\u{feff}') {
        lexer.push(TokenKind::ByteOrderMark, 3);
    }
    while lexer.position < lexer.bytes.len() {
        match lexer.modes.last() {
            Some(Mode::Quoted) => lexer.quoted(),
            Some(Mode::Heredoc { marker }) => {
                let marker = *marker;
                lexer.heredoc(marker);
            }
            Some(Mode::Bare) => lexer.template_line(),
            _ => lexer.normal(),
        }
    }
    if matches!(lexer.modes.last(), Some(Mode::Quoted)) {
        lexer.push(TokenKind::BrokenQuote, 0);
    }
    lexer.push(TokenKind::End, 0);
    lexer.tokens
}

impl Lexer<'_> {
    fn push(&mut self, kind: TokenKind, length: usize) {
        self.tokens.push(Token { kind, start: self.position as u32 });
        self.position += length;
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn normal(&mut self) {
        use TokenKind as K;
        let (kind, length) = match self.byte(0) {
            b' ' | b'\t' => (K::Whitespace, self.run(|b| b == b' ' || b == b'\t')),
            b'\n' => (K::Newline, 1),
            b'\r' if self.byte(1) == b'\n' => (K::Newline, 2),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => (K::Ident, self.ident()),
            b'0'..=b'9' => (K::Number, self.number()),
            b'"' => {
                self.push(K::QuoteOpen, 1);
                self.modes.push(Mode::Quoted);
                return;
            }
            b'#' => (K::Comment, self.line()),
            b'/' if self.byte(1) == b'/' => (K::Comment, self.line()),
            b'/' if self.byte(1) == b'*' => match self.text[self.position + 2..].find("*/") {
                Some(length) => (K::Comment, length + 4),
                None => (K::BrokenComment, self.bytes.len() - self.position),
            },
            b'{' => {
                if let Some(Mode::Normal { braces, .. }) = self.modes.last_mut() {
                    *braces += 1;
                }
                (K::BraceOpen, 1)
            }
            b'}' => return self.brace_close(1),
            b'~' if self.byte(1) == b'}' && self.closes_template() => return self.brace_close(2),
            b'<' if self.byte(1) == b'<' => return self.heredoc_open(),
            b'[' => (K::BracketOpen, 1),
            b']' => (K::BracketClose, 1),
            b'(' => (K::ParenOpen, 1),
            b')' => (K::ParenClose, 1),
            b'=' if self.byte(1) == b'=' => (K::Equal, 2),
            b'=' if self.byte(1) == b'>' => (K::Arrow, 2),
            b'=' => (K::Assign, 1),
            b'!' if self.byte(1) == b'=' => (K::NotEqual, 2),
            b'!' => (K::Not, 1),
            b'<' if self.byte(1) == b'=' => (K::LessOrEqual, 2),
            b'<' => (K::Less, 1),
            b'>' if self.byte(1) == b'=' => (K::GreaterOrEqual, 2),
            b'>' => (K::Greater, 1),
            b'&' if self.byte(1) == b'&' => (K::And, 2),
            b'|' if self.byte(1) == b'|' => (K::Or, 2),
            b'+' => (K::Plus, 1),
            b'-' => (K::Minus, 1),
            b'*' => (K::Star, 1),
            b'/' => (K::Slash, 1),
            b'%' => (K::Percent, 1),
            b'?' => (K::Question, 1),
            b':' if self.byte(1) == b':' => (K::DoubleColon, 2),
            b':' => (K::Colon, 1),
            b',' => (K::Comma, 1),
            b'.' if self.byte(1) == b'.' && self.byte(2) == b'.' => (K::Ellipsis, 3),
            b'.' => (K::Dot, 1),
            0x80.. => match self.ident() {
                0 => (K::Invalid, self.character()),
                length => (K::Ident, length),
            },
            _ => (K::Invalid, 1),
        };
        self.push(kind, length);
    }

    fn closes_template(&self) -> bool {
        matches!(self.modes.last(), Some(Mode::Normal { braces: 0, in_template: true }))
    }

    fn brace_close(&mut self, length: usize) {
        if self.closes_template() {
            self.modes.pop();
            self.push(TokenKind::TemplateClose, length);
            return;
        }
        if let Some(Mode::Normal { braces, .. }) = self.modes.last_mut() {
            *braces = braces.saturating_sub(1);
        }
        self.push(TokenKind::BraceClose, length);
    }

    /// `<<MARKER` up to its line end; anything else that begins with `<<` is two operators.
    fn heredoc_open(&mut self) {
        let rest = &self.bytes[self.position..];
        let begin = if rest.get(2) == Some(&b'-') { 3 } else { 2 };
        let marker = ident_length(&self.text[self.position + begin..]);
        let mut end = begin + marker;
        end += usize::from(rest.get(end) == Some(&b'\r'));
        if marker == 0 || rest.get(end) != Some(&b'\n') {
            return self.push(TokenKind::Less, 1);
        }
        let marker = (self.position + begin, self.position + begin + marker);
        self.push(TokenKind::HeredocOpen, end + 1);
        self.modes.push(Mode::Heredoc { marker });
    }

    fn heredoc(&mut self, marker: (usize, usize)) {
        let at_line_start = matches!(self.bytes[self.position - 1], b'\n');
        if at_line_start {
            let length = self.line();
            let line = &self.text[self.position..self.position + length];
            if line.trim_matches([' ', '\t', '\r']) == &self.text[marker.0..marker.1] {
                self.modes.pop();
                self.push(TokenKind::HeredocClose, line.trim_end_matches('\r').len());
                return;
            }
        }
        self.template_line();
    }

    /// Text up to the end of the line, an interpolation or a directive.
    fn template_line(&mut self) {
        let mut end = self.position;
        loop {
            end = self.next_of(end, &LINE_STOPS);
            match self.bytes.get(end) {
                None => break,
                Some(b'\n') => {
                    end += 1;
                    break;
                }
                Some(_) => match template_mark(&self.bytes[end..]) {
                    Mark::Escape => end += 3,
                    Mark::Open => break,
                    Mark::None => end += 1,
                },
            }
        }
        if end > self.position {
            self.push(TokenKind::TemplateText, end - self.position);
        } else {
            self.template_open();
        }
    }

    fn template_open(&mut self) {
        let kind = if self.byte(0) == b'$' { TokenKind::InterpolationOpen } else { TokenKind::DirectiveOpen };
        self.push(kind, 2 + usize::from(self.byte(2) == b'~'));
        self.modes.push(Mode::Normal { braces: 0, in_template: true });
    }

    fn quoted(&mut self) {
        let mut end = self.position;
        loop {
            end = self.next_of(end, &QUOTE_STOPS);
            match self.bytes.get(end) {
                None | Some(b'"' | b'\n') => break,
                Some(b'\r') if self.bytes.get(end + 1) == Some(&b'\n') => break,
                Some(b'\\') if matches!(self.bytes.get(end + 1), Some(b'"' | b'\\')) => end += 2,
                Some(b'$' | b'%') => match template_mark(&self.bytes[end..]) {
                    Mark::Escape => end += 3,
                    Mark::Open => break,
                    Mark::None => end += 1,
                },
                Some(_) => end += 1,
            }
        }
        if end > self.position {
            return self.push(TokenKind::QuotedText, end - self.position);
        }
        match self.byte(0) {
            b'"' => {
                self.push(TokenKind::QuoteClose, 1);
                self.modes.pop();
            }
            b'\n' | b'\r' => {
                self.push(TokenKind::BrokenQuote, 0);
                while self.modes.len() > 1 && !matches!(self.modes.last(), Some(Mode::Heredoc { .. })) {
                    self.modes.pop();
                }
            }
            _ => self.template_open(),
        }
    }

    /// The first byte from `from` on that is in the set, or the end.
    fn next_of(&self, from: usize, set: &[bool; 256]) -> usize {
        let rest = &self.bytes[from..];
        from + rest.iter().position(|b| set[usize::from(*b)]).unwrap_or(rest.len())
    }

    fn run(&self, is: impl Fn(u8) -> bool) -> usize {
        self.bytes[self.position..].iter().take_while(|b| is(**b)).count()
    }

    /// The rest of the line, without its end.
    fn line(&self) -> usize {
        let rest = &self.bytes[self.position..];
        let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        length - usize::from(length > 0 && rest.len() > length && rest[length - 1] == b'\r')
    }

    fn ident(&self) -> usize {
        ident_length(&self.text[self.position..])
    }

    fn character(&self) -> usize {
        self.text[self.position..].chars().next().map_or(1, char::len_utf8)
    }

    fn number(&self) -> usize {
        let rest = &self.bytes[self.position..];
        let digits = |from: usize| rest[from.min(rest.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = digits(0);
        if rest.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if matches!(rest.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        end
    }
}

enum Mark {
    /// `$${`, `%%{`: stands for `${`, `%{`.
    Escape,
    /// `${`, `%{`
    Open,
    None,
}

/// What the `$` or `%` at the start of `rest` begins.
fn template_mark(rest: &[u8]) -> Mark {
    match rest {
        [_, b'{', ..] => Mark::Open,
        [a, b, b'{', ..] if a == b => Mark::Escape,
        _ => Mark::None,
    }
}

/// The length of the name at the start of `text`, 0 if there is none. Names are Unicode identifiers that may also
/// hold dashes.
fn ident_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {}
        Some(0x80..) if text.chars().next().is_some_and(unicode_ident::is_xid_start) => {}
        _ => return 0,
    }
    let ascii = bytes.iter().position(|b| !IDENT[usize::from(*b)]).unwrap_or(bytes.len());
    if bytes.get(ascii).is_none_or(u8::is_ascii) {
        return ascii;
    }
    let mut rest = text[ascii..].char_indices();
    let end = rest.find(|(_, c)| !(unicode_ident::is_xid_continue(*c) || *c == '-'));
    end.map_or(text.len(), |(at, _)| ascii + at)
}

const fn set(members: &[u8]) -> [bool; 256] {
    let mut set = [false; 256];
    let mut i = 0;
    while i < members.len() {
        set[members[i] as usize] = true;
        i += 1;
    }
    set
}

/// What ASCII characters a name goes on with.
static IDENT: [bool; 256] = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
/// Where text between quotes has to be looked at.
static QUOTE_STOPS: [bool; 256] = set(b"\"\n\r\\$%");
/// Where a line of a heredoc has to be looked at.
static LINE_STOPS: [bool; 256] = set(b"\n$%");
