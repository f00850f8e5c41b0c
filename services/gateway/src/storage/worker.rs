//! The storage thread.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use openclaw_daemon::{Configuration, failure};
use openclaw_proto::event::{Code, Failed, Kind};
use openclaw_proto::gateway::{Accepted, Session};
use openclaw_sessions::store::BackendSession;
use openclaw_sessions::transcript::{Message, UserMessage};
use openclaw_sessions::{AgentId, SessionKey, now_ms};

use super::Envelope;
use super::command::{
    Acceptance, BackendSessions, Closing, Command, Found, Incoming, Reply, backend_session_of,
    state_of,
};
use super::fault::Fault;
use super::ledger::{Change, Ledger, Record};
use super::shelf::Shelf;
use super::staged::Staged;

/// Commands that share syncs. It bounds how long the first of them waits.
const BATCH_LIMIT: usize = 64;

/// An index is written at most this often; what it says beyond the transcripts
/// is counters.
const INDEX_INTERVAL: Duration = Duration::from_secs(1);

/// After a failure to write an index. The disk is probably full, and there is
/// no use in saying so every second.
const INDEX_RETRY: Duration = Duration::from_secs(30);

/// The ledger says who said what when.
const PRIVATE_DIR: u32 = 0o700;

pub(super) struct Worker {
    shelf: Shelf,
    ledger: Ledger,
    ledger_path: PathBuf,
    commands: Receiver<Envelope>,
    sessions: Arc<AtomicU64>,
    /// When a changed index is to be written.
    flush_at: Option<Instant>,
}

impl Worker {
    pub(super) fn open(
        configuration: Configuration,
        commands: Receiver<Envelope>,
        sessions: Arc<AtomicU64>,
    ) -> Result<Self, Fault> {
        let ledger_path = configuration.settings().paths.ledger();
        if let Some(dir) = ledger_path.parent() {
            create_private_dir(dir)?;
        }
        let ledger = Ledger::open(&ledger_path, now_ms()).map_err(Fault::ledger(&ledger_path))?;
        let worker = Self {
            shelf: Shelf::open(configuration)?,
            ledger,
            ledger_path,
            commands,
            sessions,
            flush_at: None,
        };
        worker.count_sessions();
        Ok(worker)
    }

    pub(super) fn open_runs(&self) -> Result<Vec<Record>, Fault> {
        self.ledger
            .open_runs()
            .map_err(Fault::ledger(&self.ledger_path))
    }

    /// Works until it is told to stop, or nobody can ask any more.
    pub(super) fn work(mut self) {
        let mut stopped = None;
        while stopped.is_none() {
            let Some(first) = self.next() else { break };
            let mut batch = Vec::new();
            let mut next = Some(first);
            while let Some(envelope) = next.take() {
                match envelope.command {
                    Command::Stop(reply) => stopped = Some(reply),
                    command => batch.push(self.stage(command)),
                }
                if stopped.is_none() && batch.len() < BATCH_LIMIT {
                    next = self.commands.try_recv().ok();
                }
            }
            self.commit(batch);
        }
        let flushed = self.shelf.flush().map_err(Fault::from);
        if let Err(fault) = &flushed {
            failure::report("write the session index", fault);
        }
        if let Some(reply) = stopped {
            let _ = reply.send(flushed);
        }
    }

    /// The next command; writes the indexes in between when it is time.
    fn next(&mut self) -> Option<Envelope> {
        loop {
            if self.flush_at.is_none() && self.shelf.is_dirty() {
                self.flush_at = Some(Instant::now() + INDEX_INTERVAL);
            }
            let Some(at) = self.flush_at else {
                return self.commands.recv().ok();
            };
            match self
                .commands
                .recv_timeout(at.saturating_duration_since(Instant::now()))
            {
                Ok(envelope) => return Some(envelope),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.write_indexes(),
            }
        }
    }

    fn write_indexes(&mut self) {
        self.flush_at = None;
        if let Err(error) = self.shelf.flush() {
            failure::report("write the session index, trying again later", &error);
            self.flush_at = Some(Instant::now() + INDEX_RETRY);
        }
    }

    /// Syncs what the batch touched, tells the ledger, and answers.
    fn commit(&mut self, mut batch: Vec<Staged>) {
        let mut synced: BTreeMap<PathBuf, Option<Fault>> = BTreeMap::new();
        for staged in &mut batch {
            let Some(file) = staged.file.clone() else {
                continue;
            };
            let fault = match synced.get(&file) {
                Some(known) => known.clone(),
                None => {
                    let fault = self.shelf.sync(&file).err().map(Fault::from);
                    synced.entry(file).or_insert(fault).clone()
                }
            };
            staged.fault = staged.fault.take().or(fault);
        }
        let changes: Vec<Change> = batch.iter_mut().filter_map(Staged::take_change).collect();
        if !changes.is_empty()
            && let Err(error) = self.ledger.apply(&changes)
        {
            let fault = Fault::ledger(&self.ledger_path)(error);
            batch
                .iter_mut()
                .for_each(|staged| staged.ledger_failed(&fault));
        }
        self.count_sessions();
        batch.into_iter().for_each(Staged::answer);
    }

    fn stage(&mut self, command: Command) -> Staged {
        match command {
            Command::Accept(incoming, reply) => self.accept(*incoming, reply),
            Command::Begin(run_id, key, reply) => {
                let begun = self.begin(&key);
                Staged::new(reply, begun).changing(Change::Running { run_id })
            }
            Command::Append(key, messages, reply) => match self.append(&key, messages) {
                Ok((file, _)) => Staged::new(reply, Ok(())).touching(file),
                Err(fault) => Staged::new(reply, Err(fault)),
            },
            Command::Close(closing, reply) => self.close(*closing, reply),
            Command::Find(run_id, reply) => {
                let found = self.find(&run_id);
                Staged::new(reply, found)
            }
            Command::List(agent, reply) => {
                let listed = self.list(agent);
                Staged::new(reply, listed)
            }
            Command::Stop(reply) => Staged::new(reply, Ok(())),
        }
    }

    fn accept(&mut self, incoming: Incoming, reply: Reply<Acceptance>) -> Staged {
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
            let known = self.ledger.by_idempotency_key(key);
            if let Some(record) = known.map_err(Fault::ledger(&self.ledger_path))? {
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

    fn begin(&mut self, key: &SessionKey) -> Result<BackendSessions, Fault> {
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

    fn append(
        &mut self,
        key: &SessionKey,
        messages: Vec<Message>,
    ) -> Result<(PathBuf, Vec<String>), Fault> {
        Ok(self.shelf.append(key, messages, now_ms())?)
    }

    fn close(&mut self, closing: Closing, reply: Reply<()>) -> Staged {
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
        count: impl FnOnce(&mut openclaw_sessions::store::SessionEntry),
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

    fn find(&mut self, run_id: &str) -> Result<Option<Found>, Fault> {
        let record = self
            .ledger
            .by_run_id(run_id)
            .map_err(Fault::ledger(&self.ledger_path))?;
        let Some(record) = record else {
            return Ok(None);
        };
        let transcript = self
            .shelf
            .transcript_of(&record.agent_id, &record.session_id)?;
        Ok(transcript.map(|transcript| Found { record, transcript }))
    }

    fn list(&mut self, agent: Option<AgentId>) -> Result<Vec<Session>, Fault> {
        let agents = match agent {
            Some(agent) => vec![agent],
            None => self.shelf.agents(),
        };
        let mut sessions = Vec::new();
        for agent in agents {
            let store = self.shelf.store(&agent)?;
            let keys: Vec<String> = store.sessions().map(|(key, _)| key.to_owned()).collect();
            for key in keys
                .iter()
                .filter_map(|key| SessionKey::parse(key, &agent).ok())
            {
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
        }
        Ok(sessions)
    }

    fn count_sessions(&self) {
        self.sessions
            .store(self.shelf.session_count(), Ordering::Relaxed);
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

fn create_private_dir(dir: &Path) -> Result<(), Fault> {
    DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE_DIR)
        .create(dir)
        .map_err(|source| Fault::Directory {
            path: dir.to_owned(),
            source: Arc::new(source),
        })
}
