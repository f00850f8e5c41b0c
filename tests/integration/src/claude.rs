//! The Claude Code CLI: the real one, and what plays a broken one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::Site;

/// Names the CLI, or is `skip`.
const VARIABLE: &str = "OPENCLAW_TEST_CLAUDE";
/// Where tests/run installs it, beneath the workspace's root.
const INSTALLED: &str = "target/claude/node_modules/.bin/claude";

/// The real CLI; `None` where the tests were told to do without.
pub fn program() -> Option<String> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    match named.as_str() {
        "skip" => {
            eprintln!("not tested: {VARIABLE} is skip");
            None
        }
        "" => Some(find().unwrap_or_else(|| missing())),
        path if Path::new(path).is_file() => Some(path.to_owned()),
        path => panic!("{VARIABLE} is {path}, which is not there"),
    }
}

fn find() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(INSTALLED);
    std::env::split_paths(&path)
        .map(|folder| folder.join("claude"))
        .chain([installed])
        .find(|path| path.is_file())
        .map(|path| path.display().to_string())
}

fn missing() -> ! {
    panic!(
        "the Claude Code CLI is neither on the PATH nor in {INSTALLED}: run tests/run, which \
         installs it, or set {VARIABLE} to its path, or to `skip` to do without these tests"
    )
}

/// A shell script in the place of the CLI. What the real one cannot be made
/// to do, this does: crash, and write what is not its format.
pub fn imitation(site: &Site, script: &str) -> PathBuf {
    let folder = site.path("imitation");
    fs::create_dir_all(&folder).expect("make a folder");
    let path = folder.join("claude");
    fs::write(&path, format!("#!/bin/sh\n{script}")).expect("write a script");
    for path in [&folder, &path] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("open it");
    }
    path
}

/// A line of the CLI with a piece of text.
pub fn delta(text: &str) -> String {
    serde_json::json!({
        "type": "stream_event",
        "event": {
            "type": "content_block_delta",
            "delta": {"type": "text_delta", "text": text},
        },
    })
    .to_string()
}
