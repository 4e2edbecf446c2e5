//! The rules of a definition (`x-kubernetes-validations`, in CEL), on the parts of a body that are wholly known.
//!
//! Rules about changes (`oldSelf`) are the server's to check, and so are rules with functions that are not known here: what
//! cannot be told is not held against anybody.

use engine_value::{Data, Path, Step, Value};
use kube_cel::{ErrorKind, Validator};
use serde_json::Value as Json;

use super::{
    check::Fault,
    node::{Field, Node},
};
use crate::object::{convert::to_json, place::place};

/// The keyword that holds rules.
pub(super) const RULES: &str = "x-kubernetes-validations";

/// The rules that a body breaks.
pub(super) fn broken(node: &Node<'_>, body: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    if node.has_rules() {
        walk(&Validator::new(), node, body, &mut Path::root(), &mut faults);
    }
    faults
}

fn walk(validator: &Validator, node: &Node<'_>, value: &Value, path: &mut Path, faults: &mut Vec<Fault>) {
    if let Ok(Some(known)) = to_json(value) {
        faults.extend(of_known(validator, node, &known, path));
        return;
    }
    match &value.data {
        Data::Object(fields) | Data::Map(_, fields) => {
            for (name, value) in fields.iter() {
                if let Field::Declared(field) = node.field(name) {
                    path.0.push(Step::Attr(name.clone()));
                    walk(validator, &field, value, path, faults);
                    path.0.pop();
                }
            }
        }
        Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => {
            let Some(item) = node.items() else { return };
            for (index, value) in items.iter().enumerate() {
                path.0.push(Step::Index(index));
                walk(validator, &item, value, path, faults);
                path.0.pop();
            }
        }
        _ => {}
    }
}

fn of_known(validator: &Validator, node: &Node<'_>, known: &Json, path: &Path) -> Vec<Fault> {
    let Err(errors) = validator.validate(&node.json(), known, None) else { return Vec::new() };
    let broken = errors.into_vec().into_iter().filter(|error| error.kind == ErrorKind::ValidationFailure);
    broken
        .map(|error| {
            let inside = place(&error.field_path, known);
            Fault {
                path: Path(path.0.iter().cloned().chain(inside.0).collect()),
                what: error.message,
                hint: format!("The definition of its kind demands {}", error.rule.trim()),
                is_unknown_field: false,
            }
        })
        .collect()
}
