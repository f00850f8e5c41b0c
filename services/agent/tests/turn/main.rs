//! Whole turns of the real program against a scripted runner.

#![cfg(test)]

mod common;
mod failures;
mod hostile;
mod limits;
mod native;
mod offline;
mod openai;
mod process;
