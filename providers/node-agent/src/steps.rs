//! What has to be done to a card, step by step. Pure.

use std::collections::BTreeSet;

use engine_model::name::GpuUuid;
use providers_agent_api::{CardReading, CardSettings, CardSpec, InstanceSpec, Layout};

/// One change of one card.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CardStep {
    /// Destroys an instance.
    Destroy(GpuUuid, InstanceSpec),
    /// Enables or disables MIG, with the reset that the card may need for it.
    SetMig(GpuUuid, bool),
    /// Makes an instance.
    Create(GpuUuid, InstanceSpec),
    /// Sets clocks, limits, modes.
    Set(GpuUuid, CardSettings),
}

impl CardStep {
    /// In words, with the card's index as people count.
    pub(crate) fn describe(&self, index: u32) -> String {
        match self {
            Self::Destroy(_, i) => format!("destroying {} at {} on card {index}", i.profile, i.start),
            Self::SetMig(_, true) => format!("enabling MIG on card {index}"),
            Self::SetMig(_, false) => format!("disabling MIG on card {index}"),
            Self::Create(_, i) => format!("creating {} at {} on card {index}", i.profile, i.start),
            Self::Set(..) => format!("setting card {index}"),
        }
    }

    pub(crate) fn card(&self) -> &GpuUuid {
        match self {
            Self::Destroy(card, _) | Self::SetMig(card, _) | Self::Create(card, _) | Self::Set(card, _) => card,
        }
    }
}

/// The layout that was read.
pub(crate) fn layout_of(card: &CardReading) -> Layout {
    let instance = |i: &providers_agent_api::InstanceReading| InstanceSpec {
        start: i.start,
        size: i.size,
        profile: i.profile.clone(),
    };
    Layout {
        mig: card.mig.is_some_and(|mode| mode.current),
        instances: card.instances.iter().map(instance).collect(),
        sharing: None,
    }
}

/// From what a card is to what it should be. Instances that are in both are not touched. Every destruction comes before
/// every creation, so each intermediate state is legal: placements only become free, and then disjoint ones are taken.
pub(crate) fn steps(card: &CardReading, spec: &CardSpec) -> Vec<CardStep> {
    let now = layout_of(card);
    let then = &spec.layout;
    let keep: BTreeSet<&InstanceSpec> = if now.mig && then.mig {
        now.instances.iter().filter(|i| then.instances.contains(i)).collect()
    } else {
        BTreeSet::new()
    };
    let mut steps: Vec<CardStep> = Vec::new();
    let gone = now.instances.iter().filter(|i| !keep.contains(i));
    steps.extend(gone.map(|i| CardStep::Destroy(card.uuid.clone(), i.clone())));
    let pending = card.mig.is_some_and(|mode| mode.current != mode.pending);
    if now.mig != then.mig || pending {
        steps.push(CardStep::SetMig(card.uuid.clone(), then.mig));
    }
    let new = then.instances.iter().filter(|i| !keep.contains(i));
    steps.extend(new.map(|i| CardStep::Create(card.uuid.clone(), i.clone())));
    let settings = difference(&card.settings, &spec.settings);
    if settings != CardSettings::default() {
        steps.push(CardStep::Set(card.uuid.clone(), settings));
    }
    steps
}

/// What is wanted and not so.
fn difference(now: &CardSettings, then: &CardSettings) -> CardSettings {
    fn changed<T: PartialEq + Clone>(now: &Option<T>, then: &Option<T>) -> Option<T> {
        then.clone().filter(|_| now != then)
    }
    CardSettings {
        persistence_mode: changed(&now.persistence_mode, &then.persistence_mode),
        power_limit_mw: changed(&now.power_limit_mw, &then.power_limit_mw),
        graphics_clocks: changed(&now.graphics_clocks, &then.graphics_clocks),
        memory_clocks: changed(&now.memory_clocks, &then.memory_clocks),
        ecc: changed(&now.ecc, &then.ecc),
        compute_mode: changed(&now.compute_mode, &then.compute_mode),
    }
}

#[cfg(test)]
mod tests {
    use providers_agent_api::{InstanceReading, MigMode};

    use super::*;

    fn at(profile: &str, start: u8, size: u8) -> InstanceSpec {
        InstanceSpec { start, size, profile: profile.to_owned() }
    }

    fn card(mig: bool, instances: &[InstanceSpec]) -> CardReading {
        let reading = |i: &InstanceSpec| InstanceReading {
            profile: i.profile.clone(),
            start: i.start,
            size: i.size,
            uuid: None,
            processes: Vec::new(),
        };
        CardReading {
            index: 0,
            uuid: "GPU-1".into(),
            pci: "0000:17:00.0".into(),
            product: "A100-SXM4-80GB".to_owned(),
            memory_mib: 81920,
            mig: Some(MigMode { current: mig, pending: mig }),
            instances: instances.iter().map(reading).collect(),
            processes: Vec::new(),
            settings: CardSettings::default(),
            frozen: None,
        }
    }

    fn check(now: (bool, &[InstanceSpec]), then: (bool, &[InstanceSpec]), expected: &[&str]) {
        let layout = Layout { mig: then.0, instances: then.1.to_vec(), sharing: None };
        let spec = CardSpec { pci_address: String::new(), layout, settings: CardSettings::default() };
        let steps: Vec<String> = steps(&card(now.0, now.1), &spec).iter().map(|s| s.describe(0)).collect();
        assert_eq!(steps, expected);
    }

    #[test]
    fn what_is_in_both_is_not_touched() {
        let (one, two, big) = (at("1g.10gb", 0, 1), at("1g.10gb", 1, 1), at("2g.20gb", 2, 2));
        check((true, &[one.clone(), two.clone()]), (true, &[one.clone(), two.clone()]), &[]);
        check(
            (true, &[one.clone(), two.clone()]),
            (true, &[one.clone(), big.clone()]),
            &["destroying 1g.10gb at 1 on card 0", "creating 2g.20gb at 2 on card 0"],
        );
        check(
            (false, &[]),
            (true, std::slice::from_ref(&one)),
            &["enabling MIG on card 0", "creating 1g.10gb at 0 on card 0"],
        );
        check((true, &[one]), (false, &[]), &["destroying 1g.10gb at 0 on card 0", "disabling MIG on card 0"]);
    }

    #[test]
    fn a_pending_mode_is_brought_into_force() {
        let mut reading = card(false, &[]);
        reading.mig = Some(MigMode { current: false, pending: true });
        let spec = CardSpec::default();
        assert_eq!(steps(&reading, &spec), [CardStep::SetMig("GPU-1".into(), false)]);
    }

    #[test]
    fn only_settings_that_differ_are_set() {
        let mut reading = card(false, &[]);
        reading.settings.persistence_mode = Some(true);
        let settings = CardSettings { persistence_mode: Some(true), ecc: Some(true), ..CardSettings::default() };
        let spec = CardSpec { settings, ..CardSpec::default() };
        let expected = CardSettings { ecc: Some(true), ..CardSettings::default() };
        assert_eq!(steps(&reading, &spec), [CardStep::Set("GPU-1".into(), expected)]);
    }
}
