//! `nvidia-smi --query-gpu=… --format=csv`: the fields that scripts about MIG ask for.

use super::{Output, Target};
use crate::{Card, Node, Refusal};

pub(super) fn print(
    node: &Node,
    targets: &[Target],
    fields: &str,
    format: &str,
    out: &mut Output,
) -> Result<(), Refusal> {
    let mut options = format.split(',');
    if options.next() != Some("csv") {
        return Err(out.misused("Option --query-gpu needs --format=csv."));
    }
    let (mut header, mut units) = (true, true);
    for option in options {
        match option {
            "noheader" => header = false,
            "nounits" => units = false,
            _ => return Err(out.misused(&format!("--format={format}: {option} is not simulated."))),
        }
    }
    let fields: Vec<&str> = fields.split(',').map(str::trim).collect();
    let mut lines = Vec::new();
    for target in targets {
        let card = node.card(&target.uuid).inspect_err(|refusal| out.line(&refusal.to_string()))?;
        let mut values = Vec::new();
        for field in &fields {
            let Some(value) = value(node, target, card, field, units) else {
                out.line(&format!("Field \"{field}\" is not a valid field to query."));
                return Err(Refusal::InvalidArgument);
            };
            values.push(value);
        }
        lines.push(values.join(", "));
    }
    if header {
        let with_unit = |field: &&str| match *field {
            field @ ("memory.total" | "memory.used") if units => format!("{field} [MiB]"),
            field => field.to_owned(),
        };
        out.line(&fields.iter().map(with_unit).collect::<Vec<_>>().join(", "));
    }
    for line in lines {
        out.line(&line);
    }
    Ok(())
}

fn value(node: &Node, target: &Target, card: &Card, field: &str, units: bool) -> Option<String> {
    let mode = |on: bool| if on { "Enabled" } else { "Disabled" }.to_owned();
    let of_mig = |on: bool| card.geometry().map_or_else(|| "[N/A]".to_owned(), |_| mode(on));
    let mib = |mib: u64| if units { format!("{mib} MiB") } else { mib.to_string() };
    Some(match field {
        "index" => target.index.to_string(),
        "name" | "gpu_name" => card.model().name.clone(),
        "uuid" | "gpu_uuid" => card.uuid.to_string(),
        "pci.bus_id" | "gpu_bus_id" => target.bus.clone(),
        "driver_version" => node.driver_version.clone(),
        "count" => node.counted().count().to_string(),
        "memory.total" => mib(card.memory_mib()),
        "memory.used" => mib(0),
        "mig.mode.current" => of_mig(card.mig),
        "mig.mode.pending" => of_mig(card.mig_pending),
        "persistence_mode" => mode(card.persistence_mode),
        "ecc.mode.current" => card.ecc.map_or_else(|| "[N/A]".to_owned(), mode),
        "ecc.mode.pending" => card.ecc_pending.map_or_else(|| "[N/A]".to_owned(), mode),
        _ => return None,
    })
}
