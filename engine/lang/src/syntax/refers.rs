//! What is inside of an expression, above all which names it refers to. Knows the scopes of `for`, and nothing about what
//! a name means.

use super::tree::{ExprId, Node, Part, StepKind, Symbol, Tree};

/// Work that is left, with the names that are bound around it.
enum Todo<'t> {
    Expr(ExprId),
    Parts(&'t [Part]),
    /// Bind these names for what is pushed after.
    Bind(Option<Symbol>, Symbol),
    /// The innermost binding ends.
    Unbind,
}

/// The traversals in `expr`, in source order, without those whose root is bound by a `for` inside of `expr`.
pub(super) fn traversals(tree: &Tree, expr: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    walk(tree, expr, |id, bound| match tree.node(id) {
        Node::Traversal { root, .. } if !is_bound(tree, root, bound) => found.push(id),
        _ => {}
    });
    found
}

/// The expressions in `expr` whose node is wanted, `expr` itself included, in source order.
pub(super) fn find(tree: &Tree, expr: ExprId, wanted: impl Fn(Node) -> bool) -> Vec<ExprId> {
    let mut found = Vec::new();
    walk(tree, expr, |id, _| {
        if wanted(tree.node(id)) {
            found.push(id);
        }
    });
    found
}

/// The names of one `for`: of the key, and of the element.
type Names = (Option<Symbol>, Symbol);

fn is_bound(tree: &Tree, root: Symbol, bound: &[Names]) -> bool {
    let name = tree.str(root);
    let is = |symbol: Symbol| tree.str(symbol) == name;
    bound.iter().any(|(key, value)| key.is_some_and(is) || is(*value))
}

/// Visits every expression in `expr`, itself included, in source order, with the names that are bound there.
/// Iterative: works at any height of the tree.
fn walk(tree: &Tree, expr: ExprId, mut visit: impl FnMut(ExprId, &[Names])) {
    let mut bound: Vec<Names> = Vec::new();
    let mut todo = vec![Todo::Expr(expr)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::Bind(key, value) => bound.push((key, value)),
            Todo::Unbind => {
                bound.pop();
            }
            Todo::Parts([]) => {}
            Todo::Parts([part, rest @ ..]) => {
                todo.push(Todo::Parts(rest));
                match part {
                    Part::Text(_) => {}
                    Part::Interpolation(expr) => todo.push(Todo::Expr(*expr)),
                    Part::If { condition, then, otherwise } => {
                        todo.push(Todo::Parts(tree.parts(*otherwise)));
                        todo.push(Todo::Parts(tree.parts(*then)));
                        todo.push(Todo::Expr(*condition));
                    }
                    Part::For { key_name, value_name, collection, body } => {
                        todo.push(Todo::Unbind);
                        todo.push(Todo::Parts(tree.parts(*body)));
                        todo.push(Todo::Bind(*key_name, *value_name));
                        todo.push(Todo::Expr(*collection));
                    }
                }
            }
            Todo::Expr(id) => {
                visit(id, &bound);
                children(tree, id, &mut todo);
            }
        }
    }
}

/// Pushes what is inside of `id`, last first.
fn children<'t>(tree: &'t Tree, id: ExprId, todo: &mut Vec<Todo<'t>>) {
    match tree.node(id) {
        Node::Invalid | Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::SplatItem => {}
        Node::Template(parts) => todo.push(Todo::Parts(tree.parts(parts))),
        Node::Wrap(inner) | Node::Paren(inner) | Node::Unary { operand: inner, .. } => todo.push(Todo::Expr(inner)),
        Node::Tuple(list) | Node::Call { args: list, .. } => {
            todo.extend(tree.exprs(list).iter().rev().map(|id| Todo::Expr(*id)));
        }
        Node::Object(items) => {
            for item in tree.items(items).iter().rev() {
                todo.push(Todo::Expr(item.value));
                todo.push(Todo::Expr(item.key));
            }
        }
        Node::For(id) => {
            let it = tree.for_expr(id);
            todo.push(Todo::Unbind);
            todo.extend(it.condition.map(Todo::Expr));
            todo.push(Todo::Expr(it.value));
            todo.extend(it.key.map(Todo::Expr));
            todo.push(Todo::Bind(it.key_name, it.value_name));
            todo.push(Todo::Expr(it.collection));
        }
        Node::Traversal { steps, .. } => keys(tree.steps(steps), todo),
        Node::Access { of, steps } => {
            keys(tree.steps(steps), todo);
            todo.push(Todo::Expr(of));
        }
        Node::Splat { of, each } => {
            todo.push(Todo::Expr(each));
            todo.push(Todo::Expr(of));
        }
        Node::Conditional { condition, then, otherwise } => {
            todo.extend([otherwise, then, condition].map(Todo::Expr));
        }
        Node::Binary { left, right, .. } => todo.extend([right, left].map(Todo::Expr)),
    }
}

fn keys<'t>(steps: &'t [super::tree::Step], todo: &mut Vec<Todo<'t>>) {
    todo.extend(steps.iter().rev().filter_map(|step| match step.kind {
        StepKind::Index(key) => Some(Todo::Expr(key)),
        StepKind::Attr(_) => None,
    }));
}
