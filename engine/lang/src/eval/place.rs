//! Where a part of a value was written.

use engine_diag::Span;
use engine_model::schema::{Block, Nesting};
use engine_value::{Path, Step};

use crate::{
    config::Arguments,
    eval::by_schema,
    syntax::{BlockRef, Body, Expr, Node},
};

/// The place of a part of the value that an expression made, as far as its literals tell: an item of an object, an element
/// of a tuple; else the nearest expression around it.
pub(crate) fn in_expression(expr: &Expr, path: &Path) -> Span {
    let mut at = expr.clone();
    for step in &path.0 {
        at = loop {
            match at.node() {
                Node::Paren(inner) | Node::Wrap(inner) => at = at.with(inner),
                _ => break at,
            }
        };
        let tree = at.tree();
        let inner = match (at.node(), step) {
            (Node::Tuple(elements), Step::Index(index)) => tree.exprs(elements).get(*index).copied(),
            (Node::Object(items), Step::Attr(name) | Step::Key(name)) => {
                // The last of equal keys wins.
                let items = tree.items(items).iter().rev();
                items.filter(|item| is_key(&at.with(item.key), name)).map(|item| item.value).next()
            }
            _ => None,
        };
        match inner {
            Some(inner) => at = at.with(inner),
            None => break,
        }
    }
    at.span()
}

/// Is the expression of a key this literal?
fn is_key(key: &Expr, name: &str) -> bool {
    let key = key.unparenthesized();
    match key.node() {
        Node::Number(number) => key.tree().number(number).to_string() == name,
        _ => key.as_text().is_some_and(|text| **text == *name),
    }
}

/// Where a part of the object that a block makes was written. What a `dynamic` block made is at its header; what the block
/// does not say has no place.
pub fn place_of(arguments: &Arguments, schema: &Block, path: &Path) -> Option<Span> {
    match find(&arguments.body, arguments.meta, schema, &path.0)? {
        Found::Expression { expr, rest } => Some(in_expression(&expr, &rest)),
        Found::Header(span) => Some(span),
    }
}

/// The expression that made a part of the object that a block makes, and the path of the part in its value. `None` if no
/// expression did, or one in a `dynamic` block.
pub fn expression_of(arguments: &Arguments, schema: &Block, path: &Path) -> Option<(Expr, Path)> {
    match find(&arguments.body, arguments.meta, schema, &path.0)? {
        Found::Expression { expr, rest } => Some((expr, rest)),
        Found::Header(_) => None,
    }
}

enum Found {
    Expression { expr: Expr, rest: Path },
    Header(Span),
}

fn find(body: &Body, meta: &[&str], schema: &Block, path: &[Step]) -> Option<Found> {
    let (first, rest) = path.split_first()?;
    let (Step::Attr(name) | Step::Key(name)) = first else { return None };
    if schema.attributes.contains_key(name) && !meta.contains(&name.as_ref()) {
        let expr = body.attribute(name)?.value();
        return Some(Found::Expression { expr, rest: Path(rest.to_vec()) });
    }
    let nested = schema.blocks.get(name)?;
    let block = occurrence(body, schema, name, rest.first())?;
    if block.kind().as_ref() == "dynamic" {
        return Some(Found::Header(block.header()));
    }
    let inner = match nested.nesting {
        Nesting::Single | Nesting::Group => rest,
        Nesting::List | Nesting::Set | Nesting::Map => rest.get(1..).unwrap_or_default(),
    };
    find(&block.body(), &[], &nested.block, inner).or(Some(Found::Header(block.header())))
}

/// The block in the source from which one occurrence comes. How many a `dynamic` block made is not known here, so from the
/// first one on, what does not stand before it is taken to come from it.
fn occurrence<'b>(body: &'b Body, schema: &Block, name: &str, step: Option<&Step>) -> Option<BlockRef<'b>> {
    let nesting = schema.blocks.get(name)?.nesting;
    let is_dynamic = |block: &BlockRef<'_>| {
        block.kind().as_ref() == "dynamic" && block.labels().next().is_some_and(|(label, _)| **label == *name)
    };
    let (_, mut all) = by_schema(body, schema);
    all.retain(|block| **block.kind() == *name || is_dynamic(block));
    let dynamic = all.iter().position(is_dynamic);
    let found = match (nesting, step) {
        (Nesting::List, Some(Step::Index(index))) => match dynamic {
            Some(first) if *index >= first => Some(first),
            _ => Some(*index),
        },
        (Nesting::Map, Some(Step::Key(key) | Step::Attr(key))) => all
            .iter()
            .position(|block| !is_dynamic(block) && block.labels().next().is_some_and(|(label, _)| label == key))
            .or(dynamic),
        _ => Some(0),
    };
    found.and_then(|at| all.get(at).copied())
}
