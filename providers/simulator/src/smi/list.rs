//! The tables of `nvidia-smi mig`, column for column as the r580 driver prints them.

use providers_catalog::MigProfile;

use super::{Output, Target};
use crate::{Node, Refusal, compute_instance_profile};

pub(super) fn profiles(node: &Node, cards: &[Target], out: &mut Output) -> Result<(), Refusal> {
    let rule = format!("+{}+", "-".repeat(79));
    out.line(&rule);
    out.line("| GPU instance profiles:                                                        |");
    out.line("| GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  |");
    out.line("|                                Free/Total   GiB              CE    JPEG  OFA  |");
    out.line(&format!("|{}|", "=".repeat(79)));
    for target in cards {
        let card = node.card(&target.uuid)?;
        for info in card.geometry().map_or(&[][..], |geometry| &geometry.profiles) {
            let gib = info.memory_mib.map_or_else(|| "N/A".to_owned(), gib);
            let media = info.media;
            out.line(&format!(
                "|{:>4}  MIG {:<15}{:>3}{:>6}/{:<9}{gib:<11}No{:>7}{:>6}{:>6}   |",
                target.index,
                info.profile,
                info.gi_profile_id,
                card.remaining_capacity(info),
                info.max_instances,
                info.multiprocessors.unwrap_or_default(),
                media.nvdec,
                media.nvenc
            ));
            let copy = info.copy_engines.unwrap_or_default();
            out.line(&format!("|{copy:>64}{:>6}{:>6}   |", media.nvjpeg, media.ofa));
            out.line(&rule);
        }
    }
    Ok(())
}

fn gib(mib: u64) -> String {
    // Hundredths, cut off as the driver does it.
    let hundredths = mib * 100 / 1024;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

pub(super) fn places(node: &Node, cards: &[Target], out: &mut Output) -> Result<(), Refusal> {
    for target in cards {
        let card = node.card(&target.uuid)?;
        for info in card.geometry().map_or(&[][..], |geometry| &geometry.profiles) {
            let starts: Vec<String> = info.starts.iter().map(ToString::to_string).collect();
            let word = if starts.len() == 1 { "Placement :" } else { "Placements:" };
            let (index, id, size) = (target.index, info.gi_profile_id, info.size);
            out.line(&format!("GPU {index:>2} Profile ID {id:>2} {word} {{{}}}:{size}", starts.join(",")));
        }
    }
    Ok(())
}

pub(super) fn gpu_instances(node: &Node, cards: &[Target], out: &mut Output) -> Result<(), Refusal> {
    let rule = format!("+{}+", "-".repeat(57));
    let mut rows = Vec::new();
    for target in cards {
        let card = node.card(&target.uuid)?;
        let mut found: Vec<(u32, u32, MigProfile, u8, u8)> = Vec::new();
        for instance in &card.instances {
            let profile = instance.instance.profile;
            let info = card.geometry().and_then(|geometry| geometry.profile(profile)).ok_or(Refusal::Unknown)?;
            let place = instance.instance.placement;
            found.push((info.gi_profile_id, instance.id, profile, place.start, place.size));
        }
        // Largest profile id first, as the driver asks for them profile by profile.
        found.sort_by_key(|(profile_id, id, ..)| (std::cmp::Reverse(*profile_id), *id));
        for (profile_id, id, profile, start, size) in found {
            let index = target.index;
            rows.push(format!("|{index:>4}  MIG {profile:<17}{profile_id:>3}{id:>9}{start:>11}:{size:<6}|"));
        }
    }
    if rows.is_empty() {
        out.line(&format!("No GPU instances found: {}", Refusal::NotFound));
        return Err(Refusal::NotFound);
    }
    out.line(&rule);
    out.line("| GPU instances:                                          |");
    out.line("| GPU   Name               Profile  Instance   Placement  |");
    out.line("|                            ID       ID       Start:Size |");
    out.line(&format!("|{}|", "=".repeat(57)));
    for row in rows {
        out.line(&row);
        out.line(&rule);
    }
    Ok(())
}

pub(super) fn compute_instances(node: &Node, cards: &[Target], out: &mut Output) -> Result<(), Refusal> {
    let rule = format!("+{}+", "-".repeat(68));
    let mut rows = Vec::new();
    for target in cards {
        let card = node.card(&target.uuid)?;
        for device in card.mig_devices() {
            let (gpu_instance, compute) = (device.gpu_instance, device.compute_instance);
            let profile = gpu_instance.instance.profile;
            let info = card.geometry().and_then(|geometry| geometry.profile(profile)).ok_or(Refusal::Unknown)?;
            let profile_id = compute_instance_profile(info, compute.slices).ok_or(Refusal::Unknown)?;
            let name = MigProfile { compute_slices: compute.slices, ..profile };
            rows.push(format!(
                "|{:>4}{:>7}       MIG {name:<15}{profile_id:>3}{:>10}{:>11}:{:<6}|",
                target.index, gpu_instance.id, compute.id, compute.start, compute.slices
            ));
        }
    }
    if rows.is_empty() {
        out.line(&format!("No compute instances found: {}", Refusal::NotFound));
        return Err(Refusal::NotFound);
    }
    out.line(&rule);
    out.line("| Compute instances:                                                 |");
    out.line("| GPU     GPU       Name             Profile   Instance   Placement  |");
    out.line("|       Instance                       ID        ID       Start:Size |");
    out.line("|         ID                                                         |");
    out.line(&format!("|{}|", "=".repeat(68)));
    for row in rows {
        out.line(&row);
        out.line(&rule);
    }
    Ok(())
}
