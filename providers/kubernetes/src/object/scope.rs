//! Which kinds are Kubernetes' own, and which of those belong to the cluster: known without one.

/// By API group.
const CLUSTER: &[(&str, &[&str])] = &[
    ("", &["ComponentStatus", "Namespace", "Node", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("certificates.k8s.io", &["CertificateSigningRequest", "ClusterTrustBundle"]),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("internal.apiserver.k8s.io", &["StorageVersion"]),
    ("networking.k8s.io", &["IPAddress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("resource.k8s.io", &["DeviceClass", "DeviceTaintRule", "ResourceSlice"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    ("storage.k8s.io", &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"]),
    ("storagemigration.k8s.io", &["StorageVersionMigration"]),
];

/// Groups of Kubernetes whose kinds all lie in namespaces, beside those without a dot.
const NAMESPACED: &[&str] = &["coordination.k8s.io", "discovery.k8s.io", "events.k8s.io"];

/// Does a kind of Kubernetes' own lie in namespaces? `None`: it is not Kubernetes' own.
pub(crate) fn is_namespaced(api_version: &str, kind: &str) -> Option<bool> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if let Some((_, kinds)) = CLUSTER.iter().find(|(known, _)| *known == group) {
        return Some(!kinds.contains(&kind));
    }
    (!group.contains('.') || NAMESPACED.contains(&group)).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_kubernetes_are_known() {
        for (api_version, kind, expected) in [
            ("v1", "Namespace", Some(false)),
            ("v1", "ConfigMap", Some(true)),
            ("apps/v1", "Deployment", Some(true)),
            ("rbac.authorization.k8s.io/v1", "Role", Some(true)),
            ("rbac.authorization.k8s.io/v1", "ClusterRole", Some(false)),
            ("example.com/v1", "Widget", None),
        ] {
            assert_eq!(is_namespaced(api_version, kind), expected, "{kind}");
        }
    }
}
