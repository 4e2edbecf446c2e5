//! A mock provider, stories, crashes, random histories, the layer table.
//!
//! This library is what the tests share: a mock provider with its own small world ([`mock`]), a way to stop a run at any
//! call ([`crashing`]), the engine without the command around it ([`lab`]), and with it ([`story`], [`command`]). Nothing of it is part of the product.

#![forbid(unsafe_code)]

pub mod command;
pub mod control_plane;
pub mod crashing;
pub mod go_program;
pub mod helm;
pub mod lab;
pub mod many;
pub mod mock;
pub mod program;
pub mod story;
