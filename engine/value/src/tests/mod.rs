//! Tests by concept. Expected values were recorded from Terraform 1.11.4 where they are about its behaviour.

mod convert;
mod diff;
mod json;
mod numbers;
mod paths;
mod sets;
mod unknowns;
