//! The embedded Kubernetes API server.
//!
//! It serves HTTPS on the loopback address for real clients (`kube`, `kubectl`, our own provider and agents), and the
//! same requests in-process for the simulated fleet. Objects are JSON; what the verbs must know about a kind comes from
//! one table of built-in kinds ([`kinds`](self)) and from custom resource definitions. A request is one transaction of
//! the store: checks, the write, and what the controllers make of it (namespace finalisation, garbage collection, quota
//! and disruption-budget status) are committed together, so a crash never leaves half of it.
//!
//! Not here: a scheduler, kubelets and whatever else moves pods (the simulated fleet does), webhooks; protobuf only as far
//! as kubectl insists on it. What is not served answers 404 with a hint.

mod admit;
mod agents;
mod apply;
mod body;
mod calls;
mod cel;
mod check;
mod columns;
mod compare;
mod conform;
mod connection;
mod controllers;
mod crd;
mod defaults;
mod delete;
mod discovery;
mod evict;
mod faults;
mod fields;
mod form;
mod formats;
mod handler;
mod hooks;
mod identity;
mod ids;
mod impersonate;
mod inquiry;
mod jsonpath;
mod kinds;
mod limits;
mod logs;
mod managed;
mod merge;
mod names;
mod object;
mod openapi;
mod options;
mod patch;
mod place;
mod protobuf;
mod rbac;
mod read;
mod registry;
mod request;
mod resource;
mod reviews;
mod rules;
mod scale;
mod schema;
mod selectors;
mod server;
mod status;
mod strategic;
mod structural;
mod table;
mod tokens;
mod topology;
mod validate;
mod watch;
mod wire;
mod write;

pub use agents::{AGENTS, AgentRules};
pub use calls::{Call, Calls};
pub use faults::{Effect, Fault, Faults, Gate, When, Which};
pub use handler::{Api, Clock, Setup};
pub use hooks::{Admission, Attributes, Authorizer, Decision, Review};
pub use identity::{AUTHENTICATED, CertificateError, MASTERS, NODE_NAME, User};
pub use rbac::Rbac;
pub use server::{Renewal, Running, Server, StartError};
pub use status::{Cause, Failure};
