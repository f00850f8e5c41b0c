//! What of the state directory a backup holds.
//!
//! Left out is what can be made anew (search indexes), what is of a process that
//! runs (sockets, locks, spools of turns, temporary files), and what would be
//! wrong beside a copy that is older or newer (SQLite's logs, the journal of a
//! gateway that writes).

use std::path::{Path, PathBuf};

use openclaw_config::Paths;

use crate::layout::STATE;
use crate::manifest::place_of_agents;

/// Folders of channel daemons, of which each sees its own and no other part of the state.
const CHANNELS: &str = "state/state/channels/";

/// The ending of databases.
const DATABASE: &str = ".sqlite";

/// What becomes of a name in the state directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// It is held.
    Held,
    /// It is held, and written to at its end meanwhile: whole lines count.
    Lines,
    /// A database, such as the ledger, which is copied by SQLite.
    Database,
    /// It is not wanted.
    Unwanted,
}

/// What the rules depend on.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Whether a gateway writes: its journal says nothing that its transcripts
    /// do not, and would be put over what is newer.
    pub(crate) running: bool,
    /// Where agents write, whatever that is called in the archive.
    written: Vec<PathBuf>,
    /// Where the sockets are, if in the state directory.
    runtime: Option<String>,
}

impl Rules {
    pub(crate) fn new(paths: &Paths, written: &[PathBuf], running: bool) -> Self {
        let real = written.iter().filter_map(|path| path.canonicalize().ok());
        let runtime = paths.runtime.strip_prefix(&paths.state).ok();
        Self {
            written: real.chain(written.iter().cloned()).collect(),
            running,
            runtime: runtime.and_then(|it| it.to_str()).map(str::to_owned),
        }
    }

    /// Whether an agent writes at `path`, which is called `name` in the archive, or
    /// somebody else who is to lead nobody to files of the state.
    pub(crate) fn is_written(&self, name: &str, path: &Path) -> bool {
        let is_known = self.written.iter().any(|written| path.starts_with(written));
        is_known || place_of_agents(name).is_some() || name.starts_with(CHANNELS)
    }

    /// That of `path`, relative to the state directory.
    pub(crate) fn of(&self, path: &str) -> Rule {
        if Some(path) == self.runtime.as_deref() {
            return Rule::Unwanted;
        }
        if place_of_agents(&format!("{STATE}/{path}")).is_some() {
            return Rule::Held;
        }
        let parts: Vec<&str> = path.split('/').collect();
        match parts.as_slice() {
            ["state", .., name] if name.ends_with(DATABASE) => Rule::Database,
            ["state", .., name] if is_log_of_a_database(name) => Rule::Unwanted,
            ["state", "turns" | "restored.json"] => Rule::Unwanted,
            ["state", name] if name.ends_with(".journal") && self.running => Rule::Unwanted,
            ["state", name] if name.ends_with(".lock") => Rule::Unwanted,
            ["agents", _, "tmp" | "turns"] | ["logs"] => Rule::Unwanted,
            ["memory", _, name]
                if name.starts_with("index.sqlite") || name.starts_with("segment-") =>
            {
                Rule::Unwanted
            }
            ["agents", _, "sessions", name] if name.ends_with(".jsonl") => Rule::Lines,
            [name] if name.starts_with("openclaw-backup-") => Rule::Unwanted,
            [name] if is_lock_of_a_file(name) => Rule::Unwanted,
            [.., name] if is_temporary(name) => Rule::Unwanted,
            _ => Rule::Held,
        }
    }
}

/// Whether `name` is a file that is being written, and will have another name.
fn is_temporary(name: &str) -> bool {
    const PREFIXES: [&str; 9] = [
        ".archive-",
        ".auth-",
        ".default-",
        ".import-",
        ".openclaw-backup-",
        ".openclaw.",
        ".readyz-",
        ".sessions-",
        ".tmp",
    ];
    let is_own = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let is_hidden = name.starts_with('.');
    is_own || (is_hidden && (name.contains(".tmp.") || name.ends_with(".renewal-lock")))
}

/// What SQLite has beside a database that is open; a copy is whole without it.
fn is_log_of_a_database(name: &str) -> bool {
    let endings = ["-wal", "-shm", "-journal"];
    let mut logs = endings
        .iter()
        .filter_map(|ending| name.strip_suffix(ending));
    logs.any(|database| database.ends_with(DATABASE))
}

fn is_lock_of_a_file(name: &str) -> bool {
    name.ends_with(".json.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(running: bool) -> Rules {
        let variables = [("OPENCLAW_STATE_DIR", "/s"), ("HOME", "/h")];
        let paths = Paths::resolve(&variables.into_iter().collect()).unwrap();
        Rules::new(&paths, &[], running)
    }

    #[test]
    fn rules_what_cannot_be_made_anew_is_held() {
        for path in [
            "openclaw.json",
            "openclaw.json.last-good",
            "openclaw.json.bak",
            "auth.json",
            ".env",
            "credentials/x.json",
            "state/usage.json",
            "sessions/default.json",
            "agents/main/auth/auth-profiles.json",
            "agents/main/auth/usage.json",
            "agents/main/logins/claude.json",
            "agents/main/sessions/sessions.json",
            "agents/main/sessions/a.jsonl.deleted.2026-11-20T23-38-10.633Z.db.zst",
            "agents/main/sessions/a.jsonl.corrupt-lines",
            "agents/main/home/.claude/projects/x.jsonl",
            "workspace/MEMORY.md",
            "workspace/memory/2026-11-20.md",
            "skills/x/SKILL.md",
            "workspace/.tmpl",
            "workspace/openclaw.json.lock",
            "workspace-a/x.sqlite",
        ] {
            assert_eq!(rules(true).of(path), Rule::Held, "{path}");
        }
        for path in ["state/ledger.sqlite", "state/telegram/x.sqlite"] {
            assert_eq!(rules(true).of(path), Rule::Database, "{path}");
        }
        assert_eq!(rules(true).of("agents/a/sessions/x.jsonl"), Rule::Lines);
    }

    #[test]
    fn rules_what_is_of_a_process_or_can_be_made_anew_is_not() {
        for path in [
            "run",
            "state/gateway.lock",
            "state/ledger.sqlite-wal",
            "state/ledger.sqlite-shm",
            "state/turns",
            "state/transcripts.0.journal",
            "agents/main/tmp",
            "agents/main/turns",
            "logs",
            "agents/main/sessions/.sessions-x.tmp",
            "agents/main/auth/.auth-profiles.json.renewal-lock",
            "agents/main/auth/.auth-profiles.json.tmp.x",
            "memory/main/index.sqlite",
            "memory/main/segment-1",
            "openclaw.json.lock",
            "openclaw-backup-2026-11-23-120000.tar.zst",
        ] {
            assert_eq!(rules(true).of(path), Rule::Unwanted, "{path}");
        }
        // Nobody writes: transcripts may be behind it.
        let journal = "state/transcripts.0.journal";
        assert_eq!(rules(false).of(journal), Rule::Held);
    }
}
