//! Indexes, transcripts and ledger together: what a command does to them.
//! Nothing here waits for the disk; that is done for a whole batch.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_daemon::Configuration;
use openclaw_proto::event::{Code, Failed, Kind};
use openclaw_proto::gateway::{Accepted, Session};
use openclaw_sessions::store::{BackendSession, SessionEntry};
use openclaw_sessions::transcript::{Message, UserMessage};
use openclaw_sessions::{AgentId, SessionKey, now_ms};

use super::command::{
    Acceptance, BackendSessions, Closing, Found, Incoming, Reply, backend_session_of, state_of,
};
use super::fault::Fault;
use super::ledger::{Change, Ledger, Record};
use super::shelf::Shelf;
use super::staged::Staged;

/// The ledger says who said what when.
const PRIVATE_DIR: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

pub(super) struct Books {
    pub(super) shelf: Shelf,
    ledger: Ledger,
    ledger_path: PathBuf,
}

impl Books {
    pub(super) fn open(configuration: Configuration) -> Result<Self, Fault> {
        let ledger_path = configuration.settings().paths.ledger();
        create_private(&ledger_path)?;
        let ledger = Ledger::open(&ledger_path, now_ms()).map_err(Fault::ledger(&ledger_path))?;
        Ok(Self {
            shelf: Shelf::open(configuration)?,
            ledger,
            ledger_path,
        })
    }

    pub(super) fn open_runs(&self) -> Result<Vec<Record>, Fault> {
        self.ledger.open_runs().map_err(self.of_ledger())
    }

    /// Tells the ledger what is durable now.
    pub(super) fn tell(&mut self, changes: &[Change]) -> Result<(), Fault> {
        self.ledger
            .apply(changes)
            .map_err(Fault::ledger(&self.ledger_path))
    }

    pub(super) fn accept(&mut self, incoming: Incoming, reply: Reply<Acceptance>) -> Staged {
        match self.try_accept(incoming) {
            Ok((acceptance, None)) => Staged::new(reply, Ok(acceptance)),
            Ok((acceptance, Some((file, record)))) => Staged::new(reply, Ok(acceptance))
                .touching(file)
                .changing(Change::Insert(Box::new(record))),
            Err(fault) => Staged::new(reply, Err(fault)),
        }
    }

    fn try_accept(
        &mut self,
        incoming: Incoming,
    ) -> Result<(Acceptance, Option<(PathBuf, Record)>), Fault> {
        if let Some(key) = &incoming.idempotency_key {
            let mut known = self.ledger.by_idempotency_key(key);
            if matches!(known, Ok(None)) && *key == incoming.run_id {
                known = self.ledger.by_run_id(key);
            }
            if let Some(record) = known.map_err(self.of_ledger())? {
                return Ok((Acceptance::Existing(Box::new(record)), None));
            }
        }
        let now = now_ms();
        let message = UserMessage::of_run(&incoming.run_id, incoming.text, now);
        let session_id = self
            .shelf
            .session(&incoming.key, now)?
            .session_id()
            .to_owned();
        let (file, ids) = self.append(&incoming.key, vec![Message::User(message)])?;
        let record = Record {
            run_id: incoming.run_id,
            idempotency_key: incoming.idempotency_key,
            session_key: incoming.key.to_string(),
            agent_id: incoming.key.agent().to_string(),
            session_id,
            channel: incoming.channel,
            state: "accepted".to_owned(),
            user_entry_id: ids.into_iter().next().unwrap_or_default(),
            created_ms: now,
            ended_ms: None,
            outcome: None,
        };
        if let Some(entry) = self
            .shelf
            .store(incoming.key.agent())?
            .get_mut(&incoming.key)
        {
            entry.touch(now);
            entry.set("lastInteractionAt", now);
            entry.set("lastChannel", record.channel.clone());
        }
        Ok((
            Acceptance::New(accepted(&record), file.clone()),
            Some((file, record)),
        ))
    }

    pub(super) fn begin(&mut self, key: &SessionKey) -> Result<BackendSessions, Fault> {
        let now = now_ms();
        let entry = self.shelf.session(key, now)?;
        let store = self.shelf.store(key.agent())?;
        let backend_sessions = entry.backend_sessions();
        if let Some(entry) = store.get_mut(key) {
            entry.set("status", "running");
            entry.set("startedAt", now);
        }
        Ok(backend_sessions)
    }

    pub(super) fn append(
        &mut self,
        key: &SessionKey,
        messages: Vec<Message>,
    ) -> Result<(PathBuf, Vec<String>), Fault> {
        Ok(self.shelf.append(key, messages, now_ms())?)
    }

    pub(super) fn close(&mut self, closing: Closing, reply: Reply<()>) -> Staged {
        let now = now_ms();
        let change = |outcome: Kind| Change::Close {
            run_id: closing.run_id.clone(),
            state: state_of(&outcome),
            at_ms: now,
            outcome,
        };
        if closing.messages.is_empty() {
            return Staged::new(reply, Ok(())).changing(change(closing.outcome));
        }
        match self.append(&closing.key, closing.messages) {
            Ok((file, ids)) => {
                let through = self.seen_through(&closing.run_id, &closing.outcome, ids.last());
                let noted = self.note(&closing.key, &closing.outcome, through, now, |entry| {
                    entry.add_usage(&closing.usage, closing.context_tokens);
                });
                Staged::new(reply, noted)
                    .touching(file)
                    .changing(change(closing.outcome))
                    .or_else(change(unsaved()))
            }
            Err(fault) => Staged::new(reply, Err(fault)).or_else(change(unsaved())),
        }
    }

    /// The last entry that a backend's own session holds after a run. A reply
    /// that broke off is not in it as the user saw it, so it is told again.
    fn seen_through(&self, run_id: &str, outcome: &Kind, last: Option<&String>) -> Option<String> {
        match outcome {
            Kind::Done(_) => last.cloned(),
            _ => {
                let record = self.ledger.by_run_id(run_id).ok().flatten();
                record.map(|record| record.user_entry_id)
            }
        }
    }

    /// Brings the index up to date with the end of a run.
    fn note(
        &mut self,
        key: &SessionKey,
        outcome: &Kind,
        seen_through: Option<String>,
        now: i64,
        count: impl FnOnce(&mut SessionEntry),
    ) -> Result<(), Fault> {
        let Some(entry) = self.shelf.store(key.agent())?.get_mut(key) else {
            return Ok(());
        };
        entry.touch(now);
        entry.set("endedAt", now);
        entry.set("status", index_status(outcome));
        entry.set("abortedLastRun", matches!(outcome, Kind::Aborted { .. }));
        count(entry);
        if let Kind::Done(done) = outcome {
            entry.set("modelProvider", done.provider.clone());
            entry.set("model", done.model.clone());
        }
        if let (Some((backend, id)), Some(through)) = (backend_session_of(outcome), seen_through) {
            let session = BackendSession {
                id: id.to_owned(),
                through_entry_id: through,
            };
            entry.set_backend_session(backend, &session);
        }
        Ok(())
    }

    pub(super) fn find(&mut self, run_id: &str) -> Result<Option<Found>, Fault> {
        let record = self.ledger.by_run_id(run_id).map_err(self.of_ledger())?;
        let Some(record) = record else {
            return Ok(None);
        };
        let transcript = self
            .shelf
            .transcript_of(&record.agent_id, &record.session_id)?;
        Ok(transcript.map(|transcript| Found { record, transcript }))
    }

    pub(super) fn list(&mut self, agent: Option<AgentId>) -> Result<Vec<Session>, Fault> {
        let agents = match agent {
            Some(agent) => vec![agent],
            None => self.shelf.agents(),
        };
        let mut sessions = Vec::new();
        for agent in agents {
            self.list_agent(&agent, &mut sessions)?;
        }
        Ok(sessions)
    }

    fn list_agent(&mut self, agent: &AgentId, sessions: &mut Vec<Session>) -> Result<(), Fault> {
        let store = self.shelf.store(agent)?;
        let parse = |key: &str| SessionKey::parse(key, agent).ok();
        let keys: Vec<_> = store.sessions().filter_map(|(key, _)| parse(key)).collect();
        for key in keys {
            let message_count = store.count_messages(&key)?;
            sessions.extend(store.get(&key).map(|entry| Session {
                key: key.to_string(),
                id: entry.session_id().to_owned(),
                agent_id: agent.to_string(),
                created_at_ms: entry.started_at().unwrap_or(entry.updated_at()),
                updated_at_ms: entry.updated_at(),
                transcript_path: store.transcript_path(entry).display().to_string(),
                message_count,
            }));
        }
        Ok(())
    }

    fn of_ledger(&self) -> impl Fn(super::ledger::LedgerError) -> Fault + use<> {
        let path = self.ledger_path.clone();
        move |error| Fault::ledger(&path)(error)
    }
}

fn accepted(record: &Record) -> Accepted {
    Accepted {
        run_id: record.run_id.clone(),
        session_key: record.session_key.clone(),
        session_id: record.session_id.clone(),
        agent_id: record.agent_id.clone(),
        existing: false,
    }
}

/// The outcome of a run whose reply could not be written.
fn unsaved() -> Kind {
    Kind::Failed(Failed {
        code: Code::Internal,
        message: "the reply could not be saved".to_owned(),
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    })
}

/// OpenClaw's word for an outcome.
fn index_status(outcome: &Kind) -> &'static str {
    match outcome {
        Kind::Done(_) => "done",
        Kind::Aborted { .. } => "killed",
        Kind::Failed(failed) if failed.code == Code::Timeout => "timeout",
        _ => "failed",
    }
}

/// SQLite gives the files beside a database the database's mode.
fn create_private(file: &Path) -> Result<(), Fault> {
    let create = || -> io::Result<()> {
        if let Some(dir) = file.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(PRIVATE_DIR)
                .create(dir)?;
        }
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(PRIVATE_FILE)
            .open(file)
            .map(|_| ())
    };
    create().map_err(|source| Fault::Create {
        path: file.to_owned(),
        source: Arc::new(source),
    })
}
