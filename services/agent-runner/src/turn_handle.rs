//! A turn's process, as the daemon holds it: started, told its turn, followed
//! through its spool, and ended.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::socket::{Shutdown, shutdown};
use openclaw_config::settings::{AgentSettings, Settings};
use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Failed, Kind, Resources};
use openclaw_sandbox::{Level, Process};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::job::{Hello, Order, ProcessSpec};
use crate::own_limits;
use crate::passed;
use crate::spool::{self, Reader, Spool};
use crate::table::Entry;
use crate::turn::TurnContext;
use crate::units::{self, Hold, Units, Verdict};

/// How long a turn's process may take to say that it is there.
const HELLO_DEADLINE: Duration = Duration::from_secs(15);
/// How long the process that had a turn's name before may take to go.
const CLEAR_DEADLINE: Duration = Duration::from_secs(5);
/// What a turn's process gets to end its tree; more than it gives the tree.
const END_DEADLINE: Duration = Duration::from_secs(10);

/// Why there is no process for a turn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Units(#[from] units::Error),
    #[error("talk to the turn's process")]
    Line(#[source] io::Error),
    #[error("write the turn's orders")]
    Encode(#[from] serde_json::Error),
    #[error("the turn's process ended at its start ({})", said(.0.as_ref()))]
    Ended(Option<Verdict>),
    #[error("the turn's process did not answer within {HELLO_DEADLINE:?}")]
    Silent,
    #[error("{0} is in the way")]
    Taken(PathBuf),
}

/// A turn's process.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) run_id: String,
    pid: i32,
    spool: PathBuf,
    process: Process,
    end: End,
    /// On its unit, where it has one.
    hold: Option<Hold>,
}

/// How the end of the process is known.
#[derive(Debug)]
enum End {
    /// It closes its end of our line to it.
    Line(UnixStream),
    /// It gives up the lock on its spool.
    Lock(JoinHandle<io::Result<()>>),
    /// It was seen.
    Seen,
}

impl Held {
    /// Starts the process of a turn and the agent in it. It may have a
    /// `connection` to servers before there is a turn.
    pub(crate) async fn start(
        units: &Units,
        settings: &Settings,
        agent: &AgentSettings,
        spec: &ProcessSpec,
        connection: Option<OwnedFd>,
    ) -> Result<Self, Error> {
        clear(&spec.spool).await?;
        match Self::attempt(units, settings, agent, spec, connection.as_ref()).await {
            Err(Error::Ended(verdict)) => {
                match verdict {
                    Some(Verdict::NoNamespaces) => {
                        units.without_namespaces();
                        tracing::warn!(
                            "units with namespaces do not start here; going on without them"
                        );
                    }
                    other => {
                        let why = said(other.as_ref());
                        tracing::warn!(why, "a turn's process ended at its start; once more");
                    }
                }
                clear(&spec.spool).await?;
                Self::attempt(units, settings, agent, spec, connection.as_ref()).await
            }
            other => other,
        }
    }

    async fn attempt(
        units: &Units,
        settings: &Settings,
        agent: &AgentSettings,
        spec: &ProcessSpec,
        connection: Option<&OwnedFd>,
    ) -> Result<Self, Error> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(Error::Line)?;
        ours.set_nonblocking(true).map_err(Error::Line)?;
        let mut line = UnixStream::from_std(ours).map_err(Error::Line)?;
        let hold = units
            .start(units::Request {
                part: units::Part::Turn,
                run_id: &spec.run_id,
                settings,
                agent,
                writable: spec.plan.read_write.clone(),
                confined: spec.plan.level != Level::Off,
                stdin: OwnedFd::from(theirs),
            })
            .await?;
        // A process that ended says why elsewhere.
        let told = match connection {
            None => tell(&mut line, spec).await,
            Some(connection) => tell_with(&line, spec, connection).await,
        };
        match timeout(HELLO_DEADLINE, hear(&mut line)).await {
            Ok(Ok(Some(hello))) => {
                told?;
                Ok(Self {
                    run_id: spec.run_id.clone(),
                    pid: hello.pid,
                    spool: spec.spool.clone(),
                    process: Process::open(hello.pid).map_err(Error::Line)?,
                    end: End::Line(line),
                    hold,
                })
            }
            Ok(Ok(None)) | Ok(Err(_)) => Err(Error::Ended(verdict(hold.as_ref()).await)),
            Err(_) => Err(Error::Silent),
        }
    }

    /// A process that an earlier daemon started.
    pub(crate) async fn adopt(
        units: &Units,
        run_id: &str,
        pid: i32,
        spool: &Path,
    ) -> io::Result<Self> {
        let process = Process::open(pid)?;
        // Locked after the descriptor was opened: the number still means it.
        if spool::is_written(spool) {
            Ok(Self {
                run_id: run_id.to_owned(),
                pid,
                spool: spool.to_owned(),
                process,
                end: End::Lock({
                    let spool = spool.to_owned();
                    tokio::task::spawn_blocking(move || spool::wait_unwritten(&spool))
                }),
                hold: units.hold(run_id).await,
            })
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    /// Whether it is still there.
    pub(crate) fn is_alive(&self) -> bool {
        let mut watched = [PollFd::new(self.process.as_fd(), PollFlags::POLLIN)];
        matches!(poll(&mut watched, PollTimeout::ZERO), Ok(0))
    }

    /// Tells it its turn, after which it needs this daemon no more.
    /// With the turn it gets the `connection` to its servers.
    pub(crate) async fn order(
        &mut self,
        order: &Order,
        connection: Option<OwnedFd>,
    ) -> Result<(), Error> {
        match (&mut self.end, connection) {
            (End::Line(line), None) => tell(line, order).await,
            (End::Line(line), Some(connection)) => tell_with(line, order, &connection).await,
            _ => Err(Error::Line(io::ErrorKind::NotConnected.into())),
        }
    }

    /// Ends a process that has no turn: it is told that there will be none.
    pub(crate) async fn dismiss(mut self) {
        if let End::Line(line) = std::mem::replace(&mut self.end, End::Seen) {
            let (mut reader, writer) = line.into_split();
            drop(writer);
            // What comes is its end.
            let _ = timeout(END_DEADLINE, reader.read_u8()).await;
        }
        // One that was killed did not take its spool along.
        if let Err(error) = clear(&self.spool).await {
            tracing::debug!(error = %failure::chain(&error), "a spool stays");
        }
    }

    /// What becomes readable when a process that has no turn ends: another hold
    /// on our line to it, which is otherwise silent.
    pub(crate) fn watch(&self) -> io::Result<UnixStream> {
        let End::Line(line) = &self.end else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let line = line.as_fd().try_clone_to_owned()?;
        UnixStream::from_std(std::os::unix::net::UnixStream::from(line))
    }

    /// Waits for its end.
    async fn ended(&mut self) {
        match &mut self.end {
            End::Line(line) => {
                // It says nothing any more: what comes is the end, or an error,
                // which is one too.
                let _ = line.read_u8().await;
            }
            End::Lock(waiting) => {
                if let Ok(Err(error)) = waiting.await {
                    failure::report("wait for the end of a turn's process", &error);
                }
            }
            End::Seen => return,
        }
        self.end = End::Seen;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A process without a turn waits for one until the line ends, and
        // whoever watches the process has a hold on the line too.
        if let End::Line(line) = &self.end {
            let _ = shutdown(line.as_raw_fd(), Shutdown::Both);
        }
    }
}

/// Makes room for a spool: a process that stood ready under the same name and
/// was killed left its own, one that did not fit takes its along in a moment.
async fn clear(spool: &Path) -> Result<(), Error> {
    if !spool.exists() {
        return Ok(());
    }
    let waited = spool.to_owned();
    let waiting = tokio::task::spawn_blocking(move || spool::wait_unwritten(&waited));
    let _ = timeout(CLEAR_DEADLINE, waiting).await;
    if spool.exists() && (spool::is_written(spool) || spool::has_begun(spool)) {
        Err(Error::Taken(spool.to_owned()))
    } else {
        match std::fs::remove_file(spool) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::Line(error)),
            _ => Ok(()),
        }
    }
}

async fn tell(line: &mut UnixStream, what: &impl Serialize) -> Result<(), Error> {
    let text = written(what)?;
    line.write_all(&text).await.map_err(Error::Line)
}

/// As [`tell`], with a descriptor passed along.
async fn tell_with(
    line: &UnixStream,
    what: &impl Serialize,
    descriptor: &OwnedFd,
) -> Result<(), Error> {
    let text = written(what)?;
    let told = passed::write(line, &text, descriptor).await;
    told.map_err(Error::Line)
}

fn written(what: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut text = serde_json::to_vec(what)?;
    text.push(b'\n');
    Ok(text)
}

async fn hear(line: &mut UnixStream) -> io::Result<Option<Hello>> {
    let mut text = String::new();
    BufReader::new(line).read_line(&mut text).await?;
    if text.is_empty() {
        Ok(None)
    } else {
        Ok(Some(serde_json::from_str(&text)?))
    }
}

/// Where a turn's events come from.
pub(crate) struct Following<'a> {
    turn_context: &'a TurnContext,
    entry: &'a Entry,
    held: Held,
    path: PathBuf,
    reader: Reader,
    news: Arc<tokio::sync::Notify>,
    name: String,
}

impl<'a> Following<'a> {
    pub(crate) fn new(
        turn_context: &'a TurnContext,
        entry: &'a Entry,
        held: Held,
    ) -> io::Result<Self> {
        entry.pid.store(held.pid, Ordering::Relaxed);
        let path = spool::path(&turn_context.turns, &held.run_id);
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Ok(Self {
            news: turn_context.watcher.of(&name),
            reader: Reader::open(&path)?,
            turn_context,
            entry,
            held,
            path,
            name,
        })
    }

    /// Reads what the turn says until its terminal event is in the log; false
    /// when its process ended before it had its turn, and nothing was begun.
    pub(crate) async fn follow(&mut self) -> bool {
        let mut kill_at: Option<Instant> = None;
        let log = &self.entry.log;
        loop {
            self.read();
            if log.ended() {
                return true;
            }
            tokio::select! {
                () = self.news.notified() => {}
                () = self.held.ended() => {
                    self.read();
                    if !self.reader.has_begun() && !self.entry.cancel.is_cancelled() {
                        return false;
                    }
                    if !log.ended() {
                        self.close().await;
                    }
                    return true;
                }
                () = self.entry.cancel.cancelled(), if kill_at.is_none() => {
                    self.write_reason();
                    self.signal(Signal::SIGTERM);
                    kill_at = Some(Instant::now() + END_DEADLINE);
                }
                () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                    failure::report_text("end a turn's process", "it did not end in time and is killed");
                    self.signal(Signal::SIGKILL);
                    kill_at = Some(Instant::now() + END_DEADLINE);
                }
            }
        }
    }

    /// Waits for the end of the process, whose last word was said.
    pub(crate) async fn wait(mut self) {
        if timeout(END_DEADLINE, self.held.ended()).await.is_err() {
            failure::report_text(
                "end a turn's process",
                "it did not end after its turn and is killed",
            );
            self.signal(Signal::SIGKILL);
            self.held.ended().await;
        }
    }

    fn read(&mut self) {
        match self.reader.news() {
            Ok(events) => events
                .into_iter()
                .for_each(|event| self.entry.log.take(event)),
            Err(error) => {
                failure::report_at("read a spool", &self.path, &error);
            }
        }
        let reports = self.reader.reports();
        self.turn_context.cooling.take(&reports);
        self.turn_context.renewals.take(&reports);
    }

    fn write_reason(&self) {
        let reason = self
            .entry
            .reason
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let path = spool::reason(&self.turn_context.turns, &self.held.run_id);
        if let Err(error) = std::fs::write(&path, reason.as_bytes()) {
            failure::report_at("keep the reason of an end", &path, &error);
        }
    }

    fn signal(&self, signal: Signal) {
        // One that has ended needs none.
        let _ = self.held.process.signal(signal);
    }

    fn died(&self, verdict: Option<Verdict>) -> Kind {
        match self.reader.header() {
            Some(header) => died(verdict, header.memory_max, &header.own_limits),
            None => died(verdict, 0, &[]),
        }
    }

    /// Closes the spool of a process that is gone without a last word.
    async fn close(&mut self) {
        let verdict = verdict(self.held.hold.as_ref()).await;
        let terminal = if self.entry.cancel.is_cancelled() {
            Kind::Aborted {
                reason: self
                    .entry
                    .reason
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone(),
                backend_session: None,
                backend: String::new(),
            }
        } else {
            self.died(verdict)
        };
        close_spool(
            &mut self.reader,
            &self.path,
            &self.held.run_id,
            terminal,
            self.entry,
        );
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        self.turn_context.watcher.forget(&self.name);
    }
}

/// Adds the terminal event to a spool that nobody writes any more, and to the
/// log.
pub(crate) fn close_spool(
    reader: &mut Reader,
    path: &Path,
    run_id: &str,
    terminal: Kind,
    entry: &Entry,
) {
    let closed = reader.repair(path).and_then(|()| {
        let spool = Spool::take_over(path, run_id, entry.log.last())?;
        let spool = spool.ok_or(io::ErrorKind::WouldBlock)?;
        spool
            .end(Resources::default(), terminal.clone())
            .map_err(io::Error::other)
    });
    if let Err(error) = closed {
        failure::report_at("close a spool", path, &error);
    }
    entry.log.add(Kind::Resources(Resources::default()));
    entry.log.add(terminal);
}

/// Why a process that is gone ended, if somebody knows.
async fn verdict(hold: Option<&Hold>) -> Option<Verdict> {
    hold?.verdict().await
}

fn said(verdict: Option<&Verdict>) -> String {
    verdict.map_or_else(|| "its log says why".to_owned(), Verdict::to_words)
}

/// What a process that is gone without a last word died of.
fn died(verdict: Option<Verdict>, memory_max: u64, own_limits: &[String]) -> Kind {
    const KEPT: &str = "what was said so far is kept";
    let (code, message) = match verdict {
        Some(Verdict::OutOfMemory) => (
            Code::ResourceLimit,
            format!(
                "the turn was stopped: it used more than {} of memory; raise \
                 agents.defaults.limits.memoryMax; {KEPT}",
                size(memory_max)
            ),
        ),
        Some(Verdict::Timeout) => (
            Code::Timeout,
            format!(
                "the turn was stopped: it took longer than it may; raise \
                 agents.defaults.timeoutSeconds; {KEPT}"
            ),
        ),
        Some(other) => (
            Code::Crashed,
            format!("the turn's process died ({}); {KEPT}", other.to_words()),
        ),
        None => (
            Code::Crashed,
            format!("the turn's process was killed or died; {KEPT}"),
        ),
    };
    failed(code, own_limits::advise(message, own_limits))
}

/// A turn of which every process was killed before it had the turn.
pub(crate) fn unbegun() -> Kind {
    failed(
        Code::Crashed,
        "the turn's process was killed again and again before it began; nothing was done; send \
         the message again"
            .to_owned(),
    )
}

/// A turn whose process is gone since before this daemon started.
pub(crate) fn lost() -> Kind {
    failed(
        Code::Interrupted,
        "the machine or the turn's process stopped while this was being answered; what was said \
         so far is kept; look at what was done, then say \"continue\" to go on from here"
            .to_owned(),
    )
}

fn failed(code: Code, message: String) -> Kind {
    Kind::Failed(Failed {
        code,
        message,
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    })
}

fn size(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    const MIB: u64 = 1 << 20;
    match bytes {
        bytes if bytes >= GIB && bytes % GIB == 0 => format!("{} GiB", bytes / GIB),
        bytes => format!("{} MiB", bytes / MIB),
    }
}
