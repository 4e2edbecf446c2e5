//! NVML's return codes as errors of the GPU trait.

use nvml_wrapper::error::NvmlError;
use nvml_wrapper_sys::bindings::nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_RESOURCES as INSUFFICIENT_RESOURCES;
use providers_agent_api::GpuError;

/// The error, with what it is about. The chain of causes ends here: the text holds it.
pub(super) fn about(error: NvmlError, what: impl Into<String>) -> GpuError {
    let what = what.into();
    match error {
        NvmlError::InUse => GpuError::InUse(what),
        NvmlError::NotSupported => GpuError::NotSupported(what),
        NvmlError::ResetRequired => GpuError::ResetRequired(what),
        NvmlError::NoPermission => GpuError::NoPermission(what),
        NvmlError::InvalidArg | NvmlError::NotFound => GpuError::InvalidArgument(what),
        NvmlError::GpuLost => GpuError::GpuIsLost(what),
        NvmlError::DriverNotLoaded => GpuError::DriverNotLoaded(what),
        NvmlError::LibRmVersionMismatch => GpuError::LibRmVersionMismatch(what),
        // The wrapper does not know this code.
        NvmlError::UnexpectedVariant(INSUFFICIENT_RESOURCES) => GpuError::InsufficientResources(what),
        // No library, no driver: the node has not got so far yet, or never will.
        NvmlError::LibloadingError(error) => GpuError::DriverNotLoaded(format!("{what}: {error}")),
        other => GpuError::Unknown(format!("{what}: {other}")),
    }
}
