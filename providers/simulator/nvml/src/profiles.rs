//! Profiles: what could be made of a card, where, and how often still.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::{
    nvmlComputeInstanceProfileInfo_t, nvmlDevice_t, nvmlGpuInstance_t, nvmlGpuInstancePlacement_t,
    nvmlGpuInstanceProfileInfo_t, nvmlGpuInstanceProfileInfo_v2_t, nvmlReturn_t,
};
use providers_catalog::{Placement, ProfileInfo};
use providers_simulator::{Card, compute_instance_slices};

use crate::answer::{Code, INVALID_ARGUMENT, NOT_SUPPORTED, VERSION_MISMATCH, put, put_list, with_node};
use crate::cards::chars;
use crate::handle::{Handle, find_gpu};

/// The profile that has NVIDIA's id on this card.
pub(crate) fn profile_by_id(card: &Card, id: c_uint) -> Result<&'static ProfileInfo, Code> {
    let geometry = card.geometry().ok_or(NOT_SUPPORTED)?;
    geometry.profile_by_id(id).ok_or(INVALID_ARGUMENT)
}

fn info(card: &Card, profile: c_uint) -> Result<(nvmlGpuInstanceProfileInfo_t, &'static ProfileInfo), Code> {
    let geometry = card.geometry().ok_or(NOT_SUPPORTED)?;
    let info = geometry.profiles.iter().find(|info| info.nvml_profile == profile).ok_or(NOT_SUPPORTED)?;
    let answer = nvmlGpuInstanceProfileInfo_t {
        id: info.gi_profile_id,
        isP2pSupported: 0,
        sliceCount: info.compute_slices.into(),
        instanceCount: info.max_instances,
        multiprocessorCount: info.multiprocessors.unwrap_or_default(),
        copyEngineCount: info.copy_engines.unwrap_or_default(),
        decoderCount: info.media.nvdec,
        encoderCount: info.media.nvenc,
        jpegCount: info.media.nvjpeg,
        ofaCount: info.media.ofa,
        memorySizeMB: info.memory_mib.unwrap_or_default(),
    };
    Ok((answer, info))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetGpuInstanceProfileInfo(
    device: nvmlDevice_t,
    profile: c_uint,
    out: *mut nvmlGpuInstanceProfileInfo_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let (answer, _) = info(node.card(&Handle::card(device)?)?, profile)?;
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(out, answer) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetGpuInstanceProfileInfoV(
    device: nvmlDevice_t,
    profile: c_uint,
    out: *mut nvmlGpuInstanceProfileInfo_v2_t,
) -> nvmlReturn_t {
    with_node(|node| {
        if out.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: not null, so valid by the contract of `nvml.h`, which has the caller set the version.
        let version = unsafe { (*out).version };
        if version != (2 << 24) | size_of::<nvmlGpuInstanceProfileInfo_v2_t>() as u32 {
            return Err(VERSION_MISMATCH);
        }
        let (one, catalog) = info(node.card(&Handle::card(device)?)?, profile)?;
        let answer = nvmlGpuInstanceProfileInfo_v2_t {
            version,
            id: one.id,
            isP2pSupported: one.isP2pSupported,
            sliceCount: one.sliceCount,
            instanceCount: one.instanceCount,
            multiprocessorCount: one.multiprocessorCount,
            copyEngineCount: one.copyEngineCount,
            decoderCount: one.decoderCount,
            encoderCount: one.encoderCount,
            jpegCount: one.jpegCount,
            ofaCount: one.ofaCount,
            memorySizeMB: one.memorySizeMB,
            name: chars(&format!("MIG {}", catalog.profile)),
        };
        // SAFETY: as above.
        unsafe { put(out, answer) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetGpuInstancePossiblePlacements_v2(
    device: nvmlDevice_t,
    profile_id: c_uint,
    placements: *mut nvmlGpuInstancePlacement_t,
    count: *mut c_uint,
) -> nvmlReturn_t {
    with_node(|node| {
        let card = node.card(&Handle::card(device)?)?;
        let places = profile_by_id(card, profile_id)?.placements().map(to_nvml);
        // Asking for the number alone is no error here, unlike with processes.
        if placements.is_null() {
            // SAFETY: the contract of `nvml.h`.
            return unsafe { put(count, places.count() as c_uint) };
        }
        // SAFETY: the contract of `nvml.h`.
        unsafe { put_list(placements, count, &places.collect::<Vec<_>>()) }
    })
}

/// A placement as NVML has it.
pub(crate) fn to_nvml(placement: Placement) -> nvmlGpuInstancePlacement_t {
    nvmlGpuInstancePlacement_t { start: placement.start.into(), size: placement.size.into() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetGpuInstanceRemainingCapacity(
    device: nvmlDevice_t,
    profile_id: c_uint,
    count: *mut c_uint,
) -> nvmlReturn_t {
    with_node(|node| {
        let card = node.card(&Handle::card(device)?)?;
        let profile = profile_by_id(card, profile_id)?;
        if !card.mig {
            return Err(NOT_SUPPORTED);
        }
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(count, card.remaining_capacity(profile) as c_uint) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlGpuInstanceGetComputeInstanceProfileInfo(
    gpu_instance: nvmlGpuInstance_t,
    profile: c_uint,
    engine_profile: c_uint,
    out: *mut nvmlComputeInstanceProfileInfo_t,
) -> nvmlReturn_t {
    with_node(|node| {
        let (card, id) = Handle::gpu_instance(gpu_instance)?;
        let (_, _, info) = find_gpu(node, &card, id)?;
        // There is only one: engines are shared.
        if engine_profile != 0 {
            return Err(NOT_SUPPORTED);
        }
        let slices = compute_instance_slices(info, profile).ok_or(NOT_SUPPORTED)?;
        let per_slice = info.multiprocessors.unwrap_or_default() / u32::from(info.compute_slices.max(1));
        let answer = nvmlComputeInstanceProfileInfo_t {
            id: profile,
            sliceCount: slices.into(),
            instanceCount: (info.compute_slices / slices).into(),
            multiprocessorCount: per_slice * u32::from(slices),
            sharedCopyEngineCount: info.copy_engines.unwrap_or_default(),
            sharedDecoderCount: info.media.nvdec,
            sharedEncoderCount: info.media.nvenc,
            sharedJpegCount: info.media.nvjpeg,
            sharedOfaCount: info.media.ofa,
        };
        // SAFETY: the contract of `nvml.h`.
        unsafe { put(out, answer) }
    })
}
