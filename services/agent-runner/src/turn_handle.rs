//! A turn's process, as the daemon holds it: started, told its turn, and ended.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::socket::{Shutdown, shutdown};
use openclaw_daemon::failure;
use openclaw_handoff::order::{Hello, Order, ProcessSpec};
use openclaw_handoff::{passed, spool};
use openclaw_sandbox::{Level, Process};
use openclaw_settings::{AgentSettings, RunnerSettings};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::units::{self, UnitRef, Units, Verdict};

/// How long a turn's process may take to say that it is there.
const HELLO_DEADLINE: Duration = Duration::from_secs(15);
/// How long the process that had a turn's name before may take to go.
const CLEAR_DEADLINE: Duration = Duration::from_secs(5);
/// The longest time a turn's process gets to end its tree; more than it gives the tree.
pub(crate) const END_DEADLINE: Duration = Duration::from_secs(10);

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
    #[error("remove {}", path.display())]
    Left {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A turn's process.
#[derive(Debug)]
pub(crate) struct TurnHandle {
    pub(crate) run_id: String,
    pub(crate) pid: i32,
    spool: PathBuf,
    process: Process,
    end: End,
    /// On its unit, where it has one.
    hold: Option<UnitRef>,
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

impl TurnHandle {
    /// Starts the process of a turn and the agent in it. It may have a
    /// `connection` to servers before there is a turn.
    pub(crate) async fn start(
        units: &Units,
        settings: &RunnerSettings,
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
        settings: &RunnerSettings,
        agent: &AgentSettings,
        spec: &ProcessSpec,
        connection: Option<&OwnedFd>,
    ) -> Result<Self, Error> {
        let told = written(spec)?;
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
        let told = tell(&mut line, &told, connection).await;
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
        self.say(&written(order)?, connection).await
    }

    /// The size of the request of an agent that asks for its turn, with the conversation, as JSON.
    pub(crate) async fn order_with(
        &mut self,
        order: &Order,
        history: &[u8],
        connection: Option<OwnedFd>,
    ) -> Result<(), Error> {
        let mut text = written(order)?;
        text.extend_from_slice(history);
        text.push(b'\n');
        self.say(&text, connection).await
    }

    async fn say(&mut self, text: &[u8], connection: Option<OwnedFd>) -> Result<(), Error> {
        let End::Line(line) = &mut self.end else {
            return Err(Error::Line(io::ErrorKind::NotConnected.into()));
        };
        tell(line, text, connection.as_ref()).await
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

    /// Sends it a signal. One that has ended needs none.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = self.process.signal(signal);
    }

    /// Kills it with everything in its unit. Without one its death is the signal
    /// for whatever it started.
    pub(crate) async fn kill(&self) {
        if let Some(hold) = &self.hold {
            hold.kill().await;
        }
        self.signal(Signal::SIGKILL);
    }

    /// Why it ended, if somebody knows.
    pub(crate) async fn verdict(&self) -> Option<Verdict> {
        verdict(self.hold.as_ref()).await
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) {
        match &mut self.end {
            End::Line(line) => {
                // It says nothing any more: what comes is the end, or an error, which is one too.
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

impl Drop for TurnHandle {
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
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Left {
                path: spool.to_owned(),
                source,
            }),
            _ => Ok(()),
        }
    }
}

/// Writes `text`, and passes a descriptor along.
async fn tell(
    line: &mut UnixStream,
    text: &[u8],
    descriptor: Option<&OwnedFd>,
) -> Result<(), Error> {
    let told = match descriptor {
        None => line.write_all(text).await,
        Some(descriptor) => passed::write(line, text, descriptor).await,
    };
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

/// Why a process that is gone ended, if somebody knows.
async fn verdict(hold: Option<&UnitRef>) -> Option<Verdict> {
    hold?.verdict().await
}

fn said(verdict: Option<&Verdict>) -> String {
    verdict.map_or_else(|| "its log says why".to_owned(), Verdict::to_words)
}
