//! Tests of functions against facts recorded from Terraform 1.11.4.

mod signatures;
