//! `matrix BACKEND EVENT`: the matrix of a backend in which one thing happens,
//! with the suite of this user's service manager where `OPENCLAW_TEST_UNITS` is
//! set.

#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test, which may fail at any line and says so"
)]

use std::process::ExitCode;

use integration_tests::matrix::{self, EVENTS, Event};

/// What is wrong with the command line (sysexits.h).
const EX_USAGE: u8 = 64;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [backend, event] = words.as_slice() else {
        return usage();
    };
    let named = |one: &&Event| format!("{one:?}").to_lowercase() == *event;
    let Some(event) = EVENTS.iter().find(named) else {
        return usage();
    };
    let events = std::slice::from_ref(event);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("set up the event loop");
    match backend.as_str() {
        "native" => runtime.block_on(matrix::native(events)),
        "claude" => runtime.block_on(matrix::claude(events)),
        "codex" => runtime.block_on(matrix::codex(events)),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: matrix native|claude|codex approval|cancel|kill");
    ExitCode::from(EX_USAGE)
}
