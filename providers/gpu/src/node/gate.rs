//! Whether the nodes of a wave are healthy, so that the next one may begin.

use std::time::Duration;

use engine_model::name::NodeName;
use providers_agent_api::HEARTBEAT_LIMIT;
use providers_api::{Call, ErrorKind, GateRequest, Health, ProviderError};

use super::offered::missing;
use crate::{
    cluster::Cluster,
    wait::Patience,
    world::{Heartbeat, Node, read_node},
};

/// How long a node may take to become healthy: as long as it may take to offer what was cut.
const LIMIT: Duration = Duration::from_secs(2 * 60);

/// Waits until all nodes of a wave are healthy, or tells which are not.
///
/// # Errors
/// A node cannot be read.
pub(crate) async fn gate(cluster: &Cluster, request: &GateRequest, call: Call<'_>) -> Result<Health, ProviderError> {
    let mut patience = Patience::new(call, LIMIT);
    loop {
        let mut sick = Vec::new();
        for node in &request.wave.nodes {
            let world = read_node(cluster, node, call).await?;
            if let Some(why) = unhealthy(world.nodes.get(node)) {
                sick.push((node.clone(), why));
            }
        }
        let Some((node, why)) = sick.first() else { return Ok(Health::Healthy) };
        match patience.wait(format!("{node} to be healthy: {why}")).await {
            Ok(()) => {}
            Err(error) if error.kind == ErrorKind::Timeout => return Ok(Health::Unhealthy(sick)),
            Err(error) => return Err(error),
        }
    }
}

/// Waits until a node that is given back is healthy: an earlier run may have left it held because it was not. One that is
/// gone needs nothing.
///
/// # Errors
/// It stays unhealthy, or cannot be read.
pub(crate) async fn well(cluster: &Cluster, node: &NodeName, call: Call<'_>) -> Result<(), ProviderError> {
    let mut patience = Patience::new(call, LIMIT);
    loop {
        let world = read_node(cluster, node, call).await?;
        let Some(why) = world.nodes.get(node).and_then(|found| unhealthy(Some(found))) else { return Ok(()) };
        patience.wait(format!("{node} to be healthy: {why}")).await.map_err(|error| match error.kind {
            ErrorKind::Timeout => ProviderError::new(ErrorKind::Conflict, format!("{node} is not healthy: {why}"))
                .hint("It stays held. See to it, then run apply again."),
            _ => error,
        })?;
    }
}

fn unhealthy(node: Option<&Node>) -> Option<String> {
    let Some(node) = node else { return Some("it is no longer in the cluster".to_owned()) };
    if let Some(why) = &node.not_ready {
        return Some(format!("it is not ready: {why}"));
    }
    match node.heartbeat {
        Heartbeat::Age(age) if age <= HEARTBEAT_LIMIT => {}
        _ => return Some("its agent does not answer".to_owned()),
    }
    missing(node).map(|missing| format!("it should offer {missing}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{WorldBuilder, whole_a100};

    #[test]
    fn each_kind_of_sickness_is_told() {
        let check = |change: fn(&mut Node)| {
            let world = WorldBuilder::default().node("gpu-01", vec![whole_a100(0, &[])]).with("gpu-01", change).build();
            unhealthy(world.nodes.get(&NodeName::from("gpu-01")))
        };
        assert_eq!(check(|_| {}), None);
        assert_eq!(
            check(|node| node.not_ready = Some("kubelet stopped".to_owned())).unwrap(),
            "it is not ready: kubelet stopped"
        );
        assert_eq!(
            check(|node| node.heartbeat = Heartbeat::Age(Duration::from_secs(61))).unwrap(),
            "its agent does not answer"
        );
        assert_eq!(check(|node| node.allocatable.clear()).unwrap(), "it should offer 1 nvidia.com/gpu, offers 0");
        assert_eq!(unhealthy(None).unwrap(), "it is no longer in the cluster");
    }
}
