//! MIG mode, and MIG devices of a card.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlReturn_enum_NVML_SUCCESS, nvmlReturn_t};
use providers_simulator::Activation;

use crate::answer::{INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, put, with_node};
use crate::handle::{Handle, find_mig};

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMigMode(
    device: nvmlDevice_t,
    current: *mut c_uint,
    pending: *mut c_uint,
) -> nvmlReturn_t {
    with_node(|node| {
        let card = node.card(&Handle::card(device)?)?;
        card.geometry().ok_or(NOT_SUPPORTED)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe {
            put(current, c_uint::from(card.mig))?;
            put(pending, c_uint::from(card.mig_pending))
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceSetMigMode(
    device: nvmlDevice_t,
    mode: c_uint,
    activation: *mut nvmlReturn_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let card = Handle::card(device)?;
        let status = match node.set_mig_mode(&card, mode != 0)? {
            Activation::Done => nvmlReturn_enum_NVML_SUCCESS,
            Activation::Pending(why) => why.code(),
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(activation, status) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMaxMigDeviceCount(device: nvmlDevice_t, count: *mut c_uint) -> nvmlReturn_t {
    with_node(|node| {
        let card = node.card(&Handle::card(device)?)?;
        let most = card.geometry().map_or(0, |geometry| geometry.compute_slices);
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(count, c_uint::from(most)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMigDeviceHandleByIndex(
    device: nvmlDevice_t,
    index: c_uint,
    mig: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let card = node.card(&Handle::card(device)?)?;
        let found = card.mig_devices().nth(index as usize).ok_or(NOT_FOUND)?;
        let handle = Handle::Mig(card.uuid.clone(), found.compute_instance.uuid.clone());
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(mig, handle.pointer()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceIsMigDeviceHandle(device: nvmlDevice_t, is_mig: *mut c_uint) -> nvmlReturn_t {
    with_node(|_| {
        let handle = Handle::of(device)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(is_mig, c_uint::from(matches!(handle, Handle::Mig(..)))) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
    mig: nvmlDevice_t,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    with_node(|_| {
        let Handle::Mig(card, _) = Handle::of(mig)? else { return Err(INVALID_ARGUMENT) };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(device, Handle::Card(card).pointer()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetGpuInstanceId(mig: nvmlDevice_t, id: *mut c_uint) -> nvmlReturn_t {
    with_node(|node| {
        let Handle::Mig(card, uuid) = Handle::of(mig)? else { return Err(NOT_SUPPORTED) };
        let (_, instance, _) = find_mig(node, &card, &uuid)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(id, instance.id) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetComputeInstanceId(mig: nvmlDevice_t, id: *mut c_uint) -> nvmlReturn_t {
    with_node(|node| {
        let Handle::Mig(card, uuid) = Handle::of(mig)? else { return Err(NOT_SUPPORTED) };
        let (_, _, compute) = find_mig(node, &card, &uuid)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(id, compute.id) }
    })
}
