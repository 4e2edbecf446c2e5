//! The `GpuNode` resource.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CardSettings, Layout};

/// What was approved for a node. Only the CLI writes it.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "sliceform.io",
    version = "v1alpha1",
    kind = "GpuNode",
    plural = "gpunodes",
    shortname = "gn",
    status = "GpuNodeStatus",
    derive = "PartialEq",
    derive = "Default",
    printcolumn = r#"{"name":"Cards","type":"string","jsonPath":".status.summary"}"#,
    printcolumn = r#"{"name":"Driver","type":"string","jsonPath":".status.driverVersion"}"#,
    printcolumn = r#"{"name":"Operation","type":"string","jsonPath":".status.operation.phase"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct GpuNodeSpec {
    /// What to do, once. A new `id` makes the agent act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationSpec>,
    /// The approved state of each card, by GPU UUID: what the agent restores when the node was restarted. A difference
    /// alone never makes it act.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approved: BTreeMap<String, CardSpec>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperationSpec {
    /// Its identifier.
    pub id: String,
    /// The plan that it belongs to.
    pub plan_digest: String,
    /// The agent never obeys a lower one than it has seen.
    pub fence: u64,
    /// What each card becomes, by GPU UUID. Other cards are left alone.
    pub cards: BTreeMap<String, CardSpec>,
    /// Digest of the layout that each of these cards must still have.
    pub precondition: BTreeMap<String, String>,
    /// May a card be reset for it?
    pub allow_reset: bool,
}

/// What one card becomes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardSpec {
    /// Where it sits, to be sure that it is the card that was meant.
    pub pci_address: String,
    /// How it is cut.
    pub layout: Layout,
    /// What else is set on it.
    #[serde(default)]
    pub settings: CardSettings,
}

/// What a node is. Only its agent writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GpuNodeStatus {
    /// The kernel's boot id: another one means that the node was restarted.
    #[serde(default)]
    pub boot_id: String,
    /// Version of the agent.
    #[serde(default)]
    pub agent_version: String,
    /// Version of the NVIDIA driver.
    #[serde(default)]
    pub driver_version: String,
    /// The cards in one line, for `kubectl get`: "2× A100-SXM4-80GB".
    #[serde(default)]
    pub summary: String,
    /// The cards in order of PCI address.
    #[serde(default)]
    pub cards: Vec<CardStatus>,
    /// How far the operation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationStatus>,
    /// The highest fencing token that the agent has seen.
    #[serde(default)]
    pub fence: u64,
    /// The last error outside an operation: NVML does not answer, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The generation of the spec that this status answers.
    #[serde(default)]
    pub observed_generation: i64,
}

/// What a card is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardStatus {
    /// NVML's index now: for people only.
    pub index: u32,
    /// GPU UUID.
    pub uuid: String,
    /// PCI address: `0000:17:00.0`.
    pub pci_address: String,
    /// `A100-SXM4-80GB`.
    pub product: String,
    /// Memory, MiB.
    pub memory_mib: u64,
    /// Can it do MIG?
    pub mig_capable: bool,
    /// Does the MIG mode wait for a reset or a reboot?
    #[serde(default)]
    pub mig_pending: bool,
    /// How it is cut.
    pub layout: Layout,
    /// Its MIG instances with what uses them, in order of start.
    #[serde(default)]
    pub instances: Vec<InstanceStatus>,
    /// What uses the card as a whole.
    #[serde(default)]
    pub used_by: Vec<User>,
    /// What is set on it.
    #[serde(default)]
    pub settings: CardSettings,
    /// Why nothing may be changed on it: a pending row remap, an Xid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
}

/// What a MIG instance is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceStatus {
    /// MIG profile: `1g.10gb`.
    pub profile: String,
    /// First memory slice.
    pub start: u8,
    /// Memory slices.
    pub size: u8,
    /// MIG UUID: changes whenever the instance is made anew, so never an identity.
    pub uuid: String,
    /// What uses it.
    #[serde(default)]
    pub used_by: Vec<User>,
}

/// What uses a card or an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum User {
    /// A pod that it is allocated to.
    Pod {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A process outside any known pod.
    Process {
        /// Its id on the host.
        pid: u32,
        /// Its name, where it can be read.
        name: String,
    },
}

/// How far an operation is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperationStatus {
    /// Which.
    pub id: String,
    /// How far.
    pub phase: OperationPhase,
    /// Steps that are done.
    pub done: u32,
    /// Steps in all.
    pub total: u32,
    /// What it does, or why it failed.
    pub message: String,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OperationPhase {
    /// The agent works on it.
    Running,
    /// It is done.
    Succeeded,
    /// It failed before anything was changed.
    Refused,
    /// It failed half way; the cards are as the status says.
    Failed,
}
