//! Names of extended resources that stand for GPUs or slices of them.

use std::collections::BTreeMap;

use engine_model::name::ResourceName;
use providers_agent_api::GROUP;
use providers_catalog::{Layout, MIG_RESOURCE_PREFIX};

/// A whole card, as NVIDIA's device plugin names it.
pub(crate) const WHOLE_CARD: &str = "nvidia.com/gpu";

/// How many of each resource.
pub(crate) type Amounts = BTreeMap<ResourceName, u64>;

/// Does the name stand for a GPU or a slice of one?
pub(crate) fn is_gpu_resource(name: &str) -> bool {
    // `nvidia.com/gpu.shared` too: what a time-sliced or MPS-shared card is called when it is renamed.
    name == WHOLE_CARD
        || name.starts_with("nvidia.com/gpu.")
        || name.starts_with(MIG_RESOURCE_PREFIX)
        || name.strip_prefix(GROUP).is_some_and(|rest| rest.starts_with('/'))
}

/// What a card offers when it is cut so, under the device plugin's strategy `mixed`.
pub(crate) fn offered(layout: &Layout) -> Amounts {
    match layout {
        Layout::Whole => Amounts::from([(WHOLE_CARD.into(), 1)]),
        Layout::Mig(_) => layout
            .counts()
            .iter()
            .map(|(profile, count)| (ResourceName::from(profile.resource_name()), u64::from(count)))
            .collect(),
    }
}

/// Adds amounts.
pub(crate) fn add(to: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = to.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*amount);
    }
}

/// Takes amounts away; what is then none is left out.
pub(crate) fn subtract(from: &mut Amounts, less: &Amounts) {
    for (name, amount) in less {
        if let Some(left) = from.get_mut(name) {
            *left = left.saturating_sub(*amount);
        }
    }
    from.retain(|_, amount| *amount > 0);
}

/// The known name that is nearest to another; `None` where none is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|other| (strsim::normalized_damerau_levenshtein(name, other), other));
    // Below this, two names have less in common than a prefix: a suggestion would mislead.
    let near = scored.filter(|(score, _)| *score > 0.6);
    // The first of equals wins, so the order of the known names decides.
    near.fold(None, |best: Option<(f64, &str)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    })
    .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(list: &[(&str, u64)]) -> Amounts {
        list.iter().map(|(name, amount)| ((*name).into(), *amount)).collect()
    }

    #[test]
    fn layouts_offer_their_names() {
        let slices = ["1g.10gb@0:1", "1g.10gb@1:1", "1g.10gb+me@2:1", "3g.40gb@4:4"];
        let layout = Layout::mig(slices.iter().map(|slice| slice.parse().unwrap()));
        let expected = [("nvidia.com/mig-1g.10gb", 2), ("nvidia.com/mig-1g.10gb.me", 1), ("nvidia.com/mig-3g.40gb", 1)];
        assert_eq!(offered(&layout), amounts(&expected));
        assert_eq!(offered(&Layout::Whole), amounts(&[("nvidia.com/gpu", 1)]));
        assert_eq!(offered(&Layout::mig([])), Amounts::new());
    }

    #[test]
    fn amounts_add_and_subtract() {
        let mut sum = amounts(&[("a", 1), ("b", 2)]);
        add(&mut sum, &amounts(&[("b", 1), ("c", 4)]));
        assert_eq!(sum, amounts(&[("a", 1), ("b", 3), ("c", 4)]));
        subtract(&mut sum, &amounts(&[("b", 3), ("c", 1), ("d", 7)]));
        assert_eq!(sum, amounts(&[("a", 1), ("c", 3)]));
    }

    #[test]
    fn only_gpu_names_are_ours() {
        for (name, expected) in [
            ("nvidia.com/gpu", true),
            ("nvidia.com/gpu.shared", true),
            ("nvidia.com/mig-1g.10gb", true),
            ("sliceform.io/notebook", true),
            ("cpu", false),
            ("nvidia.com/gpux", false),
            ("sliceform.iox/a", false),
        ] {
            assert_eq!(is_gpu_resource(name), expected, "{name}");
        }
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb"];
        assert_eq!(nearest("nvidia.com/mig-1g.1gb", known), Some("nvidia.com/mig-1g.10gb"));
        assert_eq!(nearest("cpu", known), None);
    }
}
