//! From an installed suite to one that answers with a model: what a machine and
//! its user still need, step by step. Each step looks first, does only what is
//! missing, and says what came of it.

pub mod asking;
mod change;
pub mod given;
pub mod key;
pub mod machine;
pub mod model;
pub mod ollama;
mod step;

pub use step::{State, Step};

/// Whoever decides: somebody at a terminal, or nobody, with an answer given
/// beforehand.
pub trait Person {
    /// Whether `question`, which is about something harmless, is answered with yes.
    fn agrees(&mut self, question: &str) -> bool;
}
