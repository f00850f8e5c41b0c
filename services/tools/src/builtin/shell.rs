//! `execute_shell`, OpenClaw's `exec`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Workspace;
use super::background::{Launch, Session, StartError, State};
use super::command::{CommandLine, End, Live, Streams, Variables, check, follow, start};
use super::failure::{io_failure, wrong_type};
use super::workspace::PATIENCE;
use crate::alias::Renames;
use crate::call::FailureKind;
use crate::handler::{Context, HandlerError};

/// The most a model may ask for, as long as a turn; a turn has a limit of its
/// own above it.
const MAX_TIMEOUT_SECONDS: u64 = 1800;

/// The most a call may wait before it goes into the background.
const MAX_YIELD_MS: u64 = MAX_TIMEOUT_SECONDS * 1000;

pub(super) const DESCRIPTION: &str = "Run a command in the workspace: a shell line, or a list of words. Returns exit code, stdout and stderr. No input. background or yield_ms leave it running for the process tool.";

pub(super) const RENAMES: Renames = &[
    ("timeoutSeconds", "timeout_seconds"),
    ("timeoutSec", "timeout_seconds"),
    ("timeout", "timeout_seconds"),
    ("yieldMs", "yield_ms"),
    ("cwd", "workdir"),
];

pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {
                "type": ["string", "array"], "minLength": 1,
                "items": {"type": "string"}, "minItems": 1
            },
            "workdir": {"type": "string", "minLength": 1},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "timeout_seconds": {
                "type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_SECONDS,
                "description": format!("Default {}, unless configured", PATIENCE.as_secs())
            },
            "background": {"type": "boolean"},
            "yield_ms": {"type": "integer", "minimum": 0, "maximum": MAX_YIELD_MS},
            "pty": {"type": "boolean", "description": "On a terminal"}
        },
        "required": ["command"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    command: CommandLine,
    timeout_seconds: Option<u64>,
    workdir: Option<String>,
    #[serde(default)]
    env: Variables,
    #[serde(default)]
    background: bool,
    yield_ms: Option<u64>,
    #[serde(default)]
    pty: bool,
}

/// Runs the command. A non-zero exit code is a result like any other; only a
/// command that could not start or did not end in time is a failure.
pub(super) async fn run(
    workspace: &Workspace,
    context: Context,
    arguments: Arguments,
) -> Result<String, HandlerError> {
    check(&arguments.env)?;
    let workdir = workdir(workspace, arguments.workdir.as_deref())?;
    let limit = arguments.timeout_seconds.map(Duration::from_secs);
    let most = Duration::from_secs(MAX_TIMEOUT_SECONDS);
    let default = workspace.patience().min(most);
    if arguments.background || arguments.yield_ms.is_some() || arguments.pty {
        let patience = match (arguments.background, arguments.yield_ms) {
            (true, None) => Some(Duration::ZERO),
            (_, Some(ms)) => Some(Duration::from_millis(ms)),
            (false, None) => None,
        };
        let launch = Launch {
            command: arguments.command,
            workdir,
            variables: arguments.env,
            terminal: arguments.pty,
            // Whoever waits to the end waits as long as for any command.
            limit: limit.or(patience.is_none().then_some(default)),
        };
        return run_as_session(workspace, launch, patience).await;
    }
    let limit = limit.unwrap_or(default);
    let streams = Streams::captured();
    let child = start(&arguments.command, &workdir, &arguments.env, streams)
        .map_err(|error| not_started(workspace, &arguments.command, &workdir, &error))?;
    let live = Live::new(context);
    let report = follow(child, Instant::now() + limit, &live).await;
    let report = report.map_err(|error| {
        HandlerError::new(
            FailureKind::IO,
            format!("cannot wait for the command: {error}"),
        )
    })?;
    match report.end {
        End::Status(_) => Ok(report.to_string()),
        End::TimedOut => Err(timed_out(limit).with_output(report.to_string())),
    }
}

/// Starts a command and waits `patience` for its end; `None`: as long as it
/// takes. What has not ended by then runs on.
async fn run_as_session(
    workspace: &Workspace,
    launch: Launch,
    patience: Option<Duration>,
) -> Result<String, HandlerError> {
    let processes = workspace.processes();
    let number = processes.reserve()?;
    let limit = launch.limit;
    let session = Session::start(format!("p{number}"), &launch).map_err(|error| {
        if let StartError::Terminal(error) = &error {
            let message = format!("there is no terminal to be had here ({error}); try without pty");
            return HandlerError::new(FailureKind::custom("unavailable"), message);
        }
        let error = error.into_io();
        not_started(workspace, &launch.command, &launch.workdir, &error)
    })?;
    let session = Arc::new(session);
    match patience {
        Some(patience) => session.wait(patience).await,
        None => session.ended().await,
    }
    match session.state() {
        State::Running => {
            processes.add(number, Arc::clone(&session));
            Ok(started(&session))
        }
        State::Ended(end) => {
            let report = format!("exit code: {end}\n{}", session.news().section("output"));
            match (end, limit) {
                (End::TimedOut, Some(limit)) => Err(timed_out(limit).with_output(report)),
                _ => Ok(report),
            }
        }
    }
}

fn started(session: &Session) -> String {
    format!(
        "running in the background as {} (pid {}); it ends with this turn at the latest. Use \
         process with action poll, log, write or kill.\n{}",
        session.id(),
        session.pid(),
        session.news().section("output so far")
    )
}

fn timed_out(limit: Duration) -> HandlerError {
    HandlerError::new(
        FailureKind::TIMEOUT,
        format!(
            "the command did not end within {} s and was killed, with everything it had started",
            limit.as_secs()
        ),
    )
}

/// Why a command did not start: a program of that name is not there, or the
/// folder cannot be entered.
fn not_started(
    workspace: &Workspace,
    command: &CommandLine,
    workdir: &std::path::Path,
    error: &std::io::Error,
) -> HandlerError {
    match command {
        CommandLine::Words(words) if error.kind() == std::io::ErrorKind::NotFound => {
            HandlerError::new(
                FailureKind::NOT_FOUND,
                format!(
                    "there is no program {:?}",
                    words.first().map_or("", String::as_str)
                ),
            )
        }
        _ => io_failure(workspace, "run a command in", workdir, error),
    }
}

fn workdir(workspace: &Workspace, path: Option<&str>) -> Result<PathBuf, HandlerError> {
    let workdir = workspace.resolve(path.unwrap_or("."));
    match std::fs::metadata(&workdir) {
        Ok(metadata) if metadata.is_dir() => Ok(workdir),
        Ok(_) => Err(wrong_type(
            "run a command in",
            &workdir,
            "it is not a folder",
        )),
        Err(error) => Err(io_failure(workspace, "run a command in", &workdir, &error)),
    }
}
