//! `turns show|attach`: one of them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_proto::call::RefusalCode;
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::Turn;
use openclaw_terminal::output::{self, Pieces};
use openclaw_terminal::{Failure, table, words};
use std::time::Duration;
use tokio_stream::StreamExt as _;

use crate::cancel::meant;
use crate::cli::turns::One;
use openclaw_connection::Gateway;

/// As many as the gateway lists at most.
const LOOKED_AT: u32 = 1000;
/// Runs that are named where a beginning is not enough.
const NAMED: usize = 5;
/// Characters of a tool's arguments.
const ARGUMENTS: usize = 80;

/// Prints all that is known of it.
pub(super) async fn show(gateway: &Gateway, arguments: &One) -> Result<(), Failure> {
    let turn = find(gateway, &arguments.run_id).await?;
    if arguments.json {
        return output::document(&turn);
    }
    table::print_pairs(&rows(&turn))
}

/// The one turn whose id begins with `text`.
async fn find(gateway: &Gateway, text: &str) -> Result<Turn, Failure> {
    let turns = gateway.client.list_turns(LOOKED_AT).await;
    let turns = turns.map_err(|error| gateway.failure(&error))?;
    match meant(&turns, text).as_slice() {
        [only] => Ok((*only).clone()),
        [] => {
            let failure = Failure::new(format!("there is no run {text}"));
            let known = turns.iter().map(|turn| turn.run_id.as_str());
            Err(failure.near(text, known, "openclawctl turns lists them"))
        }
        several => {
            let count = several.len();
            let described = |turn: &&&Turn| {
                let (at, session) = (local(turn.created_ms), &turn.session_key);
                format!("\n  {} {at} in {session}", turn.run_id)
            };
            let named: String = several
                .iter()
                .take(NAMED)
                .map(|it| described(&it))
                .collect();
            Err(Failure::usage(format!(
                "{text} may mean {count} runs, the latest:{named}"
            )))
        }
    }
}

fn rows(turn: &Turn) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            rows.push(vec![name.to_owned(), value]);
        }
    };
    add("run", turn.run_id.clone());
    add("state", turn.state.clone());
    add("session", turn.session_key.clone());
    add("agent", turn.agent_id.clone());
    add("channel", turn.channel.clone());
    add("started", local(turn.created_ms));
    if let Some(ended) = turn.ended_ms {
        let took = u64::try_from(ended - turn.created_ms).unwrap_or_default();
        let took = words::elapsed(Duration::from_millis(took));
        add("ended", format!("{}, after {took}", local(ended)));
    }
    add("backend", turn.backend.clone());
    add("model", turn.model.clone());
    if turn.input_tokens + turn.output_tokens > 0 {
        add(
            "tokens",
            format!("{} in, {} out", turn.input_tokens, turn.output_tokens),
        );
    }
    add(
        "cost",
        turn.cost_usd
            .map_or_else(String::new, |it| format!("${it:.4}")),
    );
    if let Some(used) = &turn.resources {
        add(
            "processor",
            words::elapsed(Duration::from_millis(used.cpu_ms)),
        );
        if used.memory_peak_bytes > 0 {
            add("memory", words::bytes(used.memory_peak_bytes));
        }
        if used.tasks_peak > 0 {
            add("tasks", used.tasks_peak.to_string());
        }
        add("unit", used.unit.clone());
    }
    add("reason", turn.reason.clone());
    add("log", format!("openclawctl logs --run {}", turn.run_id));
    rows
}

fn local(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    at.to_zoned(TimeZone::system())
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
}

/// Prints what it says, from its beginning until it ends; whether it ended well.
pub(super) async fn attach(gateway: &Gateway, arguments: &One) -> Result<bool, Failure> {
    let run_id = match uuid::Uuid::try_parse(&arguments.run_id) {
        Ok(_) => arguments.run_id.clone(),
        Err(_) => find(gateway, &arguments.run_id).await?.run_id,
    };
    let failure = |error: &openclaw_proto::call::CallError| match error.code() {
        Some(RefusalCode::NotFound) => {
            Failure::new(format!("there is no run {run_id}")).hint("openclawctl turns lists them")
        }
        _ => gateway.failure(error),
    };
    let events = gateway.client.attach(&run_id, 1).await;
    let mut events = std::pin::pin!(events.map_err(|error| failure(&error))?);
    let (mut pieces, mut is_line_open) = (Pieces::for_stdout(), false);
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| failure(&error))?;
        if arguments.json {
            let line = serde_json::to_string(&event).unwrap_or_default();
            output::json_line(&line)?;
        } else {
            print(&event, &mut pieces, &mut is_line_open)?;
        }
        if event.kind.is_terminal() {
            return Ok(matches!(event.kind, Kind::Done(_)));
        }
    }
    Ok(false)
}

fn print(event: &Event, pieces: &mut Pieces, is_line_open: &mut bool) -> Result<(), Failure> {
    let said = match &event.kind {
        Kind::TextDelta { text } => {
            *is_line_open = !text.ends_with('\n');
            return pieces.stdout(text);
        }
        Kind::ToolCall {
            name, arguments, ..
        } => {
            format!(
                "· {name} {}",
                output::one_line(&arguments.to_string(), ARGUMENTS)
            )
        }
        Kind::Note { text } => text.clone(),
        Kind::Failed(failed) => format!("failed: {}", failed.message),
        Kind::Aborted { reason, .. } => format!("aborted: {reason}"),
        Kind::Done(_) => String::new(),
        _ => return Ok(()),
    };
    pieces.end()?;
    if std::mem::take(is_line_open) {
        output::stdout("\n")?;
    }
    if !said.is_empty() {
        output::stderr_faint_line(&said);
    }
    Ok(())
}
