//! NVML's handles: pointers to things of the driver that nobody may look behind. Ours are numbers in a table.
//!
//! A handle outlives what it names: then calls with it answer "not found", as the driver does.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use engine_model::name::GpuUuid;
use providers_catalog::ProfileInfo;
use providers_simulator::{Card, ComputeInstance, GpuInstance, Node, Refusal};

use crate::answer::{Code, INVALID_ARGUMENT, NOT_FOUND};

/// What a handle names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    Card(GpuUuid),
    /// A MIG device, by its UUID.
    Mig(GpuUuid, String),
    Gpu(GpuUuid, u32),
    Compute(GpuUuid, u32, u32),
}

static HANDLES: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

impl Handle {
    /// The pointer that stands for it: the same one for the same thing.
    pub(crate) fn pointer<T>(self) -> *mut T {
        let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
        let index = handles.iter().position(|handle| *handle == self).unwrap_or_else(|| {
            handles.push(self);
            handles.len() - 1
        });
        // Never null, never followed.
        ptr::without_provenance_mut(index + 1)
    }

    /// What a pointer stands for.
    pub(crate) fn of<T>(pointer: *mut T) -> Result<Self, Code> {
        let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
        let index = pointer.addr().checked_sub(1).ok_or(INVALID_ARGUMENT)?;
        handles.get(index).cloned().ok_or(INVALID_ARGUMENT)
    }

    /// The card of a device handle; a MIG device is none.
    pub(crate) fn card<T>(pointer: *mut T) -> Result<GpuUuid, Code> {
        match Self::of(pointer)? {
            Self::Card(card) => Ok(card),
            Self::Mig(..) | Self::Gpu(..) | Self::Compute(..) => Err(INVALID_ARGUMENT),
        }
    }

    /// Card and id of a GPU instance handle.
    pub(crate) fn gpu_instance<T>(pointer: *mut T) -> Result<(GpuUuid, u32), Code> {
        match Self::of(pointer)? {
            Self::Gpu(card, id) => Ok((card, id)),
            Self::Card(_) | Self::Mig(..) | Self::Compute(..) => Err(INVALID_ARGUMENT),
        }
    }

    /// Card and ids of a compute instance handle.
    pub(crate) fn compute_instance<T>(pointer: *mut T) -> Result<(GpuUuid, u32, u32), Code> {
        match Self::of(pointer)? {
            Self::Compute(card, gpu, id) => Ok((card, gpu, id)),
            Self::Card(_) | Self::Mig(..) | Self::Gpu(..) => Err(INVALID_ARGUMENT),
        }
    }
}

/// The GPU instance of that id, with what the catalog knows of its profile.
pub(crate) fn find_gpu<'a>(
    node: &'a Node,
    card: &GpuUuid,
    id: u32,
) -> Result<(&'a Card, &'a GpuInstance, &'static ProfileInfo), Code> {
    let card = node.card(card)?;
    let instance = card.instances.iter().find(|instance| instance.id == id).ok_or(NOT_FOUND)?;
    let geometry = card.geometry().ok_or(Refusal::NotSupported)?;
    let profile = geometry.profile(instance.instance.profile).ok_or(Refusal::Unknown)?;
    Ok((card, instance, profile))
}

/// The MIG device of that UUID.
pub(crate) fn find_mig<'a>(
    node: &'a Node,
    card: &GpuUuid,
    uuid: &str,
) -> Result<(&'a Card, &'a GpuInstance, &'a ComputeInstance), Code> {
    let card = node.card(card)?;
    let mut devices = card.mig_devices();
    let device = devices.find(|device| device.compute_instance.uuid == uuid).ok_or(NOT_FOUND)?;
    Ok((card, device.gpu_instance, device.compute_instance))
}
