//! `process`: commands that run in the background.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::Workspace;
use super::background::{Session, State};
use super::lines::Limits;
use crate::alias::Renames;
use crate::call::FailureKind;
use crate::handler::HandlerError;

/// Lines of one answer of `log`.
const MAX_LINES: u64 = 2000;

/// Bytes of one answer of `log`.
const MAX_BYTES: usize = 64 * 1024;

/// Bytes read for counting the lines behind the window.
const MAX_SCAN_BYTES: u64 = 64 * 1024 * 1024;

/// The longest that one poll waits for news: less than a turn may be silent
/// (`agents.defaults.noOutputSeconds`, ten minutes), which would end both.
const MAX_POLL: Duration = Duration::from_secs(540);

/// A poll that waited so long in vain says so: it is no question asked again
/// and again, but waiting.
const WAITED: Duration = Duration::from_secs(1);

/// Bytes of one write.
const MAX_DATA_BYTES: usize = 1024 * 1024;

/// Characters of a command in the list.
const SHOWN_COMMAND: usize = 200;

pub(super) const DESCRIPTION: &str = "Commands in the background: list; poll (new output, waits for it up to timeout ms, at most 540000); log (lines from offset); write (data to its input, eof closes it); kill; remove.";

pub(super) const RENAMES: Renames = &[("session_id", "sessionId"), ("id", "sessionId")];

pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": {"enum": ["list", "poll", "log", "write", "kill", "remove"]},
            "sessionId": {"type": "string"},
            "data": {"type": "string"},
            "eof": {"type": "boolean"},
            "offset": {"type": "integer", "minimum": 1},
            "limit": {"type": "integer", "minimum": 1},
            "timeout": {"type": "integer", "minimum": 0}
        },
        "required": ["action"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Poll,
    Log,
    Write,
    Kill,
    Remove,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arguments {
    action: Action,
    session_id: Option<String>,
    #[serde(default)]
    data: String,
    #[serde(default)]
    eof: bool,
    offset: Option<u64>,
    limit: Option<u64>,
    timeout: Option<u64>,
}

pub(super) async fn run(
    workspace: &Workspace,
    arguments: Arguments,
) -> Result<String, HandlerError> {
    let processes = workspace.processes();
    if matches!(arguments.action, Action::List) {
        return Ok(list(&processes.all()));
    }
    let id = arguments.session_id.as_deref().ok_or_else(|| {
        HandlerError::new(
            FailureKind::INVALID_ARGUMENTS,
            "the arguments do not match the schema: at /: \"sessionId\" is needed for this action",
        )
    })?;
    let session = processes.find(id)?;
    match arguments.action {
        Action::List | Action::Poll => {
            let patience = Duration::from_millis(arguments.timeout.unwrap_or_default());
            let begun = Instant::now();
            session.wait_for_news(patience.min(MAX_POLL)).await;
            Ok(polled(&session, begun.elapsed()))
        }
        Action::Log => log(&session, &arguments),
        Action::Write => write(&session, &arguments).await,
        Action::Kill => {
            session.kill().await;
            Ok(polled(&session, Duration::ZERO))
        }
        Action::Remove => {
            session.kill().await;
            processes.remove(id);
            Ok(format!("removed {id}\n"))
        }
    }
}

fn list(sessions: &[std::sync::Arc<Session>]) -> String {
    if sessions.is_empty() {
        return "no command runs in the background\n".to_owned();
    }
    let line = |session: &std::sync::Arc<Session>| {
        let command: String = session.command().chars().take(SHOWN_COMMAND).collect();
        format!(
            "{} {} {} s, {} bytes of output: {}\n",
            session.id(),
            state(session),
            session.age().as_secs(),
            session.said(),
            command.replace('\n', " ")
        )
    };
    sessions.iter().map(line).collect()
}

fn state(session: &Session) -> String {
    match session.state() {
        State::Running => format!("running (pid {})", session.pid()),
        State::Ended(end) => format!("ended with exit code {end}"),
    }
}

/// What it said since the last time, and whether it runs. Where something
/// happened, or was waited for, this is not what the last poll said.
fn polled(session: &Session, waited: Duration) -> String {
    let news = session.news();
    let output = if !news.is_empty() {
        news.section("new output")
    } else if waited >= WAITED {
        format!(
            "no new output in {} s; it has been there for {} s\n",
            waited.as_secs(),
            session.age().as_secs()
        )
    } else {
        "no new output\n".to_owned()
    };
    let said = session.said();
    format!(
        "{} {}, {said} bytes of output so far\n{output}",
        session.id(),
        state(session)
    )
}

/// Whether such a call does something to a command, or to the list.
pub(super) fn changes(arguments: &Value) -> bool {
    let looks = ["list", "poll", "log"];
    !arguments["action"]
        .as_str()
        .is_some_and(|action| looks.contains(&action))
}

fn log(session: &Session, arguments: &Arguments) -> Result<String, HandlerError> {
    let first = arguments.offset.unwrap_or(1);
    let limits = Limits {
        skip: first - 1,
        lines: arguments.limit.unwrap_or(MAX_LINES).min(MAX_LINES),
        bytes: MAX_BYTES,
        scan: MAX_SCAN_BYTES,
    };
    let window = session.lines(limits).map_err(|error| {
        HandlerError::new(FailureKind::IO, format!("cannot read its output: {error}"))
    })?;
    let mut text = format!("{} {}\n", session.id(), state(session));
    text.push_str(&String::from_utf8_lossy(&window.text));
    if window.lines_after > 0 {
        let next = first + window.lines;
        text.push_str(&format!(
            "\n[{} more lines; use offset {next}]\n",
            window.lines_after
        ));
    }
    Ok(text)
}

async fn write(session: &Session, arguments: &Arguments) -> Result<String, HandlerError> {
    if arguments.data.len() > MAX_DATA_BYTES {
        return Err(HandlerError::new(
            FailureKind::TOO_LARGE,
            format!("at most {MAX_DATA_BYTES} bytes can be written at once"),
        ));
    }
    if !session.is_running() {
        return Err(HandlerError::new(
            FailureKind::NOT_FOUND,
            format!("{} {}: nobody reads", session.id(), state(session)),
        ));
    }
    let written = session.write(&arguments.data, arguments.eof).await;
    written.map_err(|error| {
        HandlerError::new(
            FailureKind::IO,
            format!("cannot write to {}: {error}", session.id()),
        )
    })?;
    Ok(format!("wrote {} bytes\n", arguments.data.len()))
}
