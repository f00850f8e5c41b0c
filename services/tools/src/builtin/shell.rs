//! `execute_shell`.

mod capture;
mod group;
mod report;

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout, timeout_at};

use super::Workspace;
use super::failure::{io_failure, wrong_type};
use crate::{FailureKind, HandlerError};
use capture::{Capture, pump};
use group::ProcessGroup;
use report::{End, Report};

/// Without a word from the model.
const DEFAULT_TIMEOUT_SECONDS: u64 = 120;

/// The most a model may ask for; a turn has a limit of its own above it.
const MAX_TIMEOUT_SECONDS: u64 = 600;

/// How long output is still read after the shell itself is gone: a process it
/// left in the background may hold the pipes open for good.
const DRAIN_GRACE: Duration = Duration::from_millis(200);

pub(super) const DESCRIPTION: &str = "Run a shell command in the workspace. Returns exit code, stdout and stderr. No terminal, no input.";

pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1},
            "timeout_seconds": {
                "type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_SECONDS,
                "description": format!("Default {DEFAULT_TIMEOUT_SECONDS}")
            },
            "workdir": {"type": "string", "minLength": 1}
        },
        "required": ["command"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    command: String,
    timeout_seconds: Option<u64>,
    workdir: Option<String>,
}

/// Runs the command. A non-zero exit code is a result like any other; only a
/// command that could not start or did not end in time is a failure.
pub(super) async fn run(
    workspace: &Workspace,
    arguments: Arguments,
) -> Result<String, HandlerError> {
    let seconds = arguments.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS);
    let workdir = workdir(workspace, arguments.workdir.as_deref())?;
    let child = start(&arguments.command, &workdir)
        .map_err(|error| io_failure(workspace, "run a shell in", &workdir, &error))?;
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let report = follow(child, deadline).await.map_err(|error| {
        HandlerError::new(
            FailureKind::IO,
            format!("cannot wait for the shell: {error}"),
        )
    })?;
    match report.end {
        End::Status(_) => Ok(report.to_string()),
        End::TimedOut => Err(HandlerError::new(
            FailureKind::TIMEOUT,
            format!("the command did not end within {seconds} s and was killed, with everything it had started"),
        )
        .with_output(report.to_string())),
    }
}

fn workdir(workspace: &Workspace, path: Option<&str>) -> Result<PathBuf, HandlerError> {
    let workdir = workspace.resolve(path.unwrap_or("."));
    match std::fs::metadata(&workdir) {
        Ok(metadata) if metadata.is_dir() => Ok(workdir),
        Ok(_) => Err(wrong_type("run a shell in", &workdir, "it is not a folder")),
        Err(error) => Err(io_failure(workspace, "run a shell in", &workdir, &error)),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tools run inside the sandbox already, and their children inherit it"
)]
fn start(command: &str, workdir: &Path) -> std::io::Result<Child> {
    let mut shell = Command::new(shell());
    for (name, _) in std::env::vars_os() {
        if is_credential(&name.to_string_lossy()) {
            shell.env_remove(name);
        }
    }
    shell
        .arg("-c")
        .arg(command)
        .current_dir(workdir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Another agent's CLI has its model's key in its environment, which an MCP
/// server inherits; what a model has run is not to have it.
fn is_credential(name: &str) -> bool {
    ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// bash where there is one: models write bash.
fn shell() -> &'static str {
    ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| Path::new(path).exists())
        .unwrap_or("/bin/sh")
}

/// Collects output until the shell ends or `deadline`. Processes it left in
/// the background live on until the turn ends; their output is no longer read.
async fn follow(mut child: Child, deadline: Instant) -> std::io::Result<Report> {
    let group = ProcessGroup::of(&child);
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (Capture::default(), Capture::default());
    let (end, held_open) = {
        let mut pumps = pin!(async {
            tokio::join!(pump(out, &mut stdout), pump(err, &mut stderr));
        });
        let mut drained = false;
        let in_time = timeout_at(deadline, async {
            tokio::select! {
                status = child.wait() => status,
                () = &mut pumps => { drained = true; child.wait().await }
            }
        })
        .await;
        let end = match in_time {
            Ok(status) => End::Status(status?),
            Err(_) => {
                group.kill();
                child.wait().await?;
                End::TimedOut
            }
        };
        let held_open = !drained && timeout(DRAIN_GRACE, pumps).await.is_err();
        (end, held_open)
    };
    group.release();
    Ok(Report {
        end,
        stdout,
        stderr,
        held_open,
    })
}
