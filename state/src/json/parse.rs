//! Text to tree.

use std::{collections::BTreeMap, sync::Arc};

use super::Json;

/// Values may lie so deep in each other. Far beyond what a configuration says, far below what a thread's stack holds.
const MAX_DEPTH: usize = 500;

/// Text that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {why}")]
pub struct JsonError {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    /// What was expected, as a fragment.
    pub why: String,
}

pub(super) fn parse(text: &str) -> Result<Json, JsonError> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.error("nothing more was expected after the value"));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn error(&self, why: impl Into<String>) -> JsonError {
        let before = &self.text.as_bytes()[..self.at];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|b| **b != b'\n').count();
        JsonError { line, column, why: why.into() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("values lie more than {MAX_DEPTH} deep in each other")));
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) if self.eat("true") => Ok(Json::Bool(true)),
            Some(_) if self.eat("false") => Ok(Json::Bool(false)),
            Some(_) if self.eat("null") => Ok(Json::Null),
            Some(_) => Err(self.error("a value was expected")),
            None => Err(self.error("the text ends where a value was expected")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut members = BTreeMap::new();
        self.space();
        if self.eat("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.error("the name of a member was expected"));
            }
            let name = self.string()?;
            self.space();
            if !self.eat(":") {
                return Err(self.error("\":\" was expected"));
            }
            let value = self.value(depth + 1)?;
            members.insert(name, value);
            self.space();
            if self.eat("}") {
                return Ok(Json::Object(members));
            }
            if !self.eat(",") {
                return Err(self.error("\",\" or \"}\" was expected"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut elements = Vec::new();
        self.space();
        if self.eat("]") {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.space();
            if self.eat("]") {
                return Ok(Json::Array(elements));
            }
            if !self.eat(",") {
                return Err(self.error("\",\" or \"]\" was expected"));
            }
        }
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.error("a digit was expected")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        self.eat("-");
        if !self.eat("0") {
            self.digits()?;
        }
        if self.eat(".") {
            self.digits()?;
        }
        if self.eat("e") || self.eat("E") {
            let _ = self.eat("+") || self.eat("-");
            self.digits()?;
        }
        Ok(Json::Number(self.text[start..self.at].into()))
    }

    fn string(&mut self) -> Result<Arc<str>, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out.into());
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.error("a control character in a string must be escaped")),
                None => return Err(self.error("the text ends within a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        for (escape, char) in [
            ("\\\"", '"'),
            ("\\\\", '\\'),
            ("\\/", '/'),
            ("\\b", '\u{8}'),
            ("\\f", '\u{c}'),
            ("\\n", '\n'),
            ("\\r", '\r'),
            ("\\t", '\t'),
        ] {
            if self.eat(escape) {
                return Ok(char);
            }
        }
        let first = self.unicode()?;
        if let Some(char) = char::from_u32(first) {
            return Ok(char);
        }
        let second = if (0xd800..0xdc00).contains(&first) { self.unicode().ok() } else { None };
        second
            .filter(|low| (0xdc00..0xe000).contains(low))
            .and_then(|low| char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00)))
            .ok_or_else(|| self.error("half of a surrogate pair"))
    }

    fn unicode(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.as_bytes().get(self.at + 2..self.at + 6);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let number = digits.and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match number {
            Some(number) if self.eat("\\u") => {
                self.at += 4;
                Ok(number)
            }
            _ => Err(self.error("there is no such escape in JSON")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_text() {
        for text in ["0", "-0", "123456789012345678901234567890", "0.1", "1.5e-30", "-1E+7"] {
            assert_eq!(Json::parse(text), Ok(Json::Number(text.into())));
        }
    }

    #[test]
    fn what_is_no_json_is_named_with_its_place() {
        for (text, line, column, why) in [
            ("", 1, 1, "the text ends where a value was expected"),
            ("{\n  \"a\": 01}", 2, 9, "\",\" or \"}\" was expected"),
            ("[1,]", 1, 4, "a value was expected"),
            ("\"a", 1, 3, "the text ends within a string"),
            ("\"\\ud800x\"", 1, 8, "half of a surrogate pair"),
            ("\"\\x\"", 1, 2, "there is no such escape in JSON"),
            ("1.", 1, 3, "a digit was expected"),
            ("{} x", 1, 4, "nothing more was expected after the value"),
        ] {
            assert_eq!(Json::parse(text), Err(JsonError { line, column, why: why.into() }), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn escapes_are_read() {
        assert_eq!(Json::parse("\"\\u003c\\n\\ud83d\\ude00é\""), Ok(Json::text("<\n😀é")));
    }
}
