//! An embedded cluster: a real Kubernetes API over HTTPS, over a simulated fleet with the real agents.
//!
//! [`Sandbox`] is the way in: a command opens it, works against its API as against any cluster, and closes it; what it did
//! is in the world's log. [`command`] has what `sliceform sandbox …` does. The rest is what it is made of: `api` and `store`
//! are the server, `cluster` is what moves beside it (device plugin, scheduler, kubelets), `agents` runs the real agent's
//! library, `fleet` reads fleets, `world` keeps everything. [`Joined`] is such a fleet as the nodes of another API server.

#![forbid(unsafe_code)]

mod agents;
pub mod api;
mod cluster;
pub mod command;
mod embedded;
mod endpoint;
mod error;
pub mod fleet;
mod furnish;
mod holder;
mod joined;
mod motion;
pub mod names;
mod private;
mod sandbox;
pub mod store;
mod world;

pub use error::SandboxError;
pub use joined::{Joined, Server};
pub use sandbox::{Options, Sandbox, Script};
pub use world::WorldError;
