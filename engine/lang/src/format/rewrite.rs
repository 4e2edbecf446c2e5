//! Spellings that Terraform has outgrown: `"${x}"` for `x`, labels without quotes, types in quotes or without their
//! elements' type. The rest of `fmt` changes nothing but space.

use super::{line::bracket, piece::Piece};
use crate::{
    syntax::{BlockRef, Body, Expr, Node, TokenKind as K},
    write::quoted,
};

/// Something to be written anew: the tokens from `start` up to `end`.
pub(super) struct Edit {
    pub(super) start: u32,
    pub(super) end: u32,
    to: To,
}

enum To {
    /// These texts instead, as ranges of what was made: labels and types.
    Made(Vec<(K, (u32, u32))>),
    /// What stands in the interpolation, if nothing else stands between the quotes.
    Unwrapped,
}

/// Edits in the order of the text, and the texts that they put there.
pub(super) struct Edits {
    pub(super) all: Vec<Edit>,
    pub(super) made: String,
}

/// Every edit that the file needs.
pub(super) fn edits(body: &Body) -> Edits {
    let mut edits = Edits { all: Vec::new(), made: PARENS.to_owned() };
    edits.file(body);
    edits.all.sort_by_key(|edit| edit.start);
    edits
}

/// What the made texts begin with: the parentheses that keep several lines together.
const PARENS: &str = "()";

impl Edits {
    fn file(&mut self, file: &Body) {
        // Bodies, and whether each is that of a variable.
        let mut todo = vec![(file.clone(), false)];
        let mut at_top = true;
        while let Some((body, of_variable)) = todo.pop() {
            for attribute in body.attributes() {
                let value = attribute.value();
                let to = if of_variable && &**attribute.name() == "type" {
                    self.full_type(&value)
                } else {
                    matches!(value.node(), Node::Wrap(_)).then_some(To::Unwrapped)
                };
                let span = value.span();
                self.all.extend(to.map(|to| Edit { start: span.start, end: span.end, to }));
            }
            for block in body.blocks() {
                self.labels(block);
                todo.push((block.body(), at_top && &**block.kind() == "variable"));
            }
            at_top = false;
        }
    }

    fn labels(&mut self, block: BlockRef<'_>) {
        let mut texts = Vec::new();
        for (label, _) in block.labels() {
            let quoted = quoted(label);
            texts.push(self.make(K::QuoteOpen, "\""));
            if !label.is_empty() {
                texts.push(self.make(K::QuotedText, &quoted[1..quoted.len() - 1]));
            }
            texts.push(self.make(K::QuoteClose, "\""));
        }
        if !texts.is_empty() {
            self.all.push(Edit { start: block.kind_span().end, end: block.header().end, to: To::Made(texts) });
        }
    }

    /// A type in the words of today. In quotes a collection was one of strings; without, it is one of anything.
    fn full_type(&mut self, value: &Expr) -> Option<To> {
        let element = match (value.as_text().map(|text| &**text), value.as_keyword().map(|word| &**word)) {
            (Some("string"), _) => None,
            (Some("list" | "map"), _) => Some("string"),
            (_, Some("list" | "map" | "set")) => Some("any"),
            _ => return None,
        };
        let name = value.as_text().or(value.as_keyword())?;
        let mut texts = vec![self.make(K::Ident, name)];
        if let Some(element) = element {
            texts.extend([self.make(K::ParenOpen, "("), self.make(K::Ident, element), self.make(K::ParenClose, ")")]);
        }
        Some(To::Made(texts))
    }

    fn make(&mut self, kind: K, text: &str) -> (K, (u32, u32)) {
        let start = self.made.len() as u32;
        self.made.push_str(text);
        (kind, (start, self.made.len() as u32))
    }
}

impl Edit {
    /// The pieces that stand there instead. `source`: how long the source is; `ends_line`: does this piece?
    pub(super) fn apply(&self, old: &[Piece], source: u32, ends_line: impl Fn(&Piece) -> bool) -> Vec<Piece> {
        match &self.to {
            To::Made(texts) => texts.iter().map(|(kind, range)| Piece::made(*kind, *range, source)).collect(),
            To::Unwrapped => {
                let Some(inner) = interpolated(old) else { return old.to_vec() };
                let is_single = !inner.iter().any(ends_line) || is_parenthesized(inner);
                if is_single {
                    return inner.to_vec();
                }
                let mut new = vec![Piece::made(K::ParenOpen, (0, 1), source)];
                new.extend(inner);
                new.push(Piece::made(K::ParenClose, (1, 2), source));
                new
            }
        }
    }
}

/// What stands in `"${…}"`, without line ends around it; `None` where a template of its own is in it outside of quotes.
fn interpolated(pieces: &[Piece]) -> Option<&[Piece]> {
    let [quote, open, inner @ .., _, _] = pieces else { return None };
    if (quote.kind, open.kind) != (K::QuoteOpen, K::InterpolationOpen) {
        return None;
    }
    let mut quotes = 0;
    for piece in inner {
        match piece.kind {
            K::QuoteOpen => quotes += 1,
            K::QuoteClose => quotes -= 1,
            K::InterpolationOpen | K::TemplateClose | K::QuotedText if quotes == 0 => return None,
            _ => {}
        }
    }
    let is_newline = |piece: &Piece| piece.kind == K::Newline;
    let start = inner.iter().position(|piece| !is_newline(piece))?;
    let end = inner.iter().rposition(|piece| !is_newline(piece))?;
    Some(&inner[start..=end])
}

/// Does one pair of parentheses hold it all?
fn is_parenthesized(pieces: &[Piece]) -> bool {
    let mut depth = 0;
    let closes = pieces.iter().position(|piece| {
        depth += bracket(piece.kind);
        depth == 0
    });
    pieces.first().is_some_and(|first| first.kind == K::ParenOpen) && closes == Some(pieces.len() - 1)
}
