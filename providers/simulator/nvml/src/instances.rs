//! GPU instances and compute instances: creating, listing, destroying.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::{
    nvmlComputeInstance_t, nvmlComputeInstanceInfo_t, nvmlComputeInstancePlacement_t, nvmlDevice_t, nvmlGpuInstance_t,
    nvmlGpuInstanceInfo_t, nvmlGpuInstancePlacement_t, nvmlReturn_t,
};
use providers_simulator::{Node, Refusal, compute_instance_profile, compute_instance_slices};

use crate::answer::{Code, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, put, put_all, with_node};
use crate::handle::{Handle, find_gpu};
use crate::profiles::{profile_by_id, to_nvml};

fn create(
    node: &mut Node,
    device: nvmlDevice_t,
    profile: c_uint,
    start: Option<u8>,
) -> Result<nvmlGpuInstance_t, Code> {
    let card = Handle::card(device)?;
    let id = node.create_gpu_instance(&card, profile, start)?;
    Ok(Handle::Gpu(card, id).pointer())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceCreateGpuInstance(
    device: nvmlDevice_t,
    profile_id: c_uint,
    gpu_instance: *mut nvmlGpuInstance_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let made = create(node, device, profile_id, None)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(gpu_instance, made) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceCreateGpuInstanceWithPlacement(
    device: nvmlDevice_t,
    profile_id: c_uint,
    placement: *const nvmlGpuInstancePlacement_t,
    gpu_instance: *mut nvmlGpuInstance_t,
) -> nvmlReturn_t {
    with_node(|node| {
        if placement.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: not null, so valid by the contract of `nvml.h`.
        let placement = unsafe { placement.read() };
        let card = node.card(&Handle::card(device)?)?;
        if u32::from(profile_by_id(card, profile_id)?.size) != placement.size {
            return Err(INVALID_ARGUMENT);
        }
        let start = u8::try_from(placement.start).map_err(|_| INVALID_ARGUMENT)?;
        let made = create(node, device, profile_id, Some(start))?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(gpu_instance, made) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetGpuInstances(
    device: nvmlDevice_t,
    profile_id: c_uint,
    gpu_instances: *mut nvmlGpuInstance_t,
    count: *mut c_uint,
) -> nvmlReturn_t {
    with_node(|node| {
        let card = node.card(&Handle::card(device)?)?;
        let profile = profile_by_id(card, profile_id)?;
        if !card.mig {
            return Err(NOT_SUPPORTED);
        }
        let of_profile = card.instances.iter().filter(|instance| instance.instance.profile == profile.profile);
        let found: Vec<nvmlGpuInstance_t> =
            of_profile.map(|instance| Handle::Gpu(card.uuid.clone(), instance.id).pointer()).collect();
        // SAFETY: the contract of `nvml.h`: space for as many as the profile can have.
        unsafe {
            put_all(gpu_instances, profile.max_instances, &found)?;
            put(count, found.len() as c_uint)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetGpuInstanceById(
    device: nvmlDevice_t,
    id: c_uint,
    gpu_instance: *mut nvmlGpuInstance_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let card = Handle::card(device)?;
        find_gpu(node, &card, id)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(gpu_instance, Handle::Gpu(card, id).pointer()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpuInstanceGetInfo(
    gpu_instance: nvmlGpuInstance_t,
    info: *mut nvmlGpuInstanceInfo_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let (card, id) = Handle::gpu_instance(gpu_instance)?;
        let (_, instance, profile) = find_gpu(node, &card, id)?;
        let answer = nvmlGpuInstanceInfo_t {
            device: Handle::Card(card).pointer(),
            id,
            profileId: profile.gi_profile_id,
            placement: to_nvml(instance.instance.placement),
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(info, answer) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlGpuInstanceDestroy(gpu_instance: nvmlGpuInstance_t) -> nvmlReturn_t {
    with_node(|node| {
        let (card, id) = Handle::gpu_instance(gpu_instance)?;
        Ok(node.destroy_gpu_instance(&card, id)?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpuInstanceCreateComputeInstance(
    gpu_instance: nvmlGpuInstance_t,
    profile_id: c_uint,
    compute_instance: *mut nvmlComputeInstance_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let (card, gpu) = Handle::gpu_instance(gpu_instance)?;
        let (_, _, profile) = find_gpu(node, &card, gpu)?;
        let slices = compute_instance_slices(profile, profile_id).ok_or(INVALID_ARGUMENT)?;
        let id = node.create_compute_instance(&card, gpu, slices)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(compute_instance, Handle::Compute(card, gpu, id).pointer()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpuInstanceGetComputeInstances(
    gpu_instance: nvmlGpuInstance_t,
    profile_id: c_uint,
    compute_instances: *mut nvmlComputeInstance_t,
    count: *mut c_uint,
) -> nvmlReturn_t {
    with_node(|node| {
        let (card, gpu) = Handle::gpu_instance(gpu_instance)?;
        let (_, instance, profile) = find_gpu(node, &card, gpu)?;
        let slices = compute_instance_slices(profile, profile_id).ok_or(NOT_SUPPORTED)?;
        let of_profile = instance.compute.iter().filter(|compute| compute.slices == slices);
        let found: Vec<nvmlComputeInstance_t> =
            of_profile.map(|compute| Handle::Compute(card.clone(), gpu, compute.id).pointer()).collect();
        // SAFETY: the contract of `nvml.h`: space for as many as the profile can have.
        unsafe {
            put_all(compute_instances, (profile.compute_slices / slices).into(), &found)?;
            put(count, found.len() as c_uint)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlComputeInstanceGetInfo_v2(
    compute_instance: nvmlComputeInstance_t,
    info: *mut nvmlComputeInstanceInfo_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let (card, gpu, id) = Handle::compute_instance(compute_instance)?;
        let (_, instance, profile) = find_gpu(node, &card, gpu)?;
        let compute = instance.compute.iter().find(|compute| compute.id == id).ok_or(NOT_FOUND)?;
        let answer = nvmlComputeInstanceInfo_t {
            device: Handle::Card(card.clone()).pointer(),
            gpuInstance: Handle::Gpu(card, gpu).pointer(),
            id,
            profileId: compute_instance_profile(profile, compute.slices).ok_or(Refusal::Unknown)?,
            placement: nvmlComputeInstancePlacement_t { start: compute.start.into(), size: compute.slices.into() },
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(info, answer) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlComputeInstanceDestroy(compute_instance: nvmlComputeInstance_t) -> nvmlReturn_t {
    with_node(|node| {
        let (card, gpu, id) = Handle::compute_instance(compute_instance)?;
        Ok(node.destroy_compute_instance(&card, gpu, id)?)
    })
}
