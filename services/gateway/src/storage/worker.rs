//! The storage thread.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use openclaw_daemon::{Configuration, failure};

use super::Envelope;
use super::books::Books;
use super::command::Command;
use super::fault::Fault;
use super::ledger::{Change, Record};
use super::staged::Staged;

/// Commands that share syncs. It bounds how long the first of them waits.
const BATCH_LIMIT: usize = 64;

/// An index is written at most this often; what it says beyond the transcripts
/// is counters.
const INDEX_INTERVAL: Duration = Duration::from_secs(1);

/// After a failure to write an index. The disk is probably full, and there is
/// no use in saying so every second.
const INDEX_RETRY: Duration = Duration::from_secs(30);

pub(super) struct Worker {
    books: Books,
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
        let worker = Self {
            books: Books::open(configuration)?,
            commands,
            sessions,
            flush_at: None,
        };
        worker.count_sessions();
        Ok(worker)
    }

    pub(super) fn open_runs(&self) -> Result<Vec<Record>, Fault> {
        self.books.open_runs()
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
        let flushed = self.books.shelf.flush().map_err(Fault::from);
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
            if self.flush_at.is_none() && self.books.shelf.is_dirty() {
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
        if let Err(error) = self.books.shelf.flush() {
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
                    let fault = self.books.shelf.sync(&file).err().map(Fault::from);
                    synced.entry(file).or_insert(fault).clone()
                }
            };
            staged.fault = staged.fault.take().or(fault);
        }
        let changes: Vec<Change> = batch.iter_mut().filter_map(Staged::take_change).collect();
        if !changes.is_empty()
            && let Err(fault) = self.books.tell(&changes)
        {
            batch
                .iter_mut()
                .for_each(|staged| staged.ledger_failed(&fault));
        }
        self.count_sessions();
        batch.into_iter().for_each(Staged::answer);
    }

    fn stage(&mut self, command: Command) -> Staged {
        match command {
            Command::Accept(incoming, reply) => self.books.accept(*incoming, reply),
            Command::Begin(run_id, key, reply) => {
                let begun = self.books.begin(&key);
                Staged::new(reply, begun).changing(Change::Running { run_id })
            }
            Command::Append(key, messages, reply) => match self.books.append(&key, messages) {
                Ok((file, _)) => Staged::new(reply, Ok(())).touching(file),
                Err(fault) => Staged::new(reply, Err(fault)),
            },
            Command::Close(closing, reply) => self.books.close(*closing, reply),
            Command::Find(run_id, reply) => {
                let found = self.books.find(&run_id);
                Staged::new(reply, found)
            }
            Command::List(agent, reply) => {
                let listed = self.books.list(agent);
                Staged::new(reply, listed)
            }
            Command::Stop(reply) => Staged::new(reply, Ok(())),
        }
    }

    fn count_sessions(&self) {
        let count = self.books.shelf.session_count();
        self.sessions.store(count, Ordering::Relaxed);
    }
}
