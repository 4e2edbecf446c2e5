//! Reading cards. A card that is lost is not there: it does not even tell its UUID.

use std::collections::BTreeMap;

use engine_model::name::{GpuUuid, PciAddress};
use nvml_wrapper::enum_wrappers::device::ComputeMode as NvmlComputeMode;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;
use nvml_wrapper::{Device, Nvml};
use providers_agent_api::{CardReading, CardSettings, ComputeMode, GpuError, InstanceReading, Inventory, MigMode};
use providers_catalog::Product;

use super::error::about;
use super::raw;

/// Everything about all cards.
pub(super) fn inventory(nvml: &Nvml, boot_id: &str) -> Result<Inventory, GpuError> {
    let count = nvml.device_count().map_err(|error| about(error, "the number of cards"))?;
    let mut cards = Vec::new();
    for index in 0..count {
        match nvml.device_by_index(index) {
            Ok(device) => cards.push(card(nvml, &device, index)?),
            Err(NvmlError::GpuLost) => {}
            Err(error) => return Err(about(error, format!("card {index}"))),
        }
    }
    cards.sort_by(|one, other| one.pci.cmp(&other.pci));
    let driver_version = nvml.sys_driver_version().map_err(|error| about(error, "the driver's version"))?;
    Ok(Inventory { boot_id: boot_id.to_owned(), driver_version, cards })
}

fn card(nvml: &Nvml, device: &Device, index: u32) -> Result<CardReading, GpuError> {
    let uuid = device.uuid().map_err(|error| about(error, format!("UUID of card {index}")))?;
    let uuid = GpuUuid::from(uuid);
    let failed = |what: &str| {
        let what = format!("{what} of {uuid}");
        move |error| about(error, what)
    };
    let mig = mig_mode(device, &uuid)?;
    let mut processes = processes(device, &uuid)?;
    let instances = match mig {
        Some(MigMode { current: true, .. }) => {
            instances(nvml, device, &mut processes).map_err(failed("MIG instances"))?
        }
        Some(MigMode { current: false, .. }) | None => Vec::new(),
    };
    Ok(CardReading {
        index,
        pci: pci_address(device, &uuid)?,
        product: Product::new(&device.name().map_err(failed("name"))?).to_string(),
        memory_mib: device.memory_info().map_err(failed("memory"))?.total / (1024 * 1024),
        mig,
        instances,
        processes: processes.remove(&None).unwrap_or_default(),
        settings: settings(device).map_err(failed("settings"))?,
        frozen: frozen(nvml, device).map_err(failed("row remapping"))?,
        uuid,
    })
}

/// The PCI address in the spelling of the kernel: `0000:07:00.0` for NVML's `00000000:07:00.0`.
pub(super) fn pci_address(device: &Device, card: &GpuUuid) -> Result<PciAddress, GpuError> {
    let pci = device.pci_info().map_err(|error| about(error, format!("PCI address of {card}")))?;
    let bus = pci.bus_id.to_lowercase();
    // Domains beyond four digits exist (VMD, some clouds), and keep all eight.
    Ok(PciAddress::from(bus.strip_prefix("0000").filter(|rest| rest.len() == 12).unwrap_or(&bus)))
}

/// MIG mode; none if the card has no MIG.
pub(super) fn mig_mode(device: &Device, card: &GpuUuid) -> Result<Option<MigMode>, GpuError> {
    let mode = supported(device.mig_mode()).map_err(|error| about(error, format!("MIG mode of {card}")))?;
    Ok(mode.map(|mode| MigMode { current: mode.current != 0, pending: mode.pending != 0 }))
}

fn supported<T>(result: Result<T, NvmlError>) -> Result<Option<T>, NvmlError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(NvmlError::NotSupported) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Process ids by GPU instance; none: outside MIG instances. In ascending order, each once.
pub(super) fn processes(device: &Device, card: &GpuUuid) -> Result<BTreeMap<Option<u32>, Vec<u32>>, GpuError> {
    let lists = [
        device.running_compute_processes(),
        device.running_graphics_processes(),
        device.mps_running_compute_processes(),
    ];
    let mut found: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
    for list in lists {
        let list = supported(list).map_err(|error| about(error, format!("processes of {card}")))?;
        for ProcessInfo { pid, gpu_instance_id, .. } in list.unwrap_or_default() {
            found.entry(gpu_instance_id).or_default().push(pid);
        }
    }
    for pids in found.values_mut() {
        pids.sort_unstable();
        pids.dedup();
    }
    Ok(found)
}

fn instances(
    nvml: &Nvml,
    device: &Device,
    processes: &mut BTreeMap<Option<u32>, Vec<u32>>,
) -> Result<Vec<InstanceReading>, NvmlError> {
    let mut uuids = mig_uuids(nvml, device)?;
    let mut found = Vec::new();
    for profile in raw::gpu_instance_profiles(nvml, device)? {
        for instance in raw::gpu_instances(nvml, device, profile.id)? {
            found.push(InstanceReading {
                profile: profile.name.clone(),
                // Slices are counted in tens.
                start: u8::try_from(instance.start).unwrap_or(u8::MAX),
                size: u8::try_from(instance.size).unwrap_or(u8::MAX),
                uuid: uuids.remove(&instance.id),
                processes: processes.remove(&Some(instance.id)).unwrap_or_default(),
            });
        }
    }
    found.sort_by_key(|instance| instance.start);
    Ok(found)
}

// The UUID of each GPU instance's first compute instance.
fn mig_uuids(nvml: &Nvml, device: &Device) -> Result<BTreeMap<u32, String>, NvmlError> {
    let mut by_ids = BTreeMap::new();
    for index in 0..device.mig_device_count()? {
        let mig = match device.mig_device_by_index(index) {
            Ok(mig) => mig,
            // Indices have gaps.
            Err(NvmlError::NotFound) => continue,
            Err(error) => return Err(error),
        };
        by_ids.insert(raw::instance_ids(nvml, &mig)?, mig.uuid()?);
    }
    // In reverse, so that the lowest compute instance comes last and stays.
    Ok(by_ids.into_iter().rev().map(|((gpu, _), uuid)| (gpu, uuid)).collect())
}

fn settings(device: &Device) -> Result<CardSettings, NvmlError> {
    Ok(CardSettings {
        persistence_mode: supported(device.is_in_persistent_mode())?,
        power_limit_mw: supported(device.power_management_limit())?,
        // NVML can lock clocks and cannot tell whether they are locked.
        graphics_clocks: None,
        memory_clocks: None,
        ecc: supported(device.is_ecc_enabled())?.map(|ecc| ecc.currently_enabled),
        compute_mode: supported(device.compute_mode())?.map(|mode| match mode {
            NvmlComputeMode::Default => ComputeMode::Default,
            NvmlComputeMode::Prohibited => ComputeMode::Prohibited,
            // The first is what old drivers called a stricter form of the second.
            NvmlComputeMode::ExclusiveThread | NvmlComputeMode::ExclusiveProcess => ComputeMode::ExclusiveProcess,
        }),
    })
}

fn frozen(nvml: &Nvml, device: &Device) -> Result<Option<String>, NvmlError> {
    let reason = match supported(raw::row_remap(nvml, device))? {
        Some((_, true)) => "a row remap failed: the card is to be replaced",
        Some((true, false)) => "a row remap waits for a reset of the card",
        Some((false, false)) | None => return Ok(None),
    };
    Ok(Some(reason.to_owned()))
}
