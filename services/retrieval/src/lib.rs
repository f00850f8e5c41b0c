//! The index of an agent's memory and the search in it.
//!
//! Documents go into an [`Engine`], which keeps their texts in SQLite and beside
//! it an index of its own: immutable segments with postings and vectors, mapped.
//! A search scores every passage by its words and by its meaning, at several
//! levels, in one pass over each list.

mod database;
mod document;
mod embed;
mod engine;
mod error;
mod part;
mod query;
mod ranking;
mod search;
mod segment;
mod snapshot;
mod term;

pub use database::Hash;
pub use document::{Body, Document, Kind, Message, Source};
pub use engine::{Change, Engine, Known, Missing, Opened, Options, Passage, Status};
pub use error::Error;
pub use query::{ANSWERS, Choice, DEFAULT_LIMIT, Hit, LIMIT, Parts, Query, SearchResult};
pub use ranking::{LISTS, Ranking, Weights};

#[cfg(test)]
mod tests;
