//! How a test says that it, or a part of it, is left out: one that only returns
//! is counted as passed.

use std::io::Write as _;

/// Says what is left out and why, in one line; `tests/run` counts these. Not
/// with `eprintln!`, of which nothing is seen when a test passes.
pub fn skipped(why: &str) {
    let line = format!("skipped: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Whether the tests run as root, which `what` needs; says so when they do not.
#[must_use]
pub fn is_root(what: &str) -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        skipped(&format!("{what}: only root can do that"));
    }
    is_root
}
