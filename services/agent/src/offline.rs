//! The offline backend: no model, but memory and tools.

mod answer;
mod command;

use openclaw_tools::{Registry, ToolCall};
use serde_json::{Value, json};

use crate::event::{Emitter, StopReason};
use crate::failure::TurnError;
use crate::host;
use crate::request::TurnRequest;
use crate::socket::TurnSocket;
use crate::turn::{self, Done};
use command::Command;

/// What `done` names as the model.
const MODEL: &str = "offline";

/// Answers the message of `request`.
pub(crate) async fn run(
    request: &TurnRequest,
    registry: &Registry,
    socket: &TurnSocket,
    out: &Emitter,
) -> Result<Done, TurnError> {
    match Command::parse(&request.text) {
        None => answer::passages(&request.hits, &request.hint, out)?,
        Some(Command::Remember(text)) => {
            let answer = ask(socket, "memory_remember", json!({"text": text})).await;
            out.text(&remembered(&answer))?;
        }
        Some(Command::Search(query)) => {
            let answer = ask(socket, host::MEMORY_SEARCH, json!({"query": query})).await;
            out.text(&found(query, answer))?;
        }
        Some(Command::Status) => out.text(&plain(ask(socket, "status", json!({})).await))?,
        Some(Command::Run(command)) => shell(command, request, registry, out).await?,
        Some(Command::Help) => out.text(&command::help(&request.hint))?,
        Some(Command::Incomplete(usage)) => out.text(&format!("Usage: {usage}\n"))?,
        Some(Command::Unknown(name)) => out.text(&command::unknown(name, &request.hint))?,
    }
    Ok(Done {
        stop_reason: StopReason::Stop,
        model: MODEL.to_owned(),
    })
}

async fn ask(socket: &TurnSocket, tool: &str, arguments: Value) -> Result<String, String> {
    match socket.tool(tool, &arguments).await {
        Ok(answer) => answer.into_result().map_err(|error| error.message),
        Err(error) => Err(turn::chain(&error)),
    }
}

/// The host answers `file:line`, or a sentence of its own.
fn remembered(answer: &Result<String, String>) -> String {
    match answer {
        Ok(place) if !place.trim().is_empty() && !place.trim().contains(char::is_whitespace) => {
            format!("Noted in {}.\n", place.trim())
        }
        Ok(sentence) => format!("{}\n", sentence.trim()),
        Err(message) => format!("I could not note that: {message}\n"),
    }
}

fn found(query: &str, answer: Result<String, String>) -> String {
    match answer {
        Ok(output) if output.trim().is_empty() => format!("Nothing found for \"{query}\".\n"),
        other => plain(other),
    }
}

fn plain(answer: Result<String, String>) -> String {
    match answer {
        Ok(output) => format!("{}\n", output.trim_end()),
        Err(message) => format!("That did not work: {message}\n"),
    }
}

/// The same tool, checks and events as when a model calls it.
async fn shell(
    command: &str,
    request: &TurnRequest,
    registry: &Registry,
    out: &Emitter,
) -> Result<(), TurnError> {
    let call = ToolCall {
        id: format!("call_{}", request.run_id),
        name: "execute_shell".to_owned(),
        arguments: json!({"command": command}),
    };
    out.tool_call(&call)?;
    let result = registry.execute(call).await;
    out.tool_result(&result)?;
    out.text(&command::fenced(&result.to_text()))?;
    Ok(())
}
