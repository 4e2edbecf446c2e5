//! A format string as text and verbs.

use crate::functions::CallError;

/// A part of a format string.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Verb(Verb<'a>),
}

/// `%[2]+05.1f`
#[derive(Debug, Default)]
pub(super) struct Verb<'a> {
    /// As it is written.
    pub(super) text: &'a str,
    /// Where it begins, in bytes.
    pub(super) offset: usize,
    /// The argument that it names, from 1.
    pub(super) argument: Option<usize>,
    pub(super) plus: bool,
    pub(super) minus: bool,
    pub(super) zero: bool,
    pub(super) space: bool,
    pub(super) sharp: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    /// The letter.
    pub(super) mode: char,
}

/// A width or precision beyond this is a mistake, and would only fill memory.
const WIDEST: usize = 65_536;

pub(super) fn pieces(pattern: &str) -> Result<Vec<Piece<'_>>, CallError> {
    let mut pieces = Vec::new();
    let mut rest = 0;
    while let Some(found) = pattern[rest..].find('%') {
        let start = rest + found;
        pieces.push(Piece::Text(&pattern[rest..start]));
        if pattern[start + 1..].starts_with('%') {
            pieces.push(Piece::Text("%"));
            rest = start + 2;
            continue;
        }
        let (verb, end) = verb(pattern, start)?;
        pieces.push(Piece::Verb(verb));
        rest = end;
    }
    pieces.push(Piece::Text(&pattern[rest..]));
    Ok(pieces)
}

fn verb(pattern: &str, start: usize) -> Result<(Verb<'_>, usize), CallError> {
    let bytes = pattern.as_bytes();
    let mut at = start + 1;
    let mut verb = Verb { offset: start, ..Verb::default() };
    if bytes.get(at) == Some(&b'[') {
        let (number, end) = digits(pattern, at + 1)?;
        if number == Some(0) {
            return Err(CallError::new(format!("unrecognized format character '0' at offset {}", at + 1)));
        }
        if bytes.get(end) != Some(&b']') || number.is_none() {
            return Err(invalid(pattern, end));
        }
        verb.argument = number;
        at = end + 1;
    }
    loop {
        match bytes.get(at) {
            Some(b'+') => verb.plus = true,
            Some(b'-') => verb.minus = true,
            Some(b'0') => verb.zero = true,
            Some(b' ') => verb.space = true,
            Some(b'#') => verb.sharp = true,
            _ => break,
        }
        at += 1;
    }
    (verb.width, at) = digits(pattern, at)?;
    if bytes.get(at) == Some(&b'.') {
        let (precision, end) = digits(pattern, at + 1)?;
        verb.precision = Some(precision.unwrap_or(0));
        at = end;
    }
    match pattern[at..].chars().next() {
        Some(mode) if mode.is_ascii_alphabetic() => {
            verb.mode = mode;
            verb.text = &pattern[start..at + 1];
            Ok((verb, at + 1))
        }
        _ => Err(invalid(pattern, at)),
    }
}

fn digits(pattern: &str, start: usize) -> Result<(Option<usize>, usize), CallError> {
    let end = pattern[start..].find(|c: char| !c.is_ascii_digit()).map_or(pattern.len(), |length| start + length);
    if start == end {
        return Ok((None, end));
    }
    match pattern[start..end].parse() {
        Ok(number) if number <= WIDEST => Ok((Some(number), end)),
        _ => Err(CallError::new(format!("the number at offset {start} of the format string is above {WIDEST}"))),
    }
}

fn invalid(pattern: &str, at: usize) -> CallError {
    CallError::new(match pattern[at..].chars().next() {
        Some(c) => format!("unrecognized format character {c:?} at offset {at}"),
        None => format!("invalid format string starting at offset {at}"),
    })
}
