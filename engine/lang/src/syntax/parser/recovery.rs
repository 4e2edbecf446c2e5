//! Where parsing goes on after an error.

use super::{Parser, TokenKind};

impl Parser<'_> {
    /// Steps to the end of the argument or block header that began at token `from` and failed at the current position:
    /// to the line end outside of all brackets that it opened, or to a closing brace that it did not open. Each token
    /// is looked at at most once more.
    pub(super) fn recover(&mut self, from: usize) {
        let failed = self.position;
        // The line that failed may itself be the next argument, taken for an element of an open list.
        let line = (from..failed).rev().find(|at| self.tokens[*at].kind == TokenKind::Newline).unwrap_or(failed);
        let mut open: Vec<TokenKind> = Vec::new();
        let mut braces = 0usize;
        let mut at = from;
        loop {
            let kind = self.tokens[at].kind;
            match kind {
                TokenKind::End => break,
                TokenKind::Newline if at >= failed && open.is_empty() => break,
                TokenKind::Newline if at >= line && self.starts_anew(&open, braces, at) => break,
                TokenKind::BraceOpen => {
                    braces += 1;
                    open.push(kind);
                }
                TokenKind::ParenOpen
                | TokenKind::BracketOpen
                | TokenKind::QuoteOpen
                | TokenKind::HeredocOpen
                | TokenKind::InterpolationOpen
                | TokenKind::DirectiveOpen => open.push(kind),
                TokenKind::ParenClose => close(&mut open, &mut braces, |kind| kind == TokenKind::ParenOpen, false),
                TokenKind::BracketClose => close(&mut open, &mut braces, |kind| kind == TokenKind::BracketOpen, false),
                TokenKind::BraceClose if braces == 0 && at >= failed => break,
                TokenKind::BraceClose if braces == 0 => {}
                TokenKind::BraceClose => close(&mut open, &mut braces, |kind| kind == TokenKind::BraceOpen, true),
                TokenKind::QuoteClose => close(&mut open, &mut braces, |kind| kind == TokenKind::QuoteOpen, true),
                TokenKind::HeredocClose => close(&mut open, &mut braces, |kind| kind == TokenKind::HeredocOpen, true),
                TokenKind::TemplateClose => close(
                    &mut open,
                    &mut braces,
                    |kind| matches!(kind, TokenKind::InterpolationOpen | TokenKind::DirectiveOpen),
                    true,
                ),
                TokenKind::BrokenQuote => {
                    while open.last().is_some_and(|kind| *kind != TokenKind::HeredocOpen) {
                        braces -= usize::from(open.pop() == Some(TokenKind::BraceOpen));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.position = at;
        // What the abandoned expression had gathered. Bodies are never inside of expressions.
        self.exprs.clear();
        self.items.clear();
        self.steps.clear();
        self.parts.clear();
        self.flats.clear();
    }

    /// Does the line after the line end `at` look like the next argument or block, although a parenthesis or bracket is
    /// still open? Then the closing one was forgotten.
    fn starts_anew(&self, open: &[TokenKind], braces: usize, at: usize) -> bool {
        if !open.last().is_some_and(|kind| matches!(kind, TokenKind::ParenOpen | TokenKind::BracketOpen)) || braces > 0
        {
            return false;
        }
        let mut kinds = (at + 1..self.tokens.len()).filter(|i| self.tokens[*i].kind != TokenKind::Whitespace);
        let (Some(first), Some(second)) = (kinds.next(), kinds.next()) else { return false };
        self.tokens[first].kind == TokenKind::Ident
            && match self.tokens[second].kind {
                TokenKind::Assign => true,
                TokenKind::QuoteOpen => first == at + 1,
                _ => false,
            }
    }
}

/// Closes what `is` names. With `through` everything above it is closed too; otherwise only if it is on top.
fn close(open: &mut Vec<TokenKind>, braces: &mut usize, is: impl Fn(TokenKind) -> bool, through: bool) {
    if !through {
        if open.last().is_some_and(|kind| is(*kind)) {
            open.pop();
        }
        return;
    }
    while let Some(kind) = open.pop() {
        *braces -= usize::from(kind == TokenKind::BraceOpen);
        if is(kind) {
            break;
        }
    }
}
