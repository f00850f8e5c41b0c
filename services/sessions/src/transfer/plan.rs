//! What of another state directory is taken over, and under which keys.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;

use super::index::{self, Unusable};
use super::{Existing, Plan, Skip, Source, StagedFile, Takeover};
use crate::agent::AgentId;
use crate::archive::{self, ArchiveName};
use crate::disk;
use crate::error::Error;
use crate::key::SessionKey;
use crate::store::{self, SessionEntry};

/// Most bytes an archive may unpack to. The longest real conversations have a
/// few hundred megabytes; what is compressed to lie about its size has more.
const UNPACKED_LIMIT: u64 = 4 << 30;

/// Plans the takeover of `files` by agents that have `existing` already.
/// Transcripts are taken over byte for byte; archives are unpacked beside
/// their copies for it, each into no more bytes than `room` says before.
pub fn plan(
    files: &[StagedFile],
    existing: &HashMap<AgentId, Existing>,
    room: &dyn Fn() -> u64,
) -> Result<Plan, Error> {
    let mut by_agent: BTreeMap<&AgentId, Vec<&StagedFile>> = BTreeMap::new();
    for file in files {
        by_agent.entry(&file.agent).or_default().push(file);
    }
    let mut plan = Plan::default();
    for (agent, files) in by_agent {
        let existing = existing.get(agent).cloned().unwrap_or_default();
        let mut folder = Folder {
            agent,
            existing,
            transcripts: BTreeMap::new(),
            room,
            plan: &mut plan,
        };
        folder.take(files)?;
    }
    Ok(plan)
}

/// The sessions folder of one agent.
struct Folder<'a> {
    agent: &'a AgentId,
    existing: Existing,
    /// Transcripts that are not spoken for yet.
    transcripts: BTreeMap<String, &'a StagedFile>,
    /// Bytes that may be unpacked now.
    room: &'a dyn Fn() -> u64,
    plan: &'a mut Plan,
}

impl<'a> Folder<'a> {
    fn take(&mut self, files: Vec<&'a StagedFile>) -> Result<(), Error> {
        let mut index = None;
        let mut archives = Vec::new();
        for file in files {
            if file.name == store::INDEX {
                index = Some(file);
            } else if store::is_transcript(&file.name) {
                self.transcripts.insert(file.name.clone(), file);
            } else if let Some(name) = ArchiveName::parse(&file.name) {
                archives.push((name, file));
            } else if file.name.ends_with(".jsonl.zst") {
                archives.push((cold(file), file));
            } else {
                self.skip(&file.name, not_a_session(&file.name));
            }
        }
        if let Some(index) = index {
            self.index(index)?;
        }
        for (name, file) in std::mem::take(&mut self.transcripts) {
            self.transcript(&name, file, Source::Transcript, None);
        }
        for (name, file) in archives {
            self.archive(&name, file)?;
        }
        Ok(())
    }

    fn index(&mut self, file: &StagedFile) -> Result<(), Error> {
        let why = match index::entries(&file.path) {
            Ok(entries) => {
                for (key, entry) in entries {
                    self.entry(&key, entry);
                }
                return Ok(());
            }
            Err(Unusable::Unread(error)) => return Err(Error::io("read", &file.path)(error)),
            Err(Unusable::Empty) => "it is empty".to_owned(),
            Err(Unusable::Long(limit)) => format!("it has more than {limit} bytes"),
            Err(Unusable::Malformed(error)) => error.to_string(),
        };
        let reason = format!("{why}; the transcripts are taken over without it");
        self.skip(&file.name, reason);
        Ok(())
    }

    fn entry(&mut self, written: &str, entry: Option<SessionEntry>) {
        let entry = match entry {
            Some(entry) => entry,
            None => return self.skip(written, "its index entry is not a session's"),
        };
        let key = match SessionKey::stored(written, self.agent) {
            Ok(key) if key.agent() == self.agent => key,
            Ok(key) => {
                let reason = format!("it belongs to agent {}", key.agent());
                return self.skip(written, reason);
            }
            Err(invalid) => return self.skip(written, invalid.to_string()),
        };
        let name = store::transcript_name(&entry);
        match self.transcripts.remove(&name) {
            Some(file) => {
                self.transcript(&key.to_string(), file, Source::Index, Some((key, entry)));
            }
            None => self.skip(written, format!("its transcript {name} is not there")),
        }
    }

    /// Takes a transcript over, with what an index or an archive says of it.
    fn transcript(
        &mut self,
        shown: &str,
        file: &StagedFile,
        source: Source,
        known: Option<(SessionKey, SessionEntry)>,
    ) {
        let read = store::candidate(&file.path, &file.name, self.agent);
        let Some((named, read)) = read else {
            return self.skip(shown, "it has no session header");
        };
        let (wanted, mut entry) = match known {
            Some((key, entry)) => (Some(key), entry),
            None => (named, at(read.clone(), file.modified_ms)),
        };
        entry.set_counted(read.counted());
        if self.existing.has_id(entry.session_id()) {
            let reason = format!("session {} is here already", entry.session_id());
            return self.skip(shown, reason);
        }
        let mut entry = self.plan.left_out.harmless(entry);
        let key = match wanted.filter(|key| !self.existing.is_taken(key)) {
            Some(key) if source != Source::Archive => key,
            _ => self.own_key(&entry),
        };
        let name = format!("{}.jsonl", entry.session_id());
        entry.set("sessionFile", name.clone());
        entry.set("chatType", key.chat_type());
        let id = entry.session_id().to_owned();
        self.existing.sessions.insert(key.to_string(), (id, true));
        self.plan.takeovers.push(Takeover {
            key,
            entry,
            staged: file.path.clone(),
            name,
            source,
        });
    }

    fn archive(&mut self, name: &ArchiveName, file: &StagedFile) -> Result<(), Error> {
        if self.existing.has_id(&name.session_id) {
            let reason = format!("session {} is here already", name.session_id);
            self.skip(&file.name, reason);
            return Ok(());
        }
        let unpacked = if name.compressed {
            let target = file.path.with_extension("unpacked");
            let limit = UNPACKED_LIMIT.min((self.room)());
            match archive::unpack(&file.path, &target, limit) {
                Ok(_) => target,
                Err(Error::TooLong { .. }) => {
                    // What was unpacked of it is in nobody's way.
                    disk::if_there(std::fs::remove_file(&target))
                        .map_err(Error::io("remove", &target))?;
                    let reason = match limit {
                        UNPACKED_LIMIT => format!("it has more than {limit} bytes unpacked"),
                        left => format!(
                            "it has more than the {left} bytes unpacked that there is room for"
                        ),
                    };
                    self.skip(&file.name, reason);
                    return Ok(());
                }
                Err(error) if error.is_disk_full() => return Err(error),
                Err(error) => {
                    self.skip(&file.name, format!("it cannot be unpacked: {error}"));
                    return Ok(());
                }
            }
        } else {
            file.path.clone()
        };
        let copy = StagedFile {
            path: unpacked,
            ..file.clone()
        };
        let before = self.plan.takeovers.len();
        self.transcript(&file.name, &copy, Source::Archive, None);
        if let Some(takeover) = self.plan.takeovers.get_mut(before) {
            let archived_at = match name.at_ms {
                0 => file.modified_ms,
                at => at,
            };
            takeover.entry.set("archivedAt", archived_at);
        }
        Ok(())
    }

    /// A key that no session has. Those of two ids that differ in the size of their letters
    /// alone would be one.
    fn own_key(&self, entry: &SessionEntry) -> SessionKey {
        let id = entry.session_id();
        let mut key = SessionKey::imported(self.agent, id);
        let mut number = 1;
        while self.existing.is_taken(&key) {
            number += 1;
            key = SessionKey::imported(self.agent, &format!("{id}-{number}"));
        }
        key
    }

    fn skip(&mut self, name: &str, reason: impl Into<String>) {
        self.plan.skipped.push(Skip {
            name: format!("{}/{name}", self.agent),
            reason: reason.into(),
        });
    }
}

/// OpenClaw's cold storage is named by what is in it.
fn cold(file: &StagedFile) -> ArchiveName {
    let id = archived_id(&file.path).unwrap_or_default();
    ArchiveName {
        session_id: id,
        why: archive::Why::Reset,
        at_ms: 0,
        compressed: true,
    }
}

/// The session's id in the header of a compressed transcript.
fn archived_id(path: &Path) -> Option<String> {
    use std::io::{BufRead as _, BufReader, Read as _};
    let mut line = Vec::new();
    let source = archive::open(path).ok()?.take(64 * 1024);
    BufReader::new(source).read_until(b'\n', &mut line).ok()?;
    let header: Value = serde_json::from_slice(&line).ok()?;
    Some(header.get("id")?.as_str()?.to_owned())
}

/// A session that no index dated was changed when its file was.
fn at(mut entry: SessionEntry, modified_ms: i64) -> SessionEntry {
    entry.set_updated_at(modified_ms);
    entry
}

fn not_a_session(name: &str) -> &'static str {
    if name.ends_with(".trajectory.jsonl") || name.ends_with(".trajectory-path.json") {
        "traces of runs are not taken over"
    } else if name.contains(".corrupt-") || name.ends_with(".bak") || name.ends_with(".tmp") {
        "what another program set aside is not taken over"
    } else {
        "it is no session file"
    }
}
