//! The index made from the transcripts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::entry::SessionEntry;
use super::file::Slot;
use crate::agent::AgentId;
use crate::error::Error;
use crate::key::SessionKey;
use crate::transcript::{self, Header, KEY_ENTRY, Line};

pub(super) struct Found {
    pub(super) sessions: BTreeMap<String, Slot>,
    /// Transcripts that do not say their key.
    pub(super) guessed: usize,
}

struct Candidate {
    key: Option<SessionKey>,
    entry: SessionEntry,
}

/// Looks at the first two lines of every transcript in `dir`. Of transcripts
/// that name no key, which another program wrote, the newest becomes the main
/// session unless that is there; the others are listed as `recovered:<id>`.
pub(super) fn scan(dir: &Path, agent: &AgentId) -> Result<Found, Error> {
    let mut candidates = candidates(dir, agent)?;
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.entry.updated_at()));
    let main = SessionKey::main(agent).to_string();
    let mut sessions = BTreeMap::new();
    let (named, unnamed): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|candidate| candidate.key.is_some());
    let guessed = unnamed.len();
    for Candidate { key, entry } in named.into_iter().chain(unnamed) {
        let recovered = || format!("agent:{agent}:recovered:{}", entry.session_id());
        let wanted = key.map_or_else(|| main.clone(), |key| key.to_string());
        // After a reset several transcripts have one key; the newest is current.
        let key = if sessions.contains_key(&wanted) {
            recovered()
        } else {
            wanted
        };
        sessions.insert(key, Slot::session_of(entry));
    }
    Ok(Found { sessions, guessed })
}

fn candidates(dir: &Path, agent: &AgentId) -> Result<Vec<Candidate>, Error> {
    let listing = match fs::read_dir(dir) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", dir)(error)),
    };
    let mut candidates = Vec::new();
    for file in listing {
        let file = file.map_err(Error::io("list", dir))?;
        let name = file.file_name();
        if let Some(name) = name.to_str().filter(|name| name.ends_with(".jsonl")) {
            candidates.extend(candidate(&file, name, agent));
        }
    }
    Ok(candidates)
}

/// A file that cannot be read or has no header is no transcript.
fn candidate(file: &fs::DirEntry, name: &str, agent: &AgentId) -> Option<Candidate> {
    let (header, second) = transcript::head(&file.path()).ok()?;
    let header: Header = header?;
    let modified = file.metadata().ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let entry = SessionEntry::recovered(&header, name, since.as_millis() as i64);
    entry.is_usable().then(|| Candidate {
        key: second.and_then(|line| named_key(&line, agent)),
        entry,
    })
}

fn named_key(line: &Line, agent: &AgentId) -> Option<SessionKey> {
    let Line::Other(other) = line else {
        return None;
    };
    let value: Value = serde_json::from_str(&other.raw).ok()?;
    if value.get("customType")?.as_str()? != KEY_ENTRY {
        return None;
    }
    let key = value.get("data")?.get("sessionKey")?.as_str()?;
    let key = SessionKey::parse(key, agent).ok()?;
    (key.agent() == agent).then_some(key)
}
