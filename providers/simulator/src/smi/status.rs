//! Plain `nvidia-smi`: the status of all cards, MIG devices and processes, in the columns of the r580 driver.
//!
//! What is not simulated (temperature, fans, power draw, utilisation, used memory) is `N/A` or 0, and the line with the
//! time is left out: there is no clock here.

use super::{Output, Target};
use crate::{Card, Condition, Node, Refusal};
use providers_agent_api::ComputeMode;
use providers_catalog::DriverVersion;

// The widths of the three columns of cards, and of the whole.
const COLUMNS: [usize; 3] = [41, 24, 22];
const WIDTH: usize = 89;

pub(super) fn print(node: &Node, targets: &[Target], out: &mut Output) -> Result<(), Refusal> {
    let chosen: Vec<(u32, &Card)> =
        node.counted().filter(|(index, _)| targets.iter().any(|target| target.index == *index)).collect();
    if let Some((_, card)) = chosen.iter().find(|(_, card)| card.condition == Condition::Lost) {
        out.line(&format!("Unable to determine the device handle for gpu {}: {}", card.pci, Refusal::GpuIsLost));
        return Err(Refusal::GpuIsLost);
    }
    cards(node, &chosen, out);
    if chosen.iter().any(|(_, card)| card.mig) {
        out.line("");
        mig_devices(&chosen, out);
    }
    out.line("");
    processes(&chosen, out);
    Ok(())
}

fn rule(columns: &[usize], line: &str, ends: [&str; 2]) -> String {
    let parts: Vec<String> = columns.iter().map(|width| line.repeat(*width)).collect();
    format!("{}{}{}", ends[0], parts.join("+"), ends[1])
}

// The last CUDA version that a driver branch runs; from NVIDIA's table of toolkits and drivers.
fn cuda_version(driver: &str) -> &'static str {
    match driver.parse::<DriverVersion>().map_or(0, |version| version.branch()) {
        610.. => "13.3",
        595.. => "13.2",
        580.. => "13.0",
        575.. => "12.9",
        570.. => "12.8",
        560.. => "12.6",
        550.. => "12.4",
        535.. => "12.2",
        525.. => "12.0",
        510.. => "11.6",
        470.. => "11.4",
        450.. => "11.0",
        _ => "N/A",
    }
}

fn cards(node: &Node, chosen: &[(u32, &Card)], out: &mut Output) {
    let driver = &node.driver_version;
    let thin = rule(&COLUMNS, "-", ["+", "+"]);
    out.line(&rule(&[WIDTH], "-", ["+", "+"]));
    out.line(&format!(
        "| NVIDIA-SMI {driver:<23}Driver Version: {driver:<15}CUDA Version: {:<9}|",
        cuda_version(driver)
    ));
    out.line(&thin);
    out.line("| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |");
    out.line("| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |");
    out.line("|                                         |                        |               MIG M. |");
    out.line(&rule(&COLUMNS, "=", ["|", "|"]));
    for (index, card) in chosen {
        let persistence = if card.persistence_mode { "On" } else { "Off" };
        let ecc = match card.ecc {
            _ if card.mig => "On",
            Some(true) => "0",
            Some(false) => "Off",
            None => "N/A",
        };
        let mode = match card.compute_mode {
            ComputeMode::Default => "Default",
            ComputeMode::Prohibited => "Prohibited",
            ComputeMode::ExclusiveProcess => "E. Process",
        };
        let mig = match card.geometry() {
            None => "N/A",
            Some(_) if card.mig && card.mig_pending => "Enabled",
            Some(_) if card.mig => "Enabled*",
            Some(_) if card.mig_pending => "Disabled*",
            Some(_) => "Disabled",
        };
        let name: String = card.model().name.chars().take(28).collect();
        let bus = Target::new(*index, card).bus;
        out.line(&format!("|{index:>4}  {name:<30}{persistence:>3}  |{bus:>19} Off |{ecc:>21} |"));
        let cap = format!("{}W", card.power.limit / 1000);
        let memory = format!("0MiB / {:>6}MiB", card.memory_mib());
        out.line(&format!("| N/A   N/A    P0            N/A /{cap:>6}  |{memory:>23} |     N/A{mode:>13} |"));
        out.line(&format!("|{:41}|{:24}|{mig:>21} |", "", ""));
        out.line(&thin);
    }
}

fn mig_devices(chosen: &[(u32, &Card)], out: &mut Output) {
    let columns = [18, 34, 11, 23];
    let thin = rule(&columns, "-", ["+", "+"]);
    out.line(&rule(&[WIDTH], "-", ["+", "+"]));
    out.line(&format!("| {:<88}|", "MIG devices:"));
    out.line(&thin);
    out.line("| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |");
    out.line("|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |");
    out.line("|                  |                                  |        ECC|                       |");
    out.line(&rule(&columns, "=", ["|", "|"]));
    let mut any = false;
    for (index, card) in chosen.iter().filter(|(_, card)| card.mig) {
        for (number, device) in (0_u32..).zip(card.mig_devices()) {
            any = true;
            let profile = device.gpu_instance.instance.profile;
            let Some(info) = card.geometry().and_then(|geometry| geometry.profile(profile)) else { continue };
            let memory = format!("0MiB / {:>6}MiB", info.memory_mib.unwrap_or_default());
            let slices = u32::from(device.compute_instance.slices);
            let processors = info.multiprocessors.unwrap_or_default() * slices / u32::from(info.compute_slices);
            out.line(&format!(
                "|{index:>3}{:>5}{:>4}{number:>4}  |{memory:>33} |{processors:>3}{:>7} |{:>3}{:>4}{:>5}{:>5}{:>5} |",
                device.gpu_instance.id,
                device.compute_instance.id,
                0,
                info.copy_engines.unwrap_or_default(),
                info.media.nvenc,
                info.media.nvdec,
                info.media.ofa,
                info.media.nvjpeg
            ));
            out.line(&thin);
        }
    }
    if !any {
        out.line(&format!("|{:<89}|", "  No MIG devices found"));
        out.line(&rule(&[WIDTH], "-", ["+", "+"]));
    }
}

fn processes(chosen: &[(u32, &Card)], out: &mut Output) {
    let frame = rule(&[WIDTH], "-", ["+", "+"]);
    out.line(&frame);
    out.line("| Processes:                                                                              |");
    out.line("|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |");
    out.line("|        ID   ID                                                               Usage      |");
    out.line(&rule(&[WIDTH], "=", ["|", "|"]));
    let mut rows = Vec::new();
    let row = |index: u32, gpu: String, compute: String, pid: u32| {
        format!("|{index:>5}{gpu:>5}{compute:>5}{pid:>17}      C   {:<37}{:>9} |", "[simulated]", "N/A")
    };
    for (index, card) in chosen {
        rows.extend(card.processes.iter().map(|pid| row(*index, "N/A".to_owned(), "N/A".to_owned(), *pid)));
        for device in card.mig_devices() {
            let ids = (device.gpu_instance.id.to_string(), device.compute_instance.id.to_string());
            let on = device.compute_instance.processes.iter();
            rows.extend(on.map(|pid| row(*index, ids.0.clone(), ids.1.clone(), *pid)));
        }
    }
    if rows.is_empty() {
        out.line(&format!("|{:<89}|", "  No running processes found"));
    }
    for row in rows {
        out.line(&row);
    }
    out.line(&frame);
}
