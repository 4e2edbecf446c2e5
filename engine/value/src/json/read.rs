//! JSON text to a tree. Strict, as RFC 8259 has it.

use thiserror::Error;

use crate::json::Json;

/// Deeper documents are refused rather than read by a stack that may end.
const MAX_DEPTH: usize = 1_000;

/// Not JSON.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message} at line {line}, column {column}")]
pub struct ReadError {
    /// What is wrong.
    pub message: &'static str,
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
}

/// Reads one document.
///
/// # Errors
/// The place of the first byte that cannot be there.
pub fn read(text: &str) -> Result<Json, ReadError> {
    let mut reader = Reader { text, at: 0 };
    reader.document().map_err(|message| {
        let before = &text.as_bytes()[..reader.at.min(text.len())];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
        ReadError { message, line, column }
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

type Step<T> = Result<T, &'static str>;

impl Reader<'_> {
    fn document(&mut self) -> Step<Json> {
        self.space();
        let value = self.value(0)?;
        self.space();
        if self.at < self.text.len() { Err("unexpected text after the end of the JSON document") } else { Ok(value) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Step<Json> {
        if depth > MAX_DEPTH {
            return Err("JSON is nested too deeply");
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::String(self.string()?.into())),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err("expected a JSON value"),
            None => Err("unexpected end of JSON"),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Step<Json> {
        if !self.text[self.at..].starts_with(word) {
            return Err("expected a JSON value");
        }
        self.at += word.len();
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Step<Json> {
        let mut elements = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(elements));
        }
        loop {
            self.space();
            elements.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(elements));
                }
                _ => return Err("expected ',' or ']'"),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Step<Json> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err("expected a string as the name of a member");
            }
            let name = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err("expected ':'");
            }
            self.at += 1;
            self.space();
            members.push((name.into(), self.value(depth + 1)?));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                _ => return Err("expected ',' or '}'"),
            }
        }
    }

    fn digits(&mut self) -> Step<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err("expected a digit") } else { Ok(()) }
    }

    fn number(&mut self) -> Step<Json> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Json::Number(self.text[start..self.at].into()))
    }

    fn string(&mut self) -> Step<String> {
        self.at += 1;
        let mut out = String::new();
        let mut plain = self.at;
        loop {
            match self.peek() {
                None => return Err("unexpected end of JSON in a string"),
                Some(b'"') => {
                    out.push_str(&self.text[plain..self.at]);
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    out.push_str(&self.text[plain..self.at]);
                    self.at += 1;
                    out.push(self.escape()?);
                    plain = self.at;
                }
                Some(0..=0x1f) => return Err("a control character in a string must be escaped"),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Step<char> {
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err("unknown escape in a string"),
        };
        self.at += 1;
        Ok(c)
    }

    fn unicode(&mut self) -> Step<char> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            // Half of a pair alone reads as the replacement character, as in Go.
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let after_first = self.at;
        if self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = after_first;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Step<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or("unexpected end of JSON in a string")?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err("expected four hexadecimal digits");
        }
        let code = digits.iter().fold(0, |code, d| code * 16 + char::from(*d).to_digit(16).unwrap_or(0));
        self.at += 4;
        Ok(code)
    }
}
