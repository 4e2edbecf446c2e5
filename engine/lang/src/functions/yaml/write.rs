//! A value to one document, in the layout that Go's YAML has: members in order, every text and key between quotes or as a
//! block, lists not indented in a mapping, long texts folded.

use engine_value::{Data, Value};

/// From this column on a text is folded at the next space.
const WIDTH: usize = 80;
/// A key that is longer stands on a line of its own.
const LONGEST_KEY: usize = 128;

/// A document, for a value that is wholly known.
pub(super) fn document(value: &Value) -> String {
    let mut writer = Writer { out: String::new() };
    writer.value(value, 0, Place::Root);
    writer.out
}

/// What a value stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    /// Behind `- `.
    Element,
    /// Behind `key:`.
    Member,
    /// Behind the `: ` of a key on a line of its own.
    Explained,
}

struct Writer {
    out: String,
}

impl Writer {
    /// Writes a value and the end of its line. Its own lines, if it has parts, begin at the indentation.
    fn value(&mut self, value: &Value, indent: usize, place: Place) {
        match &value.data {
            Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) if !elements.is_empty() => {
                // Lists in mappings stand under their key.
                let indent = if place == Place::Member { indent - 2 } else { indent };
                self.lines(elements.iter(), indent, place, |writer, element| {
                    writer.out.push_str("- ");
                    writer.value(element, indent + 2, Place::Element);
                });
            }
            Data::Map(_, elements) | Data::Object(elements) if !elements.is_empty() => {
                self.lines(elements.iter(), indent, place, |writer, (key, value)| writer.member(key, value, indent));
            }
            _ => {
                if place == Place::Member {
                    self.out.push(' ');
                }
                self.scalar(value, indent, place);
            }
        }
    }

    /// The parts of a collection, each on lines of its own; the first one may stand on the line that has begun.
    fn lines<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        indent: usize,
        place: Place,
        mut write: impl FnMut(&mut Self, T),
    ) {
        let mut begun = place != Place::Member;
        if place == Place::Member {
            self.out.push('\n');
        }
        for part in parts {
            if !std::mem::take(&mut begun) {
                self.indent(indent);
            }
            write(self, part);
        }
    }

    fn member(&mut self, key: &str, value: &Value, indent: usize) {
        if key.len() <= LONGEST_KEY && !is_block(key) {
            self.quoted(key, None);
            self.out.push(':');
            self.value(value, indent + 2, Place::Member);
            return;
        }
        self.out.push_str("? ");
        self.text(key, indent + 2);
        self.indent(indent);
        self.out.push_str(": ");
        self.value(value, indent + 2, Place::Explained);
    }

    fn scalar(&mut self, value: &Value, indent: usize, place: Place) {
        let plain = match &value.data {
            Data::String(text) => return self.text(text, if place == Place::Root { 2 } else { indent }),
            Data::List(..) | Data::Set(..) | Data::Tuple(_) => return self.out.push_str("[]\n"),
            Data::Map(..) | Data::Object(_) => return self.out.push_str("{}\n"),
            Data::Bool(value) => value.to_string(),
            Data::Number(number) if number.is_finite() => number.to_string(),
            Data::Number(number) if number.is_negative() => "-Inf".to_owned(),
            Data::Number(_) => "+Inf".to_owned(),
            Data::Null(_) | Data::Unknown(_) => "null".to_owned(),
        };
        self.out.push_str(&plain);
        // What has no mark of its own needs one for the end of the document.
        self.out.push_str(if place == Place::Root { "\n...\n" } else { "\n" });
    }

    fn indent(&mut self, indent: usize) {
        self.out.push_str(&" ".repeat(indent));
    }

    fn text(&mut self, text: &str, indent: usize) {
        if is_block(text) {
            self.block(text, indent);
        } else {
            self.quoted(text, Some(indent));
            self.out.push('\n');
        }
    }

    /// `|` and the lines as they are.
    fn block(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        if !text.ends_with('\n') {
            self.out.push('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.out.push('+');
        }
        self.out.push('\n');
        let mut begins = true;
        for c in text.chars() {
            let is_break = matches!(c, '\n' | '\u{2028}' | '\u{2029}');
            if begins && !is_break {
                self.indent(indent);
            }
            self.out.push(c);
            begins = is_break;
        }
        if !begins {
            self.out.push('\n');
        }
    }

    /// Between double quotes; with an indentation, folded.
    fn quoted(&mut self, text: &str, indent: Option<usize>) {
        let start = self.out.rfind('\n').map_or(0, |at| at + 1);
        let mut column = self.out[start..].chars().count() + 1;
        self.out.push('"');
        let mut after_space = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c != ' ' {
                let before = self.out.len();
                self.escaped(c);
                column += self.out[before..].chars().count();
                after_space = false;
                continue;
            }
            let next = chars.peek().map(|(_, next)| *next);
            match (indent, next) {
                (Some(indent), Some(next)) if column > WIDTH && !after_space && at > 0 => {
                    self.out.push('\n');
                    self.indent(indent);
                    column = indent;
                    if next == ' ' {
                        self.out.push('\\');
                        column += 1;
                    }
                }
                _ => {
                    self.out.push(' ');
                    column += 1;
                }
            }
            after_space = true;
        }
        self.out.push('"');
    }

    fn escaped(&mut self, c: char) {
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\0' => "\\0",
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\t' => "\\t",
            '\n' => "\\n",
            '\u{b}' => "\\v",
            '\u{c}' => "\\f",
            '\r' => "\\r",
            '\u{1b}' => "\\e",
            '\u{85}' => "\\N",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            c if is_plain(c) => return self.out.push(c),
            _ => "",
        };
        let code = u32::from(c);
        match code {
            _ if !short.is_empty() => self.out.push_str(short),
            0..=0xff => self.out.push_str(&format!("\\x{code:02X}")),
            0x100..=0xffff => self.out.push_str(&format!("\\u{code:04X}")),
            _ => self.out.push_str(&format!("\\U{code:08X}")),
        }
    }
}

/// Is a text written as a block? It has several lines, and nothing that would be lost in one.
fn is_block(text: &str) -> bool {
    text.contains('\n')
        && !text.ends_with(' ')
        && !text.contains(" \n")
        && text.chars().all(|c| c == '\n' || is_plain(c))
}

/// A character that stands for itself.
fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}
