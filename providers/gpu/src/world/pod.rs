//! Pods that have to do with GPUs, and quotas on GPU names.

use std::fmt;

use engine_model::{name::NodeName, operation::Victim};

use providers_agent_api::User;

use crate::resource::Amounts;

/// A pod by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PodName {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name in it.
    pub(crate) name: String,
}

impl fmt::Display for PodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The pod that uses something; `None` where it is a process outside any pod.
pub(crate) fn pod_name(user: &User) -> Option<PodName> {
    match user {
        User::Pod { namespace, name } => Some(PodName { namespace: namespace.clone(), name: name.clone() }),
        User::Process { .. } => None,
    }
}

/// A pod that asks for GPUs, or has one, and has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pod {
    /// Where it is; `None`: it is not scheduled.
    pub(crate) node: Option<NodeName>,
    /// Kind of what owns it, in lower case: `deployment`; `pod` where nothing does.
    pub(crate) owner_kind: String,
    /// Name of what owns it.
    pub(crate) owner_name: String,
    /// Its priority.
    pub(crate) priority: i32,
    /// What it asks for of GPU resources.
    pub(crate) requests: Amounts,
    /// Is it a static pod, which the API cannot evict?
    pub(crate) is_static: bool,
    /// Is it being deleted?
    pub(crate) ending: bool,
    /// Is it bound to its node, but not running yet?
    pub(crate) pending: bool,
    /// Which of the pods that had this name in turn.
    pub(crate) uid: String,
}

impl Pod {
    /// The envelope that holds this pod alone.
    pub(crate) fn envelope(&self, name: &PodName) -> Victim {
        Victim {
            namespace: name.namespace.clone(),
            owner_kind: self.owner_kind.clone(),
            owner_name: self.owner_name.clone(),
            priority: self.priority,
            count: 1,
        }
    }
}

/// A ResourceQuota, with what it says about GPU names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// What may be requested, by resource name (without `requests.`).
    pub(crate) hard: Amounts,
}
