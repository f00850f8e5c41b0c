//! The on-disk format, tested on recorded files and on generated ones.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy exempts test functions, not what they call"
)]

mod discovery;
mod forgetting;
mod generated;
mod history;
mod home;
mod long;
mod marks;
mod message;
mod property;
mod reading;
mod rebuilt;
mod recorded;
mod roundtrip;
mod store;
mod takeover;
mod thinking;
mod transcript;

use std::path::{Path, PathBuf};

use openclaw_sessions::transcript::{Message, Opened, Origin, Transcript, UserMessage};
use openclaw_sessions::{AgentId, SessionKey};

/// 2026-11-21T00:00:00.000Z.
const NOW: i64 = 1_795_219_200_000;

fn origin() -> Origin {
    Origin {
        session_id: "33333333-3333-4333-8333-333333333333".to_owned(),
        key: SessionKey::main(&AgentId::main()),
        cwd: PathBuf::from("/home/user/.openclaw/workspace"),
    }
}

fn open(path: &Path) -> Opened {
    Transcript::open(path, origin()).unwrap()
}

fn user(text: &str) -> Message {
    Message::User(UserMessage::of_run("run-1", text, NOW))
}

/// A copy of a recorded sessions directory.
fn recorded(name: &str) -> tempfile::TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(source).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
}
