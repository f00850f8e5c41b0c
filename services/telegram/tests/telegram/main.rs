//! The daemon as a process, between the double of the Bot API and a gateway that
//! keeps the contract of `openclaw/channel/v1`.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod broken;
mod daemon;
mod gateway;
mod inward;
mod limited;
mod outward;
mod survival;
