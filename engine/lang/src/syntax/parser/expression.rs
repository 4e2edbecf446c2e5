//! Expressions: operators, conditionals, traversals, calls, collections.

use super::{Parsed, Parser, TokenKind, seal};
use crate::syntax::tree::{BinaryOperator, ExprId, For, ForId, Node, ObjectItem, Step, StepKind, UnaryOperator};

impl Parser<'_> {
    /// The whole text as one expression.
    pub(super) fn whole_expression(&mut self) -> Parsed<ExprId> {
        let expr = self.expression()?;
        if self.peek() != TokenKind::End {
            return Err(self.unexpected("Extra characters after expression", "The text must end after one expression."));
        }
        self.checked(expr)
    }

    /// Any expression.
    pub(super) fn expression(&mut self) -> Parsed<ExprId> {
        self.nested(Self::conditional)
    }

    /// `a ? b : c ? d : e`, in a loop, however long.
    fn conditional(&mut self) -> Parsed<ExprId> {
        let mut pending = Vec::new();
        let mut expr = loop {
            let condition = self.binary(1)?;
            if self.eat(TokenKind::Question).is_none() {
                break condition;
            }
            let then = self.expression()?;
            if self.eat(TokenKind::Colon).is_none() {
                let detail = "A conditional (condition ? a : b) needs a value for the false case, after a colon.";
                return Err(self.unexpected("Missing false expression in conditional", detail));
            }
            pending.push((condition, then));
        };
        while let Some((condition, then)) = pending.pop() {
            expr = self.push_from(self.start_of(condition), Node::Conditional { condition, then, otherwise: expr });
        }
        Ok(expr)
    }

    /// Operands joined by operators that bind at least as tightly as `floor`.
    fn binary(&mut self, floor: u8) -> Parsed<ExprId> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) = binary_operator(self.peek()) {
            if strength < floor {
                break;
            }
            self.bump();
            let right = self.binary(strength + 1)?;
            left = self.push_from(self.start_of(left), Node::Binary { operator, left, right });
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<ExprId> {
        let operator = match self.peek() {
            TokenKind::Minus => UnaryOperator::Negate,
            TokenKind::Not => UnaryOperator::Not,
            _ => return self.postfix(),
        };
        let (start, _) = self.bump();
        let operand = self.nested(Self::unary)?;
        Ok(self.push_from(start, Node::Unary { operator, operand }))
    }

    fn postfix(&mut self) -> Parsed<ExprId> {
        let term = self.term()?;
        self.steps_on(term)
    }

    /// What follows a term: `.name`, `[key]`, `.*`, `[*]`.
    fn steps_on(&mut self, mut expr: ExprId) -> Parsed<ExprId> {
        let start = self.start_of(expr);
        let first = self.steps.len();
        loop {
            match self.peek() {
                TokenKind::Dot => {
                    let dot = self.bump();
                    if let Some(star) = self.eat(TokenKind::Star) {
                        expr = self.seal_steps(start, first, expr);
                        expr = self.attribute_splat(expr, star)?;
                    } else {
                        let kind = self.step_name()?;
                        self.steps.push(Step { kind, start: dot.0, end: self.end });
                    }
                }
                TokenKind::BracketOpen => {
                    let bracket = self.bump();
                    if let Some(star) = self.splat_bracket() {
                        expr = self.seal_steps(start, first, expr);
                        let item = self.push(Node::SplatItem, star);
                        let each = self.nested(|parser| parser.steps_on(item))?;
                        expr = self.push_from(start, Node::Splat { of: expr, each });
                    } else {
                        let key = self.with_newlines(false, |parser| {
                            let key = parser.expression()?;
                            if parser.eat(TokenKind::BracketClose).is_none() {
                                let detail = "The index operator must end with a closing bracket.";
                                return Err(parser.unclosed(bracket, "Missing close bracket on index", detail));
                            }
                            Ok(key)
                        })?;
                        self.steps.push(Step { kind: StepKind::Index(key), start: bracket.0, end: self.end });
                    }
                }
                _ => return Ok(self.seal_steps(start, first, expr)),
            }
        }
    }

    /// Turns `expr` and the steps gathered since `first` into one node.
    fn seal_steps(&mut self, start: u32, first: usize, expr: ExprId) -> ExprId {
        if self.steps.len() == first {
            return expr;
        }
        let end = self.steps.last().map_or(self.end, |step| step.end);
        let steps = seal(&mut self.steps, first, &mut self.tree.steps);
        let node = match self.tree.node(expr) {
            Node::Traversal { root, steps: none } if none.is_empty() => Node::Traversal { root, steps },
            _ => Node::Access { of: expr, steps },
        };
        self.push(node, (start, end))
    }

    /// `*]` after the bracket, if that is what follows.
    fn splat_bracket(&mut self) -> Option<(u32, u32)> {
        self.with_newlines(false, |parser| {
            let before = parser.position;
            let star = parser.eat(TokenKind::Star)?;
            if parser.eat(TokenKind::BracketClose).is_some() {
                return Some(star);
            }
            parser.position = before;
            None
        })
    }

    /// The names after `.*`; they are taken from each element, and a bracket ends them.
    fn attribute_splat(&mut self, of: ExprId, star: (u32, u32)) -> Parsed<ExprId> {
        let item = self.push(Node::SplatItem, star);
        let first = self.steps.len();
        while let Some(dot) = self.eat(TokenKind::Dot) {
            if self.peek() == TokenKind::Star {
                let at = self.here();
                let detail = "A splat (*) cannot be used inside of another attribute-only splat.";
                self.report(at, "Nested splat expression not allowed", detail).hint =
                    Some("Use the full form, a[*].b[*].".to_owned());
                return Err(super::Abort);
            }
            let kind = self.step_name()?;
            self.steps.push(Step { kind, start: dot.0, end: self.end });
        }
        let each = self.seal_steps(star.0, first, item);
        Ok(self.push_from(self.start_of(of), Node::Splat { of, each }))
    }

    /// A name or a legacy index, after the dot.
    fn step_name(&mut self) -> Parsed<StepKind> {
        match self.peek() {
            TokenKind::Ident => {
                let name = self.bump();
                Ok(StepKind::Attr(self.intern(self.slice(name))))
            }
            TokenKind::Number => {
                let range = self.bump();
                let text = self.slice(range);
                if let Some((a, b)) = text.split_once('.') {
                    let detail = format!(
                        "When using the legacy index syntax, chaining two indexes together is not permitted. Use the \
                         proper index syntax instead, like [{a}][{b}]."
                    );
                    return Err(self.fail(range, "Invalid legacy index syntax", detail));
                }
                Ok(StepKind::Index(self.number(range)?))
            }
            _ => Err(self.unexpected("Invalid attribute name", "An attribute name is required after a dot.")),
        }
    }

    fn term(&mut self) -> Parsed<ExprId> {
        match self.peek() {
            TokenKind::Number => {
                let range = self.bump();
                self.number(range)
            }
            TokenKind::Ident => self.name(),
            TokenKind::QuoteOpen => self.quoted(),
            TokenKind::HeredocOpen => self.heredoc(),
            TokenKind::ParenOpen => self.parenthesis(),
            TokenKind::BracketOpen => self.tuple(),
            TokenKind::BraceOpen => self.object(),
            kind => Err(self.no_term(kind)),
        }
    }

    fn no_term(&mut self, kind: TokenKind) -> super::Abort {
        let expected = "Expected the start of an expression.";
        let hint = match kind {
            TokenKind::Newline => {
                "Write the value on the same line, or put parentheses around an expression of several lines."
            }
            TokenKind::Less => {
                "A heredoc is introduced by << or <<- and a marker, without a space or quotes, at the end of its line."
            }
            TokenKind::Dot => "A number has at least one digit before its point: 0.5.",
            _ => return self.unexpected("Invalid expression", expected),
        };
        self.unexpected_hint("Invalid expression", expected, hint)
    }

    fn parenthesis(&mut self) -> Parsed<ExprId> {
        let open = self.bump();
        self.with_newlines(false, |parser| {
            let inner = parser.expression()?;
            if parser.eat(TokenKind::ParenClose).is_none() {
                let detail = "Expected a closing parenthesis to terminate the expression.";
                return Err(parser.unclosed(open, "Unbalanced parentheses", detail));
            }
            Ok(parser.push_from(open.0, Node::Paren(inner)))
        })
    }

    /// A keyword, a call, or the root of a traversal.
    fn name(&mut self) -> Parsed<ExprId> {
        let range = self.bump();
        let text = self.slice(range);
        let next = self.peek();
        let node = match text {
            _ if matches!(next, TokenKind::ParenOpen | TokenKind::DoubleColon) => return self.call(range),
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            "null" => Node::Null,
            _ => Node::Traversal { root: self.intern(text), steps: self.no_steps() },
        };
        Ok(self.push(node, range))
    }

    fn no_steps(&mut self) -> super::List<Step> {
        let none = self.steps.len();
        seal(&mut self.steps, none, &mut self.tree.steps)
    }

    /// `::name…(arguments)` or `(arguments)`, after the first name.
    fn call(&mut self, first: (u32, u32)) -> Parsed<ExprId> {
        let mut name = self.intern(self.slice(first));
        if self.peek() == TokenKind::DoubleColon {
            let mut full = self.slice(first).to_owned();
            while self.eat(TokenKind::DoubleColon).is_some() {
                if self.peek() != TokenKind::Ident {
                    let detail = "A function name is required after \"::\".";
                    return Err(self.unexpected("Missing function name", detail));
                }
                let part = self.bump();
                full.push_str("::");
                full.push_str(self.slice(part));
            }
            if self.peek() != TokenKind::ParenOpen {
                let detail = "A function name must be followed by an open parenthesis that begins the call.";
                return Err(self.unexpected("Missing open parenthesis", detail));
            }
            name = self.symbol(&full);
        }
        let open = self.bump();
        self.with_newlines(false, |parser| {
            let from = parser.exprs.len();
            let expand = parser.arguments(open)?;
            let args = seal(&mut parser.exprs, from, &mut parser.tree.exprs);
            Ok(parser.push_from(first.0, Node::Call { name, args, expand }))
        })
    }

    /// Arguments and the closing parenthesis. Tells whether the last one is expanded.
    fn arguments(&mut self, open: (u32, u32)) -> Parsed<bool> {
        loop {
            if self.eat(TokenKind::ParenClose).is_some() {
                return Ok(false);
            }
            let argument = self.expression()?;
            self.exprs.push(argument);
            match self.peek() {
                TokenKind::Comma => {
                    self.bump();
                }
                TokenKind::ParenClose => {}
                TokenKind::Ellipsis => {
                    self.bump();
                    if self.eat(TokenKind::ParenClose).is_none() {
                        let detail = "An expanded argument (...) must be the last one, right before the parenthesis.";
                        return Err(self.unclosed(open, "Missing closing parenthesis", detail));
                    }
                    return Ok(true);
                }
                _ => {
                    let detail = "A comma must separate each argument from the next, and a closing parenthesis must \
                                  end the call.";
                    return Err(self.unclosed(open, "Missing argument separator", detail));
                }
            }
        }
    }

    fn tuple(&mut self) -> Parsed<ExprId> {
        let open = self.bump();
        self.with_newlines(false, |parser| {
            if parser.at_word("for") {
                return parser.for_expression(open, TokenKind::BracketClose);
            }
            let from = parser.exprs.len();
            while parser.eat(TokenKind::BracketClose).is_none() {
                let element = parser.expression()?;
                parser.exprs.push(element);
                if parser.eat(TokenKind::Comma).is_none() && parser.peek() != TokenKind::BracketClose {
                    let detail = "A comma must separate each item from the next, and a closing bracket must end the \
                                  list.";
                    return Err(parser.unclosed(open, "Missing item separator", detail));
                }
            }
            let list = seal(&mut parser.exprs, from, &mut parser.tree.exprs);
            Ok(parser.push_from(open.0, Node::Tuple(list)))
        })
    }

    fn object(&mut self) -> Parsed<ExprId> {
        let open = self.bump();
        if self.with_newlines(false, |parser| parser.at_word("for")) {
            return self.with_newlines(false, |parser| parser.for_expression(open, TokenKind::BraceClose));
        }
        self.with_newlines(true, |parser| {
            let from = parser.items.len();
            loop {
                while parser.eat(TokenKind::Newline).is_some() {}
                if parser.eat(TokenKind::BraceClose).is_some() {
                    break;
                }
                let item = parser.object_item(open)?;
                parser.items.push(item);
                match parser.peek() {
                    TokenKind::Comma | TokenKind::Newline => {
                        parser.bump();
                    }
                    TokenKind::BraceClose => {}
                    _ => {
                        let detail = "A newline or comma must separate each attribute from the next, and a closing \
                                      brace must end the object.";
                        return Err(parser.unclosed(open, "Missing attribute separator", detail));
                    }
                }
            }
            let items = seal(&mut parser.items, from, &mut parser.tree.items);
            Ok(parser.push_from(open.0, Node::Object(items)))
        })
    }

    fn object_item(&mut self, open: (u32, u32)) -> Parsed<ObjectItem> {
        if self.peek() == TokenKind::End {
            let detail = "There is no closing brace for this object before the end of the file.";
            return Err(self.unclosed(open, "Unclosed object", detail));
        }
        let key = self.expression()?;
        let key = self.object_key(key);
        if self.eat(TokenKind::Assign).is_none() && self.eat(TokenKind::Colon).is_none() {
            let detail = "Expected an equals sign (\"=\") or colon that introduces the value of this attribute.";
            return Err(self.unexpected("Missing attribute value", detail));
        }
        let value = self.expression()?;
        Ok(ObjectItem { key, value })
    }

    /// A bare word as a key stands for its own text.
    fn object_key(&mut self, key: ExprId) -> ExprId {
        let range = self.tree.spans[key.0 as usize];
        let text = match self.tree.node(key) {
            Node::Traversal { root, steps } if steps.is_empty() => root,
            Node::Bool(_) | Node::Null => self.intern(self.slice(range)),
            _ => return key,
        };
        self.push(Node::Text(text), range)
    }

    /// `for key, value in collection : …`, with what closes it, after the opening bracket or brace.
    fn for_expression(&mut self, open: (u32, u32), close: TokenKind) -> Parsed<ExprId> {
        let summary = "Invalid 'for' expression";
        self.bump();
        let (key_name, value_name) = self.for_names(summary)?;
        let collection = self.expression()?;
        if self.eat(TokenKind::Colon).is_none() {
            return Err(self.unexpected(summary, "A colon is required after the collection."));
        }
        let is_object = close == TokenKind::BraceClose;
        let mut value = self.expression()?;
        let mut key = None;
        if let Some(arrow) = self.eat(TokenKind::Arrow) {
            if !is_object {
                let detail = "A key (=>) is not valid when building a tuple. Use braces to build an object.";
                return Err(self.fail(arrow, summary, detail));
            }
            key = Some(std::mem::replace(&mut value, self.expression()?));
        } else if is_object {
            let detail = "A key is required when building an object: {for k, v in x : k => v}.";
            return Err(self.unexpected(summary, detail));
        }
        let ellipsis = self.eat(TokenKind::Ellipsis);
        if let Some(at) = ellipsis.filter(|_| !is_object) {
            return Err(self.fail(at, summary, "Grouping (...) cannot be used when building a tuple."));
        }
        let condition = match self.at_word("if") {
            true => {
                self.bump();
                Some(self.expression()?)
            }
            false => None,
        };
        if self.eat(close).is_none() {
            let detail = if is_object {
                "Expected a closing brace after the for expression."
            } else {
                "Expected a closing bracket after the for expression."
            };
            return Err(self.unclosed(open, summary, detail));
        }
        let group = ellipsis.is_some();
        self.tree.fors.push(For { key_name, value_name, collection, key, value, group, condition });
        Ok(self.push_from(open.0, Node::For(ForId(self.tree.fors.len() as u32 - 1))))
    }

    /// `name in` or `name, name in`, after `for`.
    pub(super) fn for_names(&mut self, summary: &str) -> Parsed<(Option<super::Symbol>, super::Symbol)> {
        let mut names = (None, self.for_name(summary, "A variable name is required after \"for\".")?);
        if self.eat(TokenKind::Comma).is_some() {
            let value = self.for_name(summary, "A second variable name is required after the comma.")?;
            names = (Some(names.1), value);
        }
        if !self.at_word("in") {
            return Err(self.unexpected(summary, "The keyword \"in\" is required after the variable names."));
        }
        self.bump();
        Ok(names)
    }

    fn for_name(&mut self, summary: &str, expected: &str) -> Parsed<super::Symbol> {
        if self.peek() != TokenKind::Ident {
            return Err(self.unexpected(summary, expected));
        }
        let name = self.bump();
        Ok(self.intern(self.slice(name)))
    }
}

/// An operator and how tightly it binds.
fn binary_operator(kind: TokenKind) -> Option<(BinaryOperator, u8)> {
    Some(match kind {
        TokenKind::Or => (BinaryOperator::Or, 1),
        TokenKind::And => (BinaryOperator::And, 2),
        TokenKind::Equal => (BinaryOperator::Equal, 3),
        TokenKind::NotEqual => (BinaryOperator::NotEqual, 3),
        TokenKind::Less => (BinaryOperator::Less, 4),
        TokenKind::LessOrEqual => (BinaryOperator::LessOrEqual, 4),
        TokenKind::Greater => (BinaryOperator::Greater, 4),
        TokenKind::GreaterOrEqual => (BinaryOperator::GreaterOrEqual, 4),
        TokenKind::Plus => (BinaryOperator::Add, 5),
        TokenKind::Minus => (BinaryOperator::Subtract, 5),
        TokenKind::Star => (BinaryOperator::Multiply, 6),
        TokenKind::Slash => (BinaryOperator::Divide, 6),
        TokenKind::Percent => (BinaryOperator::Modulo, 6),
        _ => return None,
    })
}
