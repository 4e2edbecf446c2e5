//! A budget that others have used up: apply stops before the first node.

use std::collections::BTreeSet;

use engine_model::{finding::BUDGET_USED_UP, plan::Plan};

/// Does the plan hold nodes although too many are unavailable for other reasons? Then nothing is begun: apply ends with
/// its own exit code and says how to go on.
pub fn used_up(plan: &Plan) -> bool {
    let codes: BTreeSet<&str> = plan.review.findings.iter().map(|finding| &*finding.code).collect();
    !plan.holds.is_empty() && codes.contains(BUDGET_USED_UP)
}
