//! Strings: in quotes, or as a heredoc where they are whole lines.

use std::{fmt::Write, sync::LazyLock};

use regex::Regex;

/// The text in quotes, with everything escaped that would mean something or that nobody could see.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    let mut chars = text.chars().peekable();
    let mut before = '\0';
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if chars.peek() == Some(&'{') => {
                if before == c {
                    // Doubled, it would be one of three, and nobody could tell which two belong together.
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                } else {
                    out.push(c);
                    out.push(c);
                }
            }
            c if is_visible(c) => out.push(c),
            c if u32::from(c) > 0xffff => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        }
        before = c;
    }
    out.push('"');
    out
}

/// Letters, marks, numbers, punctuation, symbols and the space: what Terraform writes as it is.
fn is_visible(c: char) -> bool {
    static VISIBLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\pL\pM\pN\pP\pS]$").ok());
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    VISIBLE.as_ref().is_some_and(|visible| visible.is_match(c.encode_utf8(&mut [0; 4])))
}

/// The text as a heredoc, where it can be one: whole lines, at least two of them. It has the end of its last line.
pub(super) fn heredoc(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
    let is_plain =
        |c: char| c == '\n' || c == '\t' || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    let has_run = ["$${", "%%{"].iter().any(|run| text.contains(run));
    if lines.len() < 2 || has_run || !text.chars().all(is_plain) {
        return None;
    }
    let taken = |marker: &str| lines.iter().any(|line| line.trim() == marker);
    let marker = std::iter::once("EOT".to_owned()).chain((1..).map(|n| format!("EOT{n}")));
    let marker = marker.into_iter().find(|marker| !taken(marker))?;
    let body = text.replace("${", "$${").replace("%{", "%%{");
    Some(format!("<<{marker}\n{body}{marker}"))
}

/// May it stand as a key without quotes?
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c));
    let is_word = ["for", "true", "false", "null"].contains(&text);
    begins && !is_word && chars.all(|c| c == '-' || unicode_ident::is_xid_continue(c))
}
