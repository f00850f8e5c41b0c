//! Servers of tools (MCP, `mcp.servers`): each a confined process, spoken to
//! over its standard input and output. One that does not start takes only its
//! own tools away.
//!
//! The pool starts them, keeps them and speaks to them; a turn's process is its
//! client, and decides with the turn's policy which of their tools there are.

mod client;
#[cfg(fuzzing)]
pub mod fuzz;
mod line;
mod naming;
mod notes;
mod offered;
mod output;
mod pool;
mod process;
mod server;
mod silence;

pub use client::{CallError, Changes, Servers};
pub use notes::Notes;
pub use output::Output;
pub use process::main;
