//! JSON text to JSON values with the place of everything, in the order of the file, with keys that stand twice.

use std::borrow::Cow;

use engine_diag::{Diagnostic, Diagnostics, FileId, Span};

use crate::syntax::tree::MAX_NESTING;

/// First byte and one past the last.
pub(super) type Range = (u32, u32);

/// A JSON value.
#[derive(Debug)]
pub(super) struct Json<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) range: Range,
}

#[derive(Debug)]
pub(super) enum Kind<'a> {
    /// What could not be read; a diagnostic tells why.
    Invalid,
    Null,
    Bool(bool),
    Number(&'a str),
    String(Text<'a>),
    Array(Vec<Json<'a>>),
    Object(Vec<Property<'a>>),
}

/// `"name": value`
#[derive(Debug)]
pub(super) struct Property<'a> {
    pub(super) name: Text<'a>,
    pub(super) value: Json<'a>,
}

/// A string.
#[derive(Debug)]
pub(super) struct Text<'a> {
    pub(super) text: Cow<'a, str>,
    /// With its quotes.
    pub(super) range: Range,
    /// Where an escape ends: in `text`, and in the file. What is between two of them is as it is written.
    escapes: Vec<(u32, u32)>,
}

impl Text<'_> {
    /// Where a byte of the text stands in the file.
    pub(super) fn place(&self, at: u32) -> u32 {
        let before = self.escapes.partition_point(|(decoded, _)| *decoded <= at);
        let (decoded, written) = before.checked_sub(1).map_or((0, self.range.0 + 1), |last| self.escapes[last]);
        (written + (at - decoded)).min(self.range.1)
    }
}

/// Reads the one value that the text is. What could be read is returned even if there are errors.
pub(super) fn read(file: FileId, text: &str) -> (Json<'_>, Diagnostics) {
    let mut reader = Reader { text, at: 0, file, depth: 0, diagnostics: Diagnostics::new() };
    // A byte order mark is no JSON, and common.
    reader.at = text.len() - text.trim_start_matches('\u{feff}').len();
    reader.space();
    let value = reader.value().unwrap_or(Json { kind: Kind::Invalid, range: (0, text.len() as u32) });
    reader.space();
    if reader.at < text.len() && !reader.diagnostics.has_errors() {
        let at = reader.here();
        reader.report(at, "Extraneous data after value", "Extra characters appear after the JSON value.");
    }
    (value, reader.diagnostics)
}

/// Nothing after this can be understood; a diagnostic tells why.
struct Abort;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    file: FileId,
    depth: usize,
    diagnostics: Diagnostics,
}

impl<'a> Reader<'a> {
    fn report(&mut self, (start, end): Range, summary: &str, detail: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(Span::new(self.file, start, end)));
    }

    fn fail<T>(&mut self, at: Range, summary: &str, detail: impl Into<String>) -> Result<T, Abort> {
        self.report(at, summary, detail);
        Err(Abort)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// The next character.
    fn here(&self) -> Range {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        (self.at as u32, (self.at + length) as u32)
    }

    fn value(&mut self) -> Result<Json<'a>, Abort> {
        let start = self.at as u32;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(byte) if byte.is_ascii_alphabetic() => self.keyword()?,
            Some(b'\'') => {
                let detail = "JSON strings stand in double quotes (\").";
                return self.fail(self.here(), "Invalid JSON value", detail);
            }
            Some(_) => {
                return self.fail(self.here(), "Invalid start of value", "A JSON value is expected here.");
            }
            None => {
                return self.fail(self.here(), "Missing JSON value", "The file ends where a JSON value is expected.");
            }
        };
        Ok(Json { kind, range: (start, self.at as u32) })
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<Kind<'a>, Abort>) -> Result<Kind<'a>, Abort> {
        if self.depth == MAX_NESTING {
            let detail = format!("JSON values can be nested {MAX_NESTING} levels deep; this is deeper.");
            return self.fail(self.here(), "Nested too deeply", detail);
        }
        self.depth += 1;
        let kind = read(self);
        self.depth -= 1;
        kind
    }

    fn object(&mut self) -> Result<Kind<'a>, Abort> {
        let open = self.here();
        self.at += 1;
        let mut properties = Vec::new();
        loop {
            self.space();
            match self.peek() {
                Some(b'}') if properties.is_empty() => break,
                Some(b'"') => {}
                Some(b'}') => {
                    let detail = "JSON does not permit a trailing comma after the final property in an object.";
                    self.report(self.here(), "Trailing comma in object", detail);
                    break;
                }
                None => return self.unclosed(open, "object", "brace"),
                Some(_) => {
                    let detail = "The name of a property, in double quotes, is expected here.";
                    return self.fail(self.here(), "Invalid object property name", detail);
                }
            }
            let name = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                let detail = "A colon must stand between the name of a property and its value.";
                let detail = if self.peek() == Some(b'=') {
                    format!("{detail} An equals sign belongs to the native syntax.")
                } else {
                    detail.to_owned()
                };
                return self.fail(self.here(), "Missing property value colon", detail);
            }
            self.at += 1;
            self.space();
            let value = self.value()?;
            properties.push(Property { name, value });
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                None => return self.unclosed(open, "object", "brace"),
                Some(_) => {
                    let detail = "A comma must stand between each property definition in an object.";
                    return self.fail(self.here(), "Missing attribute separator comma", detail);
                }
            }
        }
        self.at += 1;
        Ok(Kind::Object(properties))
    }

    fn array(&mut self) -> Result<Kind<'a>, Abort> {
        let open = self.here();
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.space();
            match self.peek() {
                Some(b']') if values.is_empty() => break,
                Some(b']') => {
                    let detail = "JSON does not permit a trailing comma after the final value in an array.";
                    self.report(self.here(), "Trailing comma in array", detail);
                    break;
                }
                None => return self.unclosed(open, "array", "bracket"),
                Some(_) => {}
            }
            values.push(self.value()?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                None => return self.unclosed(open, "array", "bracket"),
                Some(_) => {
                    let detail = "A comma must stand between each value in an array.";
                    return self.fail(self.here(), "Missing value separator comma", detail);
                }
            }
        }
        self.at += 1;
        Ok(Kind::Array(values))
    }

    fn unclosed(&mut self, open: Range, what: &str, sign: &str) -> Result<Kind<'a>, Abort> {
        self.fail(open, &format!("Unclosed {what}"), format!("No closing {sign} was found for this JSON {what}."))
    }

    fn number(&mut self) -> Result<Kind<'a>, Abort> {
        let start = self.at;
        let length = self
            .rest()
            .bytes()
            .take_while(|b| matches!(b, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z'));
        self.at += length.count();
        let text = &self.text[start..self.at];
        if !is_number(text) {
            let detail = "There is a syntax error in this JSON number.";
            return self.fail((start as u32, self.at as u32), "Invalid JSON number", detail);
        }
        Ok(Kind::Number(text))
    }

    fn keyword(&mut self) -> Result<Kind<'a>, Abort> {
        let start = self.at;
        self.at += self.rest().bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        match &self.text[start..self.at] {
            "null" => Ok(Kind::Null),
            "true" => Ok(Kind::Bool(true)),
            "false" => Ok(Kind::Bool(false)),
            word => {
                let meant = crate::eval::did_you_mean(word, ["null", "true", "false"]);
                let detail = format!("\"{word}\" is not a valid JSON keyword.{meant}");
                self.report((start as u32, self.at as u32), "Invalid JSON keyword", detail);
                Ok(Kind::Invalid)
            }
        }
    }

    /// A string, at its opening quote. A wrong escape is reported, and left as it is.
    fn string(&mut self) -> Result<Text<'a>, Abort> {
        let start = self.at;
        self.at += 1;
        let mut decoded: Option<String> = None;
        let mut escapes = Vec::new();
        let mut plain = self.at;
        loop {
            let length = self.rest().bytes().position(|b| matches!(b, b'"' | b'\\') || b < b' ');
            self.at += length.unwrap_or(self.rest().len());
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let text = decoded.get_or_insert_default();
                    text.push_str(&self.text[plain..self.at]);
                    let (c, length) = match escape(self.rest()) {
                        Ok(found) => found,
                        Err(length) => {
                            let at = (self.at as u32, (self.at + length) as u32);
                            let detail =
                                "This is no escape sequence of JSON: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX.";
                            self.report(at, "Invalid JSON string", detail);
                            (char::REPLACEMENT_CHARACTER, length)
                        }
                    };
                    let text = decoded.get_or_insert_default();
                    text.push(c);
                    self.at += length;
                    plain = self.at;
                    escapes.push((text.len() as u32, self.at as u32));
                }
                Some(b'\n') | None => {
                    let detail = "A JSON string must end with a quote on the line on which it begins.";
                    return self.fail((start as u32, start as u32 + 1), "Invalid JSON string", detail);
                }
                Some(_) => {
                    let detail = "Control characters must be written as escape sequences in JSON strings.";
                    return self.fail(self.here(), "Invalid JSON string", detail);
                }
            }
        }
        let last = &self.text[plain..self.at];
        self.at += 1;
        let text = match decoded {
            None => Cow::Borrowed(last),
            Some(mut text) => {
                text.push_str(last);
                Cow::Owned(text)
            }
        };
        Ok(Text { text, range: (start as u32, self.at as u32), escapes })
    }
}

/// The escape at the start of the text: what it stands for, and its length. Half of a surrogate pair stands for U+FFFD.
fn escape(text: &str) -> Result<(char, usize), usize> {
    let c = match text.as_bytes().get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let high = unit(text).ok_or(2usize)?;
            let low = text.get(6..).and_then(unit);
            return Ok(match low {
                Some(low) if (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low) => {
                    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
                }
                _ => (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            });
        }
        _ => return Err(1 + text[1..].chars().next().map_or(0, char::len_utf8)),
    };
    Ok((c, 2))
}

/// The number in `\uXXXX` at the start of the text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let hexadecimal = digits.bytes().all(|b| b.is_ascii_hexdigit());
    hexadecimal.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// `-0.5e+3`: no leading zeros, no leading plus, digits on both sides of the point.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)))
}
