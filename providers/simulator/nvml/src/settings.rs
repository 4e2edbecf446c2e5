//! What can be set on a card besides its layout.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::{
    nvmlComputeMode_enum_NVML_COMPUTEMODE_DEFAULT as DEFAULT,
    nvmlComputeMode_enum_NVML_COMPUTEMODE_EXCLUSIVE_PROCESS as EXCLUSIVE_PROCESS,
    nvmlComputeMode_enum_NVML_COMPUTEMODE_PROHIBITED as PROHIBITED, nvmlComputeMode_t, nvmlDevice_t, nvmlEnableState_t,
    nvmlReturn_t,
};
use providers_agent_api::{CardSettings, Clocks, ComputeMode};

use crate::answer::{INVALID_ARGUMENT, NOT_SUPPORTED, put, with_node};
use crate::handle::Handle;

fn set(device: nvmlDevice_t, settings: &CardSettings) -> nvmlReturn_t {
    with_node(|node| {
        let card = Handle::card(device)?;
        Ok(node.set(&card, settings).map_err(|(refusal, _)| refusal)?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetPersistenceMode(device: nvmlDevice_t, mode: *mut nvmlEnableState_t) -> nvmlReturn_t {
    with_node(|node| {
        let on = node.card(&Handle::card(device)?)?.persistence_mode;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(mode, on.into()) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceSetPersistenceMode(device: nvmlDevice_t, mode: nvmlEnableState_t) -> nvmlReturn_t {
    set(device, &CardSettings { persistence_mode: Some(mode != 0), ..CardSettings::default() })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetPowerManagementLimit(device: nvmlDevice_t, limit: *mut c_uint) -> nvmlReturn_t {
    with_node(|node| {
        let power = node.card(&Handle::card(device)?)?.power;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(limit, power.limit) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetPowerManagementLimitConstraints(
    device: nvmlDevice_t,
    min: *mut c_uint,
    max: *mut c_uint,
) -> nvmlReturn_t {
    with_node(|node| {
        let power = node.card(&Handle::card(device)?)?.power;
        // SAFETY: the contract of `nvml.h`.
        unsafe {
            put(min, power.min)?;
            put(max, power.max)
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceSetPowerManagementLimit(device: nvmlDevice_t, limit: c_uint) -> nvmlReturn_t {
    set(device, &CardSettings { power_limit_mw: Some(limit), ..CardSettings::default() })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceSetGpuLockedClocks(device: nvmlDevice_t, min: c_uint, max: c_uint) -> nvmlReturn_t {
    set(device, &CardSettings { graphics_clocks: Some(Clocks { min, max }), ..CardSettings::default() })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceSetMemoryLockedClocks(device: nvmlDevice_t, min: c_uint, max: c_uint) -> nvmlReturn_t {
    set(device, &CardSettings { memory_clocks: Some(Clocks { min, max }), ..CardSettings::default() })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetEccMode(
    device: nvmlDevice_t,
    current: *mut nvmlEnableState_t,
    pending: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let card = node.card(&Handle::card(device)?)?;
        let (Some(now), Some(next)) = (card.ecc, card.ecc_pending) else { return Err(NOT_SUPPORTED) };
        // SAFETY: the contract of `nvml.h`.
        unsafe {
            put(current, now.into())?;
            put(pending, next.into())
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceSetEccMode(device: nvmlDevice_t, ecc: nvmlEnableState_t) -> nvmlReturn_t {
    set(device, &CardSettings { ecc: Some(ecc != 0), ..CardSettings::default() })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetComputeMode(device: nvmlDevice_t, mode: *mut nvmlComputeMode_t) -> nvmlReturn_t {
    with_node(|node| {
        let found = match node.card(&Handle::card(device)?)?.compute_mode {
            ComputeMode::Default => DEFAULT,
            ComputeMode::Prohibited => PROHIBITED,
            ComputeMode::ExclusiveProcess => EXCLUSIVE_PROCESS,
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(mode, found) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceSetComputeMode(device: nvmlDevice_t, mode: nvmlComputeMode_t) -> nvmlReturn_t {
    let mode = match mode {
        DEFAULT => ComputeMode::Default,
        PROHIBITED => ComputeMode::Prohibited,
        EXCLUSIVE_PROCESS => ComputeMode::ExclusiveProcess,
        _ => return INVALID_ARGUMENT.0,
    };
    set(device, &CardSettings { compute_mode: Some(mode), ..CardSettings::default() })
}
