//! The vocabulary: addresses, schemas, plans, operations, holds, waves, findings, events.

#![forbid(unsafe_code)]
