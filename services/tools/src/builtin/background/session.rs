//! One command in the background.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::Sender;
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::Launch;
use super::log::{Log, News};
use super::terminal::Terminal;
use crate::builtin::command::{DRAIN_GRACE, End, ProcessGroup, Streams, start, start_on_terminal};
use crate::builtin::lines::{Limits, Window};

/// Read size, that of a pipe's buffer.
const CHUNK_BYTES: usize = 16 * 1024;

/// What a command gets to end after SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(2);

/// What a command that does not read its input may hold up whoever writes it.
const WRITE_DEADLINE: Duration = Duration::from_secs(5);

/// Whether it runs.
#[derive(Debug, Clone, Copy)]
pub(in crate::builtin) enum State {
    Running,
    Ended(End),
}

/// Why there is no session.
#[derive(Debug)]
pub(in crate::builtin) enum StartError {
    /// No terminal.
    Terminal(io::Error),
    /// No process.
    Spawn(io::Error),
}

impl StartError {
    pub(in crate::builtin) fn into_io(self) -> io::Error {
        match self {
            Self::Terminal(error) | Self::Spawn(error) => error,
        }
    }
}

#[derive(Debug)]
enum Input {
    Pipe(ChildStdin),
    Terminal(Sender),
    Closed,
}

/// A command, ended when this is dropped.
#[derive(Debug)]
pub(in crate::builtin) struct Session {
    id: String,
    command: String,
    started: Instant,
    group: Arc<ProcessGroup>,
    log: Arc<Log>,
    state: watch::Receiver<State>,
    input: Mutex<Input>,
    _follower: AbortOnDropHandle<()>,
}

impl Session {
    pub(in crate::builtin) fn start(id: String, launch: &Launch) -> Result<Self, StartError> {
        let log = Arc::new(Log::create(&id).map_err(StartError::Spawn)?);
        let (child, outputs, input) = if launch.terminal {
            on_terminal(launch)?
        } else {
            on_pipes(launch).map_err(StartError::Spawn)?
        };
        let group = Arc::new(ProcessGroup::of(&child));
        let (sender, state) = watch::channel(State::Running);
        let follower = Follower {
            child,
            outputs,
            log: Arc::clone(&log),
            group: Arc::clone(&group),
            deadline: launch.limit.map(|limit| Instant::now() + limit),
        };
        let follower = tokio::spawn(async move {
            let end = follower.follow().await;
            sender.send_replace(State::Ended(end));
        });
        Ok(Self {
            id,
            command: launch.command.shown(),
            started: Instant::now(),
            group,
            log,
            state,
            input: Mutex::new(input),
            _follower: AbortOnDropHandle::new(follower),
        })
    }

    pub(in crate::builtin) fn id(&self) -> &str {
        &self.id
    }

    /// As people see it.
    pub(in crate::builtin) fn command(&self) -> &str {
        &self.command
    }

    pub(in crate::builtin) fn pid(&self) -> i32 {
        self.group.pid()
    }

    /// Since when it has been there.
    pub(in crate::builtin) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Bytes it said.
    pub(in crate::builtin) fn said(&self) -> u64 {
        self.log.total()
    }

    pub(in crate::builtin) fn state(&self) -> State {
        *self.state.borrow()
    }

    pub(in crate::builtin) fn is_running(&self) -> bool {
        matches!(self.state(), State::Running)
    }

    /// Waits for its end, no longer than `patience`.
    pub(in crate::builtin) async fn wait(&self, patience: Duration) {
        // Who does not wait at all still gets what there is at once.
        let _ = timeout(patience.max(Duration::from_millis(1)), self.ended()).await;
    }

    /// Waits for its end.
    pub(in crate::builtin) async fn ended(&self) {
        let mut state = self.state.clone();
        // The sender goes with the end, or with this.
        let _ = state
            .wait_for(|state| matches!(state, State::Ended(_)))
            .await;
    }

    /// Waits until it says something or ends, no longer than `patience`.
    pub(in crate::builtin) async fn wait_for_news(&self, patience: Duration) {
        let something = async {
            tokio::select! {
                () = self.log.more() => {}
                () = self.ended() => {}
            }
        };
        let _ = timeout(patience, something).await;
    }

    /// What it said since the last time.
    pub(in crate::builtin) fn news(&self) -> News {
        self.log.take()
    }

    /// Lines of all it said.
    pub(in crate::builtin) fn lines(&self, limits: Limits) -> io::Result<Window> {
        self.log.lines(limits)
    }

    /// Writes to its input, and closes that if `eof`.
    pub(in crate::builtin) async fn write(&self, data: &str, eof: bool) -> io::Result<()> {
        let mut input = self.input.lock().await;
        let written = timeout(WRITE_DEADLINE, input.write(data.as_bytes(), eof)).await;
        if eof && matches!(&*input, Input::Pipe(_)) {
            *input = Input::Closed;
        }
        written.unwrap_or_else(|_| {
            let message = "it does not read its input; not all of the text may have arrived";
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        })
    }

    /// Ends it and all it started: asked first, then made to.
    pub(in crate::builtin) async fn kill(&self) {
        if !self.is_running() {
            return;
        }
        self.group.signal(Signal::SIGTERM);
        if timeout(TERM_GRACE, self.ended()).await.is_err() {
            self.group.kill();
            self.ended().await;
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_running() {
            self.group.kill();
        }
    }
}

impl Input {
    async fn write(&mut self, data: &[u8], eof: bool) -> io::Result<()> {
        /// Ctrl-D, which ends the input of whoever reads lines from a terminal.
        const END_OF_INPUT: &[u8] = b"\x04";
        match self {
            Self::Pipe(pipe) => {
                pipe.write_all(data).await?;
                pipe.flush().await
            }
            Self::Terminal(terminal) => {
                terminal.write_all(data).await?;
                if eof {
                    terminal.write_all(END_OF_INPUT).await
                } else {
                    Ok(())
                }
            }
            Self::Closed => Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                "its input was closed",
            )),
        }
    }
}

type Output = Box<dyn AsyncRead + Send + Unpin>;

fn on_pipes(launch: &Launch) -> io::Result<(Child, Vec<Output>, Input)> {
    let streams = Streams {
        stdin: Stdio::piped(),
        ..Streams::captured()
    };
    let mut child = start(&launch.command, &launch.workdir, &launch.variables, streams)?;
    let mut outputs: Vec<Output> = Vec::new();
    outputs.extend(child.stdout.take().map(|out| Box::new(out) as Output));
    outputs.extend(child.stderr.take().map(|err| Box::new(err) as Output));
    let input = child.stdin.take().map_or(Input::Closed, Input::Pipe);
    Ok((child, outputs, input))
}

fn on_terminal(launch: &Launch) -> Result<(Child, Vec<Output>, Input), StartError> {
    let terminal = Terminal::open().map_err(StartError::Terminal)?;
    let again = || terminal.program.try_clone().map(Stdio::from);
    let streams = Streams {
        stdin: again().map_err(StartError::Terminal)?,
        stdout: again().map_err(StartError::Terminal)?,
        stderr: again().map_err(StartError::Terminal)?,
    };
    let child = start_on_terminal(&launch.command, &launch.workdir, &launch.variables, streams);
    let child = child.map_err(StartError::Spawn)?;
    let Terminal { output, input, .. } = terminal;
    Ok((child, vec![Box::new(output)], Input::Terminal(input)))
}

struct Follower {
    child: Child,
    outputs: Vec<Output>,
    log: Arc<Log>,
    group: Arc<ProcessGroup>,
    deadline: Option<Instant>,
}

impl Follower {
    /// Reads all it says, to its end.
    async fn follow(mut self) -> End {
        let pumps = self.outputs.drain(..).map(|output| {
            let log = Arc::clone(&self.log);
            AbortOnDropHandle::new(tokio::spawn(pump(output, log)))
        });
        let pumps: Vec<_> = pumps.collect();
        let end = tokio::select! {
            status = self.child.wait() => status,
            () = sleep_until(self.deadline.unwrap_or_else(Instant::now)), if self.deadline.is_some() => {
                self.group.kill();
                let _ = self.child.wait().await;
                return End::TimedOut;
            }
        };
        for pump in pumps {
            let _ = timeout(DRAIN_GRACE, pump).await;
        }
        end.map_or(End::TimedOut, End::Status)
    }
}

async fn pump(mut output: Output, log: Arc<Log>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    // A terminal's end is an error.
    while let Ok(read @ 1..) = output.read(&mut chunk).await {
        log.push(&chunk[..read]);
    }
}
