//! Which sources of the daemons name files by paths of the whole system.
//!
//! An agent can put a link in the place of any file in its folders, so the
//! daemons reach those by this crate alone. Whatever else they open is listed
//! here with the reason why no agent can write there. A new file of sources
//! that opens paths fails this test until somebody has thought about that.

#![allow(clippy::unwrap_used, reason = "test code, shared functions included")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The daemons and the libraries that the gateway and the agent-runner are made of.
const CRATES: [&str; 15] = [
    "agent-runner",
    "backends",
    "conversations",
    "devices",
    "doors",
    "gateway",
    "handoff",
    "mcp-servers",
    "memory",
    "model-api",
    "proxy",
    "runs",
    "schedule",
    "turn-process",
    "websocket",
];

/// What opens, makes, lists or removes files by their paths.
const CALLS: [&str; 8] = [
    "fs::",
    "File::open",
    "File::create",
    "OpenOptions",
    "DirBuilder",
    ".canonicalize()",
    "read_dir(",
    "tempfile_in(",
];

const TURNS: &str = "state/turns, which the turn's process writes, and no agent";
const STATE: &str = "the suite's own state, which no agent sees";
const PROGRAM: &str = "a program that the user installed, found and not written to";
const KERNEL: &str = "files of the kernel";

const ALLOWED: [(&str, &str); 40] = [
    ("agent-runner/src/adoption.rs", TURNS),
    (
        "agent-runner/src/path_snapshot.rs",
        "compares inodes of what is granted, and opens nothing",
    ),
    ("agent-runner/src/servers/plan.rs", PROGRAM),
    ("agent-runner/src/servers/python.rs", PROGRAM),
    ("agent-runner/src/service.rs", TURNS),
    ("agent-runner/src/turn.rs", TURNS),
    ("agent-runner/src/turn/following.rs", TURNS),
    ("agent-runner/src/turn_handle.rs", TURNS),
    ("agent-runner/src/units/timer.rs", KERNEL),
    ("backends/src/cli.rs", PROGRAM),
    ("backends/src/cli/access.rs", "logins, which no agent sees"),
    ("backends/src/codex.rs", PROGRAM),
    ("backends/src/codex/program.rs", PROGRAM),
    (
        "backends/src/places.rs",
        "makes the agents' folders, in folders that no agent sees",
    ),
    ("handoff/src/decisions.rs", TURNS),
    ("handoff/src/meter.rs", KERNEL),
    ("handoff/src/spool.rs", TURNS),
    ("handoff/src/steering.rs", TURNS),
    ("model-api/src/spending.rs", STATE),
    (
        "turn-process/src/approvals/behind.rs",
        "reads what a folder has opened, a regular file without waiting, and tells nothing of it",
    ),
    ("turn-process/src/turn.rs", TURNS),
    ("doors/src/channels/files.rs", STATE),
    ("doors/src/channels/sent_file.rs", STATE),
    ("doors/src/front/token.rs", STATE),
    ("doors/src/readiness/disk.rs", STATE),
    ("doors/src/http/metrics.rs", KERNEL),
    ("runs/src/recovery.rs", KERNEL),
    ("schedule/src/timer.rs", STATE),
    ("conversations/src/sessions/export.rs", STATE),
    ("conversations/src/sessions/import.rs", STATE),
    ("conversations/src/storage/state_files.rs", STATE),
    ("conversations/src/storage/ledger.rs", STATE),
    ("conversations/src/storage/sessions/maintenance.rs", STATE),
    ("conversations/src/storage/session_files.rs", STATE),
    ("runs/src/turn/conversation.rs", STATE),
    (
        "websocket/src/hello.rs",
        "the configuration, which is the user's",
    ),
    (
        "websocket/src/methods/config/file.rs",
        "the configuration, which is the user's",
    ),
    ("websocket/src/presence.rs", KERNEL),
    (
        "websocket/src/methods/channels/logout.rs",
        "the configuration and a channel's token, which are the user's",
    ),
    ("memory/src/writers.rs", KERNEL),
];

#[test]
fn paths_are_opened_only_where_no_agent_writes() {
    let services = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeSet::new();
    for name in CRATES {
        look(&services.join(name).join("src"), &mut found);
    }
    let found: BTreeSet<_> = found
        .iter()
        .filter_map(|path| path.strip_prefix(services).ok()?.to_str())
        .collect();
    let allowed: BTreeSet<_> = ALLOWED.iter().map(|(path, _)| *path).collect();
    let new: Vec<_> = found.difference(&allowed).collect();
    assert!(
        new.is_empty(),
        "{new:?} open paths: use openclaw_folder where an agent can write, else say here why none can"
    );
    let old: Vec<_> = allowed.difference(&found).collect();
    assert!(old.is_empty(), "{old:?} open nothing any more");
}

/// Adds the sources in `folder` that open paths, outside of their tests and of
/// what is built for fuzzing alone.
fn look(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        if path.is_dir() && !["tests", "fuzz"].contains(&name) {
            look(&path, found);
        } else if name.ends_with(".rs") && !["tests.rs", "fuzz.rs"].contains(&name) {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            if code.lines().any(opens) {
                found.insert(path);
            }
        }
    }
}

fn opens(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default().trim();
    !code.starts_with("use ") && CALLS.iter().any(|call| code.contains(call))
}
