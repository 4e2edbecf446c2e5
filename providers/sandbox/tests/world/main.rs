//! The sandbox as commands use it: opened, worked on over HTTPS with real clients, closed, opened again.

mod cluster;
mod crash;
mod identity;
mod lifecycle;
mod operation;
mod served;
mod setting;
