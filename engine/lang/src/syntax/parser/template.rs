//! Templates: quoted strings, heredocs and template files, with their interpolations, directives, strip markers and
//! indentation.
//!
//! A template is first read flat, as texts and sequences in source order; strip markers and heredoc indentation are
//! applied to the flat form, because they do not care about nesting; then directives are nested.

use std::borrow::Cow;

use super::{Parsed, Parser, Part, TokenKind, seal};
use crate::syntax::tree::{ExprId, List, MAX_NESTING, Node, Symbol};

/// One element of a template in source order.
pub(super) enum Flat<'a> {
    Text(Cow<'a, str>),
    Interpolation(ExprId),
    If { condition: ExprId, at: (u32, u32) },
    Else { at: (u32, u32) },
    EndIf { at: (u32, u32) },
    For { key_name: Option<Symbol>, value_name: Symbol, collection: ExprId, at: (u32, u32) },
    EndFor { at: (u32, u32) },
}

/// A directive whose end has not come yet.
struct Open {
    directive: Directive,
    /// Where it began.
    at: (u32, u32),
    /// Its first part among those gathered.
    first: usize,
}

enum Directive {
    If { condition: ExprId, then: Option<List<Part>> },
    For { key_name: Option<Symbol>, value_name: Symbol, collection: ExprId },
}

impl<'a> Parser<'a> {
    /// A quoted string, at its opening quote.
    pub(super) fn quoted(&mut self) -> Parsed<ExprId> {
        let (start, _) = self.bump();
        if self.peek() == TokenKind::QuotedText && self.tokens[self.position + 1].kind == TokenKind::QuoteClose {
            let range = self.bump();
            self.bump();
            let decoded = self.decode_quoted(range);
            let text = self.text_symbol(decoded);
            return Ok(self.push_from(start, Node::Text(text)));
        }
        let first = self.flats.len();
        self.flat_template(TokenKind::QuoteClose)?;
        self.template(start, first, true)
    }

    /// A heredoc, at its introduction.
    pub(super) fn heredoc(&mut self) -> Parsed<ExprId> {
        let open = self.bump();
        let first = self.flats.len();
        self.flat_template(TokenKind::HeredocClose)?;
        if self.slice(open).starts_with("<<-") {
            outdent(&mut self.flats[first..]);
        }
        self.template(open.0, first, false)
    }

    /// The whole text as a template.
    pub(super) fn whole_template(&mut self) -> Parsed<ExprId> {
        self.flat_template(TokenKind::End)?;
        let expr = self.template(0, 0, true)?;
        self.checked(expr)
    }

    /// Reads texts and sequences up to and with `close`.
    fn flat_template(&mut self, close: TokenKind) -> Parsed<()> {
        let mut strip_next = false;
        let first = self.flats.len();
        let open = self.position.saturating_sub(1);
        loop {
            let strip = std::mem::take(&mut strip_next);
            let kind = self.peek();
            match kind {
                _ if kind == close => {
                    self.bump();
                    return Ok(());
                }
                TokenKind::QuotedText | TokenKind::TemplateText => {
                    let range = self.bump();
                    let mut text = if kind == TokenKind::QuotedText {
                        self.decode_quoted(range)
                    } else {
                        self.decode_template(range)
                    };
                    if strip {
                        text = trimmed(text, str::trim_start);
                    }
                    self.flats.push(Flat::Text(text));
                }
                TokenKind::InterpolationOpen | TokenKind::DirectiveOpen => {
                    let range = self.bump();
                    if range.1 - range.0 == 3 && self.flats.len() > first {
                        self.strip_last();
                    }
                    let directive = kind == TokenKind::DirectiveOpen;
                    let flat = self.with_newlines(false, |parser| match directive {
                        true => parser.directive(range),
                        false => parser.interpolation(range),
                    })?;
                    strip_next = self.end - self.tokens[self.position - 1].start == 2;
                    self.flats.push(flat);
                }
                TokenKind::End => {
                    let at = self.range(open);
                    let marker = self.slice(at).trim_start_matches(['<', '-']).trim_end();
                    let detail = if marker.is_empty() || marker == "\"" {
                        "The string that begins here does not end.".to_owned()
                    } else {
                        format!("The heredoc that begins here does not end: there is no line with only {marker}.")
                    };
                    return Err(self.fail(at, "Unterminated template string", detail));
                }
                _ => return Err(self.unexpected("Unterminated template string", "The string must end here.")),
            }
        }
    }

    fn strip_last(&mut self) {
        if let Some(Flat::Text(text)) = self.flats.last_mut() {
            *text = trimmed(std::mem::take(text), str::trim_end);
        }
    }

    fn interpolation(&mut self, open: (u32, u32)) -> Parsed<Flat<'a>> {
        let expr = self.expression()?;
        if self.peek() == TokenKind::End || self.at_broken_quote() {
            let detail = "There is no closing brace for this interpolation before the end of the text.";
            return Err(self.fail(open, "Unclosed template interpolation sequence", detail));
        }
        let detail = "Expected a closing brace to end the interpolation.";
        self.template_close("Extra characters after interpolation expression", detail)?;
        Ok(Flat::Interpolation(expr))
    }

    /// Does a string begin here that does not end? Then this quote was meant to end the string around it.
    fn at_broken_quote(&self) -> bool {
        let next = |ahead: usize| self.tokens.get(self.position + ahead).map(|token| token.kind);
        match (next(0), next(1)) {
            (Some(TokenKind::QuoteOpen), Some(TokenKind::QuotedText)) => next(2) == Some(TokenKind::BrokenQuote),
            (Some(TokenKind::QuoteOpen), after) => after == Some(TokenKind::BrokenQuote),
            _ => false,
        }
    }

    fn template_close(&mut self, summary: &str, detail: &str) -> Parsed<()> {
        if self.eat(TokenKind::TemplateClose).is_some() {
            return Ok(());
        }
        let hint = "If this text is meant for another language, such as a shell script, write $${ or %%{ so that it \
                    is not taken for a template.";
        Err(self.unexpected_hint(summary, detail, hint))
    }

    fn directive(&mut self, open: (u32, u32)) -> Parsed<Flat<'a>> {
        if self.peek() != TokenKind::Ident {
            let detail = "A keyword is expected here: if, else, endif, for or endfor.";
            return Err(self.unexpected("Invalid template directive", detail));
        }
        let word = self.bump();
        let at = (open.0, word.1);
        let flat = match self.slice(word) {
            "if" => Flat::If { condition: self.expression()?, at },
            "else" => Flat::Else { at },
            "endif" => Flat::EndIf { at },
            "for" => {
                let (key_name, value_name) = self.for_names("Invalid 'for' directive")?;
                Flat::For { key_name, value_name, collection: self.expression()?, at }
            }
            "endfor" => Flat::EndFor { at },
            other => {
                let detail = format!("\"{other}\" is not a template keyword. Use if, else, endif, for or endfor.");
                let hint = "If this text is meant for another language, write %%{ for a literal \"%{\".";
                self.report(word, "Invalid template control keyword", detail).hint = Some(hint.to_owned());
                return Err(super::Abort);
            }
        };
        self.template_close(
            "Extra characters in template directive",
            "Expected a closing brace to end the directive.",
        )?;
        Ok(flat)
    }

    /// The template whose flat form was gathered since `first`.
    fn template(&mut self, start: u32, first: usize, may_wrap: bool) -> Parsed<ExprId> {
        if may_wrap && let [Flat::Interpolation(expr)] = self.flats[first..] {
            self.flats.truncate(first);
            return Ok(self.push_from(start, Node::Wrap(expr)));
        }
        if self.flats[first..].iter().all(|flat| matches!(flat, Flat::Text(_))) {
            let mut text = Cow::Borrowed("");
            for flat in self.flats.drain(first..) {
                if let Flat::Text(more) = flat {
                    text += more;
                }
            }
            let text = self.text_symbol(text);
            return Ok(self.push_from(start, Node::Text(text)));
        }
        let flats = self.flats.split_off(first);
        let parts = self.nest(flats)?;
        Ok(self.push_from(start, Node::Template(parts)))
    }

    /// Nests directives, in a loop.
    fn nest(&mut self, flats: Vec<Flat<'a>>) -> Parsed<List<Part>> {
        let base = self.parts.len();
        self.nest_into(flats)?;
        Ok(seal(&mut self.parts, base, &mut self.tree.parts))
    }

    fn nest_into(&mut self, flats: Vec<Flat<'a>>) -> Parsed<()> {
        let mut open: Vec<Open> = Vec::new();
        let mut text: Cow<'a, str> = Cow::Borrowed("");
        for flat in flats {
            if let Flat::Text(more) = flat {
                text += more;
                continue;
            }
            self.flush(&mut text);
            match flat {
                Flat::Text(_) => {}
                Flat::Interpolation(expr) => self.parts.push(Part::Interpolation(expr)),
                Flat::If { condition, at } => {
                    self.open(&mut open, Directive::If { condition, then: None }, at)?;
                }
                Flat::For { key_name, value_name, collection, at } => {
                    self.open(&mut open, Directive::For { key_name, value_name, collection }, at)?;
                }
                Flat::Else { at } => match open.last_mut() {
                    Some(Open { directive: Directive::If { then: then @ None, .. }, first, .. }) => {
                        *then = Some(seal(&mut self.parts, *first, &mut self.tree.parts));
                    }
                    other => {
                        let opener = other.map(|open| open.at);
                        return Err(self.unbalanced(at, "else", opener));
                    }
                },
                Flat::EndIf { at } => match open.pop() {
                    Some(Open { directive: Directive::If { condition, then }, first, .. }) => {
                        let last = seal(&mut self.parts, first, &mut self.tree.parts);
                        let none = seal(&mut self.parts, first, &mut self.tree.parts);
                        let (then, otherwise) = then.map_or((last, none), |then| (then, last));
                        self.parts.push(Part::If { condition, then, otherwise });
                    }
                    other => return Err(self.unbalanced(at, "endif", other.map(|open| open.at))),
                },
                Flat::EndFor { at } => match open.pop() {
                    Some(Open { directive: Directive::For { key_name, value_name, collection }, first, .. }) => {
                        let body = seal(&mut self.parts, first, &mut self.tree.parts);
                        self.parts.push(Part::For { key_name, value_name, collection, body });
                    }
                    other => return Err(self.unbalanced(at, "endfor", other.map(|open| open.at))),
                },
            }
        }
        self.flush(&mut text);
        match open.pop() {
            None => Ok(()),
            Some(open) => {
                let (word, end) = match open.directive {
                    Directive::If { .. } => ("if", "endif"),
                    Directive::For { .. } => ("for", "endfor"),
                };
                let detail = format!("The {word} directive that begins here has no {end}.");
                Err(self.fail(open.at, "Unexpected end of template", detail))
            }
        }
    }

    fn flush(&mut self, text: &mut Cow<'a, str>) {
        if !text.is_empty() {
            let symbol = self.text_symbol(std::mem::take(text));
            self.parts.push(Part::Text(symbol));
        }
    }

    fn open(&mut self, open: &mut Vec<Open>, directive: Directive, at: (u32, u32)) -> Parsed<()> {
        if open.len() + self.depth >= MAX_NESTING {
            return Err(self.too_deep(at));
        }
        open.push(Open { directive, at, first: self.parts.len() });
        Ok(())
    }

    fn unbalanced(&mut self, at: (u32, u32), word: &str, opener: Option<(u32, u32)>) -> super::Abort {
        let opener = opener.map(|opener| self.tree.at(opener));
        let summary = format!("Unexpected {word} directive");
        let detail = "The directives within this template are not balanced.";
        let diagnostic = self.report(at, &summary, detail);
        if let Some(span) = opener {
            let text = "this directive is open here".to_owned();
            diagnostic.related.push(engine_diag::Label { span, text });
        }
        super::Abort
    }

    /// How high the tree under the parts is. Directives count as levels.
    pub(super) fn height_of_parts(&self, parts: List<Part>) -> u16 {
        let mut highest = 0;
        let mut todo = vec![(parts, 0u16)];
        while let Some((parts, level)) = todo.pop() {
            for part in self.tree.parts(parts) {
                let inner = match part {
                    Part::Text(_) => 0,
                    Part::Interpolation(expr) => self.height_of(*expr),
                    Part::If { condition, then, otherwise } => {
                        todo.extend([(*then, level + 1), (*otherwise, level + 1)]);
                        self.height_of(*condition)
                    }
                    Part::For { collection, body, .. } => {
                        todo.push((*body, level + 1));
                        self.height_of(*collection)
                    }
                };
                highest = highest.max(level.saturating_add(inner));
            }
        }
        highest
    }
}

fn trimmed<'a>(text: Cow<'a, str>, trim: impl for<'t> Fn(&'t str) -> &'t str) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(trim(text)),
        Cow::Owned(text) => Cow::Owned(trim(&text).to_owned()),
    }
}

/// Removes the indentation that all lines of a `<<-` heredoc share. As in Terraform: a tab counts as one space; a line
/// of spaces alone does not count and stays; a line that begins with a sequence has no indentation; and what follows a
/// sequence that stripped its line end is no line of its own.
fn outdent(flats: &mut [Flat<'_>]) {
    let mut shared = usize::MAX;
    let mut lines = Vec::new();
    let mut at_line_start = true;
    for (index, flat) in flats.iter().enumerate() {
        let Flat::Text(text) = flat else {
            if at_line_start {
                shared = 0;
            }
            at_line_start = false;
            continue;
        };
        let indentation = text.chars().take_while(|c| c.is_whitespace()).count();
        let is_blank = text.ends_with('\n') && text.trim_start().is_empty();
        if at_line_start && !is_blank {
            shared = shared.min(indentation);
            lines.push(index);
        }
        at_line_start = text.ends_with('\n');
    }
    for index in lines {
        if let Flat::Text(text) = &mut flats[index] {
            let start = text.char_indices().nth(shared).map_or(text.len(), |(at, _)| at);
            *text = match std::mem::take(text) {
                Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
                Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
            };
        }
    }
}
