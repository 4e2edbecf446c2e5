//! The calls that `nvml-wrapper` does not offer, or offers broken (its `possible_placements` is always empty in 0.13):
//! GPU instances, compute instances, remapped rows. Nothing is decided here.
//!
//! All unsafe code of the agent is in this file. Each block is one call of a C function, whose pointers are to locals of
//! the block's function and whose handles come from the same open library, which the lifetimes see to.
#![expect(unsafe_code, reason = "C functions")]

use std::ffi::{CStr, c_char, c_uint};
use std::marker::PhantomData;
use std::{mem, ptr};

use nvml_wrapper::error::{NvmlError, nvml_sym, nvml_try};
use nvml_wrapper::{Device, Nvml};
use nvml_wrapper_sys::bindings as sys;

// One more than the bindings know: NVML_GPU_INSTANCE_PROFILE_3_SLICE_GFX is new.
const GPU_INSTANCE_PROFILES: c_uint = 0x12;

// More than any card has. NVML tells how many there can be of a profile, but tells it wrong for the A30.
const SPACE: usize = 32;

/// A GPU instance profile of a card.
pub(super) struct GpuInstanceProfile {
    pub(super) id: c_uint,
    /// Without NVML's `MIG `.
    pub(super) name: String,
    /// Compute slices.
    pub(super) slices: c_uint,
}

/// A GPU instance.
pub(super) struct GpuInstance<'nvml> {
    handle: sys::nvmlGpuInstance_t,
    pub(super) id: c_uint,
    pub(super) start: c_uint,
    pub(super) size: c_uint,
    library: PhantomData<&'nvml Nvml>,
}

/// A compute instance.
pub(super) struct ComputeInstance<'nvml> {
    handle: sys::nvmlComputeInstance_t,
    library: PhantomData<&'nvml Nvml>,
}

/// The GPU instance profiles of a card.
pub(super) fn gpu_instance_profiles(nvml: &Nvml, device: &Device) -> Result<Vec<GpuInstanceProfile>, NvmlError> {
    let get = nvml_sym(nvml.lib().nvmlDeviceGetGpuInstanceProfileInfoV.as_ref())?;
    let mut found = Vec::new();
    for profile in 0..GPU_INSTANCE_PROFILES {
        // SAFETY: all zeroes is a value of this plain C struct.
        let mut info: sys::nvmlGpuInstanceProfileInfo_v2_t = unsafe { mem::zeroed() };
        info.version = (2 << 24) | size_of::<sys::nvmlGpuInstanceProfileInfo_v2_t>() as c_uint;
        // SAFETY: see the file's head.
        match nvml_try(unsafe { get(device.handle(), profile, &mut info) }) {
            // Each card has some of these profiles.
            Err(NvmlError::NotSupported | NvmlError::InvalidArg) => continue,
            other => other?,
        }
        let name = text(&info.name);
        let name = name.strip_prefix("MIG ").unwrap_or(&name).to_owned();
        found.push(GpuInstanceProfile { id: info.id, name, slices: info.sliceCount });
    }
    Ok(found)
}

// The driver ends its texts with a zero; one that fills its array is taken whole.
fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|char| *char as u8).chain([0]).collect();
    CStr::from_bytes_until_nul(&bytes).map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
}

/// Where instances of a profile may stand, taken or not: start and size.
pub(super) fn placements(nvml: &Nvml, device: &Device, profile: c_uint) -> Result<Vec<(c_uint, c_uint)>, NvmlError> {
    let get = nvml_sym(nvml.lib().nvmlDeviceGetGpuInstancePossiblePlacements_v2.as_ref())?;
    let mut places = [sys::nvmlGpuInstancePlacement_t { start: 0, size: 0 }; SPACE];
    let mut count = SPACE as c_uint;
    // SAFETY: see the file's head; `count` says how long `places` is.
    nvml_try(unsafe { get(device.handle(), profile, places.as_mut_ptr(), &mut count) })?;
    Ok(places.iter().take(count as usize).map(|place| (place.start, place.size)).collect())
}

/// The GPU instances of a profile.
pub(super) fn gpu_instances<'nvml>(
    nvml: &'nvml Nvml,
    device: &Device,
    profile: c_uint,
) -> Result<Vec<GpuInstance<'nvml>>, NvmlError> {
    let list = nvml_sym(nvml.lib().nvmlDeviceGetGpuInstances.as_ref())?;
    let mut handles = [ptr::null_mut(); SPACE];
    let mut count = 0;
    // SAFETY: see the file's head; no profile has more instances than there is space for.
    nvml_try(unsafe { list(device.handle(), profile, handles.as_mut_ptr(), &mut count) })?;
    handles.iter().take(count as usize).map(|handle| gpu_instance(nvml, *handle)).collect()
}

fn gpu_instance(nvml: &Nvml, handle: sys::nvmlGpuInstance_t) -> Result<GpuInstance<'_>, NvmlError> {
    let get = nvml_sym(nvml.lib().nvmlGpuInstanceGetInfo.as_ref())?;
    // SAFETY: all zeroes is a value of this plain C struct.
    let mut info: sys::nvmlGpuInstanceInfo_t = unsafe { mem::zeroed() };
    // SAFETY: see the file's head.
    nvml_try(unsafe { get(handle, &mut info) })?;
    let (start, size) = (info.placement.start, info.placement.size);
    Ok(GpuInstance { handle, id: info.id, start, size, library: PhantomData })
}

/// Creates a GPU instance at exactly this place.
pub(super) fn create_gpu_instance<'nvml>(
    nvml: &'nvml Nvml,
    device: &Device,
    profile: c_uint,
    (start, size): (c_uint, c_uint),
) -> Result<GpuInstance<'nvml>, NvmlError> {
    let create = nvml_sym(nvml.lib().nvmlDeviceCreateGpuInstanceWithPlacement.as_ref())?;
    let placement = sys::nvmlGpuInstancePlacement_t { start, size };
    let mut handle = ptr::null_mut();
    // SAFETY: see the file's head.
    nvml_try(unsafe { create(device.handle(), profile, &placement, &mut handle) })?;
    gpu_instance(nvml, handle)
}

/// Destroys a GPU instance without compute instances.
pub(super) fn destroy_gpu_instance(nvml: &Nvml, instance: &GpuInstance) -> Result<(), NvmlError> {
    let destroy = nvml_sym(nvml.lib().nvmlGpuInstanceDestroy.as_ref())?;
    // SAFETY: see the file's head.
    nvml_try(unsafe { destroy(instance.handle) })
}

/// The compute instance profiles of a GPU instance: id and compute slices.
pub(super) fn compute_instance_profiles(
    nvml: &Nvml,
    instance: &GpuInstance,
) -> Result<Vec<(c_uint, c_uint)>, NvmlError> {
    let get = nvml_sym(nvml.lib().nvmlGpuInstanceGetComputeInstanceProfileInfo.as_ref())?;
    let mut found = Vec::new();
    for profile in 0..sys::NVML_COMPUTE_INSTANCE_PROFILE_COUNT {
        // SAFETY: all zeroes is a value of this plain C struct.
        let mut info: sys::nvmlComputeInstanceProfileInfo_t = unsafe { mem::zeroed() };
        let shared = sys::NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED;
        // SAFETY: see the file's head.
        match nvml_try(unsafe { get(instance.handle, profile, shared, &mut info) }) {
            Err(NvmlError::NotSupported | NvmlError::InvalidArg) => continue,
            other => other?,
        }
        found.push((info.id, info.sliceCount));
    }
    Ok(found)
}

/// The compute instances of a GPU instance and a profile of it.
pub(super) fn compute_instances<'nvml>(
    nvml: &'nvml Nvml,
    instance: &GpuInstance,
    profile: c_uint,
) -> Result<Vec<ComputeInstance<'nvml>>, NvmlError> {
    let list = nvml_sym(nvml.lib().nvmlGpuInstanceGetComputeInstances.as_ref())?;
    let mut handles = [ptr::null_mut(); SPACE];
    let mut count = 0;
    // SAFETY: see the file's head; no profile has more instances than there is space for.
    nvml_try(unsafe { list(instance.handle, profile, handles.as_mut_ptr(), &mut count) })?;
    let instances = handles.iter().take(count as usize);
    Ok(instances.map(|handle| ComputeInstance { handle: *handle, library: PhantomData }).collect())
}

/// Creates a compute instance.
pub(super) fn create_compute_instance(nvml: &Nvml, instance: &GpuInstance, profile: c_uint) -> Result<(), NvmlError> {
    let create = nvml_sym(nvml.lib().nvmlGpuInstanceCreateComputeInstance.as_ref())?;
    let mut handle = ptr::null_mut();
    // SAFETY: see the file's head.
    nvml_try(unsafe { create(instance.handle, profile, &mut handle) })
}

/// Destroys a compute instance on which nothing runs.
pub(super) fn destroy_compute_instance(nvml: &Nvml, instance: &ComputeInstance) -> Result<(), NvmlError> {
    let destroy = nvml_sym(nvml.lib().nvmlComputeInstanceDestroy.as_ref())?;
    // SAFETY: see the file's head.
    nvml_try(unsafe { destroy(instance.handle) })
}

/// The ids of the GPU instance and the compute instance behind a MIG device.
pub(super) fn instance_ids(nvml: &Nvml, mig_device: &Device) -> Result<(c_uint, c_uint), NvmlError> {
    let gpu = nvml_sym(nvml.lib().nvmlDeviceGetGpuInstanceId.as_ref())?;
    let compute = nvml_sym(nvml.lib().nvmlDeviceGetComputeInstanceId.as_ref())?;
    let (mut gpu_id, mut compute_id) = (0, 0);
    // SAFETY: see the file's head.
    nvml_try(unsafe { gpu(mig_device.handle(), &mut gpu_id) })?;
    // SAFETY: as above.
    nvml_try(unsafe { compute(mig_device.handle(), &mut compute_id) })?;
    Ok((gpu_id, compute_id))
}

/// Whether a row remap waits for a reset, and whether one failed.
pub(super) fn row_remap(nvml: &Nvml, device: &Device) -> Result<(bool, bool), NvmlError> {
    let get = nvml_sym(nvml.lib().nvmlDeviceGetRemappedRows.as_ref())?;
    let (mut correctable, mut uncorrectable, mut pending, mut failed) = (0, 0, 0, 0);
    // SAFETY: see the file's head.
    nvml_try(unsafe { get(device.handle(), &mut correctable, &mut uncorrectable, &mut pending, &mut failed) })?;
    Ok((pending != 0, failed != 0))
}
