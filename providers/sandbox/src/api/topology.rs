//! Which lists of the built-in types are maps or sets, and which maps change only as a whole.
//!
//! k8s-openapi's JSON schemas do not say it. The facts are those of the `x-kubernetes-list-type`, `-list-map-keys` and
//! `-map-type` marks in Kubernetes 1.37's own OpenAPI document (as its typed apply configurations list them), for the
//! types that the sandbox's kinds reach. Lists that are not named here change as a whole.

/// How a field is merged, where it is not the default (maps by field, lists as a whole).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topology {
    /// A map that changes as a whole.
    Atomic,
    /// A list of distinct values.
    Set,
    /// A list whose items are told apart by these fields.
    Keys(&'static [&'static str]),
}

const NAME: Topology = Topology::Keys(&["name"]);
const TYPE: Topology = Topology::Keys(&["type"]);
const PORTS: Topology = Topology::Keys(&["containerPort", "protocol"]);

/// Type (the end of its definition's name), field (empty: the type itself), topology. Sorted.
#[rustfmt::skip]
const TABLE: &[(&str, &str, Topology)] = &[
    ("api.apps.v1.DeploymentStatus", "conditions", TYPE),
    ("api.apps.v1.ReplicaSetStatus", "conditions", TYPE),
    ("api.batch.v1.PodFailurePolicyOnExitCodesRequirement", "values", Topology::Set),
    ("api.batch.v1.UncountedTerminatedPods", "failed", Topology::Set),
    ("api.batch.v1.UncountedTerminatedPods", "succeeded", Topology::Set),
    ("api.core.v1.ConfigMapKeySelector", "", Topology::Atomic),
    ("api.core.v1.Container", "env", NAME),
    ("api.core.v1.Container", "ports", PORTS),
    ("api.core.v1.Container", "volumeDevices", Topology::Keys(&["devicePath"])),
    ("api.core.v1.Container", "volumeMounts", Topology::Keys(&["mountPath"])),
    ("api.core.v1.ContainerRestartRuleOnExitCodes", "values", Topology::Set),
    ("api.core.v1.ContainerStatus", "allocatedResourcesStatus", NAME),
    ("api.core.v1.ContainerStatus", "volumeMounts", Topology::Keys(&["mountPath"])),
    ("api.core.v1.EphemeralContainer", "env", NAME),
    ("api.core.v1.EphemeralContainer", "ports", PORTS),
    ("api.core.v1.EphemeralContainer", "volumeDevices", Topology::Keys(&["devicePath"])),
    ("api.core.v1.EphemeralContainer", "volumeMounts", Topology::Keys(&["mountPath"])),
    ("api.core.v1.FileKeySelector", "", Topology::Atomic),
    ("api.core.v1.LocalObjectReference", "", Topology::Atomic),
    ("api.core.v1.NamespaceStatus", "conditions", TYPE),
    ("api.core.v1.NodeSelector", "", Topology::Atomic),
    ("api.core.v1.NodeSelectorTerm", "", Topology::Atomic),
    ("api.core.v1.NodeSpec", "podCIDRs", Topology::Set),
    ("api.core.v1.NodeStatus", "addresses", TYPE),
    ("api.core.v1.NodeStatus", "conditions", TYPE),
    ("api.core.v1.ObjectFieldSelector", "", Topology::Atomic),
    ("api.core.v1.ObjectReference", "", Topology::Atomic),
    ("api.core.v1.PodSpec", "containers", NAME),
    ("api.core.v1.PodSpec", "ephemeralContainers", NAME),
    ("api.core.v1.PodSpec", "hostAliases", Topology::Keys(&["ip"])),
    ("api.core.v1.PodSpec", "imagePullSecrets", NAME),
    ("api.core.v1.PodSpec", "initContainers", NAME),
    ("api.core.v1.PodSpec", "nodeSelector", Topology::Atomic),
    ("api.core.v1.PodSpec", "resourceClaims", NAME),
    ("api.core.v1.PodSpec", "schedulingGates", NAME),
    ("api.core.v1.PodSpec", "topologySpreadConstraints", Topology::Keys(&["topologyKey", "whenUnsatisfiable"])),
    ("api.core.v1.PodSpec", "volumes", NAME),
    ("api.core.v1.PodStatus", "conditions", TYPE),
    ("api.core.v1.PodStatus", "podIPs", Topology::Keys(&["ip"])),
    ("api.core.v1.PodStatus", "resourceClaimStatuses", NAME),
    ("api.core.v1.ResourceFieldSelector", "", Topology::Atomic),
    ("api.core.v1.ResourceRequirements", "claims", NAME),
    ("api.core.v1.ResourceStatus", "resources", Topology::Keys(&["resourceID"])),
    ("api.core.v1.ScopeSelector", "", Topology::Atomic),
    ("api.core.v1.SecretKeySelector", "", Topology::Atomic),
    ("api.core.v1.ServiceAccount", "secrets", NAME),
    ("api.core.v1.TypedLocalObjectReference", "", Topology::Atomic),
    ("api.core.v1.VolumeMount", "bindMountOptions", Topology::Set),
    ("api.policy.v1.PodDisruptionBudgetStatus", "conditions", TYPE),
    ("api.rbac.v1.RoleRef", "", Topology::Atomic),
    ("api.rbac.v1.Subject", "", Topology::Atomic),
    ("pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus", "conditions", TYPE),
    ("pkg.apis.meta.v1.LabelSelector", "", Topology::Atomic),
    ("pkg.apis.meta.v1.ObjectMeta", "finalizers", Topology::Set),
    ("pkg.apis.meta.v1.ObjectMeta", "ownerReferences", Topology::Keys(&["uid"])),
    ("pkg.apis.meta.v1.OwnerReference", "", Topology::Atomic),
];

/// The topology of a field of a named definition, if the table has one.
pub(super) fn of_field(definition: &str, field: &str) -> Option<Topology> {
    let found = TABLE.iter().find(|(name, of, _)| *of == field && definition.ends_with(name))?;
    Some(found.2)
}

/// The default of a field that is a key of a list map: it belongs to the key even when it is not written.
pub(super) fn default_of(definition: &str, field: &str) -> Option<&'static str> {
    (definition.ends_with("api.core.v1.ContainerPort") && field == "protocol").then_some("TCP")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kinds;

    #[test]
    fn every_entry_names_a_type_and_a_field_of_k8s_openapi() {
        let definitions = kinds::definitions();
        for (name, field, _) in TABLE {
            let found = definitions.iter().find(|(definition, _)| definition.ends_with(name));
            let (_, schema) = found.unwrap_or_else(|| panic!("no type {name}"));
            assert!(field.is_empty() || schema["properties"].get(field).is_some(), "{name} has no field {field}");
        }
    }
}
