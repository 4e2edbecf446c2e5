//! What is done on one node while a plan is applied: held, changed, given back, looked at. Each call is idempotent, and
//! begins with what the node is now, not with what the plan saw.

mod evict;
mod gate;
mod hold;
mod offered;
mod operate;
mod recover;
mod taint;

pub(crate) use gate::{gate, well};
pub(crate) use hold::hold;
pub(crate) use operate::operate;
pub(crate) use recover::recover;
pub(crate) use taint::release;
