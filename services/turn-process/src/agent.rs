//! One agent process, watched from its start to the end of its whole tree.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::StreamExt as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use openclaw_daemon::failure;
use openclaw_handoff::disk::{Disk, Short};
use openclaw_handoff::meter::Meter;
use openclaw_handoff::spool::{Refused, Spool};
use openclaw_handoff::stdio;
use openclaw_mcp_servers::Servers;
use openclaw_model_api::bill::Bill;
use openclaw_proto::event::{Code, Failed, Kind, Resources};
use openclaw_sandbox::{EXIT_CONFINEMENT, Failure};
use openclaw_turn::has_too_many_values;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::sync::CancellationToken;

use crate::activity::Activity;
use crate::translate::{Translate, was_killed};
use crate::within;

/// One line of an agent's output, in bytes: a tool result with a whole file. It may have only so
/// many values ([`has_too_many_values`]).
const LINE_LIMIT: usize = 16 * 1024 * 1024;
/// How much of what an agent wrote to its standard error is kept.
const COMPLAINT_LIMIT: usize = 4096;
/// The longest time an agent gets to end by itself after its last word.
const END_DEADLINE: Duration = Duration::from_secs(3);
/// The longest time the supervisor gets to end the whole tree.
const KILL_DEADLINE: Duration = Duration::from_secs(5);

/// The agent's standard input.
pub(crate) enum Input {
    /// The turn socket.
    Socket(std::os::fd::OwnedFd),
    /// A stream, whose other end is given back.
    Stream,
}

/// The receiver of its output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome<'a> {
    pub(crate) spool: &'a Spool,
    pub(crate) meter: &'a Meter,
    pub(crate) bill: &'a Bill,
    pub(crate) activity: &'a Activity,
    pub(crate) servers: &'a Servers,
}

impl Outcome<'_> {
    /// The resources used so far.
    pub(crate) fn resources(&self) -> Resources {
        Resources {
            cost_usd: self.bill.cost(),
            server_tool_tokens: self.servers.tokens(),
            ..self.meter.read()
        }
    }

    /// The turn is over: tells what was counted of the model's answers and not told yet.
    pub(crate) fn tell_usage(&self) {
        self.bill.cut_off();
        if let Some(usage) = self.bill.untold() {
            // A spool that is full or gone has said so before.
            let _ = self.spool.push(Kind::Usage(usage));
        }
    }
}

/// Why a turn ended before the agent said so.
enum Cut {
    Cancelled,
    Deadline,
    Silence,
    TooMuch,
    Disk(Short),
    Refused(Refused),
}

/// The bounds of a turn.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// The longest it may take.
    pub(crate) deadline: Duration,
    /// The longest it may be silent.
    pub(crate) silence: Duration,
    /// The disk space it must leave free; `None` without a sandbox.
    pub(crate) disk: Option<Disk>,
}

/// An agent's process: the supervisor of its tree. Ended when dropped.
#[derive(Debug)]
pub(crate) struct Agent {
    child: Child,
    /// Its words.
    stdout: UnixStream,
    /// Its standard error, once that has ended.
    complaint: JoinHandle<String>,
}

impl Agent {
    /// Starts `command` with `input`; the second is where its standard input
    /// is written when that is a stream.
    pub(crate) fn start(
        command: std::process::Command,
        input: Input,
    ) -> io::Result<(Self, Option<UnixStream>)> {
        let (stdin, theirs) = match input {
            Input::Socket(socket) => (None, socket),
            Input::Stream => stdio::input().map(|(ours, theirs)| (Some(ours), theirs))?,
        };
        let (stdout, their_stdout) = stdio::output()?;
        let (stderr, their_stderr) = stdio::output()?;
        let child = Command::from(command)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::from(their_stdout))
            .stderr(Stdio::from(their_stderr))
            .spawn()?;
        let agent = Self {
            child,
            stdout,
            complaint: tokio::spawn(last_words(stderr)),
        };
        Ok((agent, stdin))
    }

    /// Waits until it was ended by SIGKILL, of the kernel for want of memory or
    /// of somebody else; for ever when it ends in another way.
    pub(crate) async fn killed(&mut self) {
        match self.child.wait().await {
            Ok(status) if was_killed(status) => {}
            _ => std::future::pending().await,
        }
    }

    /// Follows it to its end, whichever that is. Events go to the spool; the terminal one is
    /// returned, for the caller to add when all is cleaned up, unless it could be added before.
    pub(crate) async fn run(
        mut self,
        bounds: Bounds,
        translate: &mut dyn Translate,
        outcome: &Outcome<'_>,
        cancel: &CancellationToken,
    ) -> io::Result<Kind> {
        let followed = follow(&mut self.stdout, translate, outcome, cancel, &bounds).await;
        if let Ok(Some(terminal @ Kind::Done(_))) = &followed
            && translate.is_last_word()
        {
            // Nobody waits for the end of processes that have nothing to say.
            outcome.tell_usage();
            outcome.activity.log.close();
            let _ = outcome.spool.end(|| outcome.resources(), terminal.clone());
        }
        let status = end(&mut self.child, followed.is_err()).await?;
        // The stream is at its end when the tree is gone.
        let complaint = timeout(END_DEADLINE, &mut self.complaint)
            .await
            .map_or_else(|_| String::new(), Result::unwrap_or_default);
        Ok(match followed {
            Ok(Some(terminal)) => terminal,
            Ok(None) => Kind::Failed(gone(translate, status, &complaint)),
            Err(cut) => cut_short(&cut, translate, &bounds),
        })
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Not kill_on_drop: SIGKILL takes the supervisor away from its tree.
        // None when it has been waited for.
        terminate(&self.child);
    }
}

/// The supervisor ends every process of the turn on SIGTERM.
fn terminate(child: &Child) {
    if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
}

/// Reads the agent's lines until it says the terminal event (`Some`), closes
/// its output (`None`), or has to be cut short.
async fn follow(
    stdout: &mut UnixStream,
    translate: &mut dyn Translate,
    outcome: &Outcome<'_>,
    cancel: &CancellationToken,
    bounds: &Bounds,
) -> Result<Option<Kind>, Cut> {
    let mut lines = FramedRead::new(stdout, LinesCodec::new_with_max_length(LINE_LIMIT));
    let deadline = tokio::time::sleep(bounds.deadline);
    tokio::pin!(deadline);
    let silence = tokio::time::sleep(bounds.silence);
    tokio::pin!(silence);
    let pause = || bounds.disk.as_ref().map_or(bounds.deadline, Disk::pause);
    let look = tokio::time::sleep(pause());
    tokio::pin!(look);
    loop {
        let line = tokio::select! {
            // What was said before the end of the turn is heard first.
            biased;
            line = lines.next() => line,
            () = cancel.cancelled() => return Err(Cut::Cancelled),
            () = &mut deadline => return Err(Cut::Deadline),
            () = &mut look, if bounds.disk.is_some() => {
                match bounds.disk.as_ref().and_then(Disk::used_up) {
                    Some(short) => return Err(Cut::Disk(short)),
                    None => look.as_mut().reset(Instant::now() + pause()),
                }
                continue;
            },
            () = &mut silence => match outcome.activity.last_quiet() {
                Some(end) if end + bounds.silence > Instant::now() => {
                    silence.as_mut().reset(end + bounds.silence);
                    continue;
                }
                _ => return Err(Cut::Silence),
            },
        };
        silence.as_mut().reset(Instant::now() + bounds.silence);
        let line = match line {
            Some(Ok(line)) if !has_too_many_values(line.as_bytes()) => line,
            Some(_) => return Err(Cut::TooMuch),
            None => return Ok(None),
        };
        if cancel.is_cancelled() {
            return Err(Cut::Cancelled);
        }
        // Lines without a pause leave no turn to the timers above.
        if Instant::now() >= deadline.deadline() {
            return Err(Cut::Deadline);
        }
        let kinds = translate.line(&line);
        if let Some(cost) = translate.cost() {
            outcome.bill.report_cost(cost);
        }
        let kinds = kinds.into_iter().map(within::bounds);
        for kind in kinds.filter_map(|kind| outcome.bill.note(kind)) {
            if kind.is_terminal() {
                return Ok(Some(kind));
            }
            outcome.activity.log.observe(&kind);
            outcome.spool.push(kind).map_err(Cut::Refused)?;
        }
    }
}

/// Waits for the end of the tree, at once or after a moment's patience, and
/// with force where it has to be.
async fn end(child: &mut Child, at_once: bool) -> io::Result<ExitStatus> {
    if !at_once && let Ok(status) = timeout(END_DEADLINE, child.wait()).await {
        return status;
    }
    terminate(child);
    match timeout(KILL_DEADLINE, child.wait()).await {
        Ok(status) => status,
        Err(_) => {
            failure::report_text(
                "end a turn's supervisor",
                "it did not end in time and is killed",
            );
            child.start_kill()?;
            child.wait().await
        }
    }
}

/// The end of what the agent wrote to its standard error.
async fn last_words(mut stderr: UnixStream) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; COMPLAINT_LIMIT];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..length]);
        let surplus = kept.len().saturating_sub(COMPLAINT_LIMIT);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn gone(translate: &mut dyn Translate, status: ExitStatus, complaint: &str) -> Failed {
    if let Some(refused) = complaint.lines().rev().find_map(Failure::parse) {
        let mut failed = translate.gone(status, "");
        failed.message = format!("nothing was run: {}: {}", refused.step, refused.message);
        if status.code() == Some(i32::from(EXIT_CONFINEMENT)) {
            failed.code = Code::Sandbox;
            failed
                .message
                .insert_str(0, "the sandbox could not be set up, ");
        }
        return failed;
    }
    if !complaint.trim().is_empty() {
        tracing::debug!(complaint, "the agent's last words");
    }
    translate.gone(status, complaint)
}

fn cut_short(cut: &Cut, translate: &mut dyn Translate, bounds: &Bounds) -> Kind {
    let (code, message) = match cut {
        // The caller knows the reason.
        Cut::Cancelled => (Code::Cancelled, String::new()),
        Cut::Deadline => (
            Code::Timeout,
            format!(
                "the turn was stopped: it took longer than {}; raise agents.defaults.timeoutSeconds",
                words(bounds.deadline)
            ),
        ),
        Cut::Silence => (
            Code::Timeout,
            format!(
                "the turn was stopped: the agent said nothing for {}; raise \
                 agents.defaults.noOutputSeconds",
                words(bounds.silence)
            ),
        ),
        Cut::Refused(Refused::Write { path, source }) => (
            Code::Internal,
            format!(
                "the turn was stopped: {} cannot be written: {}",
                path.display(),
                failure::advice(source)
            ),
        ),
        Cut::Disk(short) => (
            Code::ResourceLimit,
            format!("the turn was stopped: {short}"),
        ),
        Cut::TooMuch | Cut::Refused(Refused::Full) => (
            Code::MalformedOutput,
            "the turn was stopped: the agent wrote more than can be kept".to_owned(),
        ),
    };
    Kind::Failed(Failed {
        code,
        message,
        retry_after_ms: None,
        backend_session: translate.session(),
        backend: String::new(),
    })
}

/// A turn for which there is no room on the disk.
pub(crate) fn no_room(short: &Short) -> Kind {
    Kind::Failed(Failed {
        code: Code::ResourceLimit,
        message: format!("the turn was not begun: {short}"),
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    })
}

fn words(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds % 60 == 0 && seconds > 60 => format!("{} minutes", seconds / 60),
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}
