//! Creating and destroying instances: a GPU instance with one compute instance over all of it.

use engine_model::name::GpuUuid;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use providers_agent_api::{GpuError, MigMode};

use super::error::about;
use super::raw::{self, GpuInstance};
use super::read;

/// Creates an instance. When its compute instance cannot be made, the GPU instance is destroyed again; the error says so
/// if that fails too.
pub(super) fn create(nvml: &Nvml, device: &Device, card: &GpuUuid, profile: &str, start: u8) -> Result<(), GpuError> {
    let what = || format!("MIG profile {profile} at {start} of {card}");
    let failed = |error| about(error, what());
    // As the driver would say of a legal place; of an illegal one it is asked no more.
    if !read::mig_mode(device, card)?.is_some_and(|mode| mode.current) {
        return Err(GpuError::NotSupported(what()));
    }
    let profiles = raw::gpu_instance_profiles(nvml, device).map_err(failed)?;
    let known = profiles.into_iter().find(|known| known.name == profile);
    let profile = known.ok_or_else(|| GpuError::InvalidArgument(format!("{}: no such profile", what())))?;
    let places = raw::placements(nvml, device, profile.id).map_err(failed)?;
    let place = places.into_iter().find(|(at, _)| *at == u32::from(start));
    let place = place.ok_or_else(|| GpuError::InvalidArgument(format!("{}: not a place for it", what())))?;
    let instance = raw::create_gpu_instance(nvml, device, profile.id, place).map_err(failed)?;
    fill(nvml, &instance, profile.slices).map_err(|error| match raw::destroy_gpu_instance(nvml, &instance) {
        Ok(()) => about(error, format!("the compute instance of {}", what())),
        Err(second) => about(
            error,
            format!("the compute instance of {}; its GPU instance {} is left over: {second}", what(), instance.id),
        ),
    })
}

fn fill(nvml: &Nvml, instance: &GpuInstance, slices: u32) -> Result<(), NvmlError> {
    let profiles = raw::compute_instance_profiles(nvml, instance)?;
    let whole = profiles.into_iter().find(|(_, of)| *of == slices);
    let (profile, _) = whole.ok_or(NvmlError::NotSupported)?;
    raw::create_compute_instance(nvml, instance, profile)
}

/// Destroys an instance. With a process on it nothing is touched, so that the instance is not left half destroyed.
pub(super) fn destroy(nvml: &Nvml, device: &Device, card: &GpuUuid, profile: &str, start: u8) -> Result<(), GpuError> {
    let what = || format!("MIG profile {profile} at {start} of {card}");
    let failed = |error| about(error, what());
    let missing = || GpuError::InvalidArgument(format!("{}: no such instance", what()));
    match read::mig_mode(device, card)? {
        None => return Err(GpuError::NotSupported(what())),
        Some(MigMode { current: false, .. }) => return Err(missing()),
        Some(MigMode { current: true, .. }) => {}
    }
    let profiles = raw::gpu_instance_profiles(nvml, device).map_err(failed)?;
    let known = profiles.into_iter().find(|known| known.name == profile).ok_or_else(missing)?;
    let instances = raw::gpu_instances(nvml, device, known.id).map_err(failed)?;
    let instance = instances.into_iter().find(|instance| instance.start == u32::from(start)).ok_or_else(missing)?;
    if read::processes(device, card)?.contains_key(&Some(instance.id)) {
        return Err(GpuError::InUse(what()));
    }
    for (profile, _) in raw::compute_instance_profiles(nvml, &instance).map_err(failed)? {
        for compute in raw::compute_instances(nvml, &instance, profile).map_err(failed)? {
            raw::destroy_compute_instance(nvml, &compute).map_err(failed)?;
        }
    }
    raw::destroy_gpu_instance(nvml, &instance).map_err(failed)
}
