//! Tree to text, spelt as Terraform's state files are: `<`, `>`, `&` and the two line separators escaped.

use super::Json;

/// On one line, without spaces.
pub(super) fn compact(json: &Json, out: &mut String) {
    match json {
        Json::Array(elements) => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                compact(element, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (i, (name, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                string(name, out);
                out.push(':');
                compact(value, out);
            }
            out.push('}');
        }
        scalar => print_scalar(scalar, out),
    }
}

/// On many lines, two spaces for each level; the first line is not indented.
pub(crate) fn pretty(json: &Json, level: usize, out: &mut String) {
    match json {
        Json::Array(elements) if !elements.is_empty() => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                line(i, level + 1, out);
                pretty(element, level + 1, out);
            }
            end_line(level, out);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            pretty_in_order(members.iter().map(|(name, value)| (&**name, value)), level, out);
        }
        Json::Array(_) => out.push_str("[]"),
        Json::Object(_) => out.push_str("{}"),
        scalar => print_scalar(scalar, out),
    }
}

/// An object whose members stand in the order given.
pub(crate) fn pretty_in_order<'a>(
    members: impl IntoIterator<Item = (&'a str, &'a Json)>,
    level: usize,
    out: &mut String,
) {
    out.push('{');
    for (i, (name, value)) in members.into_iter().enumerate() {
        line(i, level + 1, out);
        string(name, out);
        out.push_str(": ");
        pretty(value, level + 1, out);
    }
    end_line(level, out);
    out.push('}');
}

fn line(index: usize, level: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
    end_line(level, out);
}

fn end_line(level: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

fn print_scalar(json: &Json, out: &mut String) {
    match json {
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(text) => out.push_str(text),
        Json::String(text) => string(text, out),
        Json::Null | Json::Array(_) | Json::Object(_) => out.push_str("null"),
    }
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            char => out.push(char),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_spelt_as_terraform_does() {
        let json = Json::text("<&>\u{2028}é\n\u{1}\u{7f}\"");
        assert_eq!(json.to_string(), "\"\\u003c\\u0026\\u003e\\u2028é\\n\\u0001\u{7f}\\\"\"");
        assert_eq!(Json::parse(&json.to_string()), Ok(json));
    }

    #[test]
    fn lines_are_indented_by_two() {
        let json = Json::parse("{\"b\":[1,{\"c\":[]}],\"a\":{}}").unwrap();
        let mut out = String::new();
        pretty(&json, 0, &mut out);
        assert_eq!(out, "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": []\n    }\n  ]\n}");
    }
}
