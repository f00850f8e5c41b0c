//! What a program at a terminal shares with the others of its kind: output in
//! which nothing acts on the terminal, questions, tables, numbers in words, and failures
//! with what may help and an exit code.

pub mod aliases;
pub mod failure;
pub mod live;
pub mod output;
pub mod pager;
pub mod painted;
pub mod question;
pub mod quiet;
mod reader;
mod report;
pub mod secret;
pub mod signals;
mod size;
pub mod table;
pub mod width;

pub use failure::Failure;
pub use openclaw_words as words;
