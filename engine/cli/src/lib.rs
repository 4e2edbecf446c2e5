//! The sliceform command.

#![forbid(unsafe_code)]

mod args;
mod view;
