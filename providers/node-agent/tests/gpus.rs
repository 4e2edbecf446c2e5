//! One suite for both backends of the GPU trait: the simulator in memory, and NVML over the simulator's
//! `libnvidia-ml.so`. What is done and what comes of it is written once; both must agree with it and, after every step,
//! with each other about the whole inventory. Then both go through arbitrary steps together.
//!
//! One test, since the node's file is named by the environment of the whole process.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic like tests")]

use std::path::{Path, PathBuf};

use engine_model::name::GpuUuid;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use providers_agent_api::{CardSettings, Clocks, ComputeMode, GpuError, Gpus, Inventory};
use providers_catalog::Product;
use providers_node_agent::{NvmlGpus, Reset};
use providers_simulator::{
    Call, CardRequest, Condition, Effect, Fault, Fleet, Node, Refusal, RowRemap, SharedFleet, SimulatedGpus, nvidia_smi,
};
use providers_simulator_nvml::{NODE_FILE, edit, library};

const NODE: &str = "gpu-01";

fn node(products: &[&str]) -> Node {
    let requests: Vec<CardRequest> =
        products.iter().map(|product| CardRequest { product: Product::new(product), count: 1 }).collect();
    Node::new(NODE, "580.105.08", &requests).unwrap()
}

/// A node behind the GPU trait, and what happens to it beside the trait.
trait World {
    fn gpus(&mut self) -> &mut dyn Gpus;
    fn happens(&mut self, what: &dyn Fn(&mut Node));
}

struct InMemory {
    fleet: SharedFleet,
    gpus: SimulatedGpus,
}

impl InMemory {
    fn new(node: Node) -> Self {
        let fleet = SharedFleet::new(Fleet { nodes: [(NODE.to_owned(), node)].into() });
        Self { gpus: SimulatedGpus::new(fleet.clone(), NODE), fleet }
    }
}

impl World for InMemory {
    fn gpus(&mut self) -> &mut dyn Gpus {
        &mut self.gpus
    }

    fn happens(&mut self, what: &dyn Fn(&mut Node)) {
        self.fleet.with(NODE, what).unwrap();
    }
}

struct OverNvml {
    file: PathBuf,
    boot_id: PathBuf,
    gpus: NvmlGpus,
}

impl OverNvml {
    fn new(folder: &Path, node: &Node) -> Self {
        let (file, boot_id) = (folder.join("node.json"), folder.join("boot_id"));
        std::fs::write(&file, serde_json::to_vec(node).unwrap()).unwrap();
        std::fs::write(&boot_id, format!("{}\n", node.boot_id())).unwrap();
        let library = library().expect("cargo builds the shared library with this test");
        let gpus = NvmlGpus::new(library, &boot_id, reset(file.clone()));
        Self { file, boot_id, gpus }
    }
}

/// Resets as `nvidia-smi` does, without a process for it.
fn reset(file: PathBuf) -> Reset {
    Box::new(move |card| {
        let output = edit(&file, |node| nvidia_smi(node, &["--gpu-reset", "-i", card.as_str()])).unwrap();
        match output.code {
            0 => Ok(()),
            15 => Err(GpuError::GpuIsLost(output.stdout)),
            19 => Err(GpuError::InUse(output.stdout)),
            code => Err(GpuError::Unknown(format!("{code}: {}", output.stdout))),
        }
    })
}

impl World for OverNvml {
    fn gpus(&mut self) -> &mut dyn Gpus {
        &mut self.gpus
    }

    fn happens(&mut self, what: &dyn Fn(&mut Node)) {
        let boot_id = edit(&self.file, |node| {
            what(node);
            node.boot_id()
        });
        std::fs::write(&self.boot_id, format!("{}\n", boot_id.unwrap())).unwrap();
    }
}

/// What is done. Cards are named by their number in the node, which is not always NVML's index.
#[derive(Clone, Debug)]
enum Act {
    Mode(usize, bool),
    Create(usize, &'static str, u8),
    Destroy(usize, &'static str, u8),
    Reset(usize),
    Set(usize, CardSettings),
    /// A process on a card, or on the slice that starts there.
    Process(usize, Option<u8>, bool),
    Condition(usize, Condition),
    Remap(usize, RowRemap),
    Fault(Call, Effect),
    Reboot,
    Driver(&'static str),
}

fn word<T>(result: &Result<T, GpuError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        // The name of the variant: the text behind it is the backend's own.
        Err(error) => format!("{error:?}").split('(').next().unwrap_or_default().to_owned(),
    }
}

fn act(world: &mut dyn World, cards: &[GpuUuid], act: &Act) -> String {
    match act {
        Act::Mode(card, on) => match world.gpus().set_mig_mode(&cards[*card], *on) {
            Ok(mode) => format!("current {} pending {}", mode.current, mode.pending),
            refused => word(&refused),
        },
        Act::Create(card, profile, start) => word(&world.gpus().create_instance(&cards[*card], profile, *start)),
        Act::Destroy(card, profile, start) => word(&world.gpus().destroy_instance(&cards[*card], profile, *start)),
        Act::Reset(card) => word(&world.gpus().reset(&cards[*card])),
        Act::Set(card, settings) => word(&world.gpus().set(&cards[*card], settings)),
        Act::Process(card, start, runs) => beside(world, |node| {
            let pids: &[u32] = if *runs { &[4711] } else { &[] };
            let found = &node.cards[*card];
            let slice = found.instances.iter().find(|slice| Some(slice.instance.placement.start) == *start);
            let device = match slice.and_then(|slice| slice.compute.first()) {
                Some(compute) => compute.uuid.clone(),
                None => found.uuid.to_string(),
            };
            assert!(node.set_processes(&device, pids));
        }),
        Act::Condition(card, condition) => beside(world, |node| node.cards[*card].condition = *condition),
        Act::Remap(card, remap) => beside(world, |node| node.cards[*card].row_remap = *remap),
        Act::Fault(call, effect) => beside(world, |node| {
            node.faults.push(Fault { call: *call, card: None, after: 0, times: 1, effect: *effect });
        }),
        Act::Reboot => beside(world, Node::reboot),
        Act::Driver(version) => beside(world, |node| assert_eq!(node.replace_driver(version), Ok(()))),
    }
}

fn beside(world: &mut dyn World, what: impl Fn(&mut Node)) -> String {
    world.happens(&what);
    String::new()
}

/// The cards in order of address: index, mode, slices with their processes, processes on the card, what freezes it.
fn summary(inventory: &Inventory) -> String {
    let cards = inventory.cards.iter().map(|card| {
        let mode = match card.mig {
            None => "no-mig",
            Some(mode) if mode.current && mode.pending => "mig",
            Some(mode) if !mode.current && !mode.pending => "whole",
            Some(mode) if mode.pending => "whole->mig",
            Some(_) => "mig->whole",
        };
        let slices = card.instances.iter().map(|slice| {
            let busy = if slice.processes.is_empty() { "" } else { "*" };
            let usable = if slice.uuid.is_some() { "" } else { "!" };
            format!(" {}@{}:{}{busy}{usable}", slice.profile, slice.start, slice.size)
        });
        let busy = if card.processes.is_empty() { "" } else { "*" };
        let frozen = if card.frozen.is_some() { " frozen" } else { "" };
        format!("{}={mode}{busy}{}{frozen}", card.index, slices.collect::<String>())
    });
    cards.collect::<Vec<_>>().join(", ")
}

struct Both {
    in_memory: InMemory,
    over_nvml: OverNvml,
    cards: Vec<GpuUuid>,
}

impl Both {
    fn new(folder: &Path, node: Node) -> Self {
        let cards = node.cards.iter().map(|card| card.uuid.clone()).chain([GpuUuid::from("GPU-none")]).collect();
        let over_nvml = OverNvml::new(folder, &node);
        Self { in_memory: InMemory::new(node), over_nvml, cards }
    }

    /// Does it to both; what came of it, and what the cards are then.
    fn act(&mut self, what: &Act) -> (String, String) {
        let one = act(&mut self.in_memory, &self.cards, what);
        let other = act(&mut self.over_nvml, &self.cards, what);
        assert_eq!(one, other, "{what:?}: in memory and over NVML");
        let (one_read, other_read) = (self.in_memory.gpus().inventory(), self.over_nvml.gpus().inventory());
        assert_eq!(word(&one_read), word(&other_read), "inventory after {what:?}");
        if let (Ok(one_read), Ok(other_read)) = (&one_read, &other_read) {
            assert_eq!(one_read, other_read, "inventory after {what:?}");
        }
        (one, one_read.map_or_else(|error| word::<()>(&Err(error)), |inventory| summary(&inventory)))
    }
}

#[test]
fn both_backends_do_the_same() {
    let folder = tempfile::tempdir().unwrap();
    // SAFETY: no other thread of this process looks at its environment: this is its only test.
    unsafe { std::env::set_var(NODE_FILE, folder.path().join("node.json")) };
    for (products, steps) in scenarios() {
        let mut both = Both::new(folder.path(), node(products));
        for (what, result, cards) in steps {
            let found = both.act(&what);
            assert_eq!(found, (result.to_owned(), cards.to_owned()), "{products:?}: {what:?}");
        }
    }
    arbitrary_steps(folder.path());
    no_driver(folder.path());
}

type Steps = Vec<(Act, &'static str, &'static str)>;

fn scenarios() -> Vec<(&'static [&'static str], Steps)> {
    use Act::{Condition as Is, Create, Destroy, Driver, Fault as Goes, Mode, Process, Reboot, Remap, Reset, Set};
    vec![
        // Cutting, and every way in which it is refused.
        (
            &["A100-SXM4-80GB", "L4"],
            vec![
                (Create(0, "3g.40gb", 4), "NotSupported", "0=whole, 1=no-mig"),
                (Mode(0, true), "current true pending true", "0=mig, 1=no-mig"),
                (Create(0, "3g.40gb", 4), "ok", "0=mig 3g.40gb@4:4, 1=no-mig"),
                (Create(0, "1g.10gb", 5), "InsufficientResources", "0=mig 3g.40gb@4:4, 1=no-mig"),
                (Create(0, "1g.10gb", 7), "InvalidArgument", "0=mig 3g.40gb@4:4, 1=no-mig"),
                (Create(0, "1g.5gb", 0), "InvalidArgument", "0=mig 3g.40gb@4:4, 1=no-mig"),
                (Create(0, "1g.10gb+me", 0), "ok", "0=mig 1g.10gb+me@0:1 3g.40gb@4:4, 1=no-mig"),
                (Create(0, "1g.10gb+me", 1), "InsufficientResources", "0=mig 1g.10gb+me@0:1 3g.40gb@4:4, 1=no-mig"),
                (Create(0, "1g.20gb", 2), "ok", "0=mig 1g.10gb+me@0:1 1g.20gb@2:2 3g.40gb@4:4, 1=no-mig"),
                (Destroy(0, "3g.40gb", 0), "InvalidArgument", "0=mig 1g.10gb+me@0:1 1g.20gb@2:2 3g.40gb@4:4, 1=no-mig"),
                (Destroy(0, "3g.40gb", 4), "ok", "0=mig 1g.10gb+me@0:1 1g.20gb@2:2, 1=no-mig"),
                (Mode(1, true), "NotSupported", "0=mig 1g.10gb+me@0:1 1g.20gb@2:2, 1=no-mig"),
                (Create(1, "1g.10gb", 0), "NotSupported", "0=mig 1g.10gb+me@0:1 1g.20gb@2:2, 1=no-mig"),
                (Destroy(1, "1g.10gb", 0), "NotSupported", "0=mig 1g.10gb+me@0:1 1g.20gb@2:2, 1=no-mig"),
                (Mode(2, true), "InvalidArgument", "0=mig 1g.10gb+me@0:1 1g.20gb@2:2, 1=no-mig"),
                (Mode(0, false), "current false pending false", "0=whole, 1=no-mig"),
                (Destroy(0, "1g.20gb", 2), "InvalidArgument", "0=whole, 1=no-mig"),
            ],
        ),
        // Processes hold what they run on.
        (
            &["A100-SXM4-80GB"],
            vec![
                (Process(0, None, true), "", "0=whole*"),
                (Mode(0, true), "current false pending true", "0=whole->mig*"),
                (Reset(0), "InUse", "0=whole->mig*"),
                (Process(0, None, false), "", "0=whole->mig"),
                (Reset(0), "ok", "0=mig"),
                (Create(0, "2g.20gb", 0), "ok", "0=mig 2g.20gb@0:2"),
                (Create(0, "2g.20gb", 2), "ok", "0=mig 2g.20gb@0:2 2g.20gb@2:2"),
                (Process(0, Some(2), true), "", "0=mig 2g.20gb@0:2 2g.20gb@2:2*"),
                (Destroy(0, "2g.20gb", 2), "InUse", "0=mig 2g.20gb@0:2 2g.20gb@2:2*"),
                (Destroy(0, "2g.20gb", 0), "ok", "0=mig 2g.20gb@2:2*"),
                (Mode(0, false), "current true pending false", "0=mig->whole 2g.20gb@2:2*"),
                (Process(0, Some(2), false), "", "0=mig->whole 2g.20gb@2:2"),
                (Reset(0), "ok", "0=whole"),
            ],
        ),
        // Hopper switches at once or not at all, and forgets.
        (
            &["H100-80GB-HBM3", "A100-SXM4-80GB"],
            vec![
                (Process(0, None, true), "", "0=whole*, 1=whole"),
                (Mode(0, true), "InUse", "0=whole*, 1=whole"),
                (Process(0, None, false), "", "0=whole, 1=whole"),
                (Mode(0, true), "current true pending true", "0=mig, 1=whole"),
                (Mode(1, true), "current true pending true", "0=mig, 1=mig"),
                (Create(0, "7g.80gb", 0), "ok", "0=mig 7g.80gb@0:8, 1=mig"),
                (Create(1, "7g.80gb", 0), "ok", "0=mig 7g.80gb@0:8, 1=mig 7g.80gb@0:8"),
                (Mode(0, false), "InUse", "0=mig 7g.80gb@0:8, 1=mig 7g.80gb@0:8"),
                (Reset(0), "ok", "0=mig, 1=mig 7g.80gb@0:8"),
                (Reboot, "", "0=whole, 1=mig"),
                (Mode(0, true), "current true pending true", "0=mig, 1=mig"),
                (Driver("595.91.07"), "", "0=whole, 1=mig"),
            ],
        ),
        // The A30, and slices of another shape than the name says.
        (
            &["A30", "A100-SXM4-40GB"],
            vec![
                (Mode(0, true), "current true pending true", "0=mig, 1=whole"),
                (Create(0, "2g.12gb+me", 2), "ok", "0=mig 2g.12gb+me@2:2, 1=whole"),
                (Create(0, "1g.6gb+me", 0), "InsufficientResources", "0=mig 2g.12gb+me@2:2, 1=whole"),
                (Create(0, "1g.6gb", 0), "ok", "0=mig 1g.6gb@0:1 2g.12gb+me@2:2, 1=whole"),
                (Mode(1, true), "current true pending true", "0=mig 1g.6gb@0:1 2g.12gb+me@2:2, 1=mig"),
                (Create(1, "1g.10gb", 6), "ok", "0=mig 1g.6gb@0:1 2g.12gb+me@2:2, 1=mig 1g.10gb@6:2"),
            ],
        ),
        // Cards that vanish, and cards that are frozen.
        (
            &["A100-SXM4-80GB", "A100-SXM4-80GB"],
            vec![
                (Remap(1, RowRemap::Pending), "", "0=whole, 1=whole frozen"),
                (Reset(1), "ok", "0=whole, 1=whole"),
                (Remap(1, RowRemap::Failed), "", "0=whole, 1=whole frozen"),
                (Is(0, Condition::Lost), "", "1=whole frozen"),
                (Mode(0, true), "GpuIsLost", "1=whole frozen"),
                (Reset(0), "GpuIsLost", "1=whole frozen"),
                (Is(0, Condition::Missing), "", "0=whole frozen"),
                (Mode(0, true), "InvalidArgument", "0=whole frozen"),
                (Mode(1, true), "current true pending true", "0=mig frozen"),
            ],
        ),
        // What fails half way is taken back or told.
        (
            &["H100-80GB-HBM3"],
            vec![
                (Mode(0, true), "current true pending true", "0=mig"),
                (Goes(Call::CreateComputeInstance, Effect::Refuse(Refusal::Unknown)), "", "0=mig"),
                (Create(0, "1g.10gb", 0), "Unknown", "0=mig"),
                (Goes(Call::CreateComputeInstance, Effect::Refuse(Refusal::InsufficientResources)), "", "0=mig"),
                (Goes(Call::DestroyGpuInstance, Effect::Refuse(Refusal::Unknown)), "", "0=mig"),
                (Create(0, "1g.10gb", 0), "InsufficientResources", "0=mig 1g.10gb@0:1!"),
                (Destroy(0, "1g.10gb", 0), "ok", "0=mig"),
                (Goes(Call::CreateGpuInstance, Effect::Refuse(Refusal::NoPermission)), "", "0=mig"),
                (Create(0, "1g.10gb", 0), "NoPermission", "0=mig"),
                (Goes(Call::CreateGpuInstance, Effect::LoseCard), "", "0=mig"),
                (Create(0, "1g.10gb", 0), "GpuIsLost", ""),
                (Reboot, "", "0=whole"),
                (Goes(Call::Inventory, Effect::Refuse(Refusal::DriverNotLoaded)), "", "DriverNotLoaded"),
                (Goes(Call::Set, Effect::Slow(1)), "", "0=whole"),
                (Set(0, CardSettings { persistence_mode: Some(true), ..CardSettings::default() }), "ok", "0=whole"),
            ],
        ),
        // Settings.
        (
            &["A100-SXM4-80GB", "GeForce-RTX-4090"],
            vec![
                (
                    Set(
                        0,
                        CardSettings {
                            persistence_mode: Some(false),
                            power_limit_mw: Some(250_000),
                            graphics_clocks: Some(Clocks { min: 210, max: 1410 }),
                            memory_clocks: Some(Clocks { min: 1593, max: 1593 }),
                            ecc: Some(false),
                            compute_mode: Some(ComputeMode::ExclusiveProcess),
                        },
                    ),
                    "ok",
                    "0=whole, 1=no-mig",
                ),
                (Reset(0), "ok", "0=whole, 1=no-mig"),
                (
                    Set(0, CardSettings { power_limit_mw: Some(1), ..CardSettings::default() }),
                    "InvalidArgument",
                    "0=whole, 1=no-mig",
                ),
                (
                    Set(1, CardSettings { ecc: Some(true), ..CardSettings::default() }),
                    "NotSupported",
                    "0=whole, 1=no-mig",
                ),
                (Reboot, "", "0=whole, 1=no-mig"),
            ],
        ),
    ]
}

fn arbitrary_act() -> impl Strategy<Value = Act> {
    let card = || 0..3_usize;
    let profile =
        || prop::sample::select(vec!["1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]);
    let process = (0..2_usize, prop::option::of(0..8_u8), any::<bool>());
    prop_oneof![
        3 => (card(), any::<bool>()).prop_map(|(card, on)| Act::Mode(card, on)),
        8 => (card(), profile(), 0..8_u8).prop_map(|(card, profile, start)| Act::Create(card, profile, start)),
        4 => (card(), profile(), 0..8_u8).prop_map(|(card, profile, start)| Act::Destroy(card, profile, start)),
        1 => card().prop_map(Act::Reset),
        2 => process.prop_map(|(card, start, runs)| Act::Process(card, start, runs)),
        1 => Just(Act::Reboot),
    ]
}

/// Both backends through the same arbitrary steps, which are the same in every run.
fn arbitrary_steps(folder: &Path) {
    let mut runner = TestRunner::deterministic();
    for _ in 0..12 {
        let steps = prop::collection::vec(arbitrary_act(), 12).new_tree(&mut runner).unwrap().current();
        let mut both = Both::new(folder, node(&["A100-SXM4-80GB", "H100-80GB-HBM3"]));
        for step in steps {
            both.act(&step);
        }
    }
}

fn no_driver(folder: &Path) {
    let boot_id = folder.join("boot_id");
    let never = || -> Reset { Box::new(|card| panic!("nothing resets {card}")) };
    let mut missing = NvmlGpus::new(folder.join("libnvidia-ml.so.1"), &boot_id, never());
    assert_eq!(word(&missing.inventory()), "DriverNotLoaded", "there is no such library");
    std::fs::remove_file(folder.join("node.json")).unwrap();
    let mut unloaded = NvmlGpus::new(library().unwrap(), &boot_id, never());
    assert_eq!(word(&unloaded.inventory()), "DriverNotLoaded");
    assert_eq!(word(&unloaded.reset(&GpuUuid::from("GPU-none"))), "DriverNotLoaded");
    let mut no_boot_id = NvmlGpus::new(library().unwrap(), folder.join("none"), never());
    assert_eq!(word(&no_boot_id.inventory()), "Unknown");
}
