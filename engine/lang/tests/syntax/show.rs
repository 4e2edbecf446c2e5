//! A tree as one line of text, to compare with.

use std::fmt::Write;

use engine_diag::{Diagnostics, FileId};
use engine_lang::syntax::{
    BinaryOperator, Body, ExprId, List, Node, Part, Step, StepKind, Tree, UnaryOperator, parse, parse_expression,
};

/// `x = <text>` parsed; the shape of the value, or the summaries of the errors.
pub(crate) fn value(text: &str) -> String {
    let (body, diagnostics) = parse(FileId(0), &format!("x = {text}\n"));
    if !diagnostics.is_empty() {
        return errors(&diagnostics);
    }
    let value = body.attribute("x").expect("parsed without errors").value();
    expr(value.tree(), value.id())
}

/// The shape of an expression that stands alone.
pub(crate) fn expression(text: &str) -> String {
    let (value, diagnostics) = parse_expression(FileId(0), text);
    if !diagnostics.is_empty() {
        return errors(&diagnostics);
    }
    expr(value.tree(), value.id())
}

/// `error <summary>; <summary>`
pub(crate) fn errors(diagnostics: &Diagnostics) -> String {
    let summaries: Vec<_> = diagnostics.iter().map(|d| d.summary.as_str()).collect();
    format!("error {}", summaries.join("; "))
}

/// A body: `name = value`, `kind label { … }`, separated by `; `.
pub(crate) fn body(body: &Body) -> String {
    let mut items: Vec<(u32, String)> = Vec::new();
    for attribute in body.attributes() {
        let value = attribute.value();
        let text = format!("{} = {}", attribute.name(), expr(value.tree(), value.id()));
        items.push((attribute.span().start, text));
    }
    for block in body.blocks() {
        let mut text = block.kind().to_string();
        for (label, _) in block.labels() {
            write!(text, " {label:?}").unwrap();
        }
        write!(text, " {{ {} }}", self::body(&block.body())).unwrap();
        items.push((block.span().start, text));
    }
    items.sort();
    items.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("; ")
}

/// An expression, fully parenthesised.
pub(crate) fn expr(tree: &Tree, id: ExprId) -> String {
    let show = |id| expr(tree, id);
    match tree.node(id) {
        Node::Invalid => "invalid".to_owned(),
        Node::Null => "null".to_owned(),
        Node::Bool(bool) => bool.to_string(),
        Node::Number(number) => format!("{:?}", tree.number(number)).trim_matches(|c: char| !c.is_numeric()).to_owned(),
        Node::Text(text) => format!("{:?}", tree.str(text)),
        Node::Template(list) => format!("`{}`", parts(tree, list)),
        Node::Wrap(inner) => format!("wrap({})", show(inner)),
        Node::Tuple(list) => format!("[{}]", exprs(tree, list)),
        Node::Object(items) => {
            let items = tree.items(items).iter().map(|item| format!("{}: {}", show(item.key), show(item.value)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
        }
        Node::For(id) => {
            let it = tree.for_expr(id);
            let mut text = "for ".to_owned();
            if let Some(key) = it.key_name {
                write!(text, "{}, ", tree.str(key)).unwrap();
            }
            write!(text, "{} in {}: ", tree.str(it.value_name), show(it.collection)).unwrap();
            if let Some(key) = it.key {
                write!(text, "{} => ", show(key)).unwrap();
            }
            write!(text, "{}{}", show(it.value), if it.group { "..." } else { "" }).unwrap();
            if let Some(condition) = it.condition {
                write!(text, " if {}", show(condition)).unwrap();
            }
            if it.key.is_some() { format!("{{{text}}}") } else { format!("[{text}]") }
        }
        Node::Traversal { root, steps } => format!("{}{}", tree.str(root), self::steps(tree, steps)),
        Node::Access { of, steps } => format!("{}{}", show(of), self::steps(tree, steps)),
        Node::Splat { of, each } => format!("splat({}, {})", show(of), show(each)),
        Node::SplatItem => "@".to_owned(),
        Node::Call { name, args, expand } => {
            format!("{}({}{})", tree.str(name), exprs(tree, args), if expand { "..." } else { "" })
        }
        Node::Conditional { condition, then, otherwise } => {
            format!("({} ? {} : {})", show(condition), show(then), show(otherwise))
        }
        Node::Unary { operator: UnaryOperator::Negate, operand } => format!("(- {})", show(operand)),
        Node::Unary { operator: UnaryOperator::Not, operand } => format!("(! {})", show(operand)),
        Node::Binary { operator, left, right } => format!("({} {} {})", show(left), sign(operator), show(right)),
        Node::Paren(inner) => format!("paren({})", show(inner)),
    }
}

fn exprs(tree: &Tree, list: List<ExprId>) -> String {
    tree.exprs(list).iter().map(|id| expr(tree, *id)).collect::<Vec<_>>().join(", ")
}

fn steps(tree: &Tree, list: List<Step>) -> String {
    let mut text = String::new();
    for step in tree.steps(list) {
        match step.kind {
            StepKind::Attr(name) => write!(text, ".{}", tree.str(name)).unwrap(),
            StepKind::Index(key) => write!(text, "[{}]", expr(tree, key)).unwrap(),
        }
    }
    text
}

fn parts(tree: &Tree, list: List<Part>) -> String {
    let mut text = String::new();
    for part in tree.parts(list) {
        match part {
            Part::Text(symbol) => text.push_str(&tree.str(*symbol).escape_debug().to_string()),
            Part::Interpolation(id) => write!(text, "${{{}}}", expr(tree, *id)).unwrap(),
            Part::If { condition, then, otherwise } => {
                write!(text, "<if {}|{}|{}>", expr(tree, *condition), parts(tree, *then), parts(tree, *otherwise))
                    .unwrap();
            }
            Part::For { key_name, value_name, collection, body } => {
                let key = key_name.map_or(String::new(), |key| format!("{},", tree.str(key)));
                let (value, collection) = (tree.str(*value_name), expr(tree, *collection));
                write!(text, "<for {key}{value} in {collection}|{}>", parts(tree, *body)).unwrap();
            }
        }
    }
    text
}

fn sign(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Or => "||",
        BinaryOperator::And => "&&",
        BinaryOperator::Equal => "==",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessOrEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterOrEqual => ">=",
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
    }
}
