//! Lines, and the cells that are aligned with those of their neighbours.

use super::piece::{Piece, Pieces};
use crate::syntax::TokenKind;

/// One line, as numbers of pieces: what leads, then `= value` if it stands on this line as a whole, then a comment. The last
/// two may be empty. A heredoc or a comment of several lines does not end a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) assign: usize,
    pub(super) comment: usize,
    pub(super) end: usize,
}

pub(super) fn lines(pieces: &Pieces<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, piece) in pieces.all.iter().enumerate() {
        if pieces.ends_line(piece) {
            lines.push(line(&pieces.all, start, at + 1));
            start = at + 1;
        }
    }
    if start < pieces.all.len() {
        lines.push(line(&pieces.all, start, pieces.all.len()));
    }
    lines
}

fn line(all: &[Piece], start: usize, end: usize) -> Line {
    let has_comment = end - start > 1 && all[end - 1].kind == TokenKind::Comment;
    let comment = end - usize::from(has_comment);
    let equals = (start + 1..comment).find(|at| all[*at].kind == TokenKind::Assign);
    // Where a bracket stays open, the value goes on in the next lines.
    let assign = equals.filter(|at| nesting(&all[*at..comment]) == 0).unwrap_or(comment);
    Line { start, assign, comment, end }
}

/// How many brackets these open and leave open; negative: close.
pub(super) fn nesting(pieces: &[Piece]) -> i32 {
    pieces.iter().map(|piece| bracket(piece.kind)).sum()
}

/// 1 for what opens, -1 for what closes.
pub(super) fn bracket(kind: TokenKind) -> i32 {
    use TokenKind as K;
    match kind {
        K::BraceOpen | K::BracketOpen | K::ParenOpen | K::InterpolationOpen | K::DirectiveOpen => 1,
        K::BraceClose | K::BracketClose | K::ParenClose | K::TemplateClose => -1,
        _ => 0,
    }
}

impl Line {
    pub(super) fn has_assign(self) -> bool {
        self.assign < self.comment
    }

    pub(super) fn has_comment(self) -> bool {
        self.comment < self.end
    }
}
