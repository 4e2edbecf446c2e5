//! Stories, differential tests, simulation, the layer table.

#![forbid(unsafe_code)]
