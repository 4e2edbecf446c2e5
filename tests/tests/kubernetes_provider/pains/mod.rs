//! What users of other tools suffer from, each by the number that it has in the project's list: from a configuration
//! through plan and apply, against every API server that there is.

mod conflicts;
mod definitions;
mod drift;
mod namespaces;
mod offline;
mod permissions;
mod shapes;
