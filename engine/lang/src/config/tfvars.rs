//! Files of variable values: `terraform.tfvars`, `*.auto.tfvars`, and what `-var-file` names.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, FileId, Span};

use super::{json, shape::constant};
use crate::syntax::{Expr, parse, parse_json};

/// A value that is given to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The value, a constant expression.
    pub value: Expr,
    /// Name and value.
    pub span: Span,
}

/// The values in a file of variable values. Whether the variables exist is not looked at.
pub fn variable_values(file: FileId, text: &str) -> (BTreeMap<Arc<str>, Assignment>, Diagnostics) {
    // JSON, whatever the file is called: in the native syntax nothing begins so.
    let json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    let (body, mut diagnostics) = if json { parse_json(file, text, &json::VALUES) } else { parse(file, text) };
    for block in body.blocks() {
        let kind = block.kind();
        let mut diagnostic = Diagnostic::error(
            format!("Unexpected \"{kind}\" block"),
            "A file of variable values holds only arguments, one for each variable.",
        );
        if &**kind == "variable" {
            diagnostic.hint = Some("Declare variables in a .tf file, and write NAME = VALUE here.".to_owned());
        } else {
            diagnostic.hint = Some(format!("To give an object to a variable, write \"{kind} = {{ … }}\"."));
        }
        diagnostics.push(diagnostic.at(block.header()));
    }
    let mut values = BTreeMap::new();
    for attribute in body.attributes() {
        let value = attribute.value();
        constant(&value, &mut diagnostics);
        values.insert(attribute.name().clone(), Assignment { value, span: attribute.span() });
    }
    (values, diagnostics)
}

/// The files in the root module's directory that are read without being named, the last one wins: `terraform.tfvars`,
/// then `*.auto.tfvars` by name, and each also with `.json` at its end.
pub fn automatic_order<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.into_iter().filter(|name| rank(name).is_some()).collect();
    names.sort_unstable_by_key(|name| (rank(name), *name));
    names
}

fn rank(name: &str) -> Option<u8> {
    match name {
        "terraform.tfvars" => Some(0),
        "terraform.tfvars.json" => Some(1),
        _ if name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json") => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_constants() {
        let (values, diagnostics) = variable_values(FileId(0), "a = 1\nb = { c = [\"x\"] }\n");
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(values.keys().map(|name| &**name).collect::<Vec<_>>(), ["a", "b"]);
        for (text, summary) in [
            ("a = var.b", "Variables not allowed"),
            ("a = upper(\"x\")", "Function calls not allowed"),
            ("variable \"a\" {}", "Unexpected \"variable\" block"),
            ("a = ", "Invalid expression"),
        ] {
            let (_, diagnostics) = variable_values(FileId(0), text);
            let summaries: Vec<_> = diagnostics.iter().map(|d| d.summary.as_str()).collect();
            assert_eq!(summaries, [summary], "{text}");
        }
    }

    #[test]
    fn values_in_json_are_as_they_are() {
        let text = "{\"//\": \"a comment\", \"a\": \"${x} %{\", \"b\": {\"c\": [1, null]}}";
        let (values, diagnostics) = variable_values(FileId(0), text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(values.keys().map(|name| &**name).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(values["a"].value.as_text().map(|text| &**text), Some("${x} %{"));
        let (_, diagnostics) = variable_values(FileId(0), "{\"a\": 1, \"a\": 2}");
        assert_eq!(diagnostics.0[0].summary, "Duplicate object attribute");
    }

    #[test]
    fn automatic_files_come_in_order() {
        let names =
            ["b.auto.tfvars", "x.tfvars", "a.auto.tfvars.json", "terraform.tfvars.json", "terraform.tfvars", "main.tf"];
        let order = ["terraform.tfvars", "terraform.tfvars.json", "a.auto.tfvars.json", "b.auto.tfvars"];
        assert_eq!(automatic_order(names), order);
    }
}
