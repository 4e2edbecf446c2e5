//! Where a part of a value was written.

use engine_diag::Span;
use engine_value::{Path, Step};

use crate::syntax::{Expr, Node};

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
