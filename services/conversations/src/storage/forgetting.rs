//! Taking words out of everything the storage thread has.

use std::path::PathBuf;

use openclaw_sessions::forgetting::{self, Words};
use openclaw_sessions::{AgentId, Error, SessionKey};

use super::Storage;
use super::state_files::StateFiles;
use super::work::Done;
use crate::fault::Fault;

/// The field with a session's label in its index entry.
const NAMES: [&str; 6] = [
    "label",
    "displayName",
    "category",
    "statusNote",
    "subject",
    "groupSubject",
];

/// A file in which something was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaidIn {
    pub(crate) agent: AgentId,
    pub(crate) path: PathBuf,
    /// The session that goes on in it; none has an archive.
    pub(crate) key: Option<SessionKey>,
}

impl Storage {
    /// The files in which something was said, of one agent or of all.
    pub(crate) async fn said_in(&self, agent: Option<AgentId>) -> Result<Vec<SaidIn>, Fault> {
        self.work(move |state_files| Ok(Done::looking(state_files.said_in(agent.as_ref())?)))
            .await
    }

    /// Covers the words in one of these files and returns how often they occurred. An agent CLI
    /// with its own copy of the conversation begins a new one.
    pub(crate) async fn forget_in(&self, file: SaidIn, words: Words) -> Result<u64, Fault> {
        self.work(move |state_files| state_files.forget_in(&file, &words))
            .await
    }

    /// The jobs that have the words: what is to be done is not forgotten by itself.
    pub(crate) async fn jobs_with(&self, words: Words) -> Result<Vec<String>, Fault> {
        self.work(move |state_files| Ok(Done::looking(state_files.jobs_with(&words)?)))
            .await
    }

    /// How often the words are in the ledger and in the names of sessions.
    pub(crate) async fn count_in_tables(&self, words: Words) -> Result<u64, Fault> {
        self.work(move |state_files| {
            let names = state_files.names_with(&words).len() as u64;
            Ok(Done::looking(names + state_files.count_in_ledger(&words)?))
        })
        .await
    }

    /// Covers the words in the ledger and in the names of sessions, and returns how often they
    /// occurred.
    pub(crate) async fn forget_in_tables(&self, words: Words) -> Result<u64, Fault> {
        self.work(move |state_files| {
            let names = state_files.forget_names(&words)?;
            let rows = state_files.forget_in_ledger(&words)?;
            state_files.make_home_anew();
            // What could not be written now is with the next change.
            Ok(Done::changing(names + rows, |_| {}))
        })
        .await
    }
}

impl StateFiles {
    fn said_in(&mut self, agent: Option<&AgentId>) -> Result<Vec<SaidIn>, Error> {
        let settings = self.session_files.settings();
        let mut all = Vec::new();
        for own in self.session_files.agents() {
            if agent.is_some_and(|agent| *agent != own) {
                continue;
            }
            let folder = settings.paths.sessions(own.as_str());
            let store = self.session_files.store(&own)?;
            let sessions: Vec<(PathBuf, &str)> = store
                .sessions()
                .map(|(key, entry)| (store.transcript_path(entry), key))
                .collect();
            for path in forgetting::files(&folder)? {
                let session = sessions.iter().find(|(transcript, _)| *transcript == path);
                all.push(SaidIn {
                    key: session.and_then(|(_, key)| SessionKey::stored(key, &own).ok()),
                    agent: own.clone(),
                    path,
                });
            }
        }
        Ok(all)
    }

    fn forget_in(&mut self, file: &SaidIn, words: &Words) -> Result<Done<u64>, Fault> {
        // Its copy in the journal would be put back after a crash.
        self.session_files.close(&file.path)?;
        self.session_files.close_journal()?;
        let matches = forgetting::redact(&file.path, words)?;
        let Some(key) = file.key.as_ref().filter(|_| matches > 0) else {
            return Ok(Done::looking(matches));
        };
        if let Some(entry) = self.session_files.store(key.agent())?.get_mut(key) {
            entry.forget_backend_sessions();
        }
        Ok(Done::changing(matches, |_| {}))
    }

    /// The sessions whose names have the words, each with the name's field.
    fn names_with(&self, words: &Words) -> Vec<(AgentId, SessionKey, &'static str, String)> {
        let mut found = Vec::new();
        for agent in self.session_files.agents() {
            let store = self.session_files.known_store(&agent);
            for (key, entry) in store.into_iter().flat_map(|store| store.sessions()) {
                for field in NAMES {
                    let covered = entry.text(field).and_then(|name| words.cover(name));
                    if let (Some(covered), Ok(key)) = (covered, SessionKey::stored(key, &agent)) {
                        found.push((agent.clone(), key, field, covered));
                    }
                }
            }
        }
        found
    }

    fn forget_names(&mut self, words: &Words) -> Result<u64, Error> {
        let names = self.names_with(words);
        for (agent, key, field, covered) in &names {
            if let Some(entry) = self.session_files.store(agent)?.get_mut(key) {
                entry.set(field, covered.as_str());
            }
        }
        Ok(names.len() as u64)
    }
}
