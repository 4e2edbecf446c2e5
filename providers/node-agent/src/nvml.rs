//! The GPU trait over NVML.
//!
//! Each call loads the library, works and unloads it: an open handle would keep the driver from being replaced and a card
//! from being reset. What `nvml-wrapper` offers safely is used from there; the rest is in `raw`, the only unsafe code.
//! Resets are not in NVML: they go through `nvidia-smi`, after the library is closed.

mod error;
mod instances;
mod raw;
mod read;
mod reset;
mod settings;

use std::ffi::OsString;
use std::path::PathBuf;

use engine_model::name::{GpuUuid, PciAddress};
use nvml_wrapper::{Device, Nvml};
use providers_agent_api::{CardSettings, GpuError, Gpus, Inventory, MigMode};

use error::about;

/// How a card is reset: given its address, while nothing of ours holds it.
pub type Reset = Box<dyn FnMut(&PciAddress) -> Result<(), GpuError> + Send>;

/// The cards of this node.
pub struct NvmlGpus {
    library: OsString,
    boot_id: PathBuf,
    reset: Reset,
}

impl NvmlGpus {
    /// The cards of this machine, through the driver's own library (a path, or a name such as `libnvidia-ml.so.1`) and
    /// `nvidia-smi`.
    pub fn of_this_machine(library: impl Into<OsString>) -> Self {
        Self::new(library, "/proc/sys/kernel/random/boot_id", Box::new(reset::with_nvidia_smi))
    }

    /// The cards that a library shows; `boot_id` is a file with the kernel's boot id.
    pub fn new(library: impl Into<OsString>, boot_id: impl Into<PathBuf>, reset: Reset) -> Self {
        Self { library: library.into(), boot_id: boot_id.into(), reset }
    }

    fn open(&self) -> Result<Nvml, GpuError> {
        Nvml::builder().lib_path(&self.library).init().map_err(|error| about(error, "NVML"))
    }

    fn on_card<T>(
        &self,
        card: &GpuUuid,
        work: impl FnOnce(&Nvml, Device<'_>) -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        let nvml = self.open()?;
        let device = nvml.device_by_uuid(card.as_str()).map_err(|error| about(error, card.as_str()))?;
        work(&nvml, device)
    }
}

impl Gpus for NvmlGpus {
    fn inventory(&mut self) -> Result<Inventory, GpuError> {
        let boot_id = std::fs::read_to_string(&self.boot_id)
            .map_err(|error| GpuError::Unknown(format!("boot id in {}: {error}", self.boot_id.display())))?;
        read::inventory(&self.open()?, boot_id.trim())
    }

    fn set_mig_mode(&mut self, card: &GpuUuid, enabled: bool) -> Result<MigMode, GpuError> {
        self.on_card(card, |_, device| {
            let what = || format!("MIG mode of {card}");
            // The activation status says no more than the modes do, which are read below.
            device.set_mig_mode(enabled).map_err(|error| about(error, what()))?;
            read::mig_mode(&device, card)?.ok_or_else(|| GpuError::NotSupported(what()))
        })
    }

    fn create_instance(&mut self, card: &GpuUuid, profile: &str, start: u8) -> Result<(), GpuError> {
        self.on_card(card, |nvml, device| instances::create(nvml, &device, card, profile, start))
    }

    fn destroy_instance(&mut self, card: &GpuUuid, profile: &str, start: u8) -> Result<(), GpuError> {
        self.on_card(card, |nvml, device| instances::destroy(nvml, &device, card, profile, start))
    }

    fn reset(&mut self, card: &GpuUuid) -> Result<(), GpuError> {
        let pci = self.on_card(card, |_, device| read::pci_address(&device, card))?;
        (self.reset)(&pci)
    }

    fn set(&mut self, card: &GpuUuid, settings: &CardSettings) -> Result<(), GpuError> {
        self.on_card(card, |_, device| settings::set(device, card, settings))
    }
}
