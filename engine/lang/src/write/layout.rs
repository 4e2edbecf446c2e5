//! Where things stand in their lines: indentation, and the `=` of neighbours below each other.

use unicode_segmentation::UnicodeSegmentation;

/// A line, or what begins with one.
pub(super) enum Line {
    Empty,
    /// As it is.
    Whole(usize, String),
    /// `key = value`: neighbours whose values end on their lines have their `=` below each other.
    Pair(usize, String, String),
}

impl Line {
    pub(super) fn whole(depth: usize, text: &str) -> Self {
        Self::Whole(depth, text.to_owned())
    }

    pub(super) fn pair(depth: usize, key: &str, value: &str) -> Self {
        Self::Pair(depth, key.to_owned(), value.to_owned())
    }
}

pub(super) fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// All lines, each with its end.
pub(super) fn text(lines: &[Line]) -> String {
    let mut out = String::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        let group = match first {
            Line::Pair(..) => rest.iter().take_while(|line| is_single(line)).count().max(1),
            _ => 1,
        };
        let (now, later) = rest.split_at(group);
        let width = now.iter().map(|line| if let Line::Pair(_, key, _) = line { columns(key) } else { 0 }).max();
        for line in now {
            match line {
                Line::Empty => {}
                Line::Whole(depth, text) => out.push_str(&format!("{}{text}", indent(*depth))),
                Line::Pair(depth, key, value) => {
                    let space = " ".repeat(width.unwrap_or_default().saturating_sub(columns(key)));
                    out.push_str(&format!("{}{key}{space} = {value}", indent(*depth)));
                }
            }
            out.push('\n');
        }
        rest = later;
    }
    out
}

/// A heredoc ends its line like any other value; an open bracket does not.
fn is_single(line: &Line) -> bool {
    matches!(line, Line::Pair(_, _, value) if !value.contains('\n') || value.starts_with("<<"))
}

fn columns(text: &str) -> usize {
    text.graphemes(true).count()
}
