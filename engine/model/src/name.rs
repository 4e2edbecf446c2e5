//! Names that are not just strings.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl $name {
            /// As text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
    };
}

name! {
    /// The name of a Kubernetes node.
    NodeName
}
name! {
    /// What a card is known by: NVML's GPU UUID (`GPU-…`).
    GpuUuid
}
name! {
    /// Where a card sits: `0000:17:00.0`, as NVML spells it, in lower case.
    PciAddress
}
name! {
    /// The name of an extended resource: `nvidia.com/mig-1g.10gb`.
    ResourceName
}
name! {
    /// The cluster behind a provider configuration: the UID of its `kube-system` namespace.
    ClusterIdentity
}
name! {
    /// An operation of a plan. The same plan gives the same identifiers; two plans of the same work may share them.
    OperationId
}
name! {
    /// A plan: digest of what it would do and of what it was made from.
    PlanDigest
}
name! {
    /// Digest of the layout of a card, or of all cards of a node.
    LayoutDigest
}
