//! What a card is, and how the node resource's layouts become the catalog's and back.

use engine_model::name::{GpuUuid, LayoutDigest, PciAddress};
use providers_agent_api::{self as agent, User, layout_digest};
use providers_catalog::{CardModel, Current, Instance, Layout, Occupied, Placement};

/// A card as its agent sees it.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    /// NVML's index now: for people only.
    pub(crate) index: u32,
    /// Its identity.
    pub(crate) uuid: GpuUuid,
    /// Where it sits.
    pub(crate) pci: PciAddress,
    /// As the catalog spells it, else as the agent does.
    pub(crate) product: String,
    /// What the catalog knows about it.
    pub(crate) model: Option<&'static CardModel>,
    /// Does its MIG mode wait for a reset?
    pub(crate) mig_pending: bool,
    /// Why nothing may be changed on it.
    pub(crate) frozen: Option<String>,
    /// How it is cut.
    pub(crate) layout: Layout,
    /// The digest of that, as the agent computes it.
    pub(crate) digest: LayoutDigest,
    /// Its slices with what uses them, in order of start.
    pub(crate) slices: Vec<SliceUse>,
    /// What uses it as a whole.
    pub(crate) users: Vec<User>,
}

/// A slice and what uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceUse {
    /// The slice.
    pub(crate) instance: Instance,
    /// What uses it.
    pub(crate) users: Vec<User>,
}

impl Card {
    /// What the node resource says of a card.
    ///
    /// # Errors
    /// It has slices that cannot be understood.
    pub(crate) fn from_status(status: &agent::CardStatus) -> Result<Self, String> {
        let what = || format!("card {} ({})", status.index, status.uuid);
        let layout = catalog_layout(&status.layout).map_err(|why| format!("{}: {why}", what()))?;
        let users_of = |instance: &Instance| {
            let found = status
                .instances
                .iter()
                .find(|slice| slice.start == instance.placement.start && slice.profile == instance.profile.to_string());
            found.map(|slice| slice.used_by.clone()).unwrap_or_default()
        };
        let slices = layout.instances().iter().map(|i| SliceUse { instance: *i, users: users_of(i) }).collect();
        let product = providers_catalog::Product::new(&status.product);
        let model = providers_catalog::catalog().find(&product);
        Ok(Self {
            index: status.index,
            uuid: status.uuid.as_str().into(),
            pci: status.pci_address.to_lowercase().into(),
            product: model.map_or(product.as_str(), |model| model.product.as_str()).to_owned(),
            model,
            mig_pending: status.mig_pending,
            frozen: status.frozen.clone(),
            digest: layout_digest(&status.layout),
            layout,
            slices,
            users: status.used_by.clone(),
        })
    }

    /// For people: `card 0 (GPU-…)`.
    pub(crate) fn label(&self) -> String {
        format!("card {} ({})", self.index, self.uuid)
    }

    /// Units of its axis: memory slices, or one where it cannot be cut.
    pub(crate) fn axis(&self) -> u8 {
        self.model.and_then(CardModel::geometry).map_or(1, |geometry| geometry.memory_slices)
    }

    /// What the solver asks.
    pub(crate) fn current(&self) -> Current {
        match self.layout {
            Layout::Whole => Current::Whole { in_use: !self.users.is_empty() },
            Layout::Mig(_) => Current::Mig(
                self.slices
                    .iter()
                    .map(|slice| Occupied { instance: slice.instance, in_use: !slice.users.is_empty() })
                    .collect(),
            ),
        }
    }
}

/// The catalog's layout of one that the node resource spells.
///
/// # Errors
/// A profile is no MIG profile, or the card is shared in a way that is not managed.
pub(crate) fn catalog_layout(layout: &agent::Layout) -> Result<Layout, String> {
    if layout.sharing.is_some() {
        return Err("it is shared by MPS or time-slicing, which this version does not manage".to_owned());
    }
    if !layout.mig {
        return Ok(Layout::Whole);
    }
    let instances = layout.instances.iter().map(|spec| {
        let profile = spec.profile.parse().map_err(|error| format!("{error}"))?;
        Ok(Instance { placement: Placement { start: spec.start, size: spec.size }, profile })
    });
    Ok(Layout::mig(instances.collect::<Result<Vec<_>, String>>()?))
}

/// The node resource's layout of one of the catalog's.
pub(crate) fn agent_layout(layout: &Layout) -> agent::Layout {
    let instances = layout.instances().iter().map(|instance| agent::InstanceSpec {
        start: instance.placement.start,
        size: instance.placement.size,
        profile: instance.profile.to_string(),
    });
    agent::Layout { mig: layout.is_mig(), instances: instances.collect(), sharing: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_go_round() {
        for layout in [
            Layout::Whole,
            Layout::mig([]),
            Layout::mig(["1g.10gb+me@0:1", "3g.40gb@4:4"].map(|slice| slice.parse().unwrap())),
        ] {
            assert_eq!(catalog_layout(&agent_layout(&layout)).unwrap(), layout);
        }
        let shared = agent::Layout { sharing: Some(agent::Sharing::TimeSlicing(4)), ..Default::default() };
        assert!(catalog_layout(&shared).is_err());
        let strange = agent::InstanceSpec { start: 0, size: 1, profile: "one".to_owned() };
        let strange = agent::Layout { mig: true, instances: vec![strange], sharing: None };
        assert!(catalog_layout(&strange).unwrap_err().contains("`one` is not a MIG profile"));
    }
}
