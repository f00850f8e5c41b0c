//! The daemon through its socket.
#![allow(clippy::unwrap_used, reason = "only #[test] functions are excepted")]

mod calls;
mod embedding;
mod harness;
mod notes;
mod properties;
mod sessions;
mod sources;
