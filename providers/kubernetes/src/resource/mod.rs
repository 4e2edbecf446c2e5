//! The resource types, a folder or file each, and what they share.

pub(crate) mod deletion;
pub(crate) mod duration;
pub(crate) mod ending;
pub(crate) mod issue;
pub(crate) mod manifest;
pub(crate) mod object;
mod remains;
mod settle;
pub(crate) mod typed;
pub(crate) mod wait;
