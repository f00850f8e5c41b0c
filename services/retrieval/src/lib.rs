//! The index of an agent's memory and the search in it.

mod document;
mod query;
mod ranking;

pub use document::{Body, Document, Message, Source};
pub use query::{Choice, DEFAULT_LIMIT, Found, Hit, LIMIT, Parts, Query};
pub use ranking::{Ranking, Weights};
