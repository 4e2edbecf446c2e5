//! The sliceform command.

#![forbid(unsafe_code)]

mod view;
