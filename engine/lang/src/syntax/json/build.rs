//! JSON values to a syntax tree.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, FileId};
use engine_value::Number;

use super::{
    grammar::{Grammar, OPEN, Reading},
    read::{Json, Kind, Property, Range, Text, read},
};
use crate::syntax::{
    body::Body,
    lexer::Start,
    parser::{Embedded, embed},
    tree::{
        Attribute, Block, BodyId, BodyNode, ExprId, Label, List, MAX_NESTING, Node, NumberId, ObjectItem, Symbol, Tree,
    },
};

/// Parses a configuration file in JSON. The body holds all that could be parsed, even if there are errors.
pub fn parse_json(file: FileId, text: &str, grammar: &'static Grammar) -> (Body, Diagnostics) {
    let (json, diagnostics) = read(file, text);
    let tree = Tree { json: true, ..Tree::new(file) };
    let mut builder = Builder { tree, heights: Vec::new(), bare: 0, diagnostics };
    let end = text.len() as u32;
    let failed = builder.diagnostics.has_errors();
    let mut properties = Vec::new();
    let range = match &json.kind {
        Kind::Object(found) => {
            properties.extend(found);
            (json.range.0 + 1, json.range.1.saturating_sub(1))
        }
        Kind::Array(elements) if elements.iter().all(|one| matches!(one.kind, Kind::Object(_))) => {
            for element in elements {
                if let Kind::Object(found) = &element.kind {
                    properties.extend(found);
                }
            }
            (json.range.0 + 1, json.range.1.saturating_sub(1))
        }
        _ => {
            if !failed {
                let detail = "The root value in a JSON-based configuration must be either a JSON object or a JSON array of \
                              objects.";
                builder.report(json.range, "Root value must be object", detail);
            }
            (0, end)
        }
    };
    let body = builder.body(&properties, range, grammar, Place::Body);
    (Body::new(Arc::new(builder.tree), body), builder.diagnostics)
}

/// Where a body stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is one.
    Body,
    /// It is an object, and perhaps one: what is wrong with it as a body is not reported.
    Object,
}

struct Builder {
    tree: Tree,
    /// Per node: how high it is.
    heights: Vec<u16>,
    /// Inside of how many values of which only the value is wanted, not the body that it may be?
    bare: usize,
    diagnostics: Diagnostics,
}

impl Builder {
    fn report(&mut self, at: Range, summary: &str, detail: impl Into<String>) {
        let span = self.tree.at(at);
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }

    fn symbol(&mut self, text: &str) -> Symbol {
        self.tree.symbols.push(crate::syntax::normalized(text).as_ref().into());
        Symbol(self.tree.symbols.len() as u32 - 1)
    }

    fn push(&mut self, node: Node, at: Range, children: &[ExprId]) -> ExprId {
        let highest = children.iter().map(|child| self.heights[child.0 as usize]).max().unwrap_or(0);
        if usize::from(highest) >= MAX_NESTING {
            let detail = format!("Expressions can be nested {MAX_NESTING} levels deep; this is deeper.");
            self.report(at, "Nested too deeply", detail);
            return self.push(Node::Invalid, at, &[]);
        }
        self.heights.push(highest + 1);
        self.tree.nodes.push(node);
        self.tree.spans.push(at);
        ExprId(self.tree.nodes.len() as u32 - 1)
    }

    // Expressions.

    fn value(&mut self, json: &Json<'_>, reading: Reading, open: bool) -> ExprId {
        match &json.kind {
            Kind::Invalid => self.push(Node::Invalid, json.range, &[]),
            Kind::Null => self.push(Node::Null, json.range, &[]),
            Kind::Bool(value) => self.push(Node::Bool(*value), json.range, &[]),
            Kind::Number(text) => match Number::parse(text) {
                Some(number) => {
                    self.tree.numbers.push(number);
                    let id = NumberId(self.tree.numbers.len() as u32 - 1);
                    self.push(Node::Number(id), json.range, &[])
                }
                None => {
                    let detail = format!("\"{text}\" is not a number that can be represented.");
                    self.report(json.range, "Invalid JSON number", detail);
                    self.push(Node::Invalid, json.range, &[])
                }
            },
            Kind::String(text) => self.string(text, reading),
            Kind::Array(elements) => {
                let exprs: Vec<ExprId> = elements.iter().map(|one| self.value(one, reading, open)).collect();
                let list = List::append(&mut self.tree.exprs, &exprs);
                self.push(Node::Tuple(list), json.range, &exprs)
            }
            Kind::Object(properties) => self.object(properties, json.range, reading, open),
        }
    }

    fn string(&mut self, text: &Text<'_>, reading: Reading) -> ExprId {
        let start = match reading {
            Reading::Expression => Start::Normal,
            Reading::Template if text.text.contains("${") || text.text.contains("%{") => Start::Template,
            _ => {
                let symbol = self.symbol(&text.text);
                return self.push(Node::Text(symbol), text.range, &[]);
            }
        };
        let file = self.tree.file;
        let tree = std::mem::replace(&mut self.tree, Tree::new(file));
        let heights = std::mem::take(&mut self.heights);
        let place = |at: u32| text.place(at);
        let template = start == Start::Template;
        let Embedded { tree, heights, expr, diagnostics } = embed(tree, heights, &text.text, start, &place);
        self.tree = tree;
        self.heights = heights;
        self.diagnostics.extend(diagnostics);
        if template {
            self.tree.spans[expr.0 as usize] = text.range;
        }
        expr
    }

    fn object(&mut self, properties: &[Property<'_>], range: Range, reading: Reading, open: bool) -> ExprId {
        let mut items = Vec::with_capacity(properties.len());
        let mut children = Vec::with_capacity(properties.len() * 2);
        for property in properties {
            let (key_reading, value_reading) = match reading {
                Reading::Template => (Reading::Template, Reading::Template),
                Reading::Members(members) => {
                    let found = members.iter().find(|(name, _)| *name == &*property.name.text);
                    (Reading::Literal, found.map_or(Reading::Literal, |(_, reading)| *reading))
                }
                other => (Reading::Literal, other),
            };
            let key = self.string(&property.name, key_reading);
            // What a `dynamic` block holds is read again as one.
            let again = open && self.bare == 0 && &*property.name.text == "dynamic";
            let reported = self.diagnostics.0.len();
            self.bare += usize::from(again);
            let value = self.value(&property.value, value_reading, open);
            self.bare -= usize::from(again);
            if again && is_blocks(&property.value) {
                self.diagnostics.0.truncate(reported);
            }
            items.push(ObjectItem { key, value });
            children.extend([key, value]);
        }
        let list = List::append(&mut self.tree.items, &items);
        let expr = self.push(Node::Object(list), range, &children);
        if open && self.bare == 0 {
            let values: Vec<ExprId> = items.iter().map(|item| item.value).collect();
            let properties: Vec<&Property<'_>> = properties.iter().collect();
            let body = self.body_of(&properties, Some(&values), (range.0 + 1, range.1 - 1), &OPEN, Place::Object);
            self.tree.objects.push((expr, body));
        } else {
            self.unique(properties);
        }
        expr
    }

    /// Of an object that is no body, names are distinct.
    fn unique(&mut self, properties: &[Property<'_>]) {
        let mut seen: BTreeMap<&str, Range> = BTreeMap::new();
        for property in properties {
            if let Some(first) = seen.insert(&property.name.text, property.name.range) {
                self.redefined(&property.name, first);
            }
        }
    }

    fn redefined(&mut self, name: &Text<'_>, first: Range) {
        let detail = format!("A property named \"{}\" is already there. Each may be there only once.", name.text);
        let first = self.tree.at(first);
        let span = self.tree.at(name.range);
        let diagnostic = Diagnostic::error("Duplicate object attribute", detail).at(span);
        self.diagnostics.push(diagnostic.related(first, "first set here"));
    }

    // Bodies.

    fn body(&mut self, properties: &[&Property<'_>], range: Range, grammar: &Grammar, place: Place) -> BodyId {
        self.body_of(properties, None, range, grammar, place)
    }

    /// `values`: the values of the properties, where they are made already.
    fn body_of(
        &mut self,
        properties: &[&Property<'_>],
        values: Option<&[ExprId]>,
        range: Range,
        grammar: &Grammar,
        place: Place,
    ) -> BodyId {
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut blocks = Vec::new();
        let mut seen: BTreeMap<&str, (Range, bool)> = BTreeMap::new();
        for (at, property) in properties.iter().enumerate() {
            let name = &property.name;
            if name.text == "//" {
                continue;
            }
            if let Some((labels, inner)) = grammar.block(&name.text)
                && (place == Place::Body || is_blocks(&property.value))
            {
                let kind = self.symbol(&name.text);
                let mut path = Vec::new();
                self.blocks(kind, name, &property.value, labels, &mut path, inner, &mut blocks);
                continue;
            }
            // Two properties of the same name may be two blocks of the same kind.
            let may_be_block = grammar.open && is_blocks(&property.value);
            if let Some((first, first_may)) = seen.insert(&name.text, (name.range, may_be_block))
                && !(may_be_block && first_may)
            {
                self.redefined(name, first);
                continue;
            }
            let value = match values {
                Some(values) => values[at],
                None => self.value(&property.value, grammar.reading(&name.text), grammar.open),
            };
            let symbol = self.symbol(&name.text);
            attributes.push(Attribute { name: symbol, name_span: name.range, value });
        }
        let attributes = List::append(&mut self.tree.attributes, &attributes);
        let blocks = List::append(&mut self.tree.blocks, &blocks);
        self.tree.bodies.push(BodyNode { attributes, blocks, start: range.0, end: range.1 });
        BodyId(self.tree.bodies.len() as u32 - 1)
    }

    /// The blocks that a property is: through its labels, then one block for an object and each for an array of objects.
    #[expect(clippy::too_many_arguments, reason = "one recursion over the labels")]
    fn blocks(
        &mut self,
        kind: Symbol,
        name: &Text<'_>,
        value: &Json<'_>,
        labels: usize,
        path: &mut Vec<Label>,
        grammar: &'static Grammar,
        found: &mut Vec<Block>,
    ) {
        let objects: Vec<(&Vec<Property<'_>>, Range)> = match &value.kind {
            Kind::Invalid => return,
            Kind::Null => Vec::new(),
            Kind::Object(properties) => vec![(properties, value.range)],
            Kind::Array(elements) => {
                let objects: Vec<_> = elements
                    .iter()
                    .filter_map(|element| match &element.kind {
                        Kind::Object(properties) => Some((properties, element.range)),
                        _ => None,
                    })
                    .collect();
                if let Some(other) = elements.iter().find(|element| !matches!(element.kind, Kind::Object(_))) {
                    return self.no_blocks(other.range, name);
                }
                objects
            }
            _ => return self.no_blocks(value.range, name),
        };
        if labels == 0 {
            for (properties, range) in objects {
                let properties: Vec<&Property<'_>> = properties.iter().collect();
                let labels = List::append(&mut self.tree.labels, path);
                let body = self.body(&properties, (range.0 + 1, range.1 - 1), grammar, Place::Body);
                found.push(Block { kind, kind_span: name.range, labels, body, end: range.1 });
            }
            return;
        }
        let mut any = false;
        for property in objects.into_iter().flat_map(|(properties, _)| properties) {
            any = true;
            let text = self.symbol(&property.name.text);
            path.push(Label { text, span: property.name.range });
            self.blocks(kind, name, &property.value, labels - 1, path, grammar, found);
            path.pop();
        }
        if !any {
            let detail = format!(
                "At least one object property is required, whose name is a label of the \"{}\" block.",
                name.text
            );
            self.report(value.range, "Missing block label", detail);
        }
    }

    fn no_blocks(&mut self, at: Range, name: &Text<'_>) {
        let detail = format!(
            "Either a JSON object or a JSON array of objects is required, representing the contents of one or more \"{}\" \
             blocks.",
            name.text
        );
        self.report(at, "Incorrect JSON value type", detail);
    }
}

/// Could it be one block, or several?
fn is_blocks(value: &Json<'_>) -> bool {
    match &value.kind {
        Kind::Object(_) | Kind::Null => true,
        Kind::Array(elements) => elements.iter().all(|element| matches!(element.kind, Kind::Object(_))),
        _ => false,
    }
}
