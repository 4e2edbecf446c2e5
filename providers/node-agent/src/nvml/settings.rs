//! Setting what is not the layout.

use engine_model::name::GpuUuid;
use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::ComputeMode as NvmlComputeMode;
use nvml_wrapper::enums::device::GpuLockedClocksSetting;
use providers_agent_api::{CardSettings, ComputeMode, GpuError};

use super::error::about;

/// Sets what is not `None`, in the order of the fields; stops at the first refusal and names what was refused.
pub(super) fn set(mut device: Device, card: &GpuUuid, settings: &CardSettings) -> Result<(), GpuError> {
    let failed = |what: &'static str| move |error| about(error, format!("{what} of {card}"));
    if let Some(enabled) = settings.persistence_mode {
        device.set_persistent(enabled).map_err(failed("persistence mode"))?;
    }
    if let Some(limit) = settings.power_limit_mw {
        device.set_power_management_limit(limit).map_err(failed("the power limit"))?;
    }
    if let Some(clocks) = settings.graphics_clocks {
        let range = GpuLockedClocksSetting::Numeric { min_clock_mhz: clocks.min, max_clock_mhz: clocks.max };
        device.set_gpu_locked_clocks(range).map_err(failed("graphics clocks"))?;
    }
    if let Some(clocks) = settings.memory_clocks {
        device.set_mem_locked_clocks(clocks.min, clocks.max).map_err(failed("memory clocks"))?;
    }
    if let Some(enabled) = settings.ecc {
        device.set_ecc(enabled).map_err(failed("ECC"))?;
    }
    if let Some(mode) = settings.compute_mode {
        let mode = match mode {
            ComputeMode::Default => NvmlComputeMode::Default,
            ComputeMode::Prohibited => NvmlComputeMode::Prohibited,
            ComputeMode::ExclusiveProcess => NvmlComputeMode::ExclusiveProcess,
        };
        device.set_compute_mode(mode).map_err(failed("compute mode"))?;
    }
    Ok(())
}
