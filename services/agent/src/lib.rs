//! The agent that runs inside the sandbox: one turn of the native or offline
//! backend, or the tool server of another agent's CLI.

mod command;
mod done;
mod emitter;
mod failure;
#[cfg(fuzzing)]
pub mod fuzz;
mod host;
mod images;
mod mcp;
mod native;
mod offline;
mod process;
mod socket;
mod toolbox;
mod turn;
mod workspace;

pub use mcp::main as run_mcp;
pub use turn::main as run_turn;
