//! Whose pods a change ends: found from who uses what, told as an envelope, and checked against it when it is done.

use std::collections::{BTreeMap, BTreeSet};

use engine_model::{
    name::{NodeName, ResourceName},
    operation::Victim,
    policy::{DisruptionPolicy, OnHit},
};
use providers_agent_api::User;
use providers_catalog::Layout;

use crate::{
    pool::card_diff,
    resource::WHOLE_CARD,
    world::{Card, Node, PodName, World, pod_name},
};

/// Pods that are never evicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protection<'a> {
    namespaces: &'a [String],
    /// What to do where one would be.
    pub(crate) on_hit: OnHit,
}

impl<'a> Protection<'a> {
    /// What a policy protects, if it does.
    pub(crate) fn of(policy: &'a DisruptionPolicy) -> Option<Self> {
        policy.protect.as_ref().map(|protect| Self { namespaces: &protect.namespaces, on_hit: protect.on_hit })
    }

    /// Is this namespace protected?
    pub(crate) fn covers(&self, namespace: &str) -> bool {
        self.namespaces.iter().any(|pattern| matches(pattern, namespace))
    }
}

// `*` stands for any number of characters. Each star takes as little as it can, going back to the last star alone where
// that fails, which is enough for patterns of this kind.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The pods on what goes when cards of a node change, by name. Besides those that the agent names, these are pods that
/// are bound to the node and not seen on any card yet, where a slice of a name that they ask for goes: one of them may
/// get it.
pub(crate) fn victims_of<'a>(
    name: &NodeName,
    node: &Node,
    changes: impl Iterator<Item = (&'a Card, &'a Layout)>,
    world: &World,
) -> BTreeSet<PodName> {
    let (mut victims, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (card, then) in changes {
        let diff = card_diff(card, then);
        victims.extend(diff.hit.iter().filter_map(pod_name));
        names.extend(diff.destroyed.iter().map(|slice| ResourceName::from(slice.profile.resource_name())));
        if diff.mode == Some(true) {
            names.insert(ResourceName::from(WHOLE_CARD));
        }
    }
    if !names.is_empty() {
        let asks = |pod: &PodName| {
            let pod = world.pods.get(pod).filter(|pod| pod.node.as_ref() == Some(name));
            pod.is_some_and(|pod| pod.requests.keys().any(|name| names.contains(name)))
        };
        victims.extend(unseen(node).into_iter().filter(|pod| asks(pod)));
    }
    victims
}

/// Pods that are bound to a node and ask for GPUs, and that its agent does not see on any card yet.
pub(crate) fn unseen(node: &Node) -> BTreeSet<PodName> {
    let seen: BTreeSet<PodName> = node.users().filter_map(pod_name).collect();
    node.pods.iter().filter(|pod| !seen.contains(*pod)).cloned().collect()
}

/// Processes outside any pod on what goes: nobody can evict them.
pub(crate) fn processes_of<'a>(changes: impl Iterator<Item = (&'a Card, &'a Layout)>) -> Vec<(&'a Card, u32, String)> {
    let hit = changes.flat_map(|(card, then)| card_diff(card, then).hit.into_iter().map(move |user| (card, user)));
    hit.filter_map(|(card, user)| match user {
        User::Process { pid, name } => Some((card, pid, name)),
        User::Pod { .. } => None,
    })
    .collect()
}

/// Pods as an envelope: how many of each owner and priority.
pub(crate) fn envelope<'a>(pods: impl IntoIterator<Item = &'a PodName>, world: &World) -> Vec<Victim> {
    let mut counts: BTreeMap<Victim, u64> = BTreeMap::new();
    for name in pods {
        // A pod that only the agent knows of: it stands for itself.
        let alone = Victim {
            namespace: name.namespace.clone(),
            owner_kind: "pod".to_owned(),
            owner_name: name.name.clone(),
            priority: 0,
            count: 1,
        };
        let victim = world.pods.get(name).map_or(alone, |pod| pod.envelope(name));
        *counts.entry(victim).or_default() += 1;
    }
    counts.into_iter().map(|(victim, count)| Victim { count, ..victim }).collect()
}

/// The pods that an envelope does not hold: others' pods, more than were approved, or pods of a higher priority.
pub(crate) fn outside<'a>(found: &'a [Victim], approved: &[Victim]) -> Vec<(&'a Victim, u64)> {
    let mut left: Vec<(&Victim, u64)> = approved.iter().map(|victim| (victim, victim.count)).collect();
    // The lowest priorities of what was approved are used up first, so that the highest are left for the highest.
    left.sort_by_key(|(victim, _)| victim.priority);
    let mut found: Vec<&Victim> = found.iter().collect();
    found.sort_by_key(|victim| victim.priority);
    let mut over = Vec::new();
    for victim in found {
        let mut need = victim.count;
        for (allowed, left) in &mut left {
            let same = (&allowed.namespace, &allowed.owner_kind, &allowed.owner_name)
                == (&victim.namespace, &victim.owner_kind, &victim.owner_name);
            if same && victim.priority <= allowed.priority {
                let taken = need.min(*left);
                (*left, need) = (*left - taken, need - taken);
            }
        }
        if need > 0 {
            over.push((victim, need));
        }
    }
    over
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{WorldBuilder, a100, mig, pod};

    #[test]
    fn namespaces_match_by_stars() {
        for (pattern, text, expected) in [
            ("training-*", "training-a", true),
            ("training-*", "training", false),
            ("*", "anything", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("*-prod", "x-prod", true),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1c", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn pods_that_are_bound_and_not_seen_yet_may_be_on_what_goes() {
        let card = a100(0, "1g.10gb@0:1 2g.20gb@2:2", &[("2g.20gb@2:2", pod("b", "seen"))]);
        let world = WorldBuilder::default()
            .node("gpu-01", vec![card])
            .pod("b/seen", "gpu-01", "nvidia.com/mig-2g.20gb")
            .pod("b/unseen", "gpu-01", "nvidia.com/mig-1g.10gb")
            .pod("b/other", "gpu-01", "nvidia.com/mig-3g.40gb")
            .pod("b/elsewhere", "gpu-02", "nvidia.com/mig-1g.10gb")
            .build();
        let name = NodeName::from("gpu-01");
        let node = &world.nodes[&name];
        let card = &node.report.as_ref().unwrap().cards[0];
        let victims = |then: &Layout| -> Vec<String> {
            victims_of(&name, node, [(card, then)].into_iter(), &world).iter().map(ToString::to_string).collect()
        };
        assert_eq!(victims(&mig("2g.20gb@2:2")), ["b/unseen"]);
        assert_eq!(victims(&mig("1g.10gb@0:1")), ["b/seen"]);
        assert_eq!(victims(&mig("1g.10gb@0:1 2g.20gb@2:2 3g.40gb@4:4")), Vec::<String>::new());
        assert_eq!(victims(&Layout::Whole), ["b/seen", "b/unseen"]);
    }

    #[test]
    fn what_was_not_approved_is_outside() {
        let victim = |owner: &str, priority, count| Victim {
            namespace: "b".to_owned(),
            owner_kind: "deployment".to_owned(),
            owner_name: owner.to_owned(),
            priority,
            count,
        };
        for (found, approved, expected) in [
            (vec![victim("a", 0, 1)], vec![victim("a", 0, 1)], vec![]),
            (vec![victim("a", 0, 1)], vec![victim("a", 5, 2)], vec![]),
            (vec![victim("a", 0, 3)], vec![victim("a", 0, 2)], vec![("a", 1)]),
            (vec![victim("a", 1, 1)], vec![victim("a", 0, 1)], vec![("a", 1)]),
            (vec![victim("c", 0, 1)], vec![victim("a", 0, 1)], vec![("c", 1)]),
            (vec![victim("a", 5, 1), victim("a", 0, 1)], vec![victim("a", 5, 1), victim("a", 0, 1)], vec![]),
        ] {
            let over = outside(&found, &approved);
            let over: Vec<(&str, u64)> = over.iter().map(|(victim, n)| (victim.owner_name.as_str(), *n)).collect();
            assert_eq!(over, expected);
        }
    }
}
