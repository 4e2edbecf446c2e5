//! Bodies: arguments and blocks.

use rustc_hash::FxHashMap;

use super::{Abort, Parsed, Parser, TokenKind, labels_since, seal};
use crate::syntax::tree::{Attribute, Block, BodyId, BodyNode, Label, Symbol};

impl Parser<'_> {
    /// The whole file.
    pub(super) fn file(&mut self) -> BodyId {
        self.body(None)
    }

    /// Arguments and blocks up to the closing brace of the block whose header is `header`, or the end of the file.
    fn body(&mut self, header: Option<(u32, u32)>) -> BodyId {
        let (attributes, blocks, start) = (self.attributes.len(), self.blocks.len(), self.end);
        let mut names: FxHashMap<Symbol, (u32, u32)> = FxHashMap::default();
        let end = loop {
            match self.peek() {
                TokenKind::Newline => {
                    self.bump();
                }
                TokenKind::End => {
                    let end = self.here();
                    if let Some(header) = header {
                        self.unclosed_block(header, start);
                    }
                    break end;
                }
                TokenKind::BraceClose => {
                    let brace = self.bump();
                    if header.is_some() {
                        break brace;
                    }
                    self.report(
                        brace,
                        "Unexpected closing brace",
                        "No block is open here. Remove this brace, or look for one too many further up.",
                    );
                }
                _ => {
                    let from = self.position;
                    let item = self.item(&mut names);
                    if item.and_then(|()| self.item_end()).is_err() {
                        self.recover(from);
                    }
                }
            }
        };
        self.seal_body(attributes, blocks, start, end)
    }

    /// The body of the block begins after its brace.
    fn unclosed_block(&mut self, header: (u32, u32), body: u32) {
        let suspect = self.unindented.filter(|block| block.0 > header.0).map(|block| self.tree.at(block));
        let detail = "There is no closing brace for this block before the end of the file.";
        let diagnostic = self.report((body - 1, body), "Unclosed configuration block", detail);
        match suspect {
            Some(span) => {
                let text = "this block begins in the first column: is a brace missing before it?".to_owned();
                diagnostic.related.push(engine_diag::Label { span, text });
            }
            None => diagnostic.hint = Some("Look for a closing brace that is missing further down.".to_owned()),
        }
    }

    fn seal_body(&mut self, attributes: usize, blocks: usize, start: u32, end: (u32, u32)) -> BodyId {
        let attributes = seal(&mut self.attributes, attributes, &mut self.tree.attributes);
        let blocks = seal(&mut self.blocks, blocks, &mut self.tree.blocks);
        self.tree.bodies.push(BodyNode { attributes, blocks, start, end: end.0 });
        BodyId(self.tree.bodies.len() as u32 - 1)
    }

    /// One argument or block.
    fn item(&mut self, names: &mut FxHashMap<Symbol, (u32, u32)>) -> Parsed<()> {
        let required = "Argument or block definition required";
        match self.peek() {
            TokenKind::Ident => {}
            TokenKind::QuoteOpen => {
                let detail = "An argument or block type is expected here.";
                return Err(self.unexpected_hint(required, detail, "Argument names are not quoted."));
            }
            _ => return Err(self.unexpected(required, "An argument or block definition is required here.")),
        }
        let name = self.bump();
        match self.peek() {
            TokenKind::Assign => self.attribute(name, names),
            TokenKind::BraceOpen | TokenKind::QuoteOpen | TokenKind::Ident => self.block(name),
            _ => Err(self.no_item(self.slice(name), required)),
        }
    }

    /// After the first word of an item, neither an argument nor a block goes on.
    fn no_item(&mut self, name: &str, summary: &str) -> Abort {
        let detail = format!("After \"{name}\" an equals sign (for an argument) or a block body is expected.");
        match self.peek() {
            TokenKind::Colon | TokenKind::Equal | TokenKind::Arrow => {
                let hint = format!("To set the argument \"{name}\", use a single equals sign.");
                self.unexpected_hint(summary, &detail, &hint)
            }
            TokenKind::Newline => {
                let hint = "The opening brace of a block stands on the line of its header; an argument is written as \
                            \"name = value\".";
                let abort = self.unexpected_hint(summary, &detail, hint);
                self.enter_brace_on_next_line();
                abort
            }
            _ => self.unexpected(summary, &detail),
        }
    }

    /// If the next line begins with a brace, it belongs to what was reported: recovery steps over what it holds.
    fn enter_brace_on_next_line(&mut self) {
        let line_end = self.position;
        if self.with_newlines(false, |parser| parser.eat(TokenKind::BraceOpen)).is_none() {
            self.position = line_end;
        }
    }

    /// `= value`, after the name.
    fn attribute(&mut self, name_span: (u32, u32), names: &mut FxHashMap<Symbol, (u32, u32)>) -> Parsed<()> {
        self.bump();
        let value = self.expression()?;
        let value = self.checked(value)?;
        let name = self.intern(self.slice(name_span));
        if let Some(first) = names.get(&name) {
            let (first, text) = (self.tree.at(*first), self.slice(name_span));
            let detail = format!("The argument \"{text}\" is already set. Each argument may be set only once.");
            let diagnostic = self.report(name_span, "Attribute redefined", detail);
            diagnostic.related.push(engine_diag::Label { span: first, text: "first set here".to_owned() });
            return Ok(());
        }
        names.insert(name, name_span);
        self.attributes.push(Attribute { name, name_span, value });
        Ok(())
    }

    /// What must follow an argument or block: the end of the line.
    fn item_end(&mut self) -> Parsed<()> {
        let summary = "Missing newline after argument";
        let expected = "An argument or block definition must end with a newline.";
        let hint = match self.peek() {
            TokenKind::Newline | TokenKind::End => return Ok(()),
            TokenKind::Comma => "Arguments are separated by line ends, not commas.",
            TokenKind::Assign => "To compare two values, use \"==\".",
            TokenKind::BraceClose => "Put the closing brace on a line of its own.",
            TokenKind::Ident if self.follows_number() => "Numbers have no units or prefixes; quote it to get a string.",
            _ => return Err(self.unexpected(summary, expected)),
        };
        Err(self.unexpected_hint(summary, expected, hint))
    }

    /// Does the token at the position follow a number without a space?
    fn follows_number(&self) -> bool {
        self.position > 0 && self.tokens[self.position - 1].kind == TokenKind::Number
    }

    /// Labels and body, after the block type.
    fn block(&mut self, kind_span: (u32, u32)) -> Parsed<()> {
        let labels = self.tree.labels.len();
        loop {
            match self.peek() {
                TokenKind::BraceOpen => break,
                TokenKind::Ident => {
                    let span = self.bump();
                    let text = self.intern(self.slice(span));
                    self.tree.labels.push(Label { text, span });
                }
                TokenKind::QuoteOpen => {
                    let label = self.quoted_label()?;
                    self.tree.labels.push(label);
                }
                TokenKind::Newline => {
                    let detail = "The opening brace of a block must stand on the line of its header.";
                    let abort = self.unexpected("Invalid block definition", detail);
                    self.enter_brace_on_next_line();
                    return Err(abort);
                }
                TokenKind::Assign => {
                    let hint = "If this is an argument, its name must be one word; if it is an element of a map, \
                                put the map into an argument.";
                    let detail = "Either a block label or an opening brace is expected here.";
                    return Err(self.unexpected_hint("Invalid block definition", detail, hint));
                }
                _ => {
                    let detail = "Either a quoted block label or an opening brace is expected here.";
                    return Err(self.unexpected("Invalid block definition", detail));
                }
            }
        }
        let header = (kind_span.0, self.end);
        if self.depth > 0 && self.unindented.is_none() && self.text[..header.0 as usize].ends_with('\n') {
            self.unindented = Some(header);
        }
        let labels = labels_since(labels, &self.tree.labels);
        self.bump();
        let body = self.nested(|parser| {
            if parser.peek() == TokenKind::Newline || parser.peek() == TokenKind::End {
                Ok(parser.body(Some(header)))
            } else {
                parser.one_line_body()
            }
        })?;
        let kind = self.intern(self.slice(kind_span));
        self.blocks.push(Block { kind, kind_span, labels, body, end: self.end });
        Ok(())
    }

    /// `}` or `name = value }` on the line of the header.
    fn one_line_body(&mut self) -> Parsed<BodyId> {
        let (attributes, blocks, start) = (self.attributes.len(), self.blocks.len(), self.end);
        let summary = "Invalid single-argument block definition";
        let parsed = self.one_line_argument(summary);
        if parsed.is_err() {
            self.attributes.truncate(attributes);
            return Err(Abort);
        }
        let brace = match self.peek() {
            TokenKind::BraceClose => self.bump(),
            TokenKind::Comma | TokenKind::Ident => {
                let hint = "Write each argument on a line of its own.";
                let detail = "A block on one line can hold only one argument, and must end right after it.";
                return Err(self.drop_attributes(attributes, |p| p.unexpected_hint(summary, detail, hint)));
            }
            _ => {
                let detail = "A block whose first argument stands on the line of its header must be closed on that \
                              line, right after the argument.";
                return Err(self.drop_attributes(attributes, |p| p.unexpected_line_end(summary, detail)));
            }
        };
        Ok(self.seal_body(attributes, blocks, start, brace))
    }

    fn drop_attributes(&mut self, from: usize, report: impl FnOnce(&mut Self) -> Abort) -> Abort {
        self.attributes.truncate(from);
        report(self)
    }

    fn one_line_argument(&mut self, summary: &str) -> Parsed<()> {
        match self.peek() {
            TokenKind::BraceClose => return Ok(()),
            TokenKind::Ident => {}
            _ => return Err(self.unexpected(summary, "An argument or a closing brace is expected here.")),
        }
        let name = self.bump();
        if self.peek() != TokenKind::Assign {
            let text = self.slice(name);
            let detail = format!(
                "A block on one line can hold only one argument, so an equals sign is expected after \"{text}\"."
            );
            let hint = "To write a nested block, put it on a line of its own within its parent block.";
            let end = if self.peek() == TokenKind::BraceOpen { self.bump().1 } else { name.1 };
            self.report((name.0, end), "Argument definition required", detail).hint = Some(hint.to_owned());
            return Err(Abort);
        }
        self.attribute(name, &mut FxHashMap::default())
    }
}
