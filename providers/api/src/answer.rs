//! What an instance answers.

use std::ops::Range;

use engine_diag::Severity;
use engine_model::{
    address::ResourceAddr,
    finding::Place,
    operation::{Excluded, Operation},
};
use engine_value::{Path, Value};

use crate::ProviderError;

/// Something wrong or doubtful in one object's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Issue {
    /// An error stops the plan.
    pub severity: Severity,
    /// One line.
    pub summary: String,
    /// What was expected, what was found.
    pub detail: String,
    /// Where in the configuration; the root is the whole block.
    pub path: Path,
    /// Of the text at `path`, the bytes that it is about.
    pub part: Option<Range<u32>>,
    /// The way out, as a sentence.
    pub hint: Option<String>,
    /// Other places that it is about, with what each is.
    pub related: Vec<(String, Place)>,
}

impl Issue {
    /// An error at a path.
    pub fn error(path: Path, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        let (summary, detail) = (summary.into(), detail.into());
        Self { severity: Severity::Error, summary, detail, path, part: None, hint: None, related: Vec::new() }
    }

    /// A warning at a path.
    pub fn warning(path: Path, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, summary, detail) }
    }

    /// The same about some bytes of the text at its path, such as a part of an expression that a text holds.
    #[must_use]
    pub fn part(self, bytes: Range<u32>) -> Self {
        Self { part: Some(bytes), ..self }
    }

    /// The same with the way out.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// What became of an object of the state.
#[derive(Debug)]
pub enum ReadAnswer {
    /// It is there.
    Object(ReadObject),
    /// It is not there any more.
    Gone,
    /// It could not be asked: the object stays as the state has it, and the plan says so.
    Unreachable(ProviderError),
    /// It was asked, and that failed.
    Failed(ProviderError),
}

/// An object as it was read.
#[derive(Clone, Debug)]
pub struct ReadObject {
    /// The object. Equal meaning keeps the state's spelling ("1000m" and "1"), so that it is no drift.
    pub object: Value,
    /// What the provider stores beside it.
    pub private: Vec<u8>,
    /// What drifted, for people: "gpu-01 card 0: 1g.10gb at 4 is gone". Empty: the engine names the paths.
    pub notes: Vec<String>,
}

/// A planned object.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The object afterwards. Agrees with the configuration wherever that is known; unknown only in computed
    /// attributes. Equal to `prior`: nothing happens.
    pub object: Value,
    /// What the provider wants to see again when it applies this.
    pub private: Vec<u8>,
    /// Paths that cannot be changed in place; not empty: the object is replaced.
    pub replace: Vec<Path>,
    /// Why, where the provider knows better than the engine, which compares configuration, state and world.
    pub reason: Option<PlannedReason>,
    /// Set where the plan could not be verified against the world, and why.
    pub unverified: Option<String>,
    /// Warnings.
    pub issues: Vec<Issue>,
    /// Must the change be carried out although the object stays equal? (Something on nodes is still to be done.)
    pub pending: bool,
    /// Is something missing that another change of this plan may bring (a definition, a namespace)? Then it is planned
    /// again when nothing else can be, once, with what is announced by then in [`crate::PlanRequest::earlier`].
    pub waits: bool,
    /// Announced changes that must be carried out before this one, beside what the configuration says.
    pub after: Vec<ResourceAddr>,
}

/// A reason that only the provider knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedReason {
    /// An earlier apply did a part of it.
    Unfinished {
        /// Parts that are done.
        done: u64,
        /// All parts.
        total: u64,
        /// What the parts are: "nodes".
        unit: String,
    },
    /// Nodes joined since the last apply.
    NodesJoined(Vec<engine_model::name::NodeName>),
}

impl Planned {
    /// A planned object and nothing else to say.
    pub fn object(object: Value) -> Self {
        Self {
            object,
            private: Vec::new(),
            replace: Vec::new(),
            reason: None,
            unverified: None,
            issues: Vec::new(),
            pending: false,
            waits: false,
            after: Vec::new(),
        }
    }
}

/// How the planned changes of an instance are carried out on nodes.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    /// What is done, in a deterministic order.
    pub operations: Vec<Operation>,
    /// Nodes that are left alone.
    pub excluded: Vec<Excluded>,
    /// Nodes that the instance manages: what percentages are of.
    pub managed: u64,
    /// Nodes that are unavailable for other reasons: they use up the budget.
    pub unavailable: Vec<engine_model::name::NodeName>,
    /// What is wrong or doubtful, each with the address that it is about.
    pub issues: Vec<(engine_model::address::ResourceAddr, Issue)>,
}

/// How a call that changes something ended. Always tells what now exists.
#[derive(Debug)]
pub struct Outcome<T> {
    /// What exists now, even after half of it; `None`: nothing does.
    pub now: Option<T>,
    /// Why it is not what was asked for.
    pub error: Option<ProviderError>,
}

impl<T> Outcome<T> {
    /// It is as asked for.
    pub fn done(now: T) -> Self {
        Self { now: Some(now), error: None }
    }

    /// As asked for, nothing exists now.
    pub fn gone() -> Self {
        Self { now: None, error: None }
    }

    /// It failed, and this is what exists now.
    pub fn failed(now: Option<T>, error: ProviderError) -> Self {
        Self { now, error: Some(error) }
    }
}

/// An object after a change.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The object, wholly known. Agrees with what was planned wherever that was known.
    pub object: Value,
    /// What the provider stores beside it.
    pub private: Vec<u8>,
}

/// An object that was imported.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its type.
    pub ty: String,
    /// The object.
    pub object: Value,
    /// What the provider stores beside it.
    pub private: Vec<u8>,
    /// A configuration that plans to no change, for `-generate-config-out`: an object of the schema's type, wholly known,
    /// with null and empty blocks for what it leaves out. What the world fills in by itself is left out. What is sensitive
    /// is marked, and is never written down. `None`: it is `object` without what only the provider gives.
    pub config: Option<Value>,
    /// What a reader of that configuration should know, each about a part of it: what was left out, and why. Sentences,
    /// without secrets.
    pub notes: Vec<(Path, String)>,
}

impl Imported {
    /// An object whose configuration follows from its schema.
    pub fn new(ty: impl Into<String>, object: Value, private: Vec<u8>) -> Self {
        Self { ty: ty.into(), object, private, config: None, notes: Vec::new() }
    }
}

/// What became of an operation that was begun.
#[derive(Debug)]
pub enum Recovery {
    /// Nothing was changed.
    NotStarted,
    /// A part was changed, which.
    Partly(String),
    /// It was finished.
    Done,
    /// It cannot be told, and why.
    Unknown(ProviderError),
}

/// Is a wave healthy?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// The next wave may begin.
    Healthy,
    /// It may not; what is wrong, per node.
    Unhealthy(Vec<(engine_model::name::NodeName, String)>),
}

/// An ephemeral object that is open.
#[derive(Clone, Debug)]
pub struct Renewal {
    /// Its value; never stored.
    pub object: Value,
    /// What `renew` and `close` want to see.
    pub private: Vec<u8>,
    /// When it must be renewed.
    pub renew_at: Option<std::time::SystemTime>,
}
