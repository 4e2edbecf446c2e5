//! The provider contract. The doc comments are the contract.
//!
//! A [`Provider`] is compiled in and pure; [`Provider::configure`] makes an [`Instance`], one per alias, which speaks to
//! the world. Both may be called from many tasks at once.
//!
//! **Providers never** print, retry blindly (they say which errors are transient; [`retry`] is the one policy), read
//! the clock or randomness but through [`Call::host`], or change anything outside `apply`, `hold`, `operate`, `release`.
//!
//! **Cancellation**: every call gets a [`Call`] whose token is cancelled at the first interrupt. A call then comes to
//! the next safe point, and returns what exists now. Dropping its future is the second interrupt: the journal already
//! holds the intent, and [`Instance::recover`] will be asked.
//!
//! **Objects** are values of the type that the schema implies, whole: attributes that the configuration leaves out are
//! null or unknown, never missing.
//!
//! **Marks**: providers are given values without marks. Marks that they set on objects (what is secret by its content,
//! such as that of a Kubernetes Secret) are kept, beside those of the schema and of the configuration. They set the same
//! ones on every answer, since a value that is marked in another way is another value.

#![forbid(unsafe_code)]

mod answer;
mod call;
mod error;
mod instance;
mod provider;
mod request;
pub mod retry;

pub use answer::{
    Applied, Health, Imported, Issue, Operations, Outcome, Planned, PlannedReason, ReadAnswer, ReadObject, Recovery,
    Renewal,
};
pub use call::{Call, Silent};
pub use error::{ErrorKind, ProviderError};
pub use instance::Instance;
pub use provider::Provider;
pub use request::{
    ApplyRequest, DataRequest, GateRequest, HoldRequest, OperateRequest, PlanRequest, PlannedChange, ReadRequest,
    RecoverRequest, ReviewRequest,
};
