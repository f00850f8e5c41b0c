//! The offline backend: no model, but memory and tools.

mod answer;
mod command;
mod forget;
mod hint;
mod language;
mod order;
mod small_talk;

use std::io;

use openclaw_tools::{Registry, ToolCall};
use openclaw_turn::{HostTool, Passage, StopReason, TurnRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::done::Done;
use crate::emitter::Emitter;
use crate::failure::{TurnError, chain};
use crate::host;
use crate::socket::TurnSocket;
use command::Command;
use language::Language;
use small_talk::SmallTalk;

/// What `done` names as the model.
const MODEL: &str = "offline";
/// The tool that runs commands.
const SHELL: &str = "execute_shell";

/// Answers the message of `request`.
pub(crate) async fn run(
    request: &TurnRequest,
    registry: &Registry,
    socket: &TurnSocket,
    out: &Emitter,
) -> Result<Done, TurnError> {
    // As the commands are.
    let english = Language::English;
    // A job's text is said to the agent at each of its runs, and would be kept each time.
    let is_said = !request.is_unsaid;
    let kept = || order::kept(&request.text).filter(|_| is_said);
    let said = || kept().map(Command::Remember);
    match Command::parse(&request.text).or_else(said) {
        None => answered(request, registry, out)?,
        Some(Command::Remember(text)) => {
            let answer = ask(socket, HostTool::MemoryWrite.name(), json!({"text": text})).await;
            out.text(&remembered(&answer, Language::of([text])))?;
        }
        Some(Command::Search(query)) => {
            let answer = ask(
                socket,
                HostTool::MemorySearch.name(),
                json!({"query": query}),
            )
            .await;
            out.text(&found(query, answer))?;
        }
        Some(Command::Forget(what)) => {
            let text = match forget::place(what) {
                Some(place) => forget::lines(&place, request, registry, out).await?,
                None => {
                    let query = json!({"query": what, "corpus": "memory"});
                    let answer = ask(socket, HostTool::MemorySearch.name(), query).await;
                    forget::offered(what, answer)
                }
            };
            out.text(&text)?;
        }
        Some(Command::Notes) => out.text(&listed(socket, "memory").await)?,
        Some(Command::Sessions) => out.text(&listed(socket, "sessions").await)?,
        Some(Command::Status) => out.text(&plain(ask(socket, "status", json!({})).await))?,
        Some(Command::Run(command)) => shell(command, request, registry, out).await?,
        Some(Command::Help) => {
            let hint = hint::whole(&request.hint, english);
            out.text(&command::help(&hint, runs_commands(registry)))?;
        }
        Some(Command::Incomplete(usage)) => out.text(&format!("Usage: {usage}\n"))?,
        Some(Command::Unknown(name)) => out.text(&command::unknown(
            name,
            &hint::whole(&request.hint, english),
            runs_commands(registry),
        ))?,
    }
    Ok(Done {
        stop_reason: StopReason::Stop,
        model: MODEL.to_owned(),
    })
}

/// The answer to what is not a command: to small talk, or out of memory.
fn answered(request: &TurnRequest, registry: &Registry, out: &Emitter) -> io::Result<()> {
    match SmallTalk::of(&request.text, !request.hits.is_empty()) {
        Some(said) => {
            let runs_commands = runs_commands(registry);
            out.text(&small_talk::reply(said, &request.hint, runs_commands))
        }
        None => answer::answer(&request.text, &request.hits, &request.hint, out),
    }
}

/// Whether the sandbox and the policy let commands run.
fn runs_commands(registry: &Registry) -> bool {
    registry.list().any(|tool| tool.name == SHELL)
}

async fn ask(socket: &TurnSocket, tool: &str, arguments: Value) -> Result<String, String> {
    match socket.tool(tool, &arguments).await {
        Ok(answer) => host::result(answer).map_err(|error| error.message),
        Err(error) => Err(chain(&error)),
    }
}

/// What there is in a place of memory.
async fn listed(socket: &TurnSocket, place: &str) -> String {
    #[derive(Deserialize)]
    struct Listed {
        text: String,
    }
    let answer = ask(socket, HostTool::MemoryGet.name(), json!({"path": place})).await;
    let listed = answer.and_then(|answer| {
        let listed: Result<Listed, _> = serde_json::from_str(&answer);
        listed.map_err(|error| error.to_string())
    });
    match listed {
        Ok(listed) if listed.text.is_empty() => "There is nothing yet.\n".to_owned(),
        Ok(listed) => command::fenced(&listed.text),
        Err(message) => plain(Err(message)),
    }
}

/// Where a note went, as the host says it.
#[derive(Deserialize)]
struct Noted {
    path: String,
    line: u32,
}

fn remembered(answer: &Result<String, String>, language: Language) -> String {
    let answer = match answer {
        Ok(answer) => answer,
        Err(message) => return format!("I could not note that: {message}\n"),
    };
    match serde_json::from_str::<Noted>(answer) {
        Ok(noted) => language.noted(&format!("{}:{}", noted.path, noted.line)),
        // A later host that says it otherwise.
        Err(_) => format!("{}\n", answer.trim()),
    }
}

/// What a search found, as the host says it.
#[derive(Deserialize)]
pub(super) struct SearchAnswer {
    results: Vec<Passage>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

fn found(query: &str, answer: Result<String, String>) -> String {
    let found = match &answer {
        Ok(output) => serde_json::from_str::<SearchAnswer>(output),
        Err(_) => return plain(answer),
    };
    let Ok(found) = found else {
        return plain(answer);
    };
    if let Some(error) = found.error {
        return plain(Err(error));
    }
    let mut text: String = found.results.iter().map(answer::passage).collect();
    if text.is_empty() {
        text = format!("Nothing found for \"{query}\".\n");
    }
    for warning in found.warnings {
        text.push_str(&format!("({warning})\n"));
    }
    text
}

fn plain(answer: Result<String, String>) -> String {
    match answer {
        Ok(output) => format!("{}\n", output.trim_end()),
        Err(message) => format!("That did not work: {message}\n"),
    }
}

/// The same tool, policy, checks and events as when a model calls it.
async fn shell(
    command: &str,
    request: &TurnRequest,
    registry: &Registry,
    out: &Emitter,
) -> Result<(), TurnError> {
    let call = ToolCall {
        id: format!("call_{}", request.run_id),
        name: SHELL.to_owned(),
        arguments: json!({"command": command}),
    };
    out.tool_call(&call)?;
    let result = registry.execute(call).await;
    out.tool_result(&result)?;
    out.text(&command::fenced(&result.to_text()))?;
    Ok(())
}
