//! Files of variable values: `terraform.tfvars`, `*.auto.tfvars`, and what `-var-file` names.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, FileId, Span};

use super::shape::constant;
use crate::syntax::{Expr, parse};

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
    let (body, mut diagnostics) = parse(file, text);
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

/// Is a file of this name in the root module's directory read without being named? In which order: all names for
/// which this is true, as [`automatic_order`] sorts them.
fn is_automatic(name: &str) -> bool {
    name == "terraform.tfvars" || name.ends_with(".auto.tfvars")
}

/// The files that are read without being named, the last one wins: `terraform.tfvars`, then the others by name.
pub fn automatic_order<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.into_iter().filter(|name| is_automatic(name)).collect();
    names.sort_unstable_by_key(|name| (*name != "terraform.tfvars", *name));
    names
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
    fn automatic_files_come_in_order() {
        let names = ["b.auto.tfvars", "x.tfvars", "a.auto.tfvars", "terraform.tfvars", "main.tf"];
        assert_eq!(automatic_order(names), ["terraform.tfvars", "a.auto.tfvars", "b.auto.tfvars"]);
    }
}
