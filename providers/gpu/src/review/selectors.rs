//! Selectors on node labels that the same plan changes: which nodes a pool has would then depend on the order.

use engine_diag::Severity;
use engine_model::{
    change::{Action, ResourceChange},
    finding::{Finding, Place},
};
use engine_value::{Path, Value};

use super::Reviewed;
use crate::{
    attributes::{known, text, texts},
    pool,
};

/// One error for each pool whose selector is on such a label.
pub(super) fn findings(plan: &Reviewed<'_>) -> Vec<Finding> {
    let writers: Vec<(&ResourceChange, Vec<String>)> = plan
        .changes
        .iter()
        .filter(|change| change.action != Action::NoOp)
        .map(|change| (change, changed_labels(change)))
        .filter(|(_, labels)| !labels.is_empty())
        .collect();
    let pools = plan.changes.iter().filter(|change| &*change.addr.ty == pool::TYPE && !change.after.is_null());
    let mut findings = Vec::new();
    for pool in pools {
        for (key, _) in texts(&pool.after, "selector") {
            let Some((writer, _)) = writers.iter().find(|(_, labels)| labels.contains(&key)) else { continue };
            findings.push(Finding {
                severity: Severity::Error,
                code: "selector_on_changed_label".to_owned(),
                summary: "A selector on a label that this plan changes".to_owned(),
                detail: format!(
                    "{} selects nodes by {key}, and {} changes that label: which nodes the pool has would depend on \
                     what comes first.",
                    pool.addr, writer.addr
                ),
                hint: Some("Apply the change of the label first, with -target.".to_owned()),
                places: vec![
                    ("the selector".to_owned(), Place::new(pool.addr.clone(), Path::root().attr("selector").key(key))),
                    ("the label".to_owned(), Place::new(writer.addr.clone(), Path::root().attr("manifest"))),
                ],
            });
        }
    }
    findings
}

// Labels of a Node that a manifest makes, changes or takes away.
fn changed_labels(change: &ResourceChange) -> Vec<String> {
    let labels = |object: &Value| -> Vec<(String, Option<String>)> {
        let Some(manifest) = known(object, "manifest").filter(|manifest| text(manifest, "kind") == Some("Node")) else {
            return Vec::new();
        };
        let labels = known(manifest, "metadata").and_then(|metadata| known(metadata, "labels")).and_then(Value::as_map);
        let value = |value: &Value| value.as_str().map(str::to_owned);
        labels.into_iter().flatten().map(|(key, label)| (key.to_string(), value(label))).collect()
    };
    let (before, after) = (labels(&change.before), labels(&change.after));
    let differing =
        |label: &&(String, Option<String>)| label.1.is_none() || !(before.contains(label) && after.contains(label));
    let mut keys: Vec<String> = before.iter().chain(&after).filter(differing).map(|(key, _)| key.clone()).collect();
    keys.sort();
    keys.dedup();
    keys
}
