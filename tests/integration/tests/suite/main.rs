//! The suite as its users meet it: the real daemons, the real CLI, the real
//! sandbox; only the model is scripted.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod bounds;
mod budgets;
mod cancel;
mod claude;
mod claude_failures;
mod client;
mod configuration;
mod confinement;
mod conversation;
mod daemons;
mod doors;
mod failures;
mod logs;
mod native;
mod notify;
mod offline;
mod operation;
mod properties;
mod retry;
mod survival;
