//! The process of one turn: starts the agent, serves its requests, and writes what it says into the
//! spool. No daemon is between it and its agent, so none that ends takes a turn along.

mod activity;
mod agent;
mod approvals;
mod claude;
mod cli_input;
mod codex;
mod count;
mod dialogue;
#[cfg(fuzzing)]
pub mod fuzz;
mod host;
mod line;
mod message_id;
mod native;
mod tool_pipe;
mod translate;
mod turn;
mod turn_log;
mod within;

pub use turn::main;
