//! GPU models, MIG geometry and the placement solver.
//!
//! Three questions are answered here, all of them without I/O, clock or randomness:
//!
//! * what is this card ([`catalog`], [`CardModel`]): its memory, its MIG profiles, the drivers it needs, whether a
//!   change of MIG mode resets it;
//! * may these slices stand on it together ([`Geometry::check`]);
//! * how does it get from the slices it has to those that are wanted with the least disruption ([`solve`]), and if
//!   it cannot, why, and what would fit ([`Infeasible`]).
//!
//! The facts are data: `data/mig-geometry.json`, with a source for each. Nothing here knows nodes, pods, Kubernetes or
//! NVML.

#![forbid(unsafe_code)]

mod card;
mod catalog;
mod counts;
mod driver;
mod geometry;
mod infeasible;
mod layout;
mod load;
mod multisets;
mod product;
mod profile;
mod search;
mod solve;
mod suggest;

pub use card::{Architecture, CardModel, MigSupport};
pub use catalog::{Catalog, catalog};
pub use counts::ProfileCounts;
pub use driver::{DriverVersion, DriverVersionError};
pub use geometry::{Geometry, Illegal, MediaEngines, ProfileInfo, Together};
pub use infeasible::{Infeasible, Reason, Shortage, Suggestion, SuggestionKind};
pub use layout::{Instance, InstanceError, Layout, Placement};
pub use product::Product;
pub use profile::{Attributes, MIG_RESOURCE_PREFIX, MigProfile, MigProfileError};
pub use solve::{Cost, Current, Occupied, Request, Solution, Step, Victim, Wanted, solve};
