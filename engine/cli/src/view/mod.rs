//! What people and other programs see. The only part of Sliceform that makes text for them.

pub(crate) mod capacity;
pub(crate) mod cards;
pub(crate) mod diagnostic;
pub(crate) mod diagnostic_json;
pub(crate) mod diff;
pub(crate) mod disruption;
pub(crate) mod expression;
pub(crate) mod finding;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod resource;
pub(crate) mod style;
pub(crate) mod value;
