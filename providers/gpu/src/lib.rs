//! The GPU domain: pools, profiles, quotas, capacity, findings.

#![forbid(unsafe_code)]
