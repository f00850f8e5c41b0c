//! Everything the gateway keeps on disk, behind one thread.
//!
//! One thread because the files have one writer, because waiting for the disk
//! must not stop the async side, and because commands that wait together share
//! one fdatasync per file and one transaction of the ledger (group commit).

mod accepting;
mod closing;
mod command;
mod delivery;
mod entries;
mod forgetting;
mod home;
mod ledger;
mod orphans;
mod policy;
mod replay;
mod restored;
mod saying;
mod session_files;
mod sessions;
mod staged;
mod state_files;
mod turn_options;
mod work;
mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock, PoisonError};
use std::thread;

use openclaw_daemon::Configuration;
use openclaw_proto::feed::Event;
use openclaw_sessions::transcript::Message;
use openclaw_sessions::{SessionKey, now_ms};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

pub use crate::fault::Fault;
pub use accepting::RESET_COMMAND;
pub use command::{
    Acceptance, Admitted, ChannelReply, Closing, Incoming, Intent, Overrides, QueueFields,
    SERVER_TOOL_TOKENS, StoredRun,
};
use command::{BackendSessions, Reply};
pub(crate) use forgetting::SaidIn;
use ledger::Change;
pub use ledger::{Record, Spent};
pub use policy::{beginning_anew, begins_anew, only_begins_anew};
pub use replay::replay;
pub(crate) use sessions::{Exportable, Listed, Uncounted};
pub use sessions::{Leftover, SessionError, Shown, state};
use state_files::StateFiles;
pub use state_files::shown_by;
pub use turn_options::{Deadline, TurnOptions};
use work::Done;
use worker::{Command, Findings, Observers, Worker};

use crate::feed::{Happening, Series};

/// Commands that may wait for the thread. More than the lanes let through at
/// once means that the disk stands still, and then messages wait unaccepted.
const COMMAND_LIMIT: usize = 1024;

/// The way to the thread. Cheap to clone.
#[derive(Clone)]
pub struct Storage {
    sender: mpsc::Sender<Envelope>,
    room: Arc<Semaphore>,
    sessions: Arc<AtomicU64>,
    findings: Findings,
    series: Series,
    listener: Listener,
    /// When the state was restored from a backup, in Unix milliseconds.
    restored_ms: Option<i64>,
}

/// Hears what happened, when it is in the ledger and before whoever asked for it
/// is answered. It is on the storage thread, and must not wait.
pub(crate) type Hear = Box<dyn Fn(Vec<Event>) + Send + Sync>;

/// The listener, once there is one.
pub(crate) type Listener = Arc<OnceLock<Hear>>;

/// A command and its place in the queue, which it gives back when it is done.
struct Envelope {
    command: Command,
    /// None: it takes nobody's place.
    _place: Option<OwnedSemaphorePermit>,
}

/// The thread, to be waited for.
pub struct Thread(thread::JoinHandle<()>);

/// An answer that is on its way.
pub struct Pending<T, E = Fault>(oneshot::Receiver<Result<T, E>>);

impl<T, E: From<Fault>> Pending<T, E> {
    /// The answer, if it is there already.
    pub fn answered(&mut self) -> Option<Result<T, E>> {
        match self.0.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Closed) => Some(Err(Fault::Stopped.into())),
        }
    }

    /// Waits for it. [`Fault::Stopped`] when the thread ended before.
    pub async fn answer(self) -> Result<T, E> {
        self.0.await.unwrap_or_else(|_| Err(Fault::Stopped.into()))
    }
}

impl Storage {
    /// Opens ledger and indexes and starts the thread. Returns the runs that
    /// the last gateway left open too.
    pub fn start(configuration: Configuration) -> Result<(Self, Thread, Vec<Record>), Fault> {
        let (sender, receiver) = mpsc::channel();
        let restored_ms = restored::at_ms(&configuration.settings().paths);
        let sessions = Arc::new(AtomicU64::new(0));
        let findings = Findings::default();
        let counted = Arc::clone(&sessions);
        let listener = Listener::default();
        let told = Observers {
            sessions: counted,
            findings: Arc::clone(&findings),
            listener: Arc::clone(&listener),
        };
        let worker = Worker::open(configuration, receiver, told)?;
        let open_runs = worker.open_runs()?;
        let series = worker.series()?;
        let thread = thread::Builder::new()
            .name("storage".to_owned())
            .spawn(move || worker.work())
            .map_err(Fault::thread)?;
        let storage = Self {
            sender,
            room: Arc::new(Semaphore::new(COMMAND_LIMIT)),
            sessions,
            findings,
            series,
            listener,
            restored_ms,
        };
        Ok((storage, Thread(thread), open_runs))
    }

    /// Makes the user's message durable and enters its run into the ledger, or
    /// finds the run that its idempotency key names.
    pub async fn accept(&self, incoming: Incoming) -> Result<Acceptance, Fault> {
        let accept = move |state_files: &mut StateFiles| state_files.accept(incoming);
        self.send(|reply| Command::Work(work::boxed(accept, reply)))
            .await?
            .answer()
            .await
    }

    /// Notes that a run's turn begins, and says which sessions backends keep.
    pub async fn begin(&self, run_id: &str, key: &SessionKey) -> Result<BackendSessions, Fault> {
        let (run_id, key) = (run_id.to_owned(), key.clone());
        self.work(move |state_files| {
            let begun = Done::looking(state_files.begin(&key)?);
            let at_ms = now_ms();
            Ok(begun.noting(Change::Running { run_id, key, at_ms }))
        })
        .await
    }

    /// Appends entries; they are in order with what is sent later, whether or
    /// not the answer is waited for.
    pub async fn append(
        &self,
        key: &SessionKey,
        messages: Vec<Message>,
    ) -> Result<Pending<()>, Fault> {
        let key = key.clone();
        let say = move |state_files: &mut StateFiles| state_files.say(&key, messages, None);
        self.send(|reply| Command::Work(work::boxed(say, reply)))
            .await
    }

    /// Appends what the gateway itself says, which is `text`; where the session
    /// is a channel's, it is said there too, as the delivery `name`.
    pub async fn announce(
        &self,
        key: &SessionKey,
        message: Message,
        (name, text): (&str, &str),
    ) -> Result<(), Fault> {
        let (key, name, text) = (key.clone(), name.to_owned(), text.to_owned());
        self.work(move |state_files| state_files.say(&key, vec![message], Some((&name, &text))))
            .await
    }

    /// Notes that something happened elsewhere, in order with everything else. Nobody waits for it,
    /// so it takes nobody's place in the queue: what there is of it is bounded where it happens.
    pub fn record(&self, happening: Happening) {
        let (reply, _) = oneshot::channel::<Result<(), Fault>>();
        let work = |_: &mut StateFiles| Ok(Done::looking(()).telling(happening));
        let envelope = Envelope {
            command: Command::Work(work::boxed(work, reply)),
            _place: None,
        };
        // Without the thread there is no ledger to note it in.
        let _ = self.sender.send(envelope);
    }

    /// The series of numbers of this gateway's events.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// Tells `hear` whatever happens from now on; only the first is told.
    pub fn listen(&self, hear: impl Fn(Vec<Event>) + Send + Sync + 'static) {
        let _ = self.listener.set(Box::new(hear));
    }

    /// Whether a run came with a backup: the suite that was backed up has gone on with it.
    pub fn is_from_backup(&self, record: &Record) -> bool {
        self.restored_ms.is_some_and(|at| record.created_ms <= at)
    }

    /// Makes the end of a run durable.
    pub async fn close(&self, closing: Closing) -> Result<(), Fault> {
        let close = |reply| {
            let close = |state_files: &mut StateFiles| state_files.close(closing, reply);
            Command::Work(Box::new(close))
        };
        self.send(close).await?.answer().await
    }

    /// The run as the ledger has it.
    pub async fn find(&self, run_id: &str) -> Result<Option<StoredRun>, Fault> {
        let run_id = run_id.to_owned();
        self.work(move |state_files| Ok(Done::looking(state_files.find(&run_id)?)))
            .await
    }

    /// Does `work` with the books, in order with everything else.
    async fn work<T: Send + 'static, E: From<Fault> + Send + 'static>(
        &self,
        work: impl FnOnce(&mut StateFiles) -> Result<Done<T>, E> + Send + 'static,
    ) -> Result<T, E> {
        self.send(|reply| Command::Work(work::boxed(work, reply)))
            .await?
            .answer()
            .await
    }

    /// The last `limit` runs and what they cost, the newest first.
    pub async fn last(&self, limit: u32) -> Result<Vec<(Record, Option<Spent>)>, Fault> {
        self.work(move |state_files| Ok(Done::looking(state_files.last(limit)?)))
            .await
    }

    /// How many sessions the indexes have.
    pub fn session_count(&self) -> u64 {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Looks after old sessions soon: what is said of them may have changed.
    pub async fn maintain(&self) -> Result<(), Fault> {
        self.send(Command::Maintain).await?.answer().await
    }

    /// What maintenance would do with old sessions where it may only report.
    pub fn findings(&self) -> Vec<String> {
        let findings = self.findings.lock();
        findings.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the thread after all earlier commands, and writes the indexes.
    pub async fn stop(&self, thread: Thread) {
        let stopped = match self.send(Command::Stop).await {
            Ok(stopped) => stopped.answer().await,
            Err(fault) => Err(fault),
        };
        if stopped.is_ok() && thread.0.join().is_err() {
            openclaw_daemon::failure::report_text("end the storage", "its thread panicked");
        }
    }

    async fn send<T, E>(
        &self,
        command: impl FnOnce(Reply<T, E>) -> Command,
    ) -> Result<Pending<T, E>, Fault> {
        let place = Arc::clone(&self.room).acquire_owned().await;
        let (reply, answer) = oneshot::channel();
        let envelope = Envelope {
            command: command(reply),
            _place: Some(place.map_err(|_| Fault::Stopped)?),
        };
        self.sender.send(envelope).map_err(|_| Fault::Stopped)?;
        Ok(Pending(answer))
    }
}

#[cfg(test)]
mod tests;
