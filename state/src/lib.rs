//! Snapshots, the state file, the journal, backends and locks.

#![forbid(unsafe_code)]
