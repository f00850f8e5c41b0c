//! Tools that run in the runner, not here: they need what the sandbox keeps away.

use openclaw_tools::{FailureKind, HandlerError, ToolDefinition};
use serde::Deserialize;
use serde_json::json;

/// The search tool, the one host tool models may call.
pub(crate) const MEMORY_SEARCH: &str = "memory_search";

/// What models are told about `memory_search`.
pub(crate) fn memory_search() -> ToolDefinition {
    ToolDefinition::new(
        MEMORY_SEARCH,
        "Search the user's notes and memory files. Returns passages with file and lines.",
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20}
            },
            "required": ["query"],
            "additionalProperties": false
        }),
    )
}

/// The runner's answer to a host tool call.
#[derive(Debug, Deserialize)]
pub(crate) struct HostAnswer {
    ok: bool,
    #[serde(default)]
    output: String,
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
