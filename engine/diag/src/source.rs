//! Source files and positions in them.

use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

/// A file of a [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A range of bytes of one file, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of the bytes `start..end`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The smallest span that covers both. Both must be of the same file; otherwise `self`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A place as people and other tools count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1, in grapheme clusters, as HCL counts.
    pub column: u32,
    /// From 0, in bytes of the file.
    pub byte: u32,
}

/// One source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// As the user would name it, relative to the working directory where possible.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    // Invariant: the byte offset of the first byte of each line, ascending, never empty.
    lines: Arc<[u32]>,
}

impl Source {
    /// A file with its lines counted.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        let mut lines = vec![0u32];
        lines.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1));
        Self { name: name.into(), text, lines: lines.into() }
    }

    /// The position of a byte; past the end it is the end.
    pub fn position(&self, byte: u32) -> Position {
        let byte = byte.min(self.text.len() as u32);
        let line = self.lines.partition_point(|start| *start <= byte) - 1;
        let start = self.lines[line] as usize;
        let mut end = byte as usize;
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = self.text[start..end].trim_start_matches('\u{feff}');
        Position { line: line as u32 + 1, column: before.graphemes(true).count() as u32 + 1, byte }
    }

    /// The text of one line (from 1), without its line end. Empty past the end.
    pub fn line(&self, line: u32) -> &str {
        let Some(start) = self.lines.get(line.saturating_sub(1) as usize) else { return "" };
        let end = self.lines.get(line as usize).map_or(self.text.len(), |next| *next as usize);
        self.text[*start as usize..end].trim_end_matches(['\n', '\r'])
    }
}

/// Every source file of a run. Files are only ever added, so a [`Span`] stays valid.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        self.files.push(Source::new(name, text));
        FileId(self.files.len() as u32 - 1)
    }

    /// A file that was added here.
    pub fn get(&self, file: FileId) -> &Source {
        &self.files[file.0 as usize]
    }

    /// All files in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().enumerate().map(|(i, source)| (FileId(i as u32), source))
    }

    /// The text under a span.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Where a span begins and ends.
    pub fn range(&self, span: Span) -> (Position, Position) {
        let source = self.get(span.file);
        (source.position(span.start), source.position(span.end))
    }

    /// `file:line`, as error messages and plans name a place.
    pub fn place(&self, span: Span) -> String {
        let source = self.get(span.file);
        format!("{}:{}", source.name, source.position(span.start).line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_grapheme_clusters() {
        let source = Source::new("a.tf", "x = 1\n  \"e\u{301}🇩🇪\" = 2\r\n\ty");
        assert_eq!(source.position(0), Position { line: 1, column: 1, byte: 0 });
        let quote = source.text.rfind("\" =").unwrap() as u32;
        assert_eq!(source.position(quote).column, 6);
        assert_eq!(source.line(2), "  \"e\u{301}🇩🇪\" = 2");
        assert_eq!(source.position(9999).line, 3);
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let source = Source::new("a.tf", "\u{feff}x");
        assert_eq!(source.position(3).column, 1);
    }
}
