//! The real `openclawctl` against a gateway of the test's own, and its
//! supervisor with a stand-in for the daemons.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy exempts test functions, not what they call"
)]

mod config;
mod ended;
mod gateway;
mod hostile;
mod message;
mod run;
mod scene;
mod sessions;
mod stand_in;
mod suite;
mod texts;
mod usage;
