//! Space between the tokens of a line: none or one.

use super::{
    line::{Line, bracket},
    piece::Pieces,
};
use crate::syntax::TokenKind as K;

pub(super) fn apply(pieces: &mut Pieces<'_>, lines: &[Line]) {
    for line in lines {
        within(pieces, line.start, line.assign);
        if line.has_assign() {
            pieces.all[line.assign].spaces = 1;
            within(pieces, line.assign, line.comment);
        }
    }
}

/// One cell. Its first token has its place already.
fn within(pieces: &mut Pieces<'_>, start: usize, end: usize) {
    for at in start + 1..end {
        let before = (at >= start + 2).then(|| pieces.all[at - 2].kind);
        let token = pieces.all[at - 1];
        let is_in = token.kind == K::Ident && before == Some(K::Ident) && pieces.str(&token) == "in";
        let space = is_separated(before, token.kind, is_in, pieces.all[at].kind);
        pieces.all[at].spaces = u32::from(space);
    }
}

/// Is there a space between `token` and `next`? `before` is what stands before `token` in its cell; `is_in`: it is the `in`
/// of a `for`. The first rule that knows wins.
fn is_separated(before: Option<K>, token: K, is_in: bool, next: K) -> bool {
    match (token, next) {
        (_, K::Newline) => false,
        (K::Ident, K::ParenOpen | K::DoubleColon) | (K::DoubleColon, K::Ident) => false,
        // `a.0.1` would be the number 0.1.
        (K::Dot, K::Number) if before == Some(K::Number) => true,
        (K::Dot, _) | (_, K::Dot | K::Comma | K::Ellipsis) => false,
        (K::Comma, _) => true,
        // Inside of a template every byte means something.
        (K::QuotedText | K::TemplateText | K::QuoteOpen | K::HeredocOpen, _)
        | (_, K::QuotedText | K::TemplateText | K::QuoteClose | K::HeredocClose) => false,
        // `for x in [1]` is no index of something that is called `in`.
        _ if is_in => true,
        (K::Ident | K::Number, K::BracketOpen) => false,
        (closed, K::BracketOpen) if bracket(closed) < 0 => false,
        (K::Not, _) => false,
        (K::Minus, _) => !before.is_none_or(is_before_operand),
        (K::BraceOpen, K::BraceClose) => false,
        (K::BraceOpen, _) | (_, K::BraceClose) => true,
        // `${ {a = 1} }`: braces of an object beside those of the template stay apart.
        (K::InterpolationOpen | K::DirectiveOpen, K::BraceOpen) | (K::BraceClose, K::TemplateClose) => true,
        (K::TemplateClose, K::InterpolationOpen | K::DirectiveOpen) => false,
        _ => bracket(token) <= 0 && bracket(next) >= 0,
    }
}

/// Must an operand follow, so that a minus here is a sign and no operator? As Terraform has it: not all that could be here
/// are (`=>` is not).
fn is_before_operand(kind: K) -> bool {
    matches!(
        kind,
        K::ParenOpen
            | K::BraceOpen
            | K::BracketOpen
            | K::Assign
            | K::Colon
            | K::Comma
            | K::Question
            | K::Plus
            | K::Star
            | K::Slash
            | K::Percent
            | K::Minus
            | K::Equal
            | K::NotEqual
            | K::Greater
            | K::GreaterOrEqual
            | K::Less
            | K::LessOrEqual
            | K::And
            | K::Or
            | K::Not
    )
}
