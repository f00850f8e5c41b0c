//! The index made from the transcripts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::entry::SessionEntry;
use super::file::Slot;
use crate::agent::AgentId;
use crate::disk;
use crate::error::Error;
use crate::key::SessionKey;
use crate::time::unix_ms;
use crate::transcript::{
    CLEARED_ENTRY, Count, GATEWAY, KEY_ENTRY, Line, LineRead, Lines, Message, OtherEntry,
};

pub(super) struct Rebuilt {
    pub(super) sessions: BTreeMap<String, Slot>,
    /// Transcripts that do not say their key.
    pub(super) guessed: usize,
}

/// Reads every transcript in `dir`. Of transcripts that name no key, which
/// another program wrote, the newest becomes the main session unless that is
/// there; the others are listed as `recovered:<id>`.
pub(super) fn scan(dir: &Path, agent: &AgentId) -> Result<Rebuilt, Error> {
    let mut candidates: Vec<_> = transcripts(dir)?
        .into_iter()
        .filter_map(|(path, name)| candidate(&path, &name, agent))
        .collect();
    candidates.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.updated_at()));
    let main = SessionKey::main(agent).to_string();
    let mut sessions = BTreeMap::new();
    let (named, unnamed): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|(key, _)| key.is_some());
    let guessed = unnamed.len();
    for (key, entry) in named.into_iter().chain(unnamed) {
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
    Ok(Rebuilt { sessions, guessed })
}

/// The transcripts in `dir`, with their names.
pub(crate) fn transcripts(dir: &Path) -> Result<Vec<(PathBuf, String)>, Error> {
    let Some(listing) = disk::if_there(fs::read_dir(dir)).map_err(Error::io("list", dir))? else {
        return Ok(Vec::new());
    };
    let mut transcripts = Vec::new();
    for file in listing {
        let file = file.map_err(Error::io("list", dir))?;
        if let Ok(name) = file.file_name().into_string()
            && is_transcript(&name)
        {
            transcripts.push((file.path(), name));
        }
    }
    Ok(transcripts)
}

/// Whether a file of this name is a transcript; OpenClaw keeps traces of runs beside them.
pub(crate) fn is_transcript(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.ends_with(".trajectory.jsonl") && !name.starts_with('.')
}

/// The key and the entry of a transcript. A file that cannot be read or has no
/// header is not a transcript.
pub(crate) fn candidate(
    path: &Path,
    name: &str,
    agent: &AgentId,
) -> Option<(Option<SessionKey>, SessionEntry)> {
    let mut lines = Lines::open(path).ok()?;
    let Some(Ok(LineRead::Whole(Line::Header(header)))) = lines.next() else {
        return None;
    };
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let entry = SessionEntry::recovered(&header, name, since.as_millis() as i64);
    if !entry.is_usable() {
        return None;
    }
    let mut facts = Facts {
        agent,
        key: None,
        entry,
        messages: 0,
    };
    while let Some(Ok(line)) = lines.next() {
        if let LineRead::Whole(line) = line {
            facts.take(&line);
        }
    }
    facts.entry.set_counted(Count {
        bytes: lines.offset(),
        messages: facts.messages,
    });
    Some((facts.key, facts.entry))
}

/// What a transcript tells of its session.
struct Facts<'a> {
    agent: &'a AgentId,
    key: Option<SessionKey>,
    entry: SessionEntry,
    messages: u64,
}

impl Facts<'_> {
    fn take(&mut self, line: &Line) {
        match line {
            Line::Header(_) => {}
            Line::Message(entry) => {
                self.messages += 1;
                self.message(&entry.message);
            }
            Line::Other(other) => self.other(other),
        }
    }

    fn message(&mut self, message: &Message) {
        match message {
            Message::User(user) if user.timestamp > 0 => {
                self.entry.set("lastInteractionAt", user.timestamp);
            }
            Message::Assistant(assistant) => {
                let total = assistant.usage.total_tokens;
                self.entry.add_usage(&assistant.usage, total);
                let of = (&*assistant.provider, &*assistant.model);
                if !assistant.model.is_empty() && of != GATEWAY {
                    self.entry.set("model", assistant.model.clone());
                    self.entry.set("modelProvider", assistant.provider.clone());
                }
            }
            _ => {}
        }
    }

    fn other(&mut self, other: &OtherEntry) {
        let Ok(value) = serde_json::from_str::<Value>(&other.raw) else {
            return;
        };
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        let at = unix_ms(text("timestamp")).unwrap_or_default();
        match other.kind.as_str() {
            "reset" => {
                let updated = self.entry.updated_at();
                self.entry.reset(at.min(updated));
            }
            "compaction" => self.entry.compacted(0),
            "session_info" if text("name").is_empty() => self.entry.clear("label"),
            "session_info" => self.entry.set("label", text("name")),
            "thinking_level_change" if self.key.is_some() => {
                self.entry.set("thinkingLevel", text("thinkingLevel"));
            }
            // In OpenClaw's own files this tells of the default model too.
            "model_change" if self.key.is_some() => {
                let provider = Some(text("provider")).filter(|provider| !provider.is_empty());
                self.entry.set_model_override(provider, text("modelId"));
            }
            "custom" if text("customType") == CLEARED_ENTRY => {
                match value.pointer("/data/field").and_then(Value::as_str) {
                    Some("model") => self.entry.clear_model_override(),
                    Some("thinkingLevel") => self.entry.clear("thinkingLevel"),
                    _ => {}
                }
            }
            "custom" if text("customType") == KEY_ENTRY => self.key = self.named_key(&value),
            _ => {}
        }
    }

    fn named_key(&self, value: &Value) -> Option<SessionKey> {
        let key = value.get("data")?.get("sessionKey")?.as_str()?;
        let key = SessionKey::stored(key, self.agent).ok()?;
        (key.agent() == self.agent).then_some(key)
    }
}
