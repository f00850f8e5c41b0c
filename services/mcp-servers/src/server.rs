//! One server: a confined process, spoken to over its standard input and output.

use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use openclaw_config::redact::{REDACTED, is_secret_variable};
use openclaw_handoff::servers::Server;
use openclaw_handoff::stdio;
use openclaw_proxy::{Bound, Serving};
use openclaw_sandbox::{LaunchError, Launcher};
use rmcp::model::Tool;
use rmcp::service::{ClientInitializeError, NotificationContext, RunningService, ServiceError};
use rmcp::{ClientHandler, RoleClient};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::output;

mod answering;
mod cut;
mod greeting;

pub(crate) use cut::Refused;
pub(crate) use greeting::follow;
#[cfg(fuzzing)]
pub(crate) use greeting::greet;

/// What a server gets to say which tools it has. Nobody waits for all of it, and
/// many are started by a package manager that loads them first.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Bytes of the last words of a server.
const COMPLAINT_BYTES: usize = 2048;

/// Bytes of a variable below which its value is a word like others.
const SECRET_BYTES: usize = 6;

/// What a server that is being ended gets to say them.
pub(crate) const END_LIMIT: Duration = Duration::from_secs(1);

/// Why a server has no tools.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("open its way out")]
    Proxies(#[source] io::Error),
    #[error("start its program")]
    Launch(#[from] LaunchError),
    #[error("start its program")]
    Spawn(#[from] io::Error),
    #[error("greet it")]
    Greet(#[from] Box<ClientInitializeError>),
    #[error("ask for its tools")]
    List(#[from] ServiceError),
    #[error("it did not answer within {} s", START_LIMIT.as_secs())]
    TooSlow,
}

/// The supervisor of a server's processes, asked to end them all when dropped.
#[derive(Debug)]
pub(crate) struct Supervised(Child);

impl Drop for Supervised {
    fn drop(&mut self) {
        if let Some(pid) = self.0.id().and_then(|pid| i32::try_from(pid).ok()) {
            // One that is gone already needs nothing.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
    }
}

/// A server that runs.
pub(crate) struct Running {
    pub(crate) child: Supervised,
    pub(crate) proxies: Option<Serving>,
    pub(crate) service: RunningService<RoleClient, Listener>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) words: LastWords,
    pub(crate) refused: Refused,
}

/// Why one does not run.
pub(crate) struct Failure {
    /// With the last ones of its own.
    pub(crate) words: String,
    /// Whether it let the whole time pass.
    pub(crate) is_hanging: bool,
}

/// Hears from a server that it has other tools.
pub(crate) struct Listener(pub(crate) Arc<Notify>);

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.notify_one();
    }
}

/// Starts one, which tells `changes` when it has other tools.
pub(crate) async fn start(
    server: &Server,
    launcher: &Launcher,
    changes: &Arc<Notify>,
) -> Result<Running, Failure> {
    let mut words = None;
    let refused = Refused::default();
    let listener = Listener(Arc::clone(changes));
    let launched = launch(server, launcher, listener, &mut words, &refused);
    let started = timeout(START_LIMIT, launched).await;
    let error = match started.unwrap_or(Err(StartError::TooSlow)) {
        Ok(running) => return Ok(running),
        Err(error) => error,
    };
    let is_hanging = matches!(error, StartError::TooSlow);
    let mut why = output::complaint(&openclaw_daemon::failure::chain(&error));
    if let Some(words) = words {
        let last = words.end().await;
        why.push_str(&too_much(&refused).unwrap_or(last));
    }
    Err(Failure {
        words: why,
        is_hanging,
    })
}

/// Why a server was not listened to any more, to be put after what came of that.
pub(crate) fn too_much(refused: &Refused) -> Option<String> {
    refused.get().map(|why| format!("; it sent {why}"))
}

async fn launch(
    server: &Server,
    launcher: &Launcher,
    listener: Listener,
    words: &mut Option<LastWords>,
    refused: &Refused,
) -> Result<Running, StartError> {
    let arguments: Vec<_> = server.arguments.iter().map(Into::into).collect();
    let (mut plan, mut variables) = (server.plan.clone(), server.variables.clone());
    let bound =
        Bound::of(&server.proxies, &mut plan, &mut variables).map_err(StartError::Proxies)?;
    let bound = bound.map(|(bound, _)| bound);
    let program = &server.program;
    let command = match bound.as_ref().and_then(Bound::theirs) {
        Some(theirs) => {
            launcher.command_with_doors(&plan, program, &arguments, &variables, theirs)?
        }
        None => launcher.command(&plan, program, &arguments, &variables)?,
    };
    let (stdin, their_stdin) = stdio::input()?;
    let (stdout, their_stdout) = stdio::output()?;
    let (stderr, their_stderr) = stdio::output()?;
    let child = Command::from(command)
        .stdin(Stdio::from(their_stdin))
        .stdout(Stdio::from(their_stdout))
        .stderr(Stdio::from(their_stderr))
        .spawn()
        .map(Supervised)?;
    let words = words
        .insert(LastWords::of(stderr, secrets(&server.variables)))
        .clone();
    let proxies = bound.map(Serving::serve);
    let (service, tools) = greeting::greet((stdout, stdin), listener, refused).await?;
    Ok(Running {
        child,
        proxies,
        service,
        tools,
        words,
        refused: Arc::clone(refused),
    })
}

/// What of a server's variables is nobody else's to read.
fn secrets(variables: &[(String, String)]) -> Arc<[String]> {
    let mut secrets: Vec<String> = variables
        .iter()
        .filter(|(name, value)| is_secret_variable(name) && value.len() >= SECRET_BYTES)
        .map(|(_, value)| value.clone())
        .collect();
    // One that holds another is covered as a whole.
    secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
    secrets.into()
}

/// What a server says on its standard error, of which the end is kept: its
/// reason, when it ends. Agents are told, and it is in the journal.
#[derive(Clone)]
pub(crate) struct LastWords {
    kept: Arc<Mutex<Vec<u8>>>,
    secrets: Arc<[String]>,
    ended: CancellationToken,
}

impl LastWords {
    fn of(stream: impl AsyncRead + Unpin + Send + 'static, secrets: Arc<[String]>) -> Self {
        let words = Self {
            kept: Arc::default(),
            secrets,
            ended: CancellationToken::new(),
        };
        tokio::spawn(words.clone().read(stream));
        words
    }

    /// Reads to the end, so that the server is never held up.
    async fn read(self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = [0; 1024];
        while let Ok(read @ 1..) = stream.read(&mut chunk).await {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&chunk[..read]);
            let surplus = kept.len().saturating_sub(COMPLAINT_BYTES);
            kept.drain(..surplus);
        }
        self.ended.cancel();
    }

    /// Those of a server that has ended or is being ended, to be put after the
    /// reason.
    pub(crate) async fn end(&self) -> String {
        let _ = timeout(END_LIMIT, self.ended.cancelled()).await;
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = String::from_utf8_lossy(&kept);
        let whole = match kept.split_once('\n') {
            Some((_, rest)) if kept.len() >= COMPLAINT_BYTES => rest,
            _ => &kept,
        };
        let covered = self.secrets.iter();
        let covered = covered.fold(whole.to_owned(), |text, it| text.replace(it, REDACTED));
        match covered.trim() {
            "" => String::new(),
            last => format!("; it said: {last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn last_words_hold_none_of_the_servers_secrets() {
        let variables = [
            ("SERVICE_KEY", "key-1234"),
            ("SERVICE_DSN", "pg://key-1234@db"),
            ("LANG", "en_GB.UTF-8"),
            ("SHORT", "on"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let said = "cannot go on with key-1234, pg://key-1234@db, en_GB.UTF-8\n";
        let words = LastWords::of(said.as_bytes(), secrets(&variables));
        assert_eq!(
            words.end().await,
            format!("; it said: cannot go on with {REDACTED}, {REDACTED}, en_GB.UTF-8")
        );
    }
}
