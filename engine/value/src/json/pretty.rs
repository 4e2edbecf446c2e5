//! JSON on as many lines as it needs, as Terraform writes it: two spaces for each level.

use super::Json;

/// Appends a value on as many lines as it needs; its first line is not indented, the others are by `level` and more.
pub fn pretty(json: &Json, level: usize, out: &mut String) {
    match json {
        Json::Array(elements) if !elements.is_empty() => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                separate(i, level + 1, out);
                pretty(element, level + 1, out);
            }
            line(level, out);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push('{');
            for (i, (name, value)) in members.iter().enumerate() {
                separate(i, level + 1, out);
                out.push_str(&Json::from(&**name).to_string());
                out.push_str(": ");
                pretty(value, level + 1, out);
            }
            line(level, out);
            out.push('}');
        }
        short => out.push_str(&short.to_string()),
    }
}

fn separate(index: usize, level: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
    line(level, out);
}

fn line(level: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_indented_by_two() {
        let json = crate::json::read("{\"b\":[1,{\"c\":[]}],\"a\":{},\"<\":\"&\"}").unwrap();
        let mut out = String::new();
        pretty(&json, 0, &mut out);
        let expected =
            "{\n  \"b\": [\n    1,\n    {\n      \"c\": []\n    }\n  ],\n  \"a\": {},\n  \"\\u003c\": \"\\u0026\"\n}";
        assert_eq!(out, expected);
    }
}
