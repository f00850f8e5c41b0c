//! The agent CLIs that can answer turns, each stated once in a file of its own. The keys of the
//! configuration, the variables, the checks of the doctor and the choice of a backend follow from
//! [`ALL`].

mod all;
pub mod claude;
mod cli;
pub mod codex;
mod paths;

pub use all::{ALL, Dialogue};
pub use cli::{AgentCli, ModelApi};
pub use paths::CliPaths;
