//! Tests of functions against facts recorded from Terraform 1.11.4.
//!
//! A fact is an expression and what Terraform made of it: see [`facts`] for how they are kept, and [`record`] for how they
//! are recorded again.

mod chance;
mod facts;
mod record;
mod setting;
mod signatures;
