//! What the agent-runner and the processes that it starts hand one another.
//!
//! A process is told what it is for over its standard input ([`order`], [`servers`]). What a turn
//! comes to returns through its [`spool`]; while it runs, [`decisions`] and messages ([`steering`])
//! reach it through files beside that. So neither needs the other to stay.

pub mod child;
pub mod decisions;
pub mod disk;
mod failure;
#[cfg(fuzzing)]
pub mod fuzz;
pub mod limits;
pub mod meter;
pub mod order;
pub mod own_limits;
pub mod passed;
pub mod proxies;
pub mod report;
pub mod servers;
pub mod spool;
pub mod stdio;
pub mod steering;
mod torn;

pub use failure::failed;
