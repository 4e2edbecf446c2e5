//! What a review of a whole plan finds, and the capacity that it computes.

use engine_diag::Severity;
use engine_value::Path;
use serde::{Deserialize, Serialize};

use crate::{address::ResourceAddr, name::ResourceName};

/// A place in an object. Providers name places so; the engine turns them into file and line, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The object.
    pub addr: ResourceAddr,
    /// Where in its configuration.
    pub path: Path,
    /// `quota.tf:3`, filled in by the engine; `None` where there is no source (orphans).
    pub source: Option<SourcePlace>,
}

impl Place {
    /// A place that the engine has not looked up yet.
    pub fn new(addr: ResourceAddr, path: Path) -> Self {
        Self { addr, path, source: None }
    }
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePlace {
    /// The file, as the user would name it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// First and last byte (end exclusive).
    pub bytes: (u32, u32),
}

/// The code of the finding that nodes outside a plan use up its disruption budget: apply then stops before the first node.
pub const BUDGET_USED_UP: &str = "disruption_budget_used_up";

/// Something that a review found. An error makes the plan errored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Error or warning.
    #[serde(with = "severity")]
    pub severity: Severity,
    /// What kind of finding, for machines: `quota_unknown_resource`.
    pub code: String,
    /// One line.
    pub summary: String,
    /// What was expected, what was found.
    pub detail: String,
    /// The way out.
    pub hint: Option<String>,
    /// The places that it is about, the first the primary one, with what each is: ("the quota", place).
    pub places: Vec<(String, Place)>,
}

/// How many of a resource the cluster offers, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityRow {
    /// Of what.
    pub resource: ResourceName,
    /// Offered now, on nodes that are not excluded.
    pub now: u64,
    /// Offered when the plan is applied, on nodes that are not excluded.
    pub then: u64,
    /// Offered on excluded nodes.
    pub excluded: u64,
    /// Remarks with their places: "team-a may ask for 4".
    pub notes: Vec<(String, Option<Place>)>,
}

/// What a review of a whole plan says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// What is wrong or doubtful.
    pub findings: Vec<Finding>,
    /// Capacity before and after, by resource name.
    pub capacity: Vec<CapacityRow>,
}

mod severity {
    use engine_diag::Severity;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Severity, D::Error> {
        match <std::borrow::Cow<'de, str>>::deserialize(deserializer)?.as_ref() {
            "error" => Ok(Severity::Error),
            "warning" => Ok(Severity::Warning),
            other => Err(D::Error::custom(format!("a severity is error or warning, found {other:?}"))),
        }
    }
}
