//! What the driver answers when it refuses, by NVML's names, numbers and words.

use std::fmt;

use providers_agent_api::GpuError;
use serde::{Deserialize, Serialize};

/// A refusal: one of NVML's return codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Refusal {
    /// There is no such thing on this card, or it cannot be so.
    InvalidArgument,
    /// The card cannot do that, or not in its present mode.
    NotSupported,
    /// Missing rights.
    NoPermission,
    /// There is no such object.
    NotFound,
    /// The driver is not loaded.
    DriverNotLoaded,
    /// The card fell off the bus.
    GpuIsLost,
    /// The card must be reset first.
    ResetRequired,
    /// Library and kernel module are of different versions.
    LibRmVersionMismatch,
    /// Something holds the card or the instance.
    InUse,
    /// No room.
    InsufficientResources,
    /// Anything else.
    Unknown,
}

impl Refusal {
    /// NVML's return code, which is also the exit code of `nvidia-smi`.
    pub fn code(self) -> u32 {
        match self {
            Self::InvalidArgument => 2,
            Self::NotSupported => 3,
            Self::NoPermission => 4,
            Self::NotFound => 6,
            Self::DriverNotLoaded => 9,
            Self::GpuIsLost => 15,
            Self::ResetRequired => 16,
            Self::LibRmVersionMismatch => 18,
            Self::InUse => 19,
            Self::InsufficientResources => 23,
            Self::Unknown => 999,
        }
    }

    /// The error of the GPU trait, with what it is about.
    pub(crate) fn about(self, what: impl Into<String>) -> GpuError {
        let what = what.into();
        match self {
            Self::InvalidArgument | Self::NotFound => GpuError::InvalidArgument(what),
            Self::NotSupported => GpuError::NotSupported(what),
            Self::NoPermission => GpuError::NoPermission(what),
            Self::DriverNotLoaded => GpuError::DriverNotLoaded(what),
            Self::GpuIsLost => GpuError::GpuIsLost(what),
            Self::ResetRequired => GpuError::ResetRequired(what),
            Self::LibRmVersionMismatch => GpuError::LibRmVersionMismatch(what),
            Self::InUse => GpuError::InUse(what),
            Self::InsufficientResources => GpuError::InsufficientResources(what),
            Self::Unknown => GpuError::Unknown(what),
        }
    }
}

impl fmt::Display for Refusal {
    /// The driver's own words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidArgument => "Invalid Argument",
            Self::NotSupported => "Not Supported",
            Self::NoPermission => "Insufficient Permissions",
            Self::NotFound => "Not Found",
            Self::DriverNotLoaded => "Driver Not Loaded",
            Self::GpuIsLost => "GPU is lost",
            Self::ResetRequired => "GPU requires reset",
            Self::LibRmVersionMismatch => "Driver/library version mismatch",
            Self::InUse => "In use by another client",
            Self::InsufficientResources => "Insufficient Resources",
            Self::Unknown => "Unknown Error",
        })
    }
}
