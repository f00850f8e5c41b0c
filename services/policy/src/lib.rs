//! Which tools there are by name ([`catalog`]), and which of them an agent has
//! ([`Policy`]). Pure data: what decides without loading a tool.

pub mod catalog;
mod entry;
mod policy;

pub use entry::{Entry, known};
pub use policy::{Denial, Layer, Policy, glob};
