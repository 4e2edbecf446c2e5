//! `nvidia-smi` without `mig`: the list of cards, MIG mode, resets. The status table and queries are beside it.

use super::{Output, Target, query, status, targets};
use crate::{Activation, Condition, Node, Refusal};

pub(super) fn run(node: &mut Node, args: &[&str], out: &mut Output) -> Result<(), Refusal> {
    let (mut ids, mut list, mut mode, mut reset) = (None, false, None, false);
    let (mut fields, mut format) = (None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            "-h" | "--help" => {
                out.help();
                return Ok(());
            }
            "-L" | "--list-gpus" => list = true,
            "-r" | "--gpu-reset" => reset = true,
            "-i" | "--id" => ids = Some(*args.next().ok_or_else(|| out.misused("Option -i needs a value."))?),
            "-mig" | "--multi-instance-gpu" => {
                mode = Some(match args.next() {
                    Some(&("0" | "DISABLED")) => false,
                    Some(&("1" | "ENABLED")) => true,
                    Some(_) | None => return Err(out.misused("Option -mig needs a value: 0 or 1.")),
                });
            }
            _ => {
                if let Some(value) = arg.strip_prefix("--query-gpu=") {
                    fields = Some(value);
                } else if let Some(value) = arg.strip_prefix("--format=") {
                    format = Some(value);
                } else {
                    return Err(
                        out.misused(&format!("Invalid combination of input arguments: {arg} is not simulated."))
                    );
                }
            }
        }
    }
    let targets = targets(node, ids, out)?;
    match (list, mode, reset, fields, format) {
        (false, None, false, None, None) => status::print(node, &targets, out),
        (true, None, false, None, None) => list_cards(node, &targets, out),
        (false, Some(on), false, None, None) => set_mode(node, &targets, on, out),
        (false, None, true, None, None) => reset_cards(node, &targets, out),
        (false, None, false, Some(fields), Some(format)) => query::print(node, &targets, fields, format, out),
        _ => Err(out.misused("Invalid combination of input arguments.")),
    }
}

fn list_cards(node: &Node, targets: &[Target], out: &mut Output) -> Result<(), Refusal> {
    for (index, card) in node.counted().filter(|(index, _)| targets.iter().any(|target| target.index == *index)) {
        if card.condition == Condition::Lost {
            out.line(&format!("Unable to determine the device handle for gpu {}: {}", card.pci, Refusal::GpuIsLost));
            return Err(Refusal::GpuIsLost);
        }
        out.line(&format!("GPU {index}: {} (UUID: {})", card.model().name, card.uuid));
        for (number, device) in (0_u32..).zip(card.mig_devices()) {
            let instance = device.gpu_instance.instance;
            let mut name = instance.profile;
            name.compute_slices = device.compute_instance.slices;
            let uuid = &device.compute_instance.uuid;
            out.line(&format!("  MIG {name:<12}Device {number:>2}: (UUID: {uuid})"));
        }
    }
    Ok(())
}

fn set_mode(node: &mut Node, targets: &[Target], on: bool, out: &mut Output) -> Result<(), Refusal> {
    let (done, verb) = if on { ("Enabled", "enable") } else { ("Disabled", "disable") };
    for Target { uuid, bus, .. } in targets {
        match node.set_mig_mode(uuid, on) {
            Ok(Activation::Done) => out.line(&format!("{done} MIG Mode for GPU {bus}")),
            Ok(Activation::Pending(Refusal::InUse)) => {
                out.line(&format!("Warning: MIG mode is in pending {verb} state for GPU {bus}:{}", Refusal::InUse));
                out.line(&format!(
                    "{bus} is currently being used by one or more other processes (e.g. CUDA application or a monitoring \
                     application such as another instance of nvidia-smi). Please first kill all processes using the \
                     device and retry the command or reboot the system to make MIG mode effective."
                ));
            }
            Ok(Activation::Pending(why)) => {
                out.line(&format!("Warning: MIG mode is in pending {verb} state for GPU {bus}:{why}"));
                out.line(&format!(
                    "Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU {bus}"
                ));
            }
            Err(refusal) => {
                out.line(&format!("Unable to {verb} MIG Mode for GPU {bus}: {refusal}"));
                out.line("Terminating early due to previous errors.");
                return Err(refusal);
            }
        }
    }
    out.line("All done.");
    Ok(())
}

fn reset_cards(node: &mut Node, targets: &[Target], out: &mut Output) -> Result<(), Refusal> {
    for Target { uuid, bus, .. } in targets {
        match node.reset(uuid) {
            Ok(()) => out.line(&format!("GPU {bus} was successfully reset.")),
            Err(refusal) => {
                out.line(&match refusal {
                    Refusal::InUse => format!("GPU {bus} is currently in use by another process."),
                    Refusal::NotSupported => format!("Resetting GPU {bus} is not supported."),
                    other => format!("Unable to reset GPU {bus}: {other}"),
                });
                return Err(refusal);
            }
        }
    }
    out.line("All done.");
    Ok(())
}
