//! Where lines begin, and cells of neighbours below each other.

use std::ops::Range;

use super::{
    line::{Line, nesting},
    piece::Pieces,
};
use crate::syntax::TokenKind;

/// Two spaces per line that left brackets open. Several brackets that one line opens are one step.
pub(super) fn indent(pieces: &mut Pieces<'_>, lines: &[Line]) {
    // Per step, how many brackets it opened and are open still.
    let mut steps: Vec<i32> = Vec::new();
    for line in lines {
        if pieces.all[line.start].kind == TokenKind::Newline {
            pieces.all[line.start].spaces = 0;
            continue;
        }
        let lead = &pieces.all[line.start..line.assign];
        // What stands in a heredoc moves no line.
        let head = lead.iter().position(|piece| piece.kind == TokenKind::HeredocOpen).unwrap_or(lead.len());
        let change = nesting(&lead[..head]) + nesting(&pieces.all[line.assign..line.comment]);
        close(&mut steps, -change);
        pieces.all[line.start].spaces = 2 * steps.len() as u32;
        if change > 0 {
            steps.push(change);
        }
    }
}

/// Closes that many brackets, and the steps whose brackets are all closed.
fn close(steps: &mut Vec<i32>, mut count: i32) {
    while count > 0
        && let Some(open) = steps.last_mut()
    {
        let closed = count.min(*open);
        *open -= closed;
        count -= closed;
        if *open == 0 {
            steps.pop();
        }
    }
}

/// First the `=`, since that moves the comments.
pub(super) fn cells(pieces: &mut Pieces<'_>, lines: &[Line]) {
    align(pieces, lines, Line::has_assign, |line| line.start..line.assign);
    align(pieces, lines, Line::has_comment, |line| line.start..line.comment);
}

/// Puts what follows `cell` in one column, one space after the widest, in each run of lines that have it.
fn align(pieces: &mut Pieces<'_>, lines: &[Line], has: fn(Line) -> bool, cell: fn(&Line) -> Range<usize>) {
    for run in lines.chunk_by(|a, b| has(*a) && has(*b)) {
        if !has(run[0]) {
            continue;
        }
        let widths: Vec<u32> = run.iter().map(|line| pieces.columns(cell(line))).collect();
        let widest = widths.iter().max().copied().unwrap_or(0);
        for (line, width) in run.iter().zip(widths) {
            pieces.all[cell(line).end].spaces = widest - width + 1;
        }
    }
}
