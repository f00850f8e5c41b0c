//! A disposable Debian machine with a booted systemd, for the tests that need one.
//!
//! The machine is made by the script `testbed` beside this crate. Everything a test does in it, it does as the
//! ordinary user `claw` through that user's systemd manager, as a user of the assistant would.

mod machine;
mod outcome;

pub use machine::{Account, KEEP_HOME, KEEP_MACHINE, Machine, Network, is_emulated, patience};
pub use outcome::Outcome;
