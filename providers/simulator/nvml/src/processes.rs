//! What runs on a card. The simulator has compute processes only; the other two lists are empty.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlProcessInfo_t, nvmlReturn_t};
use providers_simulator::Node;

use crate::answer::{Code, INVALID_ARGUMENT, put_list, with_node};
use crate::handle::{Handle, find_mig};

// What NVML puts where there is no instance.
const NO_INSTANCE: c_uint = c_uint::MAX;

fn processes(node: &Node, device: nvmlDevice_t) -> Result<Vec<nvmlProcessInfo_t>, Code> {
    let on = |gpu, compute| {
        move |pid: &u32| nvmlProcessInfo_t {
            pid: *pid,
            usedGpuMemory: 0,
            gpuInstanceId: gpu,
            computeInstanceId: compute,
        }
    };
    match Handle::of(device)? {
        Handle::Card(card) => {
            let card = node.card(&card)?;
            let mut found: Vec<nvmlProcessInfo_t> = card.processes.iter().map(on(NO_INSTANCE, NO_INSTANCE)).collect();
            for device in card.mig_devices() {
                let (gpu, compute) = (device.gpu_instance.id, device.compute_instance);
                found.extend(compute.processes.iter().map(on(gpu, compute.id)));
            }
            Ok(found)
        }
        Handle::Mig(card, uuid) => {
            let (_, gpu, compute) = find_mig(node, &card, &uuid)?;
            Ok(compute.processes.iter().map(on(gpu.id, compute.id)).collect())
        }
        Handle::Gpu(..) | Handle::Compute(..) => Err(INVALID_ARGUMENT),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    device: nvmlDevice_t,
    count: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let found = processes(node, device)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put_list(infos, count, &found) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetGraphicsRunningProcesses_v3(
    device: nvmlDevice_t,
    count: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    with_node(|node| {
        processes(node, device)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put_list(infos, count, &[]) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetMPSComputeRunningProcesses_v3(
    device: nvmlDevice_t,
    count: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    with_node(|node| {
        processes(node, device)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put_list(infos, count, &[]) }
    })
}
