//! The harness: a state directory of its own, the real binaries in it, and
//! what a test can see of them. The cases are in `tests/suite`.
//!
//! Everything here panics when it cannot do its work: the panic is the test's
//! failure, and [`Site`] then shows what the daemons wrote.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "test code, which starts the real programs and may fail at any line"
)]

pub mod asked;
pub mod bots;
pub mod claude;
pub mod cli;
pub mod codex;
pub mod crabline;
pub mod deadline;
pub mod grpc;
pub mod http;
pub mod installed;
pub mod log;
pub mod machine;
pub mod manager;
pub mod matrix;
pub mod openai;
pub mod openclaw;
pub mod processes;
pub mod program;
pub mod said;
pub mod setup;
pub mod site;
pub mod socket;
pub mod suite;
pub mod talk;
pub mod terminal;
pub mod tool_server;
pub mod transcript;
pub mod units;

pub use crabline::Crabline;
pub use deadline::{before, seen, until, within};
pub use http::Http;
pub use openai::OpenAi;
pub use openclaw::OpenClaw;
pub use said::Said;
pub use setup::Setup;
pub use site::Site;
pub use socket::Socket;
pub use suite::Suite;
pub use talk::Talk;
pub use terminal::Terminal;
pub use test_skip::skipped;
