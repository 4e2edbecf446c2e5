//! What can be set on a card besides its layout. Values that the hardware refuses are refused here.

use engine_model::name::GpuUuid;
use providers_agent_api::{CardSettings, Clocks};
use providers_catalog::{Architecture, CardModel};
use serde::{Deserialize, Serialize};

use crate::{Call, Card, Node, Refusal};

/// Power limits, in milliwatts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PowerLimits {
    /// The limit in force.
    pub limit: u32,
    /// What a restart of the driver sets it to.
    pub default: u32,
    /// The lowest that can be set.
    pub min: u32,
    /// The highest that can be set.
    pub max: u32,
}

impl PowerLimits {
    /// The board power of well-known cards, else what is typical of the generation's data centre cards. Nothing depends
    /// on the exact watts.
    pub(crate) fn of(model: &CardModel) -> Self {
        let watts = match (model.product.as_str(), model.architecture) {
            ("A2", _) => 60,
            ("L4", _) => 72,
            ("A10" | "A10G", _) => 150,
            ("A30", _) => 165,
            ("L40S", _) => 350,
            (_, Architecture::Pascal | Architecture::Turing) => 70,
            (_, Architecture::Volta | Architecture::Ada) => 300,
            (_, Architecture::Ampere) => 400,
            (_, Architecture::Hopper) => 700,
            (_, Architecture::Blackwell) => 1000,
        };
        let default = watts * 1000;
        Self { limit: default, default, min: default / 4, max: default }
    }
}

impl Card {
    /// What can be read back. Locked clocks cannot: NVML has no call for them.
    pub(crate) fn settings(&self) -> CardSettings {
        CardSettings {
            persistence_mode: Some(self.persistence_mode),
            power_limit_mw: Some(self.power.limit),
            graphics_clocks: None,
            memory_clocks: None,
            ecc: self.ecc,
            compute_mode: Some(self.compute_mode),
        }
    }
}

impl Node {
    /// Sets what is not `None`, in the order of the fields; stops at the first refusal and names what was refused.
    pub fn set(&mut self, card: &GpuUuid, settings: &CardSettings) -> Result<(), (Refusal, &'static str)> {
        let applied = self.call(Call::Set, card, |node| Ok(apply(node.reach(card)?, settings)));
        applied.map_err(|refusal| (refusal, "settings"))?
    }
}

fn apply(card: &mut Card, settings: &CardSettings) -> Result<(), (Refusal, &'static str)> {
    if let Some(persistence) = settings.persistence_mode {
        card.persistence_mode = persistence;
    }
    if let Some(limit) = settings.power_limit_mw {
        if !(card.power.min..=card.power.max).contains(&limit) {
            return Err((Refusal::InvalidArgument, "the power limit"));
        }
        card.power.limit = limit;
    }
    let range = |clocks: Clocks| (clocks.min, clocks.max);
    if settings.graphics_clocks.is_some() {
        card.graphics_clocks = settings.graphics_clocks.map(range);
    }
    if settings.memory_clocks.is_some() {
        card.memory_clocks = settings.memory_clocks.map(range);
    }
    if let Some(ecc) = settings.ecc {
        if card.ecc.is_none() {
            return Err((Refusal::NotSupported, "ECC"));
        }
        card.ecc_pending = Some(ecc);
    }
    if let Some(mode) = settings.compute_mode {
        card.compute_mode = mode;
    }
    Ok(())
}
