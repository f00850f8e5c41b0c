//! `openclawctl agents` and `openclawctl models`: who answers with what, and whether it
//! does.

mod agents;
mod arguments;
mod models;

pub use arguments::{Action, Agents, List, Models, Test};
pub use models::names;
