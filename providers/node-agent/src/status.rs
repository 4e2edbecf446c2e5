//! What the node is: the inventory and who uses what, as the status of the node resource.

use std::collections::BTreeMap;

use providers_agent_api::{
    CardReading, CardStatus, GpuNodeStatus, InstanceReading, InstanceStatus, Inventory, PodDevice, User,
};

use crate::steps::layout_of;

/// Everything but the operation, the fence and the generation, which are the agent's own memory.
pub(crate) fn observed(inventory: &Inventory, pods: &[PodDevice]) -> GpuNodeStatus {
    let users = by_device(pods);
    GpuNodeStatus {
        boot_id: inventory.boot_id.clone(),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        driver_version: inventory.driver_version.clone(),
        summary: summary(&inventory.cards),
        cards: inventory.cards.iter().map(|card| card_status(card, &users)).collect(),
        ..GpuNodeStatus::default()
    }
}

/// Pods by device id, without the replica that shares carry behind it (`GPU-…::3`).
fn by_device(pods: &[PodDevice]) -> BTreeMap<&str, Vec<User>> {
    let mut users: BTreeMap<&str, Vec<User>> = BTreeMap::new();
    for pod in pods {
        for id in &pod.device_ids {
            let device = id.split_once("::").map_or(id.as_str(), |(device, _)| device);
            let user = User::Pod { namespace: pod.namespace.clone(), name: pod.pod.clone() };
            let users = users.entry(device).or_default();
            if !users.contains(&user) {
                users.push(user);
            }
        }
    }
    users
}

fn card_status(card: &CardReading, users: &BTreeMap<&str, Vec<User>>) -> CardStatus {
    CardStatus {
        index: card.index,
        uuid: card.uuid.to_string(),
        pci_address: card.pci.to_string(),
        product: card.product.clone(),
        memory_mib: card.memory_mib,
        mig_capable: card.mig.is_some(),
        mig_pending: card.mig.is_some_and(|mode| mode.current != mode.pending),
        layout: layout_of(card),
        instances: card.instances.iter().map(|i| instance_status(i, users)).collect(),
        used_by: used_by(users.get(card.uuid.as_str()), &card.processes),
        settings: card.settings.clone(),
        frozen: card.frozen.clone(),
    }
}

fn instance_status(instance: &InstanceReading, users: &BTreeMap<&str, Vec<User>>) -> InstanceStatus {
    let uuid = instance.uuid.clone().unwrap_or_default();
    InstanceStatus {
        profile: instance.profile.clone(),
        start: instance.start,
        size: instance.size,
        used_by: used_by(users.get(uuid.as_str()), &instance.processes),
        uuid,
    }
}

/// Pods that it is allocated to, else the processes on it: a process of a pod that is known need not be named twice.
fn used_by(pods: Option<&Vec<User>>, processes: &[u32]) -> Vec<User> {
    match pods {
        Some(pods) => {
            let mut pods = pods.clone();
            pods.sort();
            pods
        }
        None => processes.iter().map(|pid| User::Process { pid: *pid, name: String::new() }).collect(),
    }
}

fn summary(cards: &[CardReading]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for card in cards {
        *counts.entry(&card.product).or_default() += 1;
    }
    let parts: Vec<String> = counts.into_iter().map(|(product, n)| format!("{n}× {product}")).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use engine_model::name::GpuUuid;
    use providers_agent_api::{CardSettings, MigMode};

    use super::*;

    #[test]
    fn allocated_is_in_use_and_replicas_are_one_device() {
        let instance = |start: u8, uuid: &str, processes: Vec<u32>| InstanceReading {
            profile: "1g.10gb".to_owned(),
            start,
            size: 1,
            uuid: Some(uuid.to_owned()),
            processes,
        };
        let card = CardReading {
            index: 0,
            uuid: GpuUuid::from("GPU-1"),
            pci: "0000:17:00.0".into(),
            product: "A100-SXM4-80GB".to_owned(),
            memory_mib: 81920,
            mig: Some(MigMode { current: true, pending: true }),
            instances: vec![
                instance(0, "MIG-a", vec![7]),
                instance(1, "MIG-b", vec![8]),
                instance(2, "MIG-c", Vec::new()),
            ],
            processes: Vec::new(),
            settings: CardSettings::default(),
            frozen: None,
        };
        let pod = PodDevice {
            namespace: "team-a".to_owned(),
            pod: "nb-1".to_owned(),
            container: "main".to_owned(),
            resource: "nvidia.com/mig-1g.10gb".to_owned(),
            device_ids: vec!["MIG-a::0".to_owned(), "MIG-a::1".to_owned()],
        };
        let inventory =
            Inventory { boot_id: "b".to_owned(), driver_version: "570".to_owned(), cards: vec![card.clone(), card] };
        let status = observed(&inventory, &[pod]);
        assert_eq!(status.summary, "2× A100-SXM4-80GB");
        let users: Vec<&Vec<User>> = status.cards[0].instances.iter().map(|i| &i.used_by).collect();
        let nb = User::Pod { namespace: "team-a".to_owned(), name: "nb-1".to_owned() };
        assert_eq!(users[0], &vec![nb]);
        assert_eq!(users[1], &vec![User::Process { pid: 8, name: String::new() }]);
        assert!(users[2].is_empty());
    }
}
