//! Names that several parts of the sandbox share: annotations of pods, and private records of the store.

use sha2::Digest as _;

/// Annotation: how long a pod runs, in the world's time (`40s`). Then it has succeeded.
pub const ENDS_AFTER: &str = "sandbox.sliceform.io/ends-after";

/// Annotation: how long a pod takes to stop when it is told to, in the world's time.
pub const STOPS_AFTER: &str = "sandbox.sliceform.io/stops-after";

/// Annotation: a process of the pod runs on its devices.
pub const BUSY: &str = "sandbox.sliceform.io/busy";

/// Annotation: the containers of a pod exit with this code, at once or when [`ENDS_AFTER`] says.
pub const EXIT_CODE: &str = "sandbox.sliceform.io/exit-code";

/// Annotation: a pod runs, but never gets ready.
pub const NEVER_READY: &str = "sandbox.sliceform.io/never-ready";

/// The letters of Kubernetes' generated names: no vowels and nothing that looks like another.
pub(crate) const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Five letters that follow from a text.
pub(crate) fn letters(text: &str) -> String {
    let digest = sha2::Sha256::digest(text);
    digest[..5].iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}

/// Annotation: what a container of the pod writes; with `.NAME` appended, what the container of this name writes.
pub const LOG: &str = "sandbox.sliceform.io/log";

/// Annotation: what a container had written when it was started again, likewise.
pub const PREVIOUS_LOG: &str = "sandbox.sliceform.io/previous-log";

/// API group of what only the sandbox has.
pub(crate) const GROUP: &str = "sandbox.sliceform.io";

/// The version that simulated kubelets tell.
pub(crate) const KUBELET_VERSION: &str = "v1.37.0";

/// Records of the store that the API does not serve: its resources have names, these have none that a path could spell.
pub(crate) mod record {
    /// The hardware of each node.
    pub(crate) const HARDWARE: &str = "/hardware";
    /// When pods were started and told to stop, in the world's time.
    pub(crate) const RUNS: &str = "/runs";
    /// What controllers remember of the objects that they look after: since when, how many, what became of pods.
    pub(crate) const TIMES: &str = "/times";
    /// One object: the fleet, the seed, the world's time.
    pub(crate) const WORLD: &str = "/world";
}
