//! What may happen to a simulated node: modes, resets, reboots, faults, processes, allocations; and that none of it
//! leaves a layout which the hardware would not have.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::sync::{Arc, Mutex};

use engine_model::name::GpuUuid;
use proptest::prelude::*;
use providers_agent_api::{CardSettings, ComputeMode, GpuError, Gpus};
use providers_catalog::{Instance, Product};
use providers_simulator::{
    Activation, Call, CardRequest, Condition, Device, Effect, Fault, Fleet, Node, Refusal, RowRemap, SharedFleet,
    SimulatedGpus, UnknownProduct,
};

fn node(products: &[&str]) -> Node {
    let requests: Vec<CardRequest> =
        products.iter().map(|product| CardRequest { product: Product::new(product), count: 1 }).collect();
    Node::new("gpu-01", "580.105.08", &requests).unwrap()
}

fn uuid(node: &Node, index: usize) -> GpuUuid {
    node.cards[index].uuid.clone()
}

/// Switches MIG on and cuts 3g at 4, 1g at 0.
fn cut(node: &mut Node, index: usize) -> GpuUuid {
    let card = uuid(node, index);
    assert_eq!(node.set_mig_mode(&card, true), Ok(Activation::Done));
    for (profile, start, slices) in [(9, 4, 3), (19, 0, 1)] {
        let id = node.create_gpu_instance(&card, profile, Some(start)).unwrap();
        node.create_compute_instance(&card, id, slices).unwrap();
    }
    card
}

fn layout(node: &Node, index: usize) -> String {
    let card = &node.cards[index];
    let instances: Vec<String> = card.instances.iter().map(|instance| instance.instance.to_string()).collect();
    format!("{} {}", if card.mig { "mig" } else { "whole" }, instances.join(" "))
}

#[test]
fn what_survives_what() {
    for (product, reset, reboot, driver) in
        [("A100-SXM4-80GB", "mig ", "mig ", "mig "), ("H100-80GB-HBM3", "mig ", "whole ", "whole ")]
    {
        let start = {
            let mut node = node(&[product]);
            let card = cut(&mut node, 0);
            let settings = CardSettings {
                power_limit_mw: Some(300_000),
                ecc: Some(false),
                compute_mode: Some(ComputeMode::ExclusiveProcess),
                ..CardSettings::default()
            };
            node.set(&card, &settings).unwrap();
            assert_eq!(node.cards[0].ecc, Some(true), "ECC waits for a reset");
            node.cards[0].row_remap = RowRemap::Pending;
            node
        };
        assert_eq!(layout(&start, 0), "mig 1g.10gb@0:1 3g.40gb@4:4");

        let mut node = start.clone();
        node.reset(&uuid(&start, 0)).unwrap();
        assert_eq!(layout(&node, 0), reset, "{product} after a reset");
        let card = &node.cards[0];
        assert_eq!((card.ecc, card.power.limit, card.row_remap), (Some(false), 300_000, RowRemap::None));

        let mut node = start.clone();
        node.reboot();
        assert_eq!(layout(&node, 0), reboot, "{product} after a reboot");
        assert_ne!(node.boot_id(), start.boot_id());
        let card = &node.cards[0];
        assert_eq!((card.power.limit, card.compute_mode), (card.power.default, ComputeMode::Default));

        let mut node = start.clone();
        node.replace_driver("595.91.07").unwrap();
        assert_eq!(layout(&node, 0), driver, "{product} after a new driver");
        assert_eq!((node.driver_version.as_str(), node.boot_id()), ("595.91.07", start.boot_id()));
    }
}

#[test]
fn a_running_process_holds_its_card() {
    let mut node = node(&["A100-SXM4-80GB"]);
    let card = cut(&mut node, 0);
    let (gpu_instance, mig) = (node.cards[0].instances[0].id, node.cards[0].instances[0].compute[0].uuid.clone());
    assert!(node.set_processes(&mig, &[4711]));
    assert_eq!(node.destroy_compute_instance(&card, gpu_instance, 0), Err(Refusal::InUse));
    assert_eq!(node.destroy_gpu_instance(&card, gpu_instance), Err(Refusal::InUse));
    assert_eq!(node.reset(&card), Err(Refusal::InUse));
    assert_eq!(node.replace_driver("595.91.07"), Err(Refusal::InUse));
    assert_eq!(node.set_mig_mode(&card, false), Ok(Activation::Pending(Refusal::InUse)));
    assert_eq!(layout(&node, 0), "mig 1g.10gb@0:1 3g.40gb@4:4");
    assert!(node.set_processes(&mig, &[]));
    assert_eq!(node.reset(&card), Ok(()));
    assert_eq!(layout(&node, 0), "whole ", "the pending mode comes with the reset");
    assert!(!node.set_processes(&mig, &[4711]), "the slice is gone");
}

#[test]
fn a_slice_made_again_has_the_old_id_and_a_new_uuid() {
    let mut node = node(&["H100-80GB-HBM3"]);
    let card = cut(&mut node, 0);
    let before = node.cards[0].instances[0].clone();
    node.destroy_compute_instance(&card, before.id, 0).unwrap();
    node.destroy_gpu_instance(&card, before.id).unwrap();
    node.create_gpu_instance(&card, 19, Some(0)).unwrap();
    node.create_compute_instance(&card, before.id, 1).unwrap();
    let after = &node.cards[0].instances[0];
    assert_eq!((after.id, after.instance, after.compute[0].id), (before.id, before.instance, 0));
    assert_ne!(after.compute[0].uuid, before.compute[0].uuid);
}

#[test]
fn index_is_not_identity() {
    let mut node = node(&["A100-SXM4-80GB", "A100-SXM4-80GB", "L4"]);
    let third = uuid(&node, 2);
    let index = |node: &Node| node.counted().find(|(_, card)| card.uuid == third).map(|(index, _)| index);
    assert_eq!(index(&node), Some(2));
    node.cards[0].condition = Condition::Missing;
    assert_eq!(index(&node), Some(1));
    node.cards[0].condition = Condition::Lost;
    assert_eq!(index(&node), Some(2));
    assert_eq!(node.reset(&uuid(&node, 0)), Err(Refusal::GpuIsLost));
    node.reboot();
    assert_eq!(node.cards[0].condition, Condition::Healthy);
}

#[test]
fn too_old_a_driver() {
    let request = |product: &str| [CardRequest { product: Product::new(product), count: 1 }];
    let mut old = Node::new("gpu-01", "450.51.06", &request("A100-SXM4-80GB")).unwrap();
    assert_eq!(old.set_mig_mode(&uuid(&old, 0), true), Err(Refusal::NotSupported));
    let mut node = Node::new("gpu-01", "470.57.02", &request("A100-SXM4-80GB")).unwrap();
    let card = uuid(&node, 0);
    node.set_mig_mode(&card, true).unwrap();
    assert_eq!(node.create_gpu_instance(&card, 15, None), Err(Refusal::InvalidArgument));
    assert_eq!(node.create_gpu_instance(&card, 9, None), Ok(2));
    assert_eq!(node.create_gpu_instance(&card, 5, None), Err(Refusal::InsufficientResources));
    let unknown = Node::new("gpu-01", "470.57.02", &request("GTX-9999"));
    assert_eq!(unknown, Err(UnknownProduct(Product::new("GTX-9999"))));
}

#[test]
fn faults_strike_when_and_as_often_as_scripted() {
    let mut node = node(&["H100-80GB-HBM3", "H100-80GB-HBM3"]);
    let (first, second) = (uuid(&node, 0), uuid(&node, 1));
    let fault =
        |call, card: Option<&GpuUuid>, after, times, effect| Fault { call, card: card.cloned(), after, times, effect };
    node.faults = vec![
        fault(Call::SetMigMode, Some(&second), 0, 1, Effect::Refuse(Refusal::NoPermission)),
        fault(Call::CreateGpuInstance, None, 1, 2, Effect::Refuse(Refusal::Unknown)),
        fault(Call::CreateComputeInstance, None, 0, 1, Effect::RefuseAfterwards(Refusal::Unknown)),
        fault(Call::Reset, None, 0, 1, Effect::LoseCard),
        fault(Call::Set, None, 0, 1, Effect::Slow(70)),
    ];
    assert_eq!(node.set_mig_mode(&first, true), Ok(Activation::Done));
    assert_eq!(node.set_mig_mode(&second, true), Err(Refusal::NoPermission));
    assert_eq!(node.set_mig_mode(&second, true), Ok(Activation::Done));

    let results: Vec<_> = (0..4).map(|_| node.create_gpu_instance(&first, 19, None)).collect();
    assert_eq!(results, [Ok(13), Err(Refusal::Unknown), Err(Refusal::Unknown), Ok(11)]);

    assert_eq!(node.create_compute_instance(&first, 13, 1), Err(Refusal::Unknown));
    assert_eq!(
        node.create_compute_instance(&first, 13, 1),
        Err(Refusal::InsufficientResources),
        "the first one exists"
    );

    assert_eq!(node.set(&first, &CardSettings::default()), Ok(()));
    assert_eq!((node.take_delay_ms(), node.take_delay_ms()), (70, 0));

    assert_eq!(node.reset(&second), Err(Refusal::GpuIsLost));
    assert_eq!(node.set_mig_mode(&second, false), Err(Refusal::GpuIsLost));
    assert_eq!(node.faults, []);
}

#[test]
fn devices_are_offered_given_and_taken_back() {
    let mut node = node(&["A100-SXM4-80GB", "L4"]);
    cut(&mut node, 0);
    let offered =
        |node: &Node| -> Vec<String> { node.free_devices().into_iter().map(|device| device.resource).collect() };
    assert_eq!(offered(&node), ["nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb", "nvidia.com/gpu"]);
    assert!(node.allocate("team-b", "nb-1", "main", "nvidia.com/mig-1g.10gb", 1));
    assert!(!node.allocate("team-b", "nb-2", "main", "nvidia.com/mig-1g.10gb", 1));
    assert_eq!(offered(&node), ["nvidia.com/mig-3g.40gb", "nvidia.com/gpu"]);
    let device = node.allocations[0].device_ids[0].clone();
    assert!(node.set_processes(&device, &[4711]));
    node.release("team-b", "nb-1");
    assert_eq!(node.allocations, []);
    assert!(!node.cards[0].is_busy(), "its process ended with it");
    assert!(node.devices().contains(&Device { resource: "nvidia.com/mig-1g.10gb".to_owned(), id: device }));
}

#[test]
fn a_pod_without_a_process_keeps_nobody_from_destroying_its_slice() {
    let mut node = node(&["H100-80GB-HBM3"]);
    let card = cut(&mut node, 0);
    assert!(node.allocate("team-b", "nb-1", "main", "nvidia.com/mig-1g.10gb", 1));
    let fleet = SharedFleet::new(Fleet { nodes: [("gpu-01".to_owned(), node)].into() });
    SimulatedGpus::new(fleet.clone(), "gpu-01").destroy_instance(&card, "1g.10gb", 0).unwrap();
    let (allocated, offered) = fleet.read(|fleet| {
        let node = &fleet.nodes["gpu-01"];
        (node.allocations[0].device_ids[0].clone(), node.devices())
    });
    assert!(offered.iter().all(|device| device.id != allocated), "the pod is left with an id of nothing");
}

#[test]
fn every_change_is_recorded_before_it_is_answered() {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&recorded);
    let start = node(&["H100-80GB-HBM3"]);
    let card = uuid(&start, 0);
    let fleet = Fleet { nodes: [("gpu-01".to_owned(), start)].into() };
    let shared =
        SharedFleet::recorded(fleet, move |node| log.lock().unwrap().push(serde_json::to_string(node).unwrap()));
    let mut gpus = SimulatedGpus::new(shared.clone(), "gpu-01");
    gpus.inventory().unwrap();
    assert_eq!(recorded.lock().unwrap().len(), 0, "looking is no change");
    gpus.set_mig_mode(&card, true).unwrap();
    assert_eq!(recorded.lock().unwrap().len(), 1);
    assert!(matches!(gpus.create_instance(&card, "1g.10gb", 7), Err(GpuError::InvalidArgument(_))));
    assert_eq!(recorded.lock().unwrap().len(), 1, "what is refused is no change");
    gpus.create_instance(&card, "1g.10gb", 0).unwrap();
    let last: Node = serde_json::from_str(recorded.lock().unwrap().last().unwrap()).unwrap();
    shared.read(|fleet| assert_eq!(fleet.nodes["gpu-01"], last, "the last record is the node"));
    assert!(matches!(SimulatedGpus::new(shared, "gpu-09").inventory(), Err(GpuError::DriverNotLoaded(_))));
}

#[derive(Clone, Debug)]
enum Act {
    Mode(bool),
    Gpu(u32, Option<u8>),
    Compute(usize, u8),
    DestroyCompute(usize, u32),
    DestroyGpu(usize),
    Process(usize, bool),
    Reset,
    Reboot,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => any::<bool>().prop_map(Act::Mode),
        8 => (prop::sample::select(vec![0, 5, 9, 14, 15, 19, 20]), prop::option::of(0..8_u8))
            .prop_map(|(profile, start)| Act::Gpu(profile, start)),
        8 => (0..8_usize, 1..8_u8).prop_map(|(index, slices)| Act::Compute(index, slices)),
        3 => (0..8_usize, 0..3_u32).prop_map(|(index, id)| Act::DestroyCompute(index, id)),
        3 => (0..8_usize).prop_map(Act::DestroyGpu),
        3 => (0..8_usize, any::<bool>()).prop_map(|(index, runs)| Act::Process(index, runs)),
        1 => Just(Act::Reset),
        1 => Just(Act::Reboot),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_calls_leaves_an_impossible_node(
        product in prop::sample::select(vec!["A100-SXM4-80GB", "H100-80GB-HBM3", "A30", "L4"]),
        acts in prop::collection::vec(act(), 0..40),
    ) {
        let mut node = node(&[product]);
        let card = uuid(&node, 0);
        for act in acts {
            let ids: Vec<u32> = node.cards[0].instances.iter().map(|instance| instance.id).collect();
            let id = |index: usize| ids.get(index).copied().unwrap_or(99);
            let before = node.clone();
            let refused = match act {
                Act::Mode(on) => node.set_mig_mode(&card, on).is_err(),
                Act::Gpu(profile, start) => node.create_gpu_instance(&card, profile, start).is_err(),
                Act::Compute(index, slices) => node.create_compute_instance(&card, id(index), slices).is_err(),
                Act::DestroyCompute(index, compute) => node.destroy_compute_instance(&card, id(index), compute).is_err(),
                Act::DestroyGpu(index) => node.destroy_gpu_instance(&card, id(index)).is_err(),
                Act::Process(index, runs) => {
                    let pids: &[u32] = if runs { &[4711] } else { &[] };
                    let device = node.cards[0].instances.get(index).and_then(|instance| instance.compute.first());
                    let device = device.map_or_else(|| card.to_string(), |compute| compute.uuid.clone());
                    !node.set_processes(&device, pids)
                }
                Act::Reset => node.reset(&card).is_err(),
                Act::Reboot => {
                    node.reboot();
                    false
                }
            };
            if refused {
                prop_assert_eq!(&node, &before, "what is refused changes nothing");
            }
            let found = &node.cards[0];
            let instances: Vec<Instance> = found.instances.iter().map(|instance| instance.instance).collect();
            prop_assert!(found.mig || instances.is_empty());
            if let Some(geometry) = found.geometry() {
                prop_assert_eq!(geometry.check(&instances), Ok(()));
            }
            for instance in &found.instances {
                let slices: u8 = instance.compute.iter().map(|compute| compute.slices).sum();
                prop_assert!(slices <= instance.instance.profile.gpu_slices);
            }
            let text = serde_json::to_string(&node).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Node>(&text).unwrap(), &node);
        }
    }
}
