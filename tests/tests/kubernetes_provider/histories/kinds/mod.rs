//! The built-in kinds that histories are made of: what is usual in their objects, and what the API server spells anew,
//! completes, keeps as a map, as a set or as one piece.

mod plain;
mod pod;
mod workloads;

use serde_json::json;

use super::grammar::{Field, Grammar, entries, may, must, one, record};

/// A built-in kind.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    pub(super) namespaced: bool,
    /// Does the sandbox have it?
    pub(super) in_sandbox: bool,
    /// Its objects, but for what names them.
    pub(super) grammar: Grammar,
}

impl Kind {
    fn new(
        api_version: &'static str,
        kind: &'static str,
        plural: &'static str,
        fields: impl IntoIterator<Item = Field>,
    ) -> Self {
        let metadata = record([
            may("labels", entries(["a", "example.com/b", "c"], ["x", "y", ""])),
            may("annotations", entries(["example.com/a", "b"], ["x", "y: z\n", ""])),
        ]);
        let grammar = record(fields.into_iter().chain([must("metadata", metadata)]));
        Self { api_version, kind, plural, namespaced: true, in_sandbox: false, grammar }
    }

    fn of_cluster(self) -> Self {
        Self { namespaced: false, ..self }
    }

    fn in_sandbox(self) -> Self {
        Self { in_sandbox: true, ..self }
    }

    /// The path of an object.
    pub(super) fn path(&self, namespace: &str, name: &str) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        let around = if self.namespaced { format!("/namespaces/{namespace}") } else { String::new() };
        format!("/{root}/{}{around}/{}/{name}", self.api_version, self.plural)
    }
}

pub(super) fn quantity() -> Grammar {
    one([json!("1"), json!("1000m"), json!(2), json!("2"), json!("0.5"), json!("500m")])
}

pub(super) fn memory() -> Grammar {
    one(["1Gi", "1024Mi", "2Gi", "1073741824"])
}

pub(super) fn port() -> Grammar {
    one([json!(80), json!("http"), json!(8080)])
}

pub(super) fn flag() -> Grammar {
    one([true, false])
}

pub(super) fn count() -> Grammar {
    one([0, 1, 2])
}

pub(super) fn seconds() -> Grammar {
    one([10, 20, 30])
}

/// All of them.
pub(super) fn all() -> Vec<Kind> {
    plain::kinds().into_iter().chain(workloads::kinds()).collect()
}
