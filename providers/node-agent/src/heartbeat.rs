//! The heartbeat: a Lease of the agent's own name. Older than a minute, and the node is excluded from every plan.

use engine_model::{host::Host, name::NodeName};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use providers_agent_api::{HEARTBEAT_LIMIT, LEASE_NAMESPACE};
use serde_json::json;

/// Says that the agent lives. One request; creates the Lease where there is none.
pub(crate) async fn beat(client: &Client, node: &NodeName, host: &dyn Host) -> Result<(), kube::Error> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), LEASE_NAMESPACE);
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": { "name": node.as_str(), "namespace": LEASE_NAMESPACE },
        "spec": {
            "holderIdentity": node.as_str(),
            "leaseDurationSeconds": HEARTBEAT_LIMIT.as_secs(),
            "renewTime": micro_time(host),
        },
    });
    leases.patch(node.as_str(), &PatchParams::apply("sliceform-agent").force(), &Patch::Apply(&lease)).await?;
    Ok(())
}

/// RFC 3339 with microseconds, as a Lease spells it.
fn micro_time(host: &dyn Host) -> String {
    let since = host.now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let time = jiff::Timestamp::from_microsecond(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
        .unwrap_or(jiff::Timestamp::MAX);
    format!("{time:.6}")
}

#[cfg(test)]
mod tests {
    use engine_model::host::FixedHost;

    use super::*;

    #[test]
    fn a_lease_has_microseconds() {
        assert_eq!(micro_time(&FixedHost::new(0)), "1970-01-01T00:00:00.000000Z");
    }
}
