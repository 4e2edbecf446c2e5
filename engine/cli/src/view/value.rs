//! Values as a plan writes them: HCL, with what is not known or not shown in words.

use engine_model::address::quoted;
use engine_value::{Data, Value};

/// What stands for a sensitive value.
pub(crate) const SENSITIVE: &str = "(sensitive value)";

/// What stands for an unknown value.
pub(crate) const UNKNOWN: &str = "(known after apply)";

/// A value in HCL. `indent` is the column of the line that it begins on; lines after the first are indented from there.
pub(crate) fn hcl(value: &Value, indent: usize) -> String {
    if value.marks.sensitive {
        return SENSITIVE.to_owned();
    }
    match &value.data {
        Data::Null(_) => "null".to_owned(),
        Data::Unknown(_) => UNKNOWN.to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Number(number) => number.to_string(),
        Data::String(text) => string(text, indent),
        Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => {
            let items = elements.iter().map(|element| hcl(element, indent + 4) + ",");
            bracketed("[", items, "]", indent)
        }
        Data::Map(_, elements) => object(elements.iter(), indent),
        Data::Object(attributes) => object(attributes.iter(), indent),
    }
}

fn object<'a>(parts: impl Iterator<Item = (&'a std::sync::Arc<str>, &'a Value)>, indent: usize) -> String {
    let parts: Vec<(String, String)> = parts.map(|(name, value)| (key(name), hcl(value, indent + 4))).collect();
    let width = parts.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let items = parts.iter().map(|(name, value)| format!("{} = {value}", pad(name, width)));
    bracketed("{", items, "}", indent)
}

fn bracketed(open: &str, items: impl Iterator<Item = String>, close: &str, indent: usize) -> String {
    let inner: Vec<String> = items.map(|item| format!("\n{:pad$}{item}", "", pad = indent + 4)).collect();
    if inner.is_empty() {
        return format!("{open}{close}");
    }
    format!("{open}{}\n{:indent$}{close}", inner.concat(), "")
}

/// A key as it would be written: bare where it is a name.
pub(crate) fn key(name: &str) -> String {
    let mut chars = name.chars();
    let is_name = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if is_name { name.to_owned() } else { quoted(name) }
}

/// Text of several lines is a heredoc: a reader compares lines.
fn string(text: &str, indent: usize) -> String {
    let plain = |c: char| !c.is_control() || c == '\n' || c == '\t';
    let Some(body) = text.strip_suffix('\n').filter(|body| body.contains('\n') && text.chars().all(plain)) else {
        return quoted(text);
    };
    let lines: Vec<String> = body
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("\n{:pad$}{line}", "", pad = indent + 4) })
        .collect();
    format!("<<-EOT{}\n{:indent$}EOT", lines.concat(), "")
}

/// Columns that a text takes on a terminal, counted in grapheme clusters; wide ones count as one, as Terraform does.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use engine_value::{Marks, Type};

    use super::*;

    #[test]
    fn values_are_hcl() {
        let list = Value::list(Type::String, vec![Value::string("a"), Value::string("b\"${x}")]);
        let object = Value::object([
            ("a", Value::int(1)),
            ("long name", Value::null(Type::String)),
            ("secret", Value::string("s").mark(Marks::SENSITIVE)),
            ("unknown", Value::unknown(Type::String)),
            ("list", list),
            ("none", Value::empty_object()),
        ]);
        let expected = "{
      a           = 1
      list        = [
          \"a\",
          \"b\\\"$${x}\",
      ]
      \"long name\" = null
      none        = {}
      secret      = (sensitive value)
      unknown     = (known after apply)
  }";
        assert_eq!(hcl(&object, 2), expected);
    }

    #[test]
    fn text_of_several_lines_is_a_heredoc() {
        assert_eq!(hcl(&Value::string("a\n\nb\n"), 2), "<<-EOT\n      a\n\n      b\n  EOT");
        assert_eq!(hcl(&Value::string("a\nb"), 2), "\"a\\nb\"");
    }
}
