//! GPU instances and compute instances: made and destroyed as the driver does it.

use engine_model::name::GpuUuid;
use providers_catalog::{DriverVersion, Geometry, Instance, ProfileInfo, Together};

use crate::{Call, Card, ComputeInstance, GpuInstance, Node, Refusal, identity};

/// A MIG device: a compute instance with its GPU instance.
#[derive(Clone, Copy, Debug)]
pub struct MigDevice<'a> {
    /// The GPU instance.
    pub gpu_instance: &'a GpuInstance,
    /// The compute instance.
    pub compute_instance: &'a ComputeInstance,
}

/// NVIDIA's id of the compute instance profile with so many slices of a GPU instance profile; none if there is none.
///
/// The profile of double memory (`1g.20gb` of an 80 GB card) has a compute instance profile of its own.
pub fn compute_instance_profile(gpu_instance: &ProfileInfo, slices: u8) -> Option<u32> {
    let whole = slices == gpu_instance.compute_slices;
    let part = slices < gpu_instance.compute_slices && (slices < 3 || gpu_instance.compute_slices == 7);
    match slices {
        1 if whole && gpu_instance.nvml_profile == 9 => Some(7),
        1..=4 if whole || part => Some(u32::from(slices) - 1),
        7 if whole => Some(4),
        _ => None,
    }
}

/// The reverse of [`compute_instance_profile`].
pub fn compute_instance_slices(gpu_instance: &ProfileInfo, profile: u32) -> Option<u8> {
    (1..=gpu_instance.compute_slices).find(|slices| compute_instance_profile(gpu_instance, *slices) == Some(profile))
}

impl Card {
    /// Its MIG devices, in the order in which the driver counts them.
    pub fn mig_devices(&self) -> impl Iterator<Item = MigDevice<'_>> {
        let mut instances: Vec<&GpuInstance> = self.instances.iter().collect();
        instances.sort_by_key(|instance| instance.id);
        instances.into_iter().flat_map(|gpu_instance| {
            gpu_instance.compute.iter().map(move |compute_instance| MigDevice { gpu_instance, compute_instance })
        })
    }

    fn gpu_instance(&mut self, id: u32) -> Result<&mut GpuInstance, Refusal> {
        self.instances.iter_mut().find(|instance| instance.id == id).ok_or(Refusal::NotFound)
    }

    /// Where instances of a profile could still be made, in the order in which the driver tries them.
    ///
    /// That order is as observed on A100 and H100: the upper half before the lower, in each the last quarter first. It
    /// is why `-cgi 19,19,14,9` fails where `-cgi 9,19,14,19` works.
    pub fn free_places(&self, profile: &ProfileInfo) -> Vec<Instance> {
        let Some(geometry) = self.geometry() else { return Vec::new() };
        let (half, last_quarter) = (geometry.memory_slices / 2, geometry.memory_slices / 4 * 3);
        let mut places: Vec<Instance> = profile.starts.iter().map(|start| profile.at(*start)).collect();
        places.sort_by_key(|place| {
            let start = place.placement.start;
            (start < half, start < last_quarter, start)
        });
        places.retain(|place| self.allows(geometry, *place));
        places
    }

    /// How many more instances of a profile could be made, one after the other.
    pub fn remaining_capacity(&self, profile: &ProfileInfo) -> usize {
        let mut card = self.clone();
        let mut count = 0;
        while let Some(place) = card.free_places(profile).first() {
            card.instances.push(GpuInstance { id: 0, instance: *place, compute: Vec::new() });
            count += 1;
        }
        count
    }

    fn allows(&self, geometry: &Geometry, new: Instance) -> bool {
        let together: Vec<Instance> = self.instances.iter().map(|instance| instance.instance).chain([new]).collect();
        geometry.check(&together).is_ok()
    }
}

impl Node {
    /// Creates a GPU instance of NVIDIA's profile id, at that start or where the driver likes; its id.
    pub fn create_gpu_instance(
        &mut self,
        card: &GpuUuid,
        gi_profile_id: u32,
        start: Option<u8>,
    ) -> Result<u32, Refusal> {
        self.call(Call::CreateGpuInstance, card, |node| node.new_gpu_instance(card, gi_profile_id, start))
    }

    fn new_gpu_instance(&mut self, uuid: &GpuUuid, gi_profile_id: u32, start: Option<u8>) -> Result<u32, Refusal> {
        let driver = self.driver_version.parse::<DriverVersion>().ok();
        let card = self.reach(uuid)?;
        let geometry = card.geometry().ok_or(Refusal::NotSupported)?;
        if !card.mig {
            return Err(Refusal::NotSupported);
        }
        let profile = geometry.profile_by_id(gi_profile_id).ok_or(Refusal::InvalidArgument)?;
        if let (Some(driver), Some(needs)) = (&driver, &profile.min_driver)
            && driver < needs
        {
            return Err(Refusal::InvalidArgument);
        }
        if start.is_some_and(|start| !profile.starts.contains(&start)) {
            return Err(Refusal::InvalidArgument);
        }
        let free = card.free_places(profile);
        let place = match start {
            None => free.first(),
            Some(start) => free.iter().find(|place| place.placement.start == start),
        };
        let instance = *place.ok_or(Refusal::InsufficientResources)?;
        let sizes: Vec<u8> = card
            .instances
            .iter()
            .map(|other| other.instance)
            .chain([instance])
            .map(|one| one.profile.gpu_slices)
            .collect();
        let too_old = |pair: &Together| {
            let both = pair.compute_slices.iter().all(|slices| sizes.contains(slices));
            both && driver.as_ref().is_some_and(|driver| *driver < pair.min_driver)
        };
        if geometry.together.iter().any(too_old) {
            return Err(Refusal::InsufficientResources);
        }
        let id = gpu_instance_id(geometry, instance);
        card.instances.push(GpuInstance { id, instance, compute: Vec::new() });
        card.instances.sort_by_key(|instance| instance.instance);
        Ok(id)
    }

    /// Creates a compute instance with so many slices of a GPU instance; its id.
    pub fn create_compute_instance(&mut self, card: &GpuUuid, gpu_instance: u32, slices: u8) -> Result<u32, Refusal> {
        self.call(Call::CreateComputeInstance, card, |node| node.new_compute_instance(card, gpu_instance, slices))
    }

    fn new_compute_instance(&mut self, uuid: &GpuUuid, gpu_instance: u32, slices: u8) -> Result<u32, Refusal> {
        let made = self.made + 1;
        let name = self.name.clone();
        let card = self.reach(uuid)?;
        let geometry = card.geometry().ok_or(Refusal::NotSupported)?;
        let gpu_instance = card.gpu_instance(gpu_instance)?;
        let profile = geometry.profile(gpu_instance.instance.profile).ok_or(Refusal::NotFound)?;
        if compute_instance_profile(profile, slices).is_none() {
            return Err(Refusal::InvalidArgument);
        }
        let fits = |start: &u8| {
            let ends = start + slices;
            let free = |other: &ComputeInstance| ends <= other.start || other.start + other.slices <= *start;
            ends <= profile.compute_slices && gpu_instance.compute.iter().all(free)
        };
        let start = (0..profile.compute_slices).find(fits).ok_or(Refusal::InsufficientResources)?;
        let taken = |id: &u32| gpu_instance.compute.iter().any(|compute| compute.id == *id);
        let id =
            (0..).find(|id| !taken(id)).expect("a GPU instance has fewer compute instances than there are numbers");
        let uuid = format!("MIG-{}", identity::uuid(&["mig", &name, uuid.as_str(), &made.to_string()]));
        gpu_instance.compute.push(ComputeInstance { id, start, slices, uuid, processes: Vec::new() });
        gpu_instance.compute.sort_by_key(|compute| compute.id);
        self.made = made;
        Ok(id)
    }

    /// Destroys a compute instance; refused while a process runs on it.
    pub fn destroy_compute_instance(&mut self, card: &GpuUuid, gpu_instance: u32, id: u32) -> Result<(), Refusal> {
        self.call(Call::DestroyComputeInstance, card, |node| {
            let gpu_instance = node.reach(card)?.gpu_instance(gpu_instance)?;
            let index = gpu_instance.compute.iter().position(|compute| compute.id == id).ok_or(Refusal::NotFound)?;
            if !gpu_instance.compute[index].processes.is_empty() {
                return Err(Refusal::InUse);
            }
            gpu_instance.compute.remove(index);
            Ok(())
        })
    }

    /// Destroys a GPU instance; refused while it has a compute instance.
    pub fn destroy_gpu_instance(&mut self, card: &GpuUuid, id: u32) -> Result<(), Refusal> {
        self.call(Call::DestroyGpuInstance, card, |node| {
            let card = node.reach(card)?;
            if !card.gpu_instance(id)?.compute.is_empty() {
                return Err(Refusal::InUse);
            }
            card.instances.retain(|instance| instance.id != id);
            Ok(())
        })
    }
}

// The driver numbers places, not instances: 0 for the whole axis, 1 and 2 for its halves, 3 to 6 for the quarters, 7 and
// on for the eighths. Seen on A100, H100 and RTX PRO 6000.
fn gpu_instance_id(geometry: &Geometry, instance: Instance) -> u32 {
    let size = u32::from(instance.placement.size).max(1);
    u32::from(geometry.memory_slices) / size - 1 + u32::from(instance.placement.start) / size
}
