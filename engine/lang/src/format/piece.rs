//! Pieces: the tokens that are written, each with the number of spaces before it.

use unicode_segmentation::UnicodeSegmentation;

use super::rewrite::{Edit, Edits};
use crate::syntax::{Token, TokenKind, tokens};

/// A token to write. A comment up to the end of its line has the line end in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) kind: TokenKind,
    /// Its bytes: of the source, or past its end those of the texts that were made.
    start: u32,
    end: u32,
    pub(super) spaces: u32,
}

/// All of them, without the one that ends the file.
pub(super) struct Pieces<'a> {
    source: &'a str,
    made: String,
    pub(super) all: Vec<Piece>,
    /// Bytes after the last one. They stay, as in Terraform, though as spaces.
    rest: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(source: &'a str, edits: Edits) -> Self {
        let tokens = tokens(source);
        let mut pieces = Self { source, made: edits.made, all: Vec::with_capacity(tokens.len()), rest: 0 };
        let mut edits = edits.all.into_iter().peekable();
        let mut at = 0;
        while at < tokens.len() {
            match edits.peek() {
                Some(edit) if tokens[at].start >= edit.start => {
                    let from = pieces.all.len();
                    let end = edit.end;
                    while tokens[at].start < end {
                        at = pieces.push(&tokens, at);
                    }
                    if let Some(edit) = edits.next() {
                        pieces.edit(from, &edit);
                    }
                }
                _ => at = pieces.push(&tokens, at),
            }
        }
        pieces
    }

    /// Takes one token, and gives the number of the next.
    fn push(&mut self, tokens: &[Token], at: usize) -> usize {
        let Token { kind, start } = tokens[at];
        let mut next = at + 1;
        let mut end = tokens.get(next).map_or(self.source.len() as u32, |token| token.start);
        match kind {
            TokenKind::End => {}
            TokenKind::Whitespace | TokenKind::ByteOrderMark => self.rest += (end - start) as usize,
            _ => {
                self.rest = 0;
                let is_line = kind == TokenKind::Comment && !self.source[start as usize..].starts_with("/*");
                if is_line && tokens.get(next).is_some_and(|token| token.kind == TokenKind::Newline) {
                    next += 1;
                    end = tokens.get(next).map_or(self.source.len() as u32, |token| token.start);
                }
                self.all.push(Piece { kind, start, end, spaces: 0 });
            }
        }
        next
    }

    fn edit(&mut self, from: usize, edit: &Edit) {
        let old = self.all.split_off(from);
        let new = edit.apply(&old, self.source.len() as u32, |piece| self.ends_line(piece));
        self.all.extend(new);
    }

    pub(super) fn str(&self, piece: &Piece) -> &str {
        let (start, end) = (piece.start as usize, piece.end as usize);
        match start.checked_sub(self.source.len()) {
            Some(made) => &self.made[made..end - self.source.len()],
            None => &self.source[start..end],
        }
    }

    /// Does it end its line?
    pub(super) fn ends_line(&self, piece: &Piece) -> bool {
        match piece.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.str(piece).ends_with('\n'),
            _ => false,
        }
    }

    /// How wide these are, in grapheme clusters, with the spaces before them.
    pub(super) fn columns(&self, range: std::ops::Range<usize>) -> u32 {
        self.all[range].iter().map(|piece| piece.spaces + columns(self.str(piece))).sum()
    }

    pub(super) fn text(&self) -> String {
        const SPACES: &str = "                                                                ";
        let spaces: usize = self.all.iter().map(|piece| piece.spaces as usize).sum();
        let mut out = String::with_capacity(self.source.len() + self.made.len() + spaces);
        let space = |out: &mut String, mut count: usize| {
            while count > 0 {
                let now = count.min(SPACES.len());
                out.push_str(&SPACES[..now]);
                count -= now;
            }
        };
        for piece in &self.all {
            space(&mut out, piece.spaces as usize);
            out.push_str(self.str(piece));
        }
        space(&mut out, self.rest);
        out
    }
}

impl Piece {
    /// A piece whose bytes are these of the texts that were made.
    pub(super) fn made(kind: TokenKind, (start, end): (u32, u32), source: u32) -> Self {
        Self { kind, start: source + start, end: source + end, spaces: 0 }
    }
}

fn columns(text: &str) -> u32 {
    let count = if text.is_ascii() && !text.contains('\r') { text.len() } else { text.graphemes(true).count() };
    count as u32
}
