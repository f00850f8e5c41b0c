//! Backends: our own agent, and agent CLIs that are not ours. Which of them is installed and let
//! in, and how it is started.

pub mod choice;
mod claude;
pub mod cli;
pub mod codex;
pub mod environment;
pub mod native;
pub mod places;
mod prompt;
pub mod settings;
mod thinking;
pub mod tools;
