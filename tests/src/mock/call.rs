//! What the world was asked: the record that tests assert on.

use std::fmt;

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// A provider block was configured.
    Configure,
    /// The cluster behind it was asked for.
    Identity,
    /// An object was read.
    Read,
    /// An object was planned.
    Plan,
    /// Operations were asked for.
    Operations,
    /// The whole plan was shown.
    Review,
    /// An object was made.
    Create,
    /// An object was changed.
    Update,
    /// An object was destroyed.
    Delete,
    /// A resource with operations was settled: only reads.
    Settle,
    /// A data source was read.
    Data,
    /// A node was taken out of use.
    Hold,
    /// A node was changed.
    Operate,
    /// A node was given back.
    Release,
    /// A wave was looked at.
    Gate,
    /// An operation that was cut off was asked for.
    Recover,
}

impl Verb {
    /// Does it change the world?
    pub fn is_write(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete | Self::Hold | Self::Operate | Self::Release)
    }
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// What was asked.
    pub verb: Verb,
    /// About what: an address, a node, an operation, a wave.
    pub about: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", format!("{:?}", self.verb).to_lowercase(), self.about)
    }
}
