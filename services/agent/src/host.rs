//! Tools that run in the runner, not here: they need what the sandbox keeps away.

use openclaw_tools::{FailureKind, HandlerError, ToolDefinition};
use serde::Deserialize;
use serde_json::json;

use crate::images::Image;

/// Searches what is remembered.
pub(crate) const MEMORY_SEARCH: &str = "memory_search";
/// Appends to the day's note.
pub(crate) const MEMORY_WRITE: &str = "memory_write";
/// Reads lines of what is remembered.
const MEMORY_GET: &str = "memory_get";
/// Says which backend, agent and session this is.
const SESSION_STATUS: &str = "session_status";

/// Asks whether a call may run; no tool of a model's.
pub(crate) const APPROVAL: &str = "approval";
/// Asks which tools there are; no tool of a model's.
pub(crate) const OFFER: &str = "offer";

/// What models are told about the tools, with OpenClaw's names and parameters.
pub(crate) fn tools() -> [ToolDefinition; 4] {
    [
        memory_search(),
        memory_get(),
        memory_write(),
        session_status(),
    ]
}

/// The host tool `name`, if there is one that models may call.
pub(crate) fn tool(name: &str) -> Option<ToolDefinition> {
    tools().into_iter().find(|tool| tool.name == name)
}

/// Whether a host tool changes nothing.
pub(crate) fn only_reads(name: &str) -> bool {
    [MEMORY_SEARCH, MEMORY_GET, SESSION_STATUS].contains(&name)
}

fn memory_search() -> ToolDefinition {
    ToolDefinition::new(
        MEMORY_SEARCH,
        "Search the user's memory: MEMORY.md, USER.md, notes and past conversations. Use it \
         before saying that you do not know something about the user or earlier work. Returns \
         passages with path, lines, score and time.",
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "maxResults": {"type": "integer", "minimum": 1, "maximum": 50},
                "minScore": {"type": "number", "minimum": 0, "maximum": 1},
                "corpus": {"type": "string", "enum": ["memory", "sessions", "all", "wiki"]}
            },
            "required": ["query"],
            "additionalProperties": false
        }),
    )
}

fn memory_get() -> ToolDefinition {
    ToolDefinition::new(
        MEMORY_GET,
        "Read lines of a memory file or a past conversation that memory_search named.",
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1},
                "from": {"type": "integer", "minimum": 1},
                "lines": {"type": "integer", "minimum": 1},
                "corpus": {"type": "string", "enum": ["memory", "sessions", "all", "wiki"]}
            },
            "required": ["path"],
            "additionalProperties": false
        }),
    )
}

fn memory_write() -> ToolDefinition {
    ToolDefinition::new(
        MEMORY_WRITE,
        "Note a fact, decision or preference in today's memory file, in words that make sense \
         by themselves.",
        json!({
            "type": "object",
            "properties": {"text": {"type": "string", "minLength": 1}},
            "required": ["text"],
            "additionalProperties": false
        }),
    )
}

fn session_status() -> ToolDefinition {
    ToolDefinition::new(
        SESSION_STATUS,
        "Which backend, agent and session this is.",
        json!({"type": "object", "additionalProperties": false}),
    )
}

/// The runner's answer to a host tool call.
#[derive(Debug, Deserialize)]
pub(crate) struct HostAnswer {
    ok: bool,
    #[serde(default)]
    output: String,
    /// Pictures that came with it.
    #[serde(default)]
    pub(crate) images: Vec<Image>,
    #[serde(default)]
    error: Option<HostFailure>,
}

#[derive(Debug, Deserialize)]
struct HostFailure {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

/// The kind of failure when the runner itself cannot be reached.
pub(crate) fn unreachable(message: String) -> HandlerError {
    HandlerError::new(FailureKind::custom("unavailable"), message)
}

impl HostAnswer {
    pub(crate) fn into_result(self) -> Result<String, HandlerError> {
        match (self.ok, self.error) {
            (true, _) => Ok(self.output),
            (false, Some(failure)) => {
                let kind = FailureKind::custom(failure.kind);
                Err(HandlerError::new(kind, failure.message).with_output(self.output))
            }
            (false, None) => Err(unreachable("the runner gave no reason".to_owned())),
        }
    }
}
