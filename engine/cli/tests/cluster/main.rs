//! The command against a cluster: the real program as a process of its own, which can be killed and interrupted, and a
//! sandbox that is its cluster. What the sandbox's own commands do is the tour's (`readme.rs`).

mod bad_input;
mod cut_off;
mod destroy;
mod drift;
mod import;
mod interrupt;
mod kubectl;
mod plan_only;
mod pods;
mod program;
mod setting;
