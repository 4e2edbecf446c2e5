//! `nvidia-smi mig`: creating and destroying instances. The lists are in `list`.

use providers_catalog::{MigProfile, ProfileInfo};

use super::{Output, Target, list, targets};
use crate::{GpuInstance, Node, Refusal, compute_instance_profile, compute_instance_slices};

#[derive(Default)]
struct Arguments<'a> {
    verb: Option<&'a str>,
    cards: Option<&'a str>,
    profiles: Option<&'a str>,
    gpu_instances: Option<&'a str>,
    compute_instances: Option<&'a str>,
    with_compute: bool,
}

pub(super) fn run(node: &mut Node, args: &[&str], out: &mut Output) -> Result<(), Refusal> {
    let arguments = parse(args, out)?;
    let Some(verb) = arguments.verb else {
        return Err(out.misused("nvidia-smi mig needs a command."));
    };
    if verb == "-h" {
        out.help();
        return Ok(());
    }
    let mut cards = targets(node, arguments.cards, out)?;
    cards.retain(|target| node.card(&target.uuid).is_ok_and(|card| card.mig));
    if cards.is_empty() {
        out.line("No MIG-enabled devices found.");
        return Err(Refusal::NotFound);
    }
    match verb {
        "-lgip" => list::profiles(node, &cards, out),
        "-lgipp" => list::places(node, &cards, out),
        "-lgi" => list::gpu_instances(node, &cards, out),
        "-lci" => list::compute_instances(node, &cards, out),
        "-cgi" => create_gpu_instances(node, &cards, &arguments, out),
        "-cci" => create_compute_instances(node, &cards, &arguments, out),
        "-dci" => destroy_compute_instances(node, &cards, &arguments, out),
        _ => destroy_gpu_instances(node, &cards, &arguments, out),
    }
}

fn parse<'a>(args: &[&'a str], out: &mut Output) -> Result<Arguments<'a>, Refusal> {
    let mut found = Arguments::default();
    let mut args = args.iter().copied().peekable();
    while let Some(arg) = args.next() {
        let short = match arg {
            "--help" => "-h",
            "--id" => "-i",
            "--list-gpu-instance-profiles" => "-lgip",
            "--list-gpu-instance-possible-placements" => "-lgipp",
            "--list-gpu-instances" => "-lgi",
            "--list-compute-instances" => "-lci",
            "--create-gpu-instance" => "-cgi",
            "--create-compute-instance" => "-cci",
            "--default-compute-instance" => "-C",
            "--destroy-gpu-instance" => "-dgi",
            "--destroy-compute-instance" => "-dci",
            "--gpu-instance-id" => "-gi",
            "--compute-instance-id" => "-ci",
            other => other,
        };
        let mut value = || args.next_if(|next| !next.starts_with('-'));
        let missing = |out: &mut Output| out.misused(&format!("Option {arg} needs a value."));
        match short {
            "-C" => found.with_compute = true,
            "-i" => found.cards = Some(value().ok_or_else(|| missing(out))?),
            "-gi" => found.gpu_instances = Some(value().ok_or_else(|| missing(out))?),
            "-ci" => found.compute_instances = Some(value().ok_or_else(|| missing(out))?),
            "-h" | "-lgip" | "-lgipp" | "-lgi" | "-lci" | "-dgi" | "-dci" | "-cgi" | "-cci" => {
                if let Some(other) = found.verb.replace(short) {
                    return Err(out.misused(&format!("Invalid combination of input arguments: {other} and {arg}.")));
                }
                if short == "-cgi" {
                    found.profiles = Some(value().ok_or_else(|| missing(out))?);
                } else if short == "-cci" {
                    found.profiles = value();
                }
            }
            _ => return Err(out.misused(&format!("Invalid combination of input arguments: {arg} is not simulated."))),
        }
    }
    Ok(found)
}

fn profiles_of(node: &Node, target: &Target) -> Result<&'static [ProfileInfo], Refusal> {
    Ok(node.card(&target.uuid)?.geometry().map_or(&[], |geometry| &geometry.profiles))
}

fn create_gpu_instances(
    node: &mut Node,
    cards: &[Target],
    arguments: &Arguments,
    out: &mut Output,
) -> Result<(), Refusal> {
    for target in cards {
        for request in arguments.profiles.unwrap_or_default().split(',') {
            create_gpu_instance(node, target, request, arguments.with_compute, out)?;
        }
    }
    Ok(())
}

fn create_gpu_instance(
    node: &mut Node,
    target: &Target,
    request: &str,
    with_compute: bool,
    out: &mut Output,
) -> Result<(), Refusal> {
    let (profile, start) = match request.split_once(':') {
        Some((profile, start)) => (profile, Some(start)),
        None => (request, None),
    };
    let index = target.index;
    let create = |node: &mut Node| {
        let start = start.map(str::parse::<u8>).transpose().map_err(|_| Refusal::InvalidArgument)?;
        let info = find_profile(profiles_of(node, target)?, profile).ok_or(Refusal::InvalidArgument)?;
        Ok((info, node.create_gpu_instance(&target.uuid, info.gi_profile_id, start)?))
    };
    let (info, id) = create(node).inspect_err(|refusal| {
        out.line(&format!("Unable to create a GPU instance on GPU {index:>2} using profile {profile}: {refusal}"));
        out.line(&format!("Failed to create GPU instances: {refusal}"));
    })?;
    out.line(&format!(
        "Successfully created GPU instance ID {id:>2} on GPU {index:>2} using profile MIG {} (ID {:>2})",
        info.profile, info.gi_profile_id
    ));
    if with_compute {
        create_compute_instance(node, target, id, info, info.compute_slices, out)?;
    }
    Ok(())
}

fn find_profile<'a>(profiles: &'a [ProfileInfo], text: &str) -> Option<&'a ProfileInfo> {
    let name = text.strip_prefix("MIG ").unwrap_or(text).parse::<MigProfile>().ok();
    profiles.iter().find(|info| text == info.gi_profile_id.to_string() || Some(info.profile) == name)
}

fn create_compute_instances(
    node: &mut Node,
    cards: &[Target],
    arguments: &Arguments,
    out: &mut Output,
) -> Result<(), Refusal> {
    for (target, id, profile) in chosen(node, cards, arguments, out)? {
        let found = profiles_of(node, target)?.iter().find(|info| info.profile == profile);
        let info = found.ok_or(Refusal::Unknown)?;
        let whole = compute_instance_profile(info, info.compute_slices).map(|profile| profile.to_string());
        let requests = arguments.profiles.map(str::to_owned).or(whole).unwrap_or_default();
        for request in requests.split(',') {
            let slices = request.parse().ok().and_then(|profile| compute_instance_slices(info, profile));
            let Some(slices) = slices else {
                let refusal = Refusal::InvalidArgument;
                out.line(&format!(
                    "Unable to create a compute instance on GPU {:>2} GPU instance ID {id:>2} using profile {request}: \
                     {refusal}",
                    target.index
                ));
                out.line(&format!("Failed to create compute instances: {refusal}"));
                return Err(refusal);
            };
            create_compute_instance(node, target, id, info, slices, out)?;
        }
    }
    Ok(())
}

fn create_compute_instance(
    node: &mut Node,
    target: &Target,
    gpu_instance: u32,
    info: &ProfileInfo,
    slices: u8,
    out: &mut Output,
) -> Result<(), Refusal> {
    let index = target.index;
    let name = MigProfile { compute_slices: slices, ..info.profile };
    let profile = compute_instance_profile(info, slices).unwrap_or_default();
    let id = node.create_compute_instance(&target.uuid, gpu_instance, slices).inspect_err(|refusal| {
        out.line(&format!(
            "Unable to create a compute instance on GPU {index:>2} GPU instance ID {gpu_instance:>2} using profile \
             {profile}: {refusal}"
        ));
        out.line(&format!("Failed to create compute instances: {refusal}"));
    })?;
    out.line(&format!(
        "Successfully created compute instance ID {id:>2} on GPU {index:>2} GPU instance ID {gpu_instance:>2} using \
         profile MIG {name} (ID {profile:>2})"
    ));
    Ok(())
}

/// The GPU instances that `-gi` names, by card and id; without it all of the cards.
fn chosen<'a>(
    node: &Node,
    cards: &'a [Target],
    arguments: &Arguments,
    out: &mut Output,
) -> Result<Vec<(&'a Target, u32, MigProfile)>, Refusal> {
    let wanted = arguments.gpu_instances.map(|list| list.split(',').collect::<Vec<_>>());
    let is_wanted =
        |instance: &&GpuInstance| wanted.as_ref().is_none_or(|ids| ids.contains(&instance.id.to_string().as_str()));
    let mut found = Vec::new();
    for target in cards {
        let instances = node.card(&target.uuid)?.instances.iter().filter(is_wanted);
        found.extend(instances.map(|instance| (target, instance.id, instance.instance.profile)));
    }
    if found.is_empty() {
        out.line(&format!("No GPU instances found: {}", Refusal::NotFound));
        return Err(Refusal::NotFound);
    }
    found.sort_by_key(|(target, id, _)| (target.index, *id));
    Ok(found)
}

fn destroy_compute_instances(
    node: &mut Node,
    cards: &[Target],
    arguments: &Arguments,
    out: &mut Output,
) -> Result<(), Refusal> {
    let wanted = arguments.compute_instances.map(|list| list.split(',').collect::<Vec<_>>());
    let mut any = false;
    for (target, gpu_instance, _) in chosen(node, cards, arguments, out)? {
        let index = target.index;
        let compute: Vec<u32> = node
            .card(&target.uuid)?
            .instances
            .iter()
            .filter(|instance| instance.id == gpu_instance)
            .flat_map(|instance| instance.compute.iter().map(|compute| compute.id))
            .filter(|id| wanted.as_ref().is_none_or(|ids| ids.contains(&id.to_string().as_str())))
            .collect();
        for id in compute {
            any = true;
            let of = format!("compute instance ID {id:>2} from GPU {index:>2} GPU instance ID {gpu_instance:>2}");
            if let Err(refusal) = node.destroy_compute_instance(&target.uuid, gpu_instance, id) {
                out.line(&format!("Unable to destroy {of}: {refusal}"));
                out.line(&format!("Failed to destroy compute instances: {refusal}"));
                return Err(refusal);
            }
            out.line(&format!("Successfully destroyed {of}"));
        }
    }
    if any {
        return Ok(());
    }
    out.line(&format!("No compute instances found: {}", Refusal::NotFound));
    Err(Refusal::NotFound)
}

fn destroy_gpu_instances(
    node: &mut Node,
    cards: &[Target],
    arguments: &Arguments,
    out: &mut Output,
) -> Result<(), Refusal> {
    for (target, id, _) in chosen(node, cards, arguments, out)? {
        let of = format!("GPU instance ID {id:>2} from GPU {:>2}", target.index);
        if let Err(refusal) = node.destroy_gpu_instance(&target.uuid, id) {
            out.line(&format!("Unable to destroy {of}: {refusal}"));
            out.line(&format!("Failed to destroy GPU instances: {refusal}"));
            return Err(refusal);
        }
        out.line(&format!("Successfully destroyed {of}"));
    }
    Ok(())
}
