//! Is a plan still the truth about what it was made from?

use engine_diag::Diagnostic;
use engine_model::{
    address::ProviderConfigAddr,
    name::{ClusterIdentity, PlanDigest},
    plan::Plan,
};
use state::Loaded;

/// A plan is bound to the state that it was made from: any write since makes it stale, its own apply included.
pub fn stale(plan: &Plan, digest: &PlanDigest, loaded: &Loaded) -> Option<Diagnostic> {
    let now = loaded.identity();
    let applied = loaded.snapshot.as_ref().and_then(|s| s.last_run.as_ref()).is_some_and(|run| run.plan == *digest);
    if now == plan.snapshot && !applied {
        return None;
    }
    let detail = if applied {
        "This plan has been applied already, or its apply was begun.".to_owned()
    } else if now.lineage != plan.snapshot.lineage && !plan.snapshot.lineage.is_empty() {
        format!(
            "The plan was made from the state with lineage {}, and this state has {}.",
            plan.snapshot.lineage,
            if now.lineage.is_empty() { "none yet" } else { &now.lineage }
        )
    } else {
        format!(
            "The plan was made from serial {} of the state, and it was written since: it has serial {} now{}.",
            plan.snapshot.serial,
            now.serial,
            if now.tail.is_empty() { "" } else { " and a run that was cut off" }
        )
    };
    Some(Diagnostic::error("Saved plan is stale", detail).hint("Run plan again, and review the new plan."))
}

/// A plan, and a state, are bound to the cluster behind each provider configuration. `expected` is what they know.
pub fn other_cluster(
    provider: &ProviderConfigAddr,
    expected: Option<&ClusterIdentity>,
    found: Option<&ClusterIdentity>,
) -> Option<Diagnostic> {
    let expected = expected?;
    if found == Some(expected) {
        return None;
    }
    let found = found.map_or_else(|| "no cluster".to_owned(), |found| format!("the cluster {found}"));
    let detail = format!(
        "{provider} now leads to {found}; this was made for the cluster {expected} (the UID of its kube-system namespace)."
    );
    Some(Diagnostic::error("Another cluster", detail).hint(
        "Point the provider, or the kubeconfig context, at the cluster that this was made for. A new cluster needs a \
         state of its own.",
    ))
}
