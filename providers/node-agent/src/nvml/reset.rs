//! Resetting a card, which NVML cannot: `nvidia-smi --gpu-reset` does it.
//!
//! Not by the kernel's function-level reset: under a bound driver that leaves a card which only a reboot repairs.

use std::ffi::OsStr;
use std::process::Command;

use engine_model::name::PciAddress;
use providers_agent_api::GpuError;

/// Resets a card with the `nvidia-smi` of the search path.
pub(super) fn with_nvidia_smi(card: &PciAddress) -> Result<(), GpuError> {
    run(OsStr::new("nvidia-smi"), card)
}

fn run(program: &OsStr, card: &PciAddress) -> Result<(), GpuError> {
    let output = Command::new(program)
        .args(["--gpu-reset", "-i", card.as_str()])
        .output()
        .map_err(|error| GpuError::Unknown(format!("{}: {error}", program.display())))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let what = format!("reset of {card}: {}", String::from_utf8_lossy(&said).trim());
    // Its exit codes are NVML's return codes. What it says tells more where a code is of several meanings.
    Err(match output.status.code() {
        Some(3) => GpuError::NotSupported(what),
        Some(4) => GpuError::NoPermission(what),
        Some(15) => GpuError::GpuIsLost(what),
        Some(19) => GpuError::InUse(what),
        _ if what.contains("in use by") || what.contains("being used by") => GpuError::InUse(what),
        _ => GpuError::Unknown(what),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_the_program_says_is_understood() {
        let folder = tempfile::tempdir().unwrap();
        let card = PciAddress::from("0000:07:00.0");
        let mut answers = Vec::new();
        for (number, body) in [
            "test \"$*\" = '--gpu-reset -i 0000:07:00.0'",
            "echo 'Resetting GPU 00000000:07:00.0 is not supported.'; exit 3",
            "echo 'Insufficient Permissions' >&2; exit 4",
            "echo 'GPU 00000000:07:00.0 is currently in use by another process.'; exit 255",
            "exit 19",
            "exit 1",
        ]
        .iter()
        .enumerate()
        {
            let program = folder.path().join(format!("nvidia-smi-{number}"));
            fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            answers.push(run(program.as_os_str(), &card));
        }
        let about = |said: &str| format!("reset of 0000:07:00.0: {said}");
        assert_eq!(
            answers,
            [
                Ok(()),
                Err(GpuError::NotSupported(about("Resetting GPU 00000000:07:00.0 is not supported."))),
                Err(GpuError::NoPermission(about("Insufficient Permissions"))),
                Err(GpuError::InUse(about("GPU 00000000:07:00.0 is currently in use by another process."))),
                Err(GpuError::InUse(about(""))),
                Err(GpuError::Unknown(about(""))),
            ]
        );
        let missing = run(folder.path().join("none").as_os_str(), &card);
        assert!(matches!(missing, Err(GpuError::Unknown(_))), "{missing:?}");
    }
}
