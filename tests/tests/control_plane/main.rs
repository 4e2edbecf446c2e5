//! The control plane of the tests itself: it is a real one, it can be made to fail, and nothing of it stays.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod ends;
mod faults;
mod import;
#[path = "../kubernetes_provider/import/kinds.rs"]
mod kinds;
mod lifecycle;
mod plan_only;
mod work;
mod works;
