//! The records of the journal: what a run began, what became of it, and what that did to the state.
//!
//! Order is the promise: an intent is durable before the provider is called, its result before a dependant starts.

use engine_model::{
    change::Action,
    execution::Step,
    name::PlanDigest,
    operation::{Hold, Operation},
    plan::SnapshotIdentity,
};
use serde::{Deserialize, Serialize};

use crate::{Effect, EffectError, Fence, LastRun, Lineage, Snapshot};

/// One record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// A run begins to change something. What follows, up to the next one, belongs to it.
    Begin(Begin),
    /// A step is about to call its provider.
    Intent(Box<Intent>),
    /// A step has ended.
    Result(StepResult),
    /// What became of an intent of an earlier run was found out, by the run that has begun last.
    Recovered(Recovered),
    /// Something changes in the state without a step: outputs, clusters, checks.
    Effects(Vec<Effect>),
}

/// The snapshot that a run builds on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// Which state.
    pub lineage: Lineage,
    /// Which version of it; 0 where there is none yet.
    pub serial: u64,
}

/// A run that begins to change something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// What it builds on: its effects are skipped once a later snapshot holds them.
    pub base: Base,
    /// What it carries out.
    pub plan: PlanDigest,
    /// The lock that it holds.
    pub fence: Fence,
    /// What was asked for: "apply", "destroy".
    pub operation: String,
    /// Who asked: "user@host".
    pub who: String,
    /// When: RFC 3339, UTC.
    pub at: String,
}

/// A step that is about to call its provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Which step.
    pub step: Step,
    /// What it is about to do, so that somebody without the plan can find out what became of it.
    pub work: Work,
    /// What must be remembered even if nothing more is heard of it: a node that is held, what was found before the
    /// first change.
    pub effects: Vec<Effect>,
}

/// What a step is about to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Work {
    /// Changes the object of its step; the same change again finds what was done.
    Change(Action),
    /// Takes a node out of use.
    Hold(Hold),
    /// Changes a node.
    Operation(Operation),
    /// Gives a node back.
    Release(Hold),
}

/// A step that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// Which step; its intent is settled.
    pub step: Step,
    /// How it ended.
    pub ended: Ended,
    /// What that did to the state, even after half of it.
    pub effects: Vec<Effect>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// As planned.
    Done,
    /// It failed, and why, without secrets.
    Failed(String),
    /// It came to a safe point after an interrupt.
    Interrupted,
}

/// What was found out about an intent that was not seen to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recovered {
    /// The plan of the run that the intent belongs to.
    pub plan: PlanDigest,
    /// Its step; the intent is settled.
    pub step: Step,
    /// What became of it.
    pub found: Found,
    /// What that did to the state.
    pub effects: Vec<Effect>,
}

/// What became of an intent. There is no "unknown": that intent stays open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// It never started.
    NotStarted,
    /// A part of it is done, and which.
    Partly(String),
    /// It is done.
    Done,
}

/// An intent that was not seen to end.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenIntent<'a> {
    /// The run that it belongs to.
    pub run: &'a Begin,
    /// The intent.
    pub intent: &'a Intent,
}

/// Records that do not follow from the snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The first record begins no run.
    #[error("its first record begins no run")]
    NoBegin,
    /// They belong to another state.
    #[error("it belongs to the state with lineage {journal}, and this one has {snapshot}")]
    OtherLineage {
        /// Of the records.
        journal: Lineage,
        /// Of the snapshot.
        snapshot: Lineage,
    },
    /// The snapshot is older than what they build on.
    #[error("it builds on serial {journal} of the state, and this is serial {snapshot}")]
    OlderSnapshot {
        /// What they build on.
        journal: u64,
        /// What there is.
        snapshot: u64,
    },
    /// A change does not fit.
    #[error("record {number} does not fit the state")]
    Effect {
        /// Which record, from 1.
        number: usize,
        /// What does not fit.
        source: EffectError,
    },
}

impl Begin {
    fn last_run(&self) -> LastRun {
        LastRun { plan: self.plan.clone(), fence: self.fence }
    }
}

impl Record {
    /// What it does to the state.
    pub fn effects(&self) -> &[Effect] {
        match self {
            Self::Begin(_) => &[],
            Self::Intent(intent) => &intent.effects,
            Self::Result(result) => &result.effects,
            Self::Recovered(recovered) => &recovered.effects,
            Self::Effects(effects) => effects,
        }
    }
}

impl Snapshot {
    /// What a run that begins now builds on.
    pub fn base(&self) -> Base {
        Base { lineage: self.lineage.clone(), serial: self.serial }
    }

    /// Carries out what a record does to the state.
    ///
    /// # Errors
    /// An effect does not fit; those before it are done.
    pub fn apply_record(&mut self, record: &Record) -> Result<(), EffectError> {
        if let Record::Begin(begin) = record {
            self.last_run = Some(begin.last_run());
        }
        record.effects().iter().try_for_each(|effect| self.apply(effect))
    }
}

/// The state after the records: those of runs that the snapshot already holds are skipped. Its serial stays as it is.
/// `None`: there is neither a snapshot nor a record.
///
/// # Errors
/// The records do not follow from the snapshot.
pub fn fold(snapshot: Option<Snapshot>, records: &[Record]) -> Result<Option<Snapshot>, FoldError> {
    let mut snapshot = match (snapshot, records.first()) {
        (Some(snapshot), _) => snapshot,
        (None, Some(Record::Begin(begin))) => Snapshot::new(begin.base.lineage.clone()),
        (None, Some(_)) => return Err(FoldError::NoBegin),
        (None, None) => return Ok(None),
    };
    let mut is_new = false;
    for (i, record) in records.iter().enumerate() {
        match record {
            Record::Begin(begin) => is_new = follows(&begin.base, &snapshot)?,
            _ if i == 0 => return Err(FoldError::NoBegin),
            _ => {}
        }
        if is_new {
            snapshot.apply_record(record).map_err(|source| FoldError::Effect { number: i + 1, source })?;
        }
    }
    Ok(Some(snapshot))
}

/// Does a run that builds on `base` come after the snapshot? False: the snapshot already holds it.
fn follows(base: &Base, snapshot: &Snapshot) -> Result<bool, FoldError> {
    if base.lineage != snapshot.lineage {
        let (journal, snapshot) = (base.lineage.clone(), snapshot.lineage.clone());
        return Err(FoldError::OtherLineage { journal, snapshot });
    }
    if base.serial > snapshot.serial {
        return Err(FoldError::OlderSnapshot { journal: base.serial, snapshot: snapshot.serial });
    }
    Ok(base.serial == snapshot.serial)
}

/// What was begun and not seen to end, in the order in which it was begun.
pub fn open_intents(records: &[Record]) -> Vec<OpenIntent<'_>> {
    let mut run: Option<&Begin> = None;
    let mut open = std::collections::BTreeMap::new();
    for (i, record) in records.iter().enumerate() {
        match (record, run) {
            (Record::Begin(begin), _) => run = Some(begin),
            (Record::Intent(intent), Some(run)) => {
                open.insert((&run.plan, &intent.step), (i, OpenIntent { run, intent }));
            }
            (Record::Result(result), Some(run)) => drop(open.remove(&(&run.plan, &result.step))),
            (Record::Recovered(recovered), _) => drop(open.remove(&(&recovered.plan, &recovered.step))),
            (Record::Effects(_), _) | (_, None) => {}
        }
    }
    let mut open: Vec<_> = open.into_values().collect();
    open.sort_by_key(|(i, _)| *i);
    open.into_iter().map(|(_, open)| open).collect()
}

/// The records that a commit leaves behind: intents that are still open, each after its run, without effects (the
/// snapshot holds them).
pub(crate) fn carried_over(records: &[Record]) -> Vec<Record> {
    let mut carried = Vec::new();
    let mut run = None;
    for OpenIntent { run: of, intent } in open_intents(records) {
        if run.replace(of) != Some(of) {
            carried.push(Record::Begin(of.clone()));
        }
        carried.push(Record::Intent(Box::new(Intent { effects: Vec::new(), ..intent.clone() })));
    }
    carried
}

/// Records without those that the snapshot already holds: a crash came between storing it and cutting the journal.
pub(crate) fn effective(snapshot: Option<&Snapshot>, records: Vec<Record>) -> Vec<Record> {
    let last = records.iter().rev().find_map(|record| match record {
        Record::Begin(begin) => Some(&begin.base),
        _ => None,
    });
    match (last, snapshot) {
        (Some(base), Some(snapshot)) if base.lineage == snapshot.lineage && base.serial < snapshot.serial => {
            carried_over(&records)
        }
        _ => records,
    }
}

/// What a plan that is made from this is bound to.
pub fn identity(snapshot: Option<&Snapshot>, records: &[Record]) -> SnapshotIdentity {
    let base = snapshot.map(Snapshot::base).unwrap_or(Base { lineage: Lineage::default(), serial: 0 });
    SnapshotIdentity { lineage: base.lineage.to_string(), serial: base.serial, tail: crate::journal::digest(records) }
}
