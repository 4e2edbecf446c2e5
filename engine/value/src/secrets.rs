//! Texts that must not be told, found again in what others say: providers and servers see values without marks, and may
//! repeat them in their errors.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{Data, Value, json};

/// What stands in the place of a secret.
const HIDDEN: &str = "(sensitive value)";
/// Shorter ones are in every second word.
const SHORTEST: usize = 3;
/// Ones shorter than this count only where they stand by themselves, not as a part of a word.
const WORD: usize = 6;
/// A beginning of so many characters is told as much as the whole: messages are cut off.
const BEGINNING: usize = 24;

/// Texts that must not be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    // Invariant: longest first, none empty.
    texts: Vec<String>,
}

impl Secrets {
    /// Every text and number in sensitive parts of these values, as it is and as it is often written: escaped, in
    /// base64, in a URL; and what base64 in them stands for. Of texts of several lines each line, too.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut found = BTreeSet::new();
        values.into_iter().for_each(|value| collect(value, false, &mut found));
        let mut texts: Vec<String> = found.into_iter().collect();
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Self { texts }
    }

    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The text with `(sensitive value)` for each of them. For messages, not for megabytes: the work is that of their
    /// product.
    pub fn redact(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let before = text[..at].chars().next_back();
            match self.texts.iter().map(|secret| told(secret, &text[at..], before)).max().filter(|length| *length > 0) {
                Some(length) => {
                    out.push_str(HIDDEN);
                    at += length;
                }
                None => {
                    out.push(c);
                    at += c.len_utf8();
                }
            }
        }
        out
    }
}

/// How many bytes of the text tell the secret that it begins with.
fn told(secret: &str, text: &str, before: Option<char>) -> usize {
    if let Some(after) = text.strip_prefix(secret) {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_part = is_word(before) || is_word(after.chars().next());
        return if secret.chars().count() < WORD && is_part { 0 } else { secret.len() };
    }
    let same = secret.chars().zip(text.chars()).take_while(|(a, b)| a == b);
    let (count, length) = same.fold((0, 0), |(count, length), (c, _)| (count + 1, length + c.len_utf8()));
    if count >= BEGINNING { length } else { 0 }
}

fn collect(value: &Value, inside: bool, found: &mut BTreeSet<String>) {
    let sensitive = inside || value.marks.sensitive;
    match &value.data {
        Data::String(text) if sensitive => add(text, found),
        Data::Number(_) if sensitive => {
            if let Ok(json::Json::Number(digits)) = json::to_tree(&value.clone().unmark_deep().0, None) {
                add(&digits, found);
            }
        }
        _ => value.parts().for_each(|part| collect(part, sensitive, found)),
    }
}

fn add(text: &str, found: &mut BTreeSet<String>) {
    spelled(text, found);
    if text.trim() != text {
        spelled(text.trim(), found);
    }
    if text.trim().contains('\n') {
        for line in text.lines() {
            let value = line.split_once(": ").map_or("", |(_, value)| value);
            for part in [line, value] {
                let part = part.trim().trim_matches(['"', '\'']);
                if part.chars().count() >= WORD {
                    spelled(part, found);
                }
            }
        }
    }
    let packed: String = text.split_whitespace().collect();
    if let Some(inside) = STANDARD.decode(packed).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        && inside.chars().count() >= WORD
    {
        spelled(&inside, found);
    }
}

/// A text in the ways in which it may be written.
fn spelled(text: &str, found: &mut BTreeSet<String>) {
    if text.chars().count() < SHORTEST {
        return;
    }
    let within_quotes = |text: String| text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let url: String = text
        .bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(b).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    let forms = [
        text.to_owned(),
        within_quotes(json::Json::from(text).to_string()),
        within_quotes(format!("{text:?}")),
        url,
        if text.chars().count() >= WORD { STANDARD.encode(text) } else { String::new() },
    ];
    found.extend(forms.into_iter().filter(|form| !form.is_empty()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Marks;

    fn secrets(text: &str) -> Secrets {
        Secrets::of([&Value::from(text).mark(Marks::SENSITIVE)])
    }

    #[test]
    fn what_is_secret_is_found_however_it_is_written() {
        for (secret, text, expected) in [
            ("hunter2", "no hunter2, xhunter2y", "no (sensitive value), x(sensitive value)y"),
            (
                "abc",
                "abc abcd xabc \"abc\" a-abc",
                "(sensitive value) abcd xabc \"(sensitive value)\" a-(sensitive value)",
            ),
            ("ab", "ab", "ab"),
            ("a \"b\"\nc<d", "{\"x\":\"a \\\"b\\\"\\nc\\u003cd\"}", "{\"x\":\"(sensitive value)\"}"),
            ("a \"b\"\nc", "found \"a \\\"b\\\"\\nc\"", "found \"(sensitive value)\""),
            ("p@ss word", "https://u:p%40ss%20word@h", "https://u:(sensitive value)@h"),
            ("hunter2!", "data: aHVudGVyMiE=", "data: (sensitive value)"),
            ("aHVudGVyMiE=", "token hunter2! is", "token (sensitive value) is"),
            ("value", "a value in (sensitive value)", "a (sensitive value) in (sensitive (sensitive value))"),
            ("0123456789abcdefghijklmnopqrstuvwxyz", "is 0123456789abcdefghijklmnop…", "is (sensitive value)…"),
            ("data:\n  token: \"plain-token\"\n", "invalid: plain-token", "invalid: (sensitive value)"),
            ("hunter2\n", "name hunter2-x", "name (sensitive value)-x"),
            ("grün-geheim", "é grün-geheim", "é (sensitive value)"),
        ] {
            assert_eq!(secrets(secret).redact(text), expected, "{secret:?} in {text:?}");
        }
    }

    #[test]
    fn only_sensitive_parts_are_secret() {
        let value = Value::object([
            ("open", Value::from("visible")),
            ("pin", Value::int(12345).mark(Marks::SENSITIVE)),
            ("all", Value::tuple([Value::from("inner-secret"), Value::bool(true)]).mark(Marks::SENSITIVE)),
        ]);
        let secrets = Secrets::of([&value]);
        let text = secrets.redact("visible 12345 123456 inner-secret true");
        assert_eq!(text, "visible (sensitive value) 123456 (sensitive value) true");
        assert!(Secrets::of([&Value::from("x")]).is_empty());
    }
}
