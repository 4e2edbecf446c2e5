//! Switching MIG mode, by architecture.
//!
//! Ampere needs a reset, which the driver makes at once when nothing runs on the card and its hypervisor allows it; until
//! then the new mode is pending. Hopper and later switch at once or refuse.

use engine_model::name::GpuUuid;
use providers_catalog::DriverVersion;

use crate::{Call, Node, Refusal};

/// What became of a change of MIG mode that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// It is in force.
    Done,
    /// It waits for a reset, for this reason.
    Pending(Refusal),
}

impl Node {
    /// Switches MIG mode.
    pub fn set_mig_mode(&mut self, card: &GpuUuid, on: bool) -> Result<Activation, Refusal> {
        self.call(Call::SetMigMode, card, |node| node.switch(card, on))
    }

    fn switch(&mut self, uuid: &GpuUuid, on: bool) -> Result<Activation, Refusal> {
        let passthrough = self.passthrough;
        let driver = self.driver_version.parse::<DriverVersion>().ok();
        let card = self.reach(uuid)?;
        let geometry = card.geometry().ok_or(Refusal::NotSupported)?;
        if let (Some(driver), Some(needs)) = (&driver, &card.model().min_driver)
            && driver < needs
        {
            return Err(Refusal::NotSupported);
        }
        if card.mig == on {
            card.mig_pending = on;
            return Ok(Activation::Done);
        }
        if geometry.mode_needs_reset {
            card.mig_pending = on;
            if passthrough {
                return Ok(Activation::Pending(Refusal::NotSupported));
            }
            if card.is_busy() {
                return Ok(Activation::Pending(Refusal::InUse));
            }
            card.after_reset();
            return Ok(Activation::Done);
        }
        // A slice that still exists is a client of the card.
        if card.is_busy() || !card.instances.is_empty() {
            return Err(Refusal::InUse);
        }
        card.mig = on;
        card.mig_pending = on;
        Ok(Activation::Done)
    }
}
