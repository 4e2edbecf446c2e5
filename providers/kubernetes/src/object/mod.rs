//! Kubernetes objects as JSON: their names, which of their fields are ours, what a refusal says about them. No network.

pub(crate) mod body;
pub(crate) mod configurable;
pub(crate) mod convert;
pub(crate) mod key;
pub(crate) mod owner;
pub(crate) mod place;
pub(crate) mod pod;
pub(crate) mod predecessor;
pub(crate) mod project;
pub(crate) mod quantity;
pub(crate) mod readiness;
pub(crate) mod refusal;
pub(crate) mod rollout;
pub(crate) mod rule;
pub(crate) mod scope;
pub(crate) mod shape;
pub(crate) mod similar;
pub(crate) mod told;
