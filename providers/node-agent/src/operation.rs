//! One operation: checked before anything is touched, carried out step by step, resumed after a crash.

use std::collections::BTreeMap;

use providers_agent_api::{
    CardReading, CardSpec, CardStatus, GpuError, GpuNodeSpec, Gpus, Inventory, MigMode, OperationPhase, OperationSpec,
    OperationStatus, PodDevice, User, layout_digest,
};

use crate::{
    journal::Memory,
    status,
    steps::{CardStep, layout_of, steps},
};

/// Why an operation is refused before anything is changed.
pub(crate) type Refusal = String;

/// Checks an operation against what the node is, and gives its steps. `resumes`: this agent had begun it before, so a
/// difference from the precondition is its own doing.
pub(crate) fn check(
    operation: &OperationSpec,
    inventory: &Inventory,
    pods: &[PodDevice],
    memory: &Memory,
) -> Result<Vec<CardStep>, Refusal> {
    if operation.fence < memory.fence {
        return Err(format!(
            "its fencing token {} is older than {}, which this node has obeyed: another run has taken over",
            operation.fence, memory.fence
        ));
    }
    let resumes = memory.begun.as_deref() == Some(&operation.id);
    let statuses = status::observed(inventory, pods).cards;
    let mut all = Vec::new();
    for (uuid, spec) in &operation.cards {
        let at = inventory.cards.iter().position(|card| card.uuid.as_str() == uuid);
        let Some(at) = at else {
            return Err(format!(
                "there is no card {uuid} at {} any more: it vanished or was exchanged",
                spec.pci_address
            ));
        };
        let (card, status) = (&inventory.cards[at], &statuses[at]);
        check_card(card, spec)?;
        if !resumes {
            check_precondition(operation, card)?;
        }
        let steps = steps(card, spec);
        check_unused(&steps, card, status)?;
        check_reset(operation, &steps, card)?;
        all.extend(steps);
    }
    Ok(all)
}

fn check_card(card: &CardReading, spec: &CardSpec) -> Result<(), Refusal> {
    if card.pci.as_str() != spec.pci_address {
        return Err(format!("card {} sits at {}, the plan saw it at {}", card.uuid, card.pci, spec.pci_address));
    }
    if let Some(why) = &card.frozen {
        return Err(format!("nothing may be changed on card {} ({}): {why}", card.index, card.uuid));
    }
    if spec.layout.mig && card.mig.is_none() {
        return Err(format!("card {} ({}) cannot do MIG", card.index, card.product));
    }
    if spec.layout.sharing.is_some() {
        return Err("this agent does not share whole cards (MPS, time-slicing) yet".to_owned());
    }
    Ok(())
}

fn check_precondition(operation: &OperationSpec, card: &CardReading) -> Result<(), Refusal> {
    let layout = layout_of(card);
    let found = layout_digest(&layout);
    match operation.precondition.get(card.uuid.as_str()) {
        Some(expected) if expected != found.as_str() => {
            let slices: Vec<String> =
                layout.instances.iter().map(|i| format!("{} at {}", i.profile, i.start)).collect();
            let slices = if slices.is_empty() { "no MIG instance".to_owned() } else { slices.join(", ") };
            Err(format!(
                "card {} ({}) is not as the plan saw it: it has {slices}, MIG {}",
                card.index,
                card.uuid,
                if layout.mig { "on" } else { "off" }
            ))
        }
        _ => Ok(()),
    }
}

/// In use is allocated to a pod, or held by a process. The driver would destroy an instance that is only allocated.
fn check_unused(steps: &[CardStep], card: &CardReading, status: &CardStatus) -> Result<(), Refusal> {
    for step in steps {
        let (users, what): (Vec<&User>, String) = match step {
            CardStep::Destroy(_, gone) => {
                let here = status.instances.iter().filter(|i| i.start == gone.start && i.profile == gone.profile);
                let what = format!("{} at {} on card {}", gone.profile, gone.start, card.index);
                (here.flat_map(|i| &i.used_by).collect(), what)
            }
            CardStep::SetMig(..) => (status.used_by.iter().collect(), format!("card {}", card.index)),
            CardStep::Create(..) | CardStep::Set(..) => continue,
        };
        if !users.is_empty() {
            let users: Vec<String> = users.into_iter().map(user).collect();
            return Err(format!("{what} is in use by {}", users.join(", ")));
        }
    }
    Ok(())
}

fn user(user: &User) -> String {
    match user {
        User::Pod { namespace, name } => format!("pod {namespace}/{name}"),
        User::Process { pid, name } if name.is_empty() => format!("process {pid}"),
        User::Process { pid, name } => format!("process {pid} ({name})"),
    }
}

/// Before Hopper a change of the MIG mode needs a reset.
fn check_reset(operation: &OperationSpec, steps: &[CardStep], card: &CardReading) -> Result<(), Refusal> {
    let pending = card.mig.is_some_and(|MigMode { current, pending }| current != pending);
    let toggles = steps.iter().any(|step| matches!(step, CardStep::SetMig(..)));
    if pending && toggles && !operation.allow_reset {
        return Err(format!("card {} waits for a reset, and the plan does not allow one", card.index));
    }
    Ok(())
}

/// Carries out one step.
pub(crate) fn run(gpus: &mut dyn Gpus, step: &CardStep, allow_reset: bool) -> Result<(), GpuError> {
    match step {
        CardStep::Destroy(card, i) => gpus.destroy_instance(card, &i.profile, i.start),
        CardStep::Create(card, i) => gpus.create_instance(card, &i.profile, i.start),
        CardStep::Set(card, settings) => gpus.set(card, settings),
        CardStep::SetMig(card, enabled) => {
            let mode = gpus.set_mig_mode(card, *enabled)?;
            if mode.current == *enabled {
                return Ok(());
            }
            if !allow_reset {
                return Err(GpuError::ResetRequired("the plan does not allow one".to_owned()));
            }
            gpus.reset(card)
        }
    }
}

/// The approved cards that this agent has brought about: what belongs to an operation that it has not finished is only
/// somebody's wish, and its precondition has not been checked yet.
pub(crate) fn accepted(spec: &GpuNodeSpec, last: Option<&OperationStatus>) -> BTreeMap<String, CardSpec> {
    let succeeded = |operation: &OperationSpec| {
        last.is_some_and(|last| last.id == operation.id && last.phase == OperationPhase::Succeeded)
    };
    let open = spec.operation.as_ref().filter(|operation| !succeeded(operation));
    let is_open = |uuid: &String| open.is_some_and(|operation| operation.cards.contains_key(uuid));
    spec.approved.iter().filter(|(uuid, _)| !is_open(uuid)).map(|(uuid, card)| (uuid.clone(), card.clone())).collect()
}

/// What a node is to be restored to when it has been restarted: approved cards that are empty and not as approved.
pub(crate) fn restore(
    approved: &BTreeMap<String, CardSpec>,
    inventory: &Inventory,
    pods: &[PodDevice],
) -> Vec<CardStep> {
    let statuses = status::observed(inventory, pods).cards;
    let mut all = Vec::new();
    for (card, status) in inventory.cards.iter().zip(&statuses) {
        let Some(spec) = approved.get(card.uuid.as_str()) else { continue };
        let steps = steps(card, spec);
        if check_card(card, spec).is_ok() && check_unused(&steps, card, status).is_ok() {
            all.extend(steps);
        }
    }
    all
}

/// The status of an operation.
pub(crate) fn phase(id: &str, phase: OperationPhase, done: usize, total: usize, message: String) -> OperationStatus {
    OperationStatus { id: id.to_owned(), phase, done: done as u32, total: total as u32, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(operation: Option<&[&str]>) -> GpuNodeSpec {
        let cards = |uuids: &[&str]| uuids.iter().map(|uuid| ((*uuid).to_owned(), CardSpec::default())).collect();
        let operation = operation.map(|uuids| OperationSpec {
            id: "op-2".to_owned(),
            plan_digest: String::new(),
            fence: 1,
            cards: cards(uuids),
            precondition: BTreeMap::new(),
            allow_reset: false,
        });
        GpuNodeSpec { operation, approved: cards(&["GPU-1", "GPU-2"]) }
    }

    #[test]
    fn only_what_was_brought_about_is_restored() {
        let last = |id: &str, what| Some(phase(id, what, 0, 0, String::new()));
        for (spec, last, expected) in [
            (spec(None), None, &["GPU-1", "GPU-2"][..]),
            (spec(Some(&["GPU-2"])), None, &["GPU-1"]),
            (spec(Some(&["GPU-2"])), last("op-1", OperationPhase::Succeeded), &["GPU-1"]),
            (spec(Some(&["GPU-2"])), last("op-2", OperationPhase::Refused), &["GPU-1"]),
            (spec(Some(&["GPU-2"])), last("op-2", OperationPhase::Failed), &["GPU-1"]),
            (spec(Some(&["GPU-2"])), last("op-2", OperationPhase::Succeeded), &["GPU-1", "GPU-2"]),
        ] {
            let accepted = accepted(&spec, last.as_ref());
            assert_eq!(accepted.keys().map(String::as_str).collect::<Vec<_>>(), expected, "{last:?}");
        }
    }
}
