//! How an object is deleted: the `delete` block, the request, and the wait until it is gone.

use std::time::Duration;

use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Usage};
use engine_value::{Path, Type, Value};
use kube::core::DynamicObject;
use providers_api::{Call, ErrorKind, Issue, ProviderError};

use super::remains;
use crate::{
    cluster::{Cluster, Propagation, watch::Awaited},
    object::{key::ObjectKey, readiness::Readiness},
};

/// The schema of the block.
pub(crate) fn block() -> NestedBlock {
    let policy = Attribute::new(
        Type::String,
        Usage::Optional,
        "What becomes of the objects that it owns: they are deleted before it (`Foreground`), after it (`Background`), or stay \
         (`Orphan`). Default: `Foreground`, so that with it all is gone that came from it.",
    );
    let block = Block::new([("propagation_policy", policy)], "How it is deleted.");
    NestedBlock { nesting: Nesting::List, block, min_items: 0, max_items: 1 }
}

/// What a `delete` block says.
pub(crate) fn propagation(block: Option<&Value>) -> Propagation {
    let named = block.and_then(|block| block.get("propagation_policy")?.as_str());
    named.and_then(Propagation::of).unwrap_or_default()
}

/// What is wrong with a `delete` block.
pub(crate) fn check(block: &Value, at: &Path) -> Vec<Issue> {
    let named = block.get("propagation_policy").and_then(Value::as_str);
    let wrong = named.filter(|name| Propagation::of(name).is_none());
    let issue = |name: &str| {
        let detail = format!("{name:?} is no propagation policy.");
        Issue::error(at.clone().attr("propagation_policy"), "Invalid propagation policy", detail)
            .hint("Write Foreground, Background or Orphan.")
    };
    wrong.map(issue).into_iter().collect()
}

/// What is deleted, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deletion<'a> {
    /// Only if it is still this one.
    pub(crate) uid: Option<&'a str>,
    /// What becomes of the objects that it owns.
    pub(crate) propagation: Propagation,
    /// How long it is waited for.
    pub(crate) timeout: Duration,
}

/// Deletes an object and waits until it is gone. It may be gone already, or another one of that name be there: then
/// nothing is deleted. May be called again after it failed.
pub(crate) async fn delete(
    cluster: &Cluster,
    key: &ObjectKey,
    deletion: Deletion<'_>,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let Deletion { uid, propagation, timeout } = deletion;
    let Some(kind) = cluster.kind_of(key, call).await? else { return Ok(()) };
    if !cluster.delete(&kind, key, uid, propagation, call).await? {
        return Ok(());
    }
    let what = format!("{key} to be gone");
    let awaited = Awaited { key, what: &what, timeout };
    let look = |object: Option<&DynamicObject>| match object {
        None => Readiness::Ready,
        Some(object) if uid.is_some() && object.metadata.uid.as_deref() != uid => Readiness::Ready,
        Some(object) => {
            Readiness::NotYet(remains::in_short(&kind.named(serde_json::to_value(object).unwrap_or_default())))
        }
    };
    match cluster.wait_for(&kind, awaited, call, look).await {
        Err(error) if error.kind == ErrorKind::Timeout => {
            remains::explained(cluster, &kind, key, uid, error, call).await
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_kubernetes_own() {
        let block = |policy: &str| Value::object([("propagation_policy", Value::from(policy))]);
        for (policy, expected) in [
            ("Foreground", Some(Propagation::Foreground)),
            ("Background", Some(Propagation::Background)),
            ("Orphan", Some(Propagation::Orphan)),
            ("orphan", None),
        ] {
            assert_eq!(check(&block(policy), &Path::root()).is_empty(), expected.is_some(), "{policy}");
            assert_eq!(propagation(Some(&block(policy))), expected.unwrap_or_default());
        }
        assert_eq!(propagation(None), Propagation::Foreground);
    }
}
