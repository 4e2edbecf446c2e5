//! Source text from values: what `import` generates. Formatted as `terraform fmt` formats, so that the first `fmt` changes
//! nothing; read and evaluated again, a value is the same.
//!
//! Knows no schemas: whoever has one says what is an attribute and what a block.

mod layout;
mod text;
mod value;

#[cfg(test)]
mod tests;

use engine_diag::FileId;
use engine_value::Value;

use crate::format::format;

use layout::Line;
pub(crate) use text::quoted;

/// What stands in a file or a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body(pub Vec<Item>);

/// One thing in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `name = value`. The value is wholly known; marks are not looked at.
    Attribute(String, Value),
    /// `name = expression`, as it is: a reference, a type.
    Expression(String, String),
    /// `type "label" { }`, after an empty line.
    Block(Block),
    /// A comment in lines of its own, about what follows but for a block; any text.
    Comment(String),
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// `resource`
    pub ty: String,
    /// `"kubernetes_manifest" "web"`
    pub labels: Vec<String>,
    /// What stands in it.
    pub body: Body,
}

/// The expression of a value, laid out as `fmt` does. `None`: a part of it is unknown, or infinite.
pub fn expression(value: &Value) -> Option<String> {
    let text = arguments([("x", value)])?;
    Some(text.strip_prefix("x = ")?.trim_end_matches('\n').to_owned())
}

/// Arguments on lines of their own, laid out as `fmt` does. `None`: a part of a value is unknown, or infinite.
pub fn arguments<'a>(arguments: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Option<String> {
    let mut text = String::new();
    for (name, value) in arguments {
        text.push_str(&format!("{name} = {}\n", value::one_line(value)?));
    }
    format(FileId(0), &text).ok()
}

/// The source text, with the end of its last line.
///
/// # Errors
/// The name of the first attribute whose value has a part that no source text can say: unknown, or infinite.
pub fn write(body: &Body) -> Result<String, String> {
    let mut lines = Vec::new();
    write_body(body, 0, &mut lines)?;
    Ok(layout::text(&lines))
}

fn write_body(body: &Body, depth: usize, lines: &mut Vec<Line>) -> Result<(), String> {
    for (at, item) in body.0.iter().enumerate() {
        match item {
            Item::Attribute(name, value) => {
                let text = value::write(value, depth).ok_or_else(|| name.clone())?;
                lines.push(Line::pair(depth, name, &text));
            }
            Item::Expression(name, text) => lines.push(Line::pair(depth, name, text)),
            Item::Comment(text) => {
                if at > 0 && matches!(body.0[at - 1], Item::Block(_)) {
                    lines.push(Line::Empty);
                }
                lines.extend(text.lines().map(|line| Line::whole(depth, format!("# {line}").trim_end())));
            }
            Item::Block(block) => {
                if at > 0 {
                    lines.push(Line::Empty);
                }
                let labels: String = block.labels.iter().map(|label| format!(" {}", text::quoted(label))).collect();
                let head = format!("{}{labels} {{", block.ty);
                if block.body.0.is_empty() {
                    lines.push(Line::whole(depth, &format!("{head}\n{}}}", layout::indent(depth))));
                } else {
                    lines.push(Line::whole(depth, &head));
                    write_body(&block.body, depth + 1, lines)?;
                    lines.push(Line::whole(depth, "}"));
                }
            }
        }
    }
    Ok(())
}
