//! NVML's users see the simulated node: `nvml-wrapper` (safe calls) and `nvml-wrapper-sys` (the rest), loaded from the
//! shared library as on a real node.
//!
//! One test, since the node's file is named by the environment of the whole process.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::ffi::c_uint;
use std::path::Path;
use std::ptr;

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::ComputeMode;
use nvml_wrapper::enums::device::GpuLockedClocksSetting;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper_sys::bindings::{nvmlGpuInstance_t, nvmlGpuInstancePlacement_t};
use providers_catalog::Product;
use providers_simulator::{Call, CardRequest, Condition, Effect, Fault, Node, Refusal};
use providers_simulator_nvml::{NODE_FILE, edit, library, read};

fn write(path: &Path, product: &str, count: usize) -> Node {
    let node = Node::new("gpu-01", "580.105.08", &[CardRequest { product: Product::new(product), count }]).unwrap();
    std::fs::write(path, serde_json::to_vec(&node).unwrap()).unwrap();
    node
}

/// Creates a GPU instance by the raw call and gives its handle.
fn create(
    nvml: &Nvml,
    card: &nvml_wrapper::Device,
    profile: c_uint,
    start: c_uint,
    size: c_uint,
) -> Result<nvmlGpuInstance_t, u32> {
    let create = nvml.lib().nvmlDeviceCreateGpuInstanceWithPlacement.as_ref().unwrap();
    let placement = nvmlGpuInstancePlacement_t { start, size };
    let mut made = ptr::null_mut();
    // SAFETY: all pointers are valid for the call.
    match unsafe { create(card.handle(), profile, &placement, &mut made) } {
        0 => Ok(made),
        code => Err(code),
    }
}

fn create_compute(nvml: &Nvml, gpu: nvmlGpuInstance_t, profile: c_uint) -> u32 {
    let create = nvml.lib().nvmlGpuInstanceCreateComputeInstance.as_ref().unwrap();
    let mut made = ptr::null_mut();
    // SAFETY: all pointers are valid for the call.
    unsafe { create(gpu, profile, &mut made) }
}

#[test]
fn nvml_sees_the_simulated_node() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("node.json");
    let library = library().expect("cargo builds the shared library with this test");
    let load = || Nvml::builder().lib_path(library.as_os_str()).init();

    assert!(matches!(load(), Err(NvmlError::DriverNotLoaded)), "without a node there is no driver");
    // SAFETY: no other thread of this process looks at its environment: this is its only test.
    unsafe { std::env::set_var(NODE_FILE, &file) };
    assert!(matches!(load(), Err(NvmlError::DriverNotLoaded)), "the file does not exist yet");

    let node = write(&file, "A100-SXM4-80GB", 2);
    let nvml = load().unwrap();
    what_the_node_is(&nvml, &node);
    cutting_a_card(&nvml, &file);
    what_hinders(&nvml, &file);
    settings(&nvml, &file);
    faults(&nvml, &file);
}

fn what_the_node_is(nvml: &Nvml, node: &Node) {
    assert_eq!(nvml.sys_driver_version().unwrap(), "580.105.08");
    assert_eq!(nvml.sys_nvml_version().unwrap(), "13.580.105.08");
    assert_eq!(nvml.device_count().unwrap(), 2);
    for (index, card) in node.counted() {
        let device = nvml.device_by_index(index).unwrap();
        assert_eq!(device.uuid().unwrap(), card.uuid.as_str());
        assert_eq!(device.name().unwrap(), "NVIDIA A100-SXM4-80GB");
        assert_eq!(device.memory_info().unwrap().total, 81920 * 1024 * 1024);
        let pci = device.pci_info().unwrap();
        assert_eq!(pci.bus_id, format!("0000{}", card.pci).to_uppercase());
        assert_eq!((pci.pci_device_id, pci.domain), (0x20B2_10DE, 0));
        for same in [nvml.device_by_uuid(card.uuid.as_str()), nvml.device_by_pci_bus_id(pci.bus_id)] {
            assert_eq!(same.unwrap().index().unwrap(), index);
        }
    }
    assert!(matches!(nvml.device_by_index(2), Err(NvmlError::InvalidArg)));
    assert!(matches!(nvml.device_by_uuid("GPU-0"), Err(NvmlError::NotFound)));
}

fn cutting_a_card(nvml: &Nvml, file: &Path) {
    let card = nvml.device_by_index(0).unwrap();
    let mode = card.mig_mode().unwrap();
    assert_eq!((mode.current, mode.pending), (0, 0));
    assert_eq!(create(nvml, &card, 19, 0, 1), Err(3), "not supported while MIG is off");
    assert_eq!(card.set_mig_mode(true).unwrap(), 0);
    assert_eq!(card.mig_device_count().unwrap(), 7);

    let info = card.profile_info(0).unwrap();
    assert_eq!((info.id, info.instance_count, info.slice_count, info.memory_size_mb), (19, 7, 1, 9728));
    assert!(matches!(card.profile_info(3), Ok(info) if info.id == 5));
    assert!(matches!(card.profile_info(5), Err(NvmlError::NotSupported)));

    let gpu = create(nvml, &card, 9, 4, 4).unwrap();
    assert_eq!(create(nvml, &card, 19, 5, 1), Err(23), "insufficient resources: the place is taken");
    assert_eq!(create(nvml, &card, 19, 7, 1), Err(2), "invalid argument: not a place for it");
    assert_eq!(create(nvml, &card, 9, 0, 3), Err(2), "invalid argument: not its size");
    assert_eq!(create_compute(nvml, gpu, 2), 0);

    let mig = card.mig_device_by_index(0).unwrap();
    assert!(mig.mig_is_mig_device_handle().unwrap() && !card.mig_is_mig_device_handle().unwrap());
    assert_eq!(mig.mig_parent_device().unwrap().uuid().unwrap(), card.uuid().unwrap());
    assert_eq!(mig.name().unwrap(), "NVIDIA A100-SXM4-80GB MIG 3g.40gb");
    assert_eq!(mig.memory_info().unwrap().total, 40192 * 1024 * 1024);
    assert!(mig.uuid().unwrap().starts_with("MIG-"));
    assert!(matches!(card.mig_device_by_index(1), Err(NvmlError::NotFound)));

    let written = read(file).unwrap();
    let instances: Vec<String> =
        written.cards[0].instances.iter().map(|instance| instance.instance.to_string()).collect();
    assert_eq!(instances, ["3g.40gb@4:4"], "what NVML did is in the file");
}

fn what_hinders(nvml: &Nvml, file: &Path) {
    let card = nvml.device_by_index(0).unwrap();
    let mig = card.mig_device_by_index(0).unwrap();
    let uuid = mig.uuid().unwrap();
    edit(file, |node| node.set_processes(&uuid, &[4711])).unwrap();
    let on_card = card.running_compute_processes().unwrap();
    assert_eq!(on_card.len(), 1);
    assert_eq!((on_card[0].pid, on_card[0].gpu_instance_id, on_card[0].compute_instance_id), (4711, Some(2), Some(0)));
    assert_eq!(mig.running_compute_processes().unwrap(), on_card);
    assert_eq!(card.running_graphics_processes().unwrap(), []);
    assert_eq!(card.set_mig_mode(false).unwrap(), 19, "accepted, and pending: in use");
    let mode = card.mig_mode().unwrap();
    assert_eq!((mode.current, mode.pending), (1, 0));
    edit(file, |node| node.set_processes(&uuid, &[])).unwrap();
    assert_eq!(card.set_mig_mode(true).unwrap(), 0);
}

fn settings(nvml: &Nvml, file: &Path) {
    let mut card = nvml.device_by_index(1).unwrap();
    card.set_persistent(false).unwrap();
    card.set_power_management_limit(300_000).unwrap();
    assert!(matches!(card.set_power_management_limit(900_000), Err(NvmlError::InvalidArg)));
    card.set_ecc(false).unwrap();
    card.set_compute_mode(ComputeMode::ExclusiveProcess).unwrap();
    card.set_gpu_locked_clocks(GpuLockedClocksSetting::Numeric { min_clock_mhz: 210, max_clock_mhz: 1410 }).unwrap();
    card.set_mem_locked_clocks(1593, 1593).unwrap();
    assert!(!card.is_in_persistent_mode().unwrap());
    assert_eq!(card.power_management_limit().unwrap(), 300_000);
    let limits = card.power_management_limit_constraints().unwrap();
    assert_eq!((limits.min_limit, limits.max_limit), (100_000, 400_000));
    let ecc = card.is_ecc_enabled().unwrap();
    assert!(ecc.currently_enabled && !ecc.pending_enabled);
    assert_eq!(card.compute_mode().unwrap(), ComputeMode::ExclusiveProcess);
    let written = &read(file).unwrap().cards[1];
    assert_eq!((written.graphics_clocks, written.memory_clocks), (Some((210, 1410)), Some((1593, 1593))));
}

fn faults(nvml: &Nvml, file: &Path) {
    let refuse =
        Fault { call: Call::SetMigMode, card: None, after: 0, times: 1, effect: Effect::Refuse(Refusal::NoPermission) };
    let card = nvml.device_by_index(1).unwrap();
    edit(file, |node| node.faults.push(refuse)).unwrap();
    assert!(matches!(card.set_mig_mode(true), Err(NvmlError::NoPermission)));
    assert_eq!(card.set_mig_mode(true).unwrap(), 0);

    edit(file, |node| node.cards[0].condition = Condition::Lost).unwrap();
    assert_eq!(nvml.device_count().unwrap(), 2, "a lost card is still counted");
    assert!(matches!(nvml.device_by_index(0), Err(NvmlError::GpuLost)));
    edit(file, |node| node.cards[0].condition = Condition::Missing).unwrap();
    assert_eq!(nvml.device_count().unwrap(), 1);
    let moved_up = nvml.device_by_index(0).unwrap();
    assert_eq!(moved_up.uuid().unwrap(), card.uuid().unwrap(), "the index is no identity");
}
