//! The suite as its users meet it: the real daemons, the real CLI, the real
//! sandbox; only the model is scripted.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod bounds;
mod cancel;
mod claude;
mod claude_failures;
mod client;
mod confinement;
mod conversation;
mod daemons;
mod doors;
mod failures;
mod logs;
mod memory;
mod native;
mod notify;
mod offline;
mod operation;
mod survival;
