//! Reads a whole cluster by lists: five calls, whatever the number of nodes and pods. Changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use engine_model::name::NodeName;
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{Node as ApiNode, Pod as ApiPod, ResourceQuota},
};
use kube::{ResourceExt, api::ListParams};
use providers_agent_api::{GpuNode, HEARTBEAT_LIMIT};
use providers_api::{Call, ErrorKind, ProviderError, retry::retrying};

use super::{Heartbeat, Node, Pod, PodName, Quota, Report, World, pod_name, report};
use crate::{cluster::Cluster, wait::Patience};

/// How long a plan waits for an operation that an earlier run began, before it leaves the node out: an operation takes
/// seconds, and a plan is made by a person who waits for it.
const OPERATION_LIMIT: Duration = Duration::from_secs(60);

/// Reads everything. Where an agent is in the middle of an operation that an earlier run began, waits for its end: what
/// is read half way would be planned half way.
///
/// # Errors
/// One of the lists cannot be read.
pub(crate) async fn read_world(cluster: &Cluster, call: Call<'_>) -> Result<World, ProviderError> {
    let mut patience = Patience::new(call, OPERATION_LIMIT);
    loop {
        let world = retrying(call, || read_once(cluster, call)).await?;
        let Some(name) = world.nodes.iter().find(|(_, node)| is_busy(node)).map(|(name, _)| name.clone()) else {
            return Ok(world);
        };
        match patience.wait(format!("{name} to finish the operation that an earlier run began")).await {
            Ok(()) => {}
            // The node is left out, and says so.
            Err(error) if error.kind == ErrorKind::Timeout => return Ok(world),
            Err(error) => return Err(error),
        }
    }
}

fn is_busy(node: &Node) -> bool {
    node.report.as_ref().is_some_and(Report::is_busy)
        && matches!(node.heartbeat, Heartbeat::Age(age) if age <= HEARTBEAT_LIMIT)
}

async fn read_once(cluster: &Cluster, call: Call<'_>) -> Result<World, ProviderError> {
    let (node_api, agent_api, lease_api) =
        (cluster.nodes().await?, cluster.gpu_nodes().await?, cluster.leases().await?);
    let (pod_api, quota_api) = (cluster.all_pods().await?, cluster.all_quotas().await?);
    let (nodes, agents, leases, pods, quotas) = futures::try_join!(
        cluster.list(&node_api, "nodes"),
        async {
            cluster.list(&agent_api, "GpuNodes").await.map_err(|error| {
                if error.kind == ErrorKind::Permanent {
                    error.hint("Install the agent and its custom resource GpuNode (sliceform.io/v1alpha1).")
                } else {
                    error
                }
            })
        },
        cluster.list(&lease_api, "the agents' leases"),
        cluster.list(&pod_api, "pods"),
        cluster.list(&quota_api, "ResourceQuotas"),
    )?;

    Ok(assemble(call, &nodes, &agents, &leases, &pods, &quotas))
}

/// Reads one node with what is on it, anew. Other nodes are not in the answer.
///
/// # Errors
/// Something of it cannot be read.
pub(crate) async fn read_node(cluster: &Cluster, node: &NodeName, call: Call<'_>) -> Result<World, ProviderError> {
    let (node_api, agent_api, lease_api, pod_api) =
        (cluster.nodes().await?, cluster.gpu_nodes().await?, cluster.leases().await?, cluster.all_pods().await?);
    let on_node = ListParams::default().fields(&format!("spec.nodeName={node}"));
    let (what, agent_of, lease_of, pods_of) = (
        format!("node {node}"),
        format!("GpuNode {node}"),
        format!("the lease of {node}'s agent"),
        format!("the pods of {node}"),
    );
    let (found, agent, lease, pods) = futures::try_join!(
        cluster.find(&node_api, node.as_str(), &what),
        cluster.find(&agent_api, node.as_str(), &agent_of),
        cluster.find(&lease_api, node.as_str(), &lease_of),
        cluster.list_with(&pod_api, &pods_of, &on_node),
    )?;
    Ok(assemble(call, found.as_slice(), agent.as_slice(), lease.as_slice(), &pods, &[]))
}

fn assemble(
    call: Call<'_>,
    nodes: &[ApiNode],
    agents: &[GpuNode],
    leases: &[Lease],
    pods: &[ApiPod],
    quotas: &[ResourceQuota],
) -> World {
    let mut world = World { quotas: quotas.iter().filter_map(Quota::from_api).collect(), ..World::default() };
    world.quotas.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    let heartbeats: BTreeMap<String, Heartbeat> =
        leases.iter().map(|lease| (lease.name_any(), heartbeat(lease, call))).collect();
    for node in nodes {
        let mut read = Node::from_api(node);
        read.heartbeat = heartbeats.get(&node.name_any()).copied().unwrap_or_default();
        world.nodes.insert(NodeName::from(node.name_any()), read);
    }
    for agent in agents {
        if let Some(node) = world.nodes.get_mut(&NodeName::from(agent.name_any())) {
            node.report = report(agent);
        }
    }
    // A pod may have a GPU that it did not ask for by a name that is known here.
    let users: BTreeSet<PodName> = world.nodes.values().flat_map(Node::users).filter_map(pod_name).collect();
    for (name, pod) in pods.iter().filter_map(Pod::from_api) {
        if !pod.requests.is_empty() || users.contains(&name) {
            if let Some(node) = pod.node.as_ref().and_then(|node| world.nodes.get_mut(node)) {
                node.pods.push(name.clone());
            }
            world.pods.insert(name, pod);
        }
    }
    for node in world.nodes.values_mut() {
        node.pods.sort();
    }
    world
}

fn heartbeat(lease: &Lease, call: Call<'_>) -> Heartbeat {
    let Some(renewed) = lease.spec.as_ref().and_then(|spec| spec.renew_time.as_ref()) else { return Heartbeat::Never };
    let renewed = std::time::SystemTime::from(renewed.0);
    // A lease from the future (another clock runs ahead) is fresh.
    Heartbeat::Age(call.host.now().duration_since(renewed).unwrap_or_default())
}
