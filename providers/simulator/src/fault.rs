//! Faults by script: what goes wrong, at which call, how often. A fault that has struck often enough is gone.

use engine_model::name::GpuUuid;
use serde::{Deserialize, Serialize};

use crate::{Condition, Node, Refusal};

/// Something that will go wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// At which call.
    pub call: Call,
    /// On which card; none: on any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<GpuUuid>,
    /// How many such calls are let through first.
    #[serde(default)]
    pub after: u32,
    /// How many calls it strikes then.
    pub times: u32,
    /// What happens.
    pub effect: Effect,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// The call is refused and nothing has changed.
    Refuse(Refusal),
    /// The call does its work, and then reports a refusal.
    RefuseAfterwards(Refusal),
    /// The card falls off the bus.
    LoseCard,
    /// The call takes so many milliseconds longer.
    Slow(u64),
}

/// The calls at which faults strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Call {
    /// Reading the node.
    Inventory,
    /// Switching MIG mode.
    SetMigMode,
    /// Creating a GPU instance.
    CreateGpuInstance,
    /// Creating a compute instance.
    CreateComputeInstance,
    /// Destroying a compute instance.
    DestroyComputeInstance,
    /// Destroying a GPU instance.
    DestroyGpuInstance,
    /// Resetting a card.
    Reset,
    /// Setting anything else.
    Set,
}

impl Node {
    /// Makes a call with whatever fault is due.
    pub(crate) fn call<T>(
        &mut self,
        call: Call,
        card: &GpuUuid,
        work: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        match self.due(call, Some(card)) {
            None => work(self),
            Some(Effect::Refuse(refusal)) => Err(refusal),
            Some(Effect::RefuseAfterwards(refusal)) => {
                work(self)?;
                Err(refusal)
            }
            Some(Effect::LoseCard) => {
                for found in self.cards.iter_mut().filter(|found| found.uuid == *card) {
                    found.condition = Condition::Lost;
                }
                Err(Refusal::GpuIsLost)
            }
            Some(Effect::Slow(milliseconds)) => {
                self.delay_ms += milliseconds;
                work(self)
            }
        }
    }

    /// Begins to read the node, with whatever fault is due.
    pub fn begin_inventory(&mut self) -> Result<(), Refusal> {
        match self.due(Call::Inventory, None) {
            // There is no card to lose before one is looked at.
            None | Some(Effect::LoseCard) => Ok(()),
            Some(Effect::Refuse(refusal) | Effect::RefuseAfterwards(refusal)) => Err(refusal),
            Some(Effect::Slow(milliseconds)) => {
                self.delay_ms += milliseconds;
                Ok(())
            }
        }
    }

    /// Takes the fault that strikes this call, if any.
    fn due(&mut self, call: Call, card: Option<&GpuUuid>) -> Option<Effect> {
        let concerns = |fault: &Fault| fault.call == call && (fault.card.is_none() || fault.card.as_ref() == card);
        let index = self.faults.iter().position(concerns)?;
        let fault = &mut self.faults[index];
        if fault.after > 0 {
            fault.after -= 1;
            return None;
        }
        let effect = fault.effect;
        fault.times = fault.times.saturating_sub(1);
        if fault.times == 0 {
            self.faults.remove(index);
        }
        Some(effect)
    }

    /// Takes the time, in milliseconds, that slow calls have cost since it was last taken. Whoever stands between the
    /// node and its user waits so long; the node itself never does.
    pub fn take_delay_ms(&mut self) -> u64 {
        std::mem::take(&mut self.delay_ms)
    }
}
