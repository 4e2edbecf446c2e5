//! Text to snapshot.

use engine_model::{
    address::{DeposedKey, InstanceKey, Mode, ModuleAddr, ProviderConfigAddr, ResourceAddr},
    event::HeldNode,
    name::{ClusterIdentity, NodeName, OperationId, PlanDigest},
};

use engine_value::json::{Json, read as read_json, type_from_tree};

use super::{
    FormatError, OUR_PROVIDER, OURS, VERSION,
    field::{Field, kind},
    object,
};
use crate::{Fence, LastRun, Lineage, Output, Slot, Snapshot};

/// Reads a whole file.
///
/// # Errors
/// It is no state that can be used.
pub fn read(bytes: &[u8]) -> Result<Snapshot, FormatError> {
    if bytes.is_empty() {
        return Err(FormatError::Empty);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| FormatError::NotText(error.valid_up_to()))?;
    let json = read_json(text).map_err(FormatError::NotJson)?;
    let file = Field::root(&json);
    if !matches!(json, Json::Object(_)) {
        return Err(FormatError::NotState(format!("an object was expected, and {} was found", kind(&json))));
    }
    if file.get("encrypted_data").is_some() {
        return Err(FormatError::Encrypted);
    }
    let version = file.get("version").ok_or_else(|| FormatError::NotState("it has no \"version\"".to_owned()))?;
    match version.number()? {
        VERSION => {}
        other => return Err(FormatError::Version(other)),
    }
    let mut snapshot = Snapshot::new(Lineage(file.need("lineage")?.text()?.into()));
    snapshot.serial = file.need("serial")?.number()?;
    snapshot.terraform_version = file.need("terraform_version")?.text()?.to_owned();
    if let Some(outputs) = file.get("outputs") {
        for (name, output) in outputs.members()? {
            snapshot.outputs.insert(name.into(), read_output(output)?);
        }
    }
    for block in file.need("resources")?.elements()? {
        read_block(block, &mut snapshot)?;
    }
    snapshot.check_results = file.get("check_results").map_or(Json::Null, |checks| checks.json().clone());
    if let Some(ours) = file.get(OURS) {
        read_ours(ours, &mut snapshot)?;
    }
    Ok(snapshot)
}

fn read_output(output: Field<'_>) -> Result<Output, FormatError> {
    let ty = output.need("type")?;
    Ok(Output {
        value: output.json().get("value").cloned().unwrap_or(Json::Null),
        ty: type_from_tree(ty.json()).ok_or_else(|| ty.error("there is no such type"))?,
        sensitive: match output.get("sensitive") {
            None => false,
            Some(sensitive) => sensitive.boolean()?,
        },
    })
}

fn read_block(block: Field<'_>, snapshot: &mut Snapshot) -> Result<(), FormatError> {
    let module: ModuleAddr = match block.get("module") {
        None => ModuleAddr::root(),
        Some(module) => module.parsed()?,
    };
    let mode = block.need("mode")?;
    let mode = match mode.text()? {
        "managed" => Mode::Managed,
        "data" => Mode::Data,
        _ => return Err(mode.error("\"managed\" or \"data\" was expected")),
    };
    let (ty, name) = (block.need("type")?.text()?, block.need("name")?.text()?);
    let of_block: ProviderConfigAddr = block.need("provider")?.parsed()?;
    for instance in block.need("instances")?.elements()? {
        let key = match instance.get("index_key") {
            None => None,
            Some(key) if matches!(key.json(), Json::String(_)) => Some(InstanceKey::String(key.text()?.into())),
            Some(key) => Some(InstanceKey::Int(key.number()?)),
        };
        let addr = ResourceAddr { module: module.clone(), mode, ty: ty.into(), name: name.into(), key };
        let slot = match instance.get("deposed") {
            None => Slot::Current,
            Some(key) => Slot::Deposed(DeposedKey(key.text()?.into())),
        };
        if snapshot.resource(&addr).is_some_and(|resource| resource.object(&slot).is_some()) {
            return Err(instance.error(format!("{addr} is there twice")));
        }
        let provider = match instance.get(OUR_PROVIDER) {
            None => None,
            Some(provider) => Some(provider.parsed()?),
        };
        let object = object::read(instance)?;
        snapshot.put(&addr, slot, provider.unwrap_or_else(|| of_block.clone()), object);
    }
    Ok(())
}

fn read_ours(ours: Field<'_>, snapshot: &mut Snapshot) -> Result<(), FormatError> {
    if let Some(clusters) = ours.get("clusters") {
        for (provider, cluster) in clusters.members()? {
            let provider = provider
                .parse()
                .map_err(|error: engine_model::address::AddressError| clusters.error(error.to_string()))?;
            snapshot.clusters.insert(provider, ClusterIdentity::from(cluster.text()?));
        }
    }
    if let Some(held) = ours.get("held") {
        for held in held.elements()? {
            let node = NodeName::from(held.need("node")?.text()?);
            let done = held.need("done")?;
            let done = done.elements()?.map(|id| Ok(OperationId::from(id.text()?))).collect::<Result<_, _>>()?;
            let plan = PlanDigest::from(held.need("plan")?.text()?);
            let provider = held.need("provider")?.parsed()?;
            snapshot.held.insert((provider, node.clone()), HeldNode { node, plan, done });
        }
    }
    if let Some(run) = ours.get("last_run") {
        let plan = PlanDigest::from(run.need("plan")?.text()?);
        snapshot.last_run = Some(LastRun { plan, fence: Fence(run.need("fence")?.number()?) });
    }
    Ok(())
}
