//! What a plan disrupts: which nodes are held, in which waves, whose pods end.

use engine_model::{
    operation::{Excluded, ExclusionReason, Hold, Operation, OperationKind, Victim},
    plan::Plan,
};

use super::value::{pad, width};

/// Empty where the plan changes nothing on nodes.
pub(crate) fn disruption(plan: &Plan) -> String {
    let mut out = String::new();
    if !plan.holds.is_empty() {
        out.push_str(&format!(
            "Disruption: {}, {}\n",
            count(plan.holds.len(), "node"),
            count(plan.waves.len(), "wave")
        ));
        let many = plan.waves.len() > 1;
        let rows: Vec<[String; 3]> = plan.holds.iter().map(|hold| row(plan, hold, many)).collect();
        out.push_str(&table(&rows));
    }
    let quiet: Vec<&Operation> = plan.operations.iter().filter(|o| !is_held(plan, o)).collect();
    if !quiet.is_empty() {
        out.push_str("Without disruption:\n");
        let rows: Vec<[String; 3]> =
            quiet.iter().map(|o| [o.node.to_string(), o.summary.clone(), "no pods end".to_owned()]).collect();
        out.push_str(&table(&rows));
    }
    for back in &plan.given_back {
        out.push_str(&format!("  {} is given back: a run that was cut off still holds it\n", back.node));
    }
    out
}

fn is_held(plan: &Plan, operation: &Operation) -> bool {
    plan.holds.iter().any(|hold| hold.provider == operation.provider && hold.node == operation.node)
}

fn row(plan: &Plan, hold: &Hold, many: bool) -> [String; 3] {
    let summaries: Vec<&str> =
        plan.operations.iter().filter(|o| hold.operations.contains(&o.id)).map(|o| &*o.summary).collect();
    let kind = match hold.kind {
        OperationKind::None => "",
        OperationKind::Drain => "drain",
        OperationKind::Reset => "drain, reset",
        OperationKind::Reboot => "drain, reboot",
    };
    let wave = if many { format!("wave {}: ", hold.wave + 1) } else { String::new() };
    let what = format!("{wave}{kind}: {}", summaries.join("; "));
    let victims: Vec<String> = hold.victims.iter().map(victim).collect();
    let victims = if victims.is_empty() { "no pods end".to_owned() } else { victims.join(", ") };
    [hold.node.to_string(), what, victims]
}

fn victim(victim: &Victim) -> String {
    format!("{} (priority {}): {}", victim.owner(), victim.priority, count(victim.count as usize, "pod"))
}

fn table(rows: &[[String; 3]]) -> String {
    let columns = |i: usize| rows.iter().map(|row| width(&row[i])).max().unwrap_or(0);
    let (first, second) = (columns(0), columns(1));
    rows.iter().map(|[a, b, c]| format!("  {}   {}   {c}\n", pad(a, first), pad(b, second))).collect()
}

/// Nodes that are left alone.
pub(crate) fn excluded(all: &[Excluded]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let columns = all.iter().map(|e| width(e.node.as_str())).max().unwrap_or(0);
    let rows: String = all
        .iter()
        .map(|e| format!("  {}   {}: {}\n", pad(e.node.as_str(), columns), excluded_because(e.why), e.detail))
        .collect();
    format!("Excluded, and left as they are: {}\n{rows}", count(all.len(), "node"))
}

fn excluded_because(why: ExclusionReason) -> &'static str {
    match why {
        ExclusionReason::Vanished => "gone from the cluster",
        ExclusionReason::NotReady => "not ready",
        ExclusionReason::AgentDown => "agent down",
        ExclusionReason::Unreadable => "cards cannot be read",
        ExclusionReason::CardExchanged => "card exchanged",
        ExclusionReason::CardFrozen => "card frozen",
        ExclusionReason::OtherOwner => "another owner",
        ExclusionReason::Protected => "protected",
    }
}

/// `1 node`, `3 nodes`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
