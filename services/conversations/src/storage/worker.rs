//! The storage thread.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use openclaw_daemon::{Configuration, failure};
use openclaw_sessions::now_ms;
use openclaw_sessions::store::Store;

use super::command::Reply;
use super::ledger::{Change, Record};
use super::staged::Staged;
use super::state_files::StateFiles;
use super::work::Work;
use super::{Envelope, Listener};
use crate::fault::Fault;
use crate::feed::Series;

/// Commands that share syncs. It bounds how long the first of them waits, and
/// is what 64 busy sessions have under way.
const BATCH_LIMIT: usize = 512;

/// The shortest time between two writes of a changed index, to its file or to the ledger. All it
/// has beyond the transcripts is counters.
const INDEX_INTERVAL: Duration = Duration::from_secs(1);

/// The file of an index is at most this much behind: whoever looks into it
/// while the gateway runs sees the sessions as they were then.
const FILE_INTERVAL: Duration = Duration::from_secs(600);

/// Writing an index may take one part in so many of the time.
const INDEX_SHARE: u32 = 20;

/// After a failure to write an index. The disk is probably full, and there is
/// no use in saying so every second.
const INDEX_RETRY: Duration = Duration::from_secs(30);

/// Accepted messages are in the ledger on disk this long after they are in their transcripts. What
/// is lost in between is found there again ([`super::orphans`]), which looks back much longer.
const LEDGER_INTERVAL: Duration = Duration::from_millis(500);

/// Transcripts are on disk by themselves this long after their journal. Longer
/// would save nothing: 64 of them take a few milliseconds of the disk.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(1);

/// Old sessions are looked for at least this often, as in OpenClaw;
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(30 * 60);

/// and at most this often: a look takes all entries in hand.
const MAINTENANCE_PAUSE: Duration = Duration::from_secs(1);

/// A command to the storage thread.
pub(crate) enum Command {
    /// Something with the files.
    Work(Work),
    /// Looks after old sessions soon.
    Maintain(Reply<()>),
    Stop(Reply<()>),
}

/// Where the thread reports beside its answers.
pub(super) struct Observers {
    /// How many sessions there are.
    pub(super) sessions: Arc<AtomicU64>,
    pub(super) findings: Findings,
    /// The listener for events.
    pub(super) listener: Listener,
}

/// Findings of maintenance for the user, for whoever asks.
pub(super) type Findings = Arc<Mutex<Vec<String>>>;

pub(super) struct Worker {
    state_files: StateFiles,
    commands: Receiver<Envelope>,
    told: Observers,
    /// When what changed in an index is to be written.
    flush_at: Option<Instant>,
    /// When index files are to be written that are behind the ledger.
    file_at: Option<Instant>,
    /// The earliest time for that.
    flush_after: Instant,
    /// When a changed ledger is to be put on disk.
    sync_at: Option<Instant>,
    /// When transcripts are to follow their journal.
    follow_at: Option<Instant>,
    /// Whether they could the last time.
    is_following_well: bool,
    /// When old sessions are looked for,
    maintain_at: Instant,
    /// and not before.
    maintain_after: Instant,
}

impl Worker {
    pub(super) fn open(
        configuration: Configuration,
        commands: Receiver<Envelope>,
        told: Observers,
    ) -> Result<Self, Fault> {
        let worker = Self {
            state_files: StateFiles::open(configuration)?,
            commands,
            told,
            flush_at: None,
            file_at: None,
            flush_after: Instant::now(),
            sync_at: None,
            follow_at: None,
            is_following_well: true,
            maintain_at: Instant::now() + MAINTENANCE_PAUSE,
            maintain_after: Instant::now(),
        };
        worker.count_sessions();
        Ok(worker)
    }

    pub(super) fn open_runs(&self) -> Result<Vec<Record>, Fault> {
        self.state_files.open_runs()
    }

    pub(super) fn series(&self) -> Result<Series, Fault> {
        self.state_files.series()
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
                    Command::Work(work) => batch.push(work(&mut self.state_files)),
                    Command::Maintain(reply) => {
                        self.maintain_at = Instant::now();
                        batch.push(Staged::new(reply, Ok(())));
                    }
                    Command::Stop(reply) => stopped = Some(reply),
                }
                if stopped.is_none() && batch.len() < BATCH_LIMIT {
                    next = self.commands.try_recv().ok();
                }
            }
            self.commit(batch);
        }
        self.state_files.close_ledger();
        self.sync_ledger();
        if let Err(error) = self.state_files.session_files.close_journal() {
            failure::report("write transcripts, doing so at the next start", &error);
        }
        let flushed = self.state_files.write_indexes(Store::is_dirty);
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
            if self.state_files.session_files.is_unnoted() && self.flush_at.is_none() {
                self.flush_at = Some(self.flush_after.max(Instant::now() + INDEX_INTERVAL));
            }
            // Whoever reads the index of a new session should not wait for it.
            if self.state_files.session_files.take_is_new() {
                self.flush_at = Some(self.flush_after.max(Instant::now()));
                self.maintain_at = self.maintain_at.min(self.maintain_after);
            }
            self.do_what_is_due();
            let maintain_at = Some(self.maintain_at);
            let times = [
                self.flush_at,
                self.file_at,
                self.sync_at,
                self.follow_at,
                maintain_at,
            ];
            let Some(at) = times.into_iter().flatten().min() else {
                return self.commands.recv().ok();
            };
            let wait = at.saturating_duration_since(Instant::now());
            match self.commands.recv_timeout(wait) {
                Ok(envelope) => return Some(envelope),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// However many commands wait: what nobody waits for comes around too.
    fn do_what_is_due(&mut self) {
        let now = Instant::now();
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_due(self.sync_at) {
            // In the same blocks of the disk: a moment later they would be written once more.
            if self.state_files.session_files.is_unnoted() && is_due(Some(self.flush_after)) {
                self.save(Self::save_indexes);
            }
            self.sync_ledger();
        }
        if is_due(self.follow_at) {
            self.follow_journal();
        }
        if is_due(Some(self.maintain_at)) {
            self.maintain();
        }
        if is_due(self.file_at) {
            self.save(Self::flush);
        }
        if is_due(self.flush_at) {
            self.save(Self::save_indexes);
        }
    }

    /// Looks after old sessions, and says when that is to be done again. What
    /// is only found is logged when it is other than before.
    fn maintain(&mut self) {
        let look = self.state_files.maintain();
        let wait = look.next_ms.map_or(MAINTENANCE_INTERVAL, |at| {
            Duration::from_millis(u64::try_from(at - now_ms()).unwrap_or_default())
        });
        let now = Instant::now();
        self.maintain_after = now + MAINTENANCE_PAUSE;
        self.maintain_at = now + wait.clamp(MAINTENANCE_PAUSE, MAINTENANCE_INTERVAL);
        self.count_sessions();
        let changed = std::mem::take(&mut self.state_files.maintained);
        let changes: Vec<_> = changed.into_iter().map(Change::Happened).collect();
        self.commit(vec![Staged::unasked(changes, |fault| {
            failure::report("tell of old sessions, which nobody is told of", fault);
        })]);
        if self.state_files.session_files.is_unnoted() {
            self.flush_at.get_or_insert(self.flush_after.max(now));
        }
        let mut findings = self
            .told
            .findings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for finding in look.findings.iter().filter(|it| !findings.contains(it)) {
            tracing::warn!("{finding}");
        }
        *findings = look.findings;
    }

    fn sync_ledger(&mut self) {
        self.sync_at = None;
        if let Err(error) = self.state_files.sync_ledger() {
            failure::report("put the ledger on disk, trying again later", &error);
            self.sync_at = Some(Instant::now() + LEDGER_INTERVAL);
        }
    }

    fn save(&mut self, save: fn(&mut Self) -> Result<(), Fault>) {
        if let Err(fault) = save(self) {
            failure::report("write the session index, trying again later", &fault);
            self.flush_at = Some(Instant::now() + INDEX_RETRY);
        }
    }

    /// Says when transcripts should follow their journal, which has grown.
    fn plan_following(&mut self) {
        let session_files = &self.state_files.session_files;
        if self.follow_at.is_none() && session_files.has_journal() {
            self.follow_at = Some(Instant::now() + FOLLOW_INTERVAL);
        }
        if session_files.is_journal_full() && self.is_following_well {
            self.follow_journal();
        }
    }

    /// Lets the transcripts follow their journal. What is in it is durable
    /// whatever becomes of this.
    fn follow_journal(&mut self) {
        let session_files = &mut self.state_files.session_files;
        let followed = session_files.follow_journal();
        // Looked at again, also to hear what became of it.
        let again = session_files
            .has_journal()
            .then(|| Instant::now() + FOLLOW_INTERVAL);
        self.is_following_well = followed.is_ok();
        self.follow_at = match followed {
            Ok(()) => again,
            Err(error) => {
                failure::report("write transcripts, trying again later", &error);
                Some(Instant::now() + INDEX_RETRY)
            }
        };
    }

    /// Writes the files of all indexes that changed.
    fn flush(&mut self) -> Result<(), Fault> {
        self.timed(|state_files| state_files.write_indexes(Store::is_dirty))
    }

    /// Makes what changed in the indexes durable, with the next sync of the ledger at the latest.
    fn save_indexes(&mut self) -> Result<(), Fault> {
        let saved = self.timed(StateFiles::save_indexes);
        self.sync_at
            .get_or_insert_with(|| Instant::now() + LEDGER_INTERVAL);
        saved
    }

    /// Writes indexes, and says when they may be written again: a large one
    /// less often, so that it takes a small part of the time.
    fn timed(
        &mut self,
        write: impl FnOnce(&mut StateFiles) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let started = Instant::now();
        self.flush_at = None;
        let written = write(&mut self.state_files);
        let took = started.elapsed();
        self.flush_after = Instant::now() + (took * INDEX_SHARE).max(INDEX_INTERVAL);
        let is_behind = self.state_files.session_files.is_behind();
        self.file_at = match self.file_at.take() {
            _ if !is_behind => None,
            Some(at) if at > Instant::now() => Some(at),
            _ => Some(Instant::now() + FILE_INTERVAL),
        };
        written
    }

    /// Syncs what the batch touched, tells the ledger, and answers.
    fn commit(&mut self, mut batch: Vec<Staged>) {
        self.sync_transcripts(&mut batch);
        self.sync_index(&mut batch);
        let changes: Vec<Change> = batch.iter_mut().flat_map(Staged::take_changes).collect();
        if !changes.is_empty() {
            self.sync_at
                .get_or_insert_with(|| Instant::now() + LEDGER_INTERVAL);
            match self.state_files.ledger.apply(&changes) {
                Ok(events) => {
                    if let (Some(hear), false) = (self.told.listener.get(), events.is_empty()) {
                        hear(events);
                    }
                }
                Err(error) => {
                    let fault = self.state_files.of_ledger()(error);
                    batch
                        .iter_mut()
                        .for_each(|staged| staged.ledger_failed(&fault));
                }
            }
        }
        // The last change first, so that each finds what it left.
        for staged in batch.iter_mut().rev() {
            if let Some(undo) = staged.take_undo() {
                undo(&mut self.state_files);
            }
        }
        self.count_sessions();
        batch.into_iter().for_each(Staged::answer);
        self.plan_following();
        self.state_files.update_home();
    }

    fn sync_transcripts(&mut self, batch: &mut [Staged]) {
        let files: BTreeSet<PathBuf> = batch
            .iter()
            .filter_map(|staged| staged.file.clone())
            .collect();
        let synced: BTreeMap<PathBuf, Option<Fault>> = self.state_files.session_files.sync(files);
        for staged in batch {
            let fault = staged.file.as_ref().and_then(|file| synced.get(file));
            let fault = fault.cloned().flatten();
            staged.fault = staged.fault.take().or(fault);
        }
    }

    fn sync_index(&mut self, batch: &mut [Staged]) {
        let wants = |staged: &&mut Staged| staged.writes_index && staged.fault.is_none();
        if !batch.iter_mut().any(|staged| wants(&staged)) {
            return;
        }
        if let Err(fault) = self.flush() {
            batch
                .iter_mut()
                .filter(wants)
                .for_each(|staged| staged.fault = Some(fault.clone()));
        }
    }

    fn count_sessions(&self) {
        let count = self.state_files.session_files.session_count();
        self.told.sessions.store(count, Ordering::Relaxed);
    }
}
