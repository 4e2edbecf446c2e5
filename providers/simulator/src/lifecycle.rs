//! Resets, restarts of the driver, reboots: what survives them and what does not.
//!
//! Slices survive nothing. MIG mode survives everything on Ampere (it is in the card's InfoROM) and lasts only while the
//! driver is loaded on Hopper and later. Power limit, clocks, persistence and compute mode live in the driver.

use engine_model::name::GpuUuid;
use providers_agent_api::ComputeMode;

use crate::{Call, Card, Condition, Node, Refusal, RowRemap};

impl Card {
    /// The card after a reset. Nothing may run on it.
    pub(crate) fn after_reset(&mut self) {
        self.instances.clear();
        self.mig = self.mig_pending;
        self.ecc = self.ecc_pending;
        if self.row_remap == RowRemap::Pending {
            self.row_remap = RowRemap::None;
        }
    }

    fn after_driver_start(&mut self) {
        self.processes.clear();
        self.instances.clear();
        if !self.geometry().is_some_and(|geometry| geometry.mode_survives_reboot) {
            self.mig_pending = false;
        }
        self.power.limit = self.power.default;
        self.graphics_clocks = None;
        self.memory_clocks = None;
        self.compute_mode = ComputeMode::Default;
        self.after_reset();
    }
}

impl Node {
    /// Resets one card, as `nvidia-smi --gpu-reset` does.
    pub fn reset(&mut self, card: &GpuUuid) -> Result<(), Refusal> {
        self.call(Call::Reset, card, |node| {
            let passthrough = node.passthrough;
            let card = node.reach(card)?;
            if passthrough {
                return Err(Refusal::NotSupported);
            }
            if card.is_busy() {
                return Err(Refusal::InUse);
            }
            card.after_reset();
            Ok(())
        })
    }

    /// Restarts the node. Lost cards come back; every process ends. What the kubelet had allocated is its own affair.
    pub fn reboot(&mut self) {
        self.boots += 1;
        for card in &mut self.cards {
            if card.condition == Condition::Lost {
                card.condition = Condition::Healthy;
            }
            card.after_driver_start();
        }
    }

    /// Replaces the driver, which unloads the old one. Refused while a process runs on any card.
    pub fn replace_driver(&mut self, version: &str) -> Result<(), Refusal> {
        if self.cards.iter().any(Card::is_busy) {
            return Err(Refusal::InUse);
        }
        version.clone_into(&mut self.driver_version);
        self.cards.iter_mut().for_each(Card::after_driver_start);
        Ok(())
    }
}
