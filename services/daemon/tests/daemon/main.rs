//! A real daemon process: this program, started again with a socket, which
//! does what it is told over standard input.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod child;
mod journal;
mod panics;
mod process;
mod records;
