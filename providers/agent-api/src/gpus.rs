//! The GPU trait: NVML, or the simulator.

use engine_model::name::{GpuUuid, PciAddress};

use crate::CardSettings;

/// The cards of one node. Calls are short and may be made from one thread at a time; between two of them anything may
/// have changed. Implementations keep no handle while idle.
pub trait Gpus: Send {
    /// Everything, read anew.
    ///
    /// # Errors
    /// Nothing can be read: the driver is not loaded, the library is missing.
    fn inventory(&mut self) -> Result<Inventory, GpuError>;

    /// Enables or disables MIG. Success says nothing about whether it is in force: compare current with pending.
    ///
    /// # Errors
    /// [`GpuError::InUse`] while something holds the card.
    fn set_mig_mode(&mut self, card: &GpuUuid, enabled: bool) -> Result<MigMode, GpuError>;

    /// Makes a GPU instance at that start, and one compute instance over all of it. Where the second fails the first
    /// is taken back.
    ///
    /// # Errors
    /// [`GpuError::InsufficientResources`] where the place is taken.
    fn create_instance(&mut self, card: &GpuUuid, profile: &str, start: u8) -> Result<(), GpuError>;

    /// Destroys the instance of that profile at that start with all its compute instances.
    ///
    /// # Errors
    /// [`GpuError::InUse`] while a process holds it. A pod that only has it allocated does not: check before.
    fn destroy_instance(&mut self, card: &GpuUuid, profile: &str, start: u8) -> Result<(), GpuError>;

    /// Resets the card. Instances are lost; a pending mode comes into force.
    ///
    /// # Errors
    /// [`GpuError::InUse`] while something holds it.
    fn reset(&mut self, card: &GpuUuid) -> Result<(), GpuError>;

    /// Sets what is not `None`.
    ///
    /// # Errors
    /// [`GpuError::NotSupported`], naming what.
    fn set(&mut self, card: &GpuUuid, settings: &CardSettings) -> Result<(), GpuError>;
}

/// Everything about the cards of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// The kernel's boot id.
    pub boot_id: String,
    /// Version of the driver.
    pub driver_version: String,
    /// The cards in order of PCI address.
    pub cards: Vec<CardReading>,
}

/// One card.
#[derive(Clone, Debug, PartialEq)]
pub struct CardReading {
    /// NVML's index.
    pub index: u32,
    /// GPU UUID.
    pub uuid: GpuUuid,
    /// PCI address.
    pub pci: PciAddress,
    /// As NVML names it, without `NVIDIA `, spaces as dashes: `A100-SXM4-80GB`.
    pub product: String,
    /// Memory, MiB.
    pub memory_mib: u64,
    /// MIG mode; `None`: the card cannot do MIG.
    pub mig: Option<MigMode>,
    /// MIG instances in order of start.
    pub instances: Vec<InstanceReading>,
    /// Host process ids on the card outside MIG instances.
    pub processes: Vec<u32>,
    /// What is set on it.
    pub settings: CardSettings,
    /// Why nothing may be changed on it.
    pub frozen: Option<String>,
}

/// MIG mode of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigMode {
    /// In force.
    pub current: bool,
    /// After the next reset.
    pub pending: bool,
}

/// One MIG instance.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceReading {
    /// MIG profile: `1g.10gb`.
    pub profile: String,
    /// First memory slice.
    pub start: u8,
    /// Memory slices.
    pub size: u8,
    /// MIG UUID of its compute instance; `None`: it has none, and no pod can use it.
    pub uuid: Option<String>,
    /// Host process ids on it.
    pub processes: Vec<u32>,
}

/// What NVML refuses. The names are NVML's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// Something holds the card or the instance.
    #[error("in use: {0}")]
    InUse(String),
    /// No room for the instance.
    #[error("insufficient resources: {0}")]
    InsufficientResources(String),
    /// The card cannot do that.
    #[error("not supported: {0}")]
    NotSupported(String),
    /// A reset must come first.
    #[error("reset required: {0}")]
    ResetRequired(String),
    /// Root, or the capability `mig/config`, is missing.
    #[error("no permission: {0}")]
    NoPermission(String),
    /// There is no such card, profile or placement.
    #[error("invalid argument: {0}")]
    InvalidArgument(String),
    /// The card is off the bus.
    #[error("the GPU is lost: {0}")]
    GpuIsLost(String),
    /// The driver is not loaded.
    #[error("the driver is not loaded: {0}")]
    DriverNotLoaded(String),
    /// Library and kernel module are of different versions.
    #[error("library and driver versions differ: {0}")]
    LibRmVersionMismatch(String),
    /// Anything else.
    #[error("{0}")]
    Unknown(String),
}
