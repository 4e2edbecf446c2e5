//! Cards and MIG devices: finding them, and what they are.

use std::ffi::{c_char, c_uint};

use engine_model::name::GpuUuid;
use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlMemory_t, nvmlMemory_v2_t, nvmlPciInfo_t, nvmlReturn_t};
use providers_simulator::{Card, Condition, Node, Refusal, RowRemap};

use crate::answer::{Code, INVALID_ARGUMENT, NOT_FOUND, VERSION_MISMATCH, put, put_text, text, with_node};
use crate::handle::{Handle, find_gpu, find_mig};

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> nvmlReturn_t {
    with_node(|node| {
        node.begin_inventory()?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(count, node.counted().count() as c_uint) }
    })
}

fn found(card: &Card) -> Result<nvmlDevice_t, Code> {
    match card.condition {
        Condition::Healthy => Ok(Handle::Card(card.uuid.clone()).pointer()),
        Condition::Lost => Err(Refusal::GpuIsLost.into()),
        Condition::Missing => Err(NOT_FOUND),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut nvmlDevice_t) -> nvmlReturn_t {
    with_node(|node| {
        let (_, card) = node.counted().find(|(number, _)| *number == index).ok_or(INVALID_ARGUMENT)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(device, found(card)?) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetHandleByUUID(uuid: *const c_char, device: *mut nvmlDevice_t) -> nvmlReturn_t {
    with_node(|node| {
        // SAFETY: the contract of `nvml.h`.
        let uuid = unsafe { text(uuid) }?;
        let handle = match node.counted().find(|(_, card)| card.uuid.as_str() == uuid) {
            Some((_, card)) => found(card)?,
            None => mig_by_uuid(node, uuid)?.pointer(),
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(device, handle) }
    })
}

fn mig_by_uuid(node: &Node, uuid: &str) -> Result<Handle, Code> {
    let has = |card: &Card| card.mig_devices().any(|device| device.compute_instance.uuid == uuid);
    let (_, card) = node.counted().find(|(_, card)| has(card)).ok_or(NOT_FOUND)?;
    Ok(Handle::Mig(card.uuid.clone(), uuid.to_owned()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(bus: *const c_char, device: *mut nvmlDevice_t) -> nvmlReturn_t {
    with_node(|node| {
        // SAFETY: the contract of `nvml.h`.
        let bus = unsafe { text(bus) }?;
        let is_it =
            |card: &Card| bus.eq_ignore_ascii_case(card.pci.as_str()) || bus.eq_ignore_ascii_case(&bus_id(card));
        let (_, card) = node.counted().find(|(_, card)| is_it(card)).ok_or(NOT_FOUND)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(device, found(card)?) }
    })
}

/// The card of a device handle, for calls that are the same on a MIG device.
fn card_or_parent(device: nvmlDevice_t) -> Result<(GpuUuid, Option<String>), Code> {
    match Handle::of(device)? {
        Handle::Card(card) => Ok((card, None)),
        Handle::Mig(card, uuid) => Ok((card, Some(uuid))),
        Handle::Gpu(..) | Handle::Compute(..) => Err(INVALID_ARGUMENT),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetUUID(device: nvmlDevice_t, uuid: *mut c_char, length: c_uint) -> nvmlReturn_t {
    with_node(|node| {
        let (card, mig) = card_or_parent(device)?;
        let name = match mig {
            Some(mig) => find_mig(node, &card, &mig)?.2.uuid.clone(),
            None => node.card(&card)?.uuid.to_string(),
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put_text(uuid, length, &name) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetName(device: nvmlDevice_t, name: *mut c_char, length: c_uint) -> nvmlReturn_t {
    with_node(|node| {
        let (card, mig) = card_or_parent(device)?;
        let model = &node.card(&card)?.model().name;
        let text = match mig {
            Some(mig) => format!("{model} MIG {}", find_mig(node, &card, &mig)?.1.instance.profile),
            None => model.clone(),
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put_text(name, length, &text) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetIndex(device: nvmlDevice_t, index: *mut c_uint) -> nvmlReturn_t {
    with_node(|node| {
        let (card, mig) = card_or_parent(device)?;
        let found = match mig {
            Some(mig) => node.card(&card)?.mig_devices().position(|device| device.compute_instance.uuid == mig),
            None => node.counted().position(|(_, other)| other.uuid == card),
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(index, found.ok_or(NOT_FOUND)? as c_uint) }
    })
}

fn bus_id(card: &Card) -> String {
    // Eight digits for the domain, where the card's address has four.
    format!("0000{}", card.pci).to_uppercase()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(device: nvmlDevice_t, pci: *mut nvmlPciInfo_t) -> nvmlReturn_t {
    with_node(|node| {
        let card = node.card(&Handle::card(device)?)?;
        let number = |range: std::ops::Range<usize>| {
            card.pci.as_str().get(range).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default()
        };
        // Vendor 0x10DE is NVIDIA; its reference boards have the device's id in the subsystem's place.
        let device_id = (u32::from(card.model().device_id.unwrap_or_default()) << 16) | 0x10DE;
        let info = nvmlPciInfo_t {
            busIdLegacy: chars(&card.pci.as_str().to_uppercase()),
            domain: number(0..4),
            bus: number(5..7),
            device: number(8..10),
            pciDeviceId: device_id,
            pciSubSystemId: device_id,
            busId: chars(&bus_id(card)),
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(pci, info) }
    })
}

/// A text in an array of characters, with a zero at its end whatever its length.
pub(crate) fn chars<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (to, from) in chars.iter_mut().take(N.saturating_sub(1)).zip(text.bytes()) {
        *to = from as c_char;
    }
    chars
}

fn memory(node: &Node, device: nvmlDevice_t) -> Result<u64, Code> {
    let (card, mig) = card_or_parent(device)?;
    let mib = match mig {
        None => node.card(&card)?.memory_mib(),
        Some(mig) => {
            let (_, instance, _) = find_mig(node, &card, &mig)?;
            find_gpu(node, &card, instance.id)?.2.memory_mib.unwrap_or_default()
        }
    };
    Ok(mib * 1024 * 1024)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMemoryInfo(device: nvmlDevice_t, info: *mut nvmlMemory_t) -> nvmlReturn_t {
    with_node(|node| {
        let total = memory(node, device)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(info, nvmlMemory_t { total, free: total, used: 0 }) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(device: nvmlDevice_t, info: *mut nvmlMemory_v2_t) -> nvmlReturn_t {
    with_node(|node| {
        let total = memory(node, device)?;
        if info.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: not null, so valid by the contract of `nvml.h`, which has the caller set the version.
        let version = unsafe { (*info).version };
        if version != (2 << 24) | size_of::<nvmlMemory_v2_t>() as u32 {
            return Err(VERSION_MISMATCH);
        }
        // SAFETY: as above.
        unsafe { put(info, nvmlMemory_v2_t { version, total, reserved: 0, free: total, used: 0 }) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetRemappedRows(
    device: nvmlDevice_t,
    correctable: *mut c_uint,
    uncorrectable: *mut c_uint,
    pending: *mut c_uint,
    failed: *mut c_uint,
) -> nvmlReturn_t {
    with_node(|node| {
        let remap = node.card(&Handle::card(device)?)?.row_remap;
        // SAFETY: the contract of `nvml.h`.
        unsafe {
            put(correctable, 0)?;
            put(uncorrectable, c_uint::from(remap != RowRemap::None))?;
            put(pending, c_uint::from(remap == RowRemap::Pending))?;
            put(failed, c_uint::from(remap == RowRemap::Failed))
        }
    })
}
