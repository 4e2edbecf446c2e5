//! Where a part of an object is written: (address, path) to a place in a source file.
//!
//! Follows what is written as a bare reference: `var.x` to the argument of the module call, to the line of the variables
//! file or to the default, `local.x` to the local value, `each.value` to the element of `for_each`.

use std::{ops::Range, sync::Arc};

use engine_diag::{Sources, Span};
use engine_lang::{
    config::Repeat,
    eval::{Subject, expression_of, place_of, subject_of},
    syntax::{Expr, Node, StepKind},
};
use engine_model::{
    address::{InstanceKey, ModuleAddr, ResourceAddr},
    finding::{Place, Review, SourcePlace},
};
use engine_value::{Path, Step};

use crate::program::Program;

/// How many references are followed in a row: more is a circle, or nobody's configuration.
const MOST_HOPS: usize = 64;

/// Where a part of an object is written; `None`: it has no source.
pub fn span(program: &Program, addr: &ResourceAddr, path: &Path) -> Option<Span> {
    span_of(program, addr, path, |expr| expr.span())
}

/// Where bytes of a text of an object are written: in the literal, where the text is written as one; else as [`span`].
pub(crate) fn span_in_text(program: &Program, addr: &ResourceAddr, path: &Path, bytes: &Range<u32>) -> Option<Span> {
    span_of(program, addr, path, |expr| in_literal(expr, bytes).unwrap_or(expr.span()))
}

fn span_of(program: &Program, addr: &ResourceAddr, path: &Path, place: impl Fn(&Expr) -> Span) -> Option<Span> {
    let block = program.resource(addr)?;
    let found = program.schema(addr, block).ok().and_then(|(_, schema)| {
        match expression_of(&block.arguments, &schema.block, path) {
            Some((expr, rest)) => {
                let seat = Seat { module: addr.module.clone(), each: each(&block.repeat, addr.key.as_ref()) };
                Some(place(&in_expr(program, seat, expr, &rest.0)))
            }
            None => place_of(&block.arguments, &schema.block, path),
        }
    });
    Some(found.unwrap_or(block.span))
}

/// Where bytes of a quoted text stand between its quotes; `None`: it is written in another way, such as a heredoc or with
/// escapes that need not be.
fn in_literal(expr: &Expr, bytes: &Range<u32>) -> Option<Span> {
    let (expr, text) = (expr.unparenthesized(), expr.unparenthesized().as_text()?.clone());
    let span = expr.span();
    // The quote before the text, and the text before the place as it has to be written.
    let written = |end: u32| Some(1 + escaped(text.get(..end as usize)?).len() as u32);
    if written(text.len() as u32)? + 1 != span.end - span.start {
        return None;
    }
    Some(Span { start: span.start + written(bytes.start)?, end: span.start + written(bytes.end)?, ..span })
}

fn escaped(text: &str) -> String {
    let plain = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    plain.replace("${", "$${").replace("%{", "%%{")
}

/// The place of a span in a source file.
pub fn source_place(sources: &Sources, span: Span) -> SourcePlace {
    let (start, _) = sources.range(span);
    let file = sources.get(span.file).name.to_string();
    SourcePlace { file, line: start.line, column: start.column, bytes: (span.start, span.end) }
}

/// Fills in where everything is that a review names.
pub(crate) fn locate(program: &Program, sources: &Sources, review: &mut Review) {
    let locate = |place: &mut Place| {
        if place.source.is_none() {
            place.source = span(program, &place.addr, &place.path).map(|span| source_place(sources, span));
        }
    };
    review.findings.iter_mut().flat_map(|finding| &mut finding.places).for_each(|(_, place)| locate(place));
    let notes = review.capacity.iter_mut().flat_map(|row| &mut row.notes);
    notes.filter_map(|(_, place)| place.as_mut()).for_each(locate);
}

/// What writes a part of what an expression says: as deep as literals go, along bare references.
fn in_expr(program: &Program, mut seat: Seat, expr: Expr, path: &[Step]) -> Expr {
    let (mut at, mut rest, mut place) = (expr.unparenthesized(), path.to_vec(), expr);
    for _ in 0..MOST_HOPS {
        match descend(&at, &rest) {
            Some((inner, left)) => {
                (at, rest, place) = (inner.unparenthesized(), left, inner);
            }
            None => match follow(program, &seat, &at) {
                Some(Followed { seat: next, expr, steps }) => {
                    (seat, at, place) = (next, expr.unparenthesized(), expr);
                    rest.splice(0..0, steps);
                }
                None => return place,
            },
        }
    }
    place
}

/// One step into a literal.
fn descend(expr: &Expr, path: &[Step]) -> Option<(Expr, Vec<Step>)> {
    let (step, rest) = path.split_first()?;
    let tree = expr.tree();
    let inner = match (expr.node(), step) {
        (Node::Object(items), Step::Attr(name) | Step::Key(name)) => {
            let item = tree.items(items).iter().find(|item| expr.with(item.key).as_text() == Some(name))?;
            expr.with(item.value)
        }
        (Node::Tuple(elements), Step::Index(index)) => expr.with(*tree.exprs(elements).get(*index)?),
        _ => return None,
    };
    Some((inner, rest.to_vec()))
}

/// Where an expression stands.
#[derive(Clone)]
struct Seat {
    module: ModuleAddr,
    /// `for_each` of the block around it, and the key of the instance.
    each: Option<(Expr, Arc<str>)>,
}

fn each(repeat: &Repeat, key: Option<&InstanceKey>) -> Option<(Expr, Arc<str>)> {
    match (repeat, key) {
        (Repeat::ForEach(expr), Some(InstanceKey::String(key))) => Some((expr.unparenthesized(), key.clone())),
        _ => None,
    }
}

/// Where a bare reference leads.
struct Followed {
    seat: Seat,
    expr: Expr,
    /// What the reference takes from it.
    steps: Vec<Step>,
}

fn follow(program: &Program, seat: &Seat, expr: &Expr) -> Option<Followed> {
    let module = &seat.module;
    let alone = |module: &ModuleAddr| Seat { module: module.clone(), each: None };
    let Node::Traversal { steps, .. } = expr.node() else { return None };
    let (subject, _) = subject_of(expr).ok()?;
    let tree = expr.tree();
    // `var`, `local` and `each` all take one step themselves.
    let taken = tree.steps(steps).get(1..)?.iter().map(|step| match step.kind {
        StepKind::Attr(name) => Some(Step::Attr(tree.str(name).clone())),
        StepKind::Index(key) => match tree.node(key) {
            Node::Text(key) => Some(Step::Key(tree.str(key).clone())),
            Node::Number(number) => tree.number(number).to_usize().map(Step::Index),
            _ => None,
        },
    });
    let steps: Vec<Step> = taken.collect::<Option<_>>()?;
    match subject {
        Subject::Local(name) => {
            let expr = program.module(module)?.locals.get(&name)?.value.clone();
            Some(Followed { seat: alone(module), expr, steps })
        }
        Subject::EachValue => {
            let (expr, key) = seat.each.clone()?;
            // What a `for` makes of something has no place of its own.
            matches!(expr.node(), Node::Object(_) | Node::Traversal { .. }).then_some(())?;
            let steps = [Step::Key(key)].into_iter().chain(steps).collect();
            Some(Followed { seat: alone(module), expr, steps })
        }
        Subject::Variable(name) => {
            let default = || program.module(module)?.variables.get(&name)?.default.clone();
            let (seat, expr) = match program.call(module) {
                Some((caller, call)) => match call.arguments.body.attribute(&name) {
                    Some(argument) => {
                        let key = module.0.last().and_then(|step| step.key.as_ref());
                        (Seat { module: caller, each: each(&call.repeat, key) }, argument.value())
                    }
                    None => (alone(module), default()?),
                },
                None => match program.variables.get(&name) {
                    Some(crate::Given::Written(assignment)) => (alone(module), assignment.value.clone()),
                    Some(crate::Given::Value(_)) => return None,
                    None => (alone(module), default()?),
                },
            };
            Some(Followed { seat, expr, steps })
        }
        _ => None,
    }
}
