//! Tools that run in the runner, not in the sandbox: they need what the sandbox
//! keeps away.

use openclaw_tools::ToolDefinition;
use serde_json::json;

/// Asks whether a call may run, with an
/// [`ApprovalQuestion`](crate::ApprovalQuestion); no tool of a model's.
pub const APPROVAL: &str = "approval";

/// Asks which tools there are, with an [`OfferQuestion`](crate::OfferQuestion); no
/// tool of a model's.
pub const OFFER: &str = "offer";

/// A host tool that models may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostTool {
    /// Searches what is remembered.
    MemorySearch,
    /// Reads lines of what is remembered.
    MemoryGet,
    /// Appends to the day's note.
    MemoryWrite,
    /// Makes and looks after jobs of the schedule.
    Cron,
    /// Says something later.
    Remind,
    /// Says which backend, agent and session this is.
    SessionStatus,
}

impl HostTool {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::MemorySearch,
        Self::MemoryGet,
        Self::MemoryWrite,
        Self::Cron,
        Self::Remind,
        Self::SessionStatus,
    ];

    /// The name by which it is called, OpenClaw's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MemorySearch => "memory_search",
            Self::MemoryGet => "memory_get",
            Self::MemoryWrite => "memory_write",
            Self::Cron => "cron",
            Self::Remind => "remind",
            Self::SessionStatus => "session_status",
        }
    }

    /// The tool that is called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What models are told about it, with OpenClaw's parameters.
    #[must_use]
    pub fn definition(self) -> ToolDefinition {
        match self {
            Self::MemorySearch => memory_search(),
            Self::MemoryGet => memory_get(),
            Self::MemoryWrite => memory_write(),
            Self::Cron => cron(),
            Self::Remind => remind(),
            Self::SessionStatus => session_status(),
        }
    }

    /// Whether it changes nothing.
    #[must_use]
    pub fn only_reads(self) -> bool {
        matches!(
            self,
            Self::MemorySearch | Self::MemoryGet | Self::SessionStatus
        )
    }
}

fn memory_search() -> ToolDefinition {
    ToolDefinition::new(
        HostTool::MemorySearch.name(),
        "Search the user's memory: MEMORY.md, USER.md, notes and past conversations. Use it \
         before saying that you do not know something about the user or earlier work. Returns \
         passages with path, lines, score and time.",
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "queries": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1},
                    "minItems": 1,
                    "maxItems": 8,
                    "description": "The same in other words, or its parts; results are fused. With or without query."
                },
                "maxResults": {"type": "integer", "minimum": 1, "maximum": 50},
                "minScore": {"type": "number", "minimum": 0, "maximum": 1},
                "corpus": {"type": "string", "enum": ["memory", "sessions", "all", "wiki"]}
            },
            "additionalProperties": false
        }),
    )
}

fn memory_get() -> ToolDefinition {
    ToolDefinition::new(
        HostTool::MemoryGet.name(),
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
        HostTool::MemoryWrite.name(),
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

fn cron() -> ToolDefinition {
    ToolDefinition::new(
        HostTool::Cron.name(),
        "Jobs that you do later by yourself, once or again; never sleep or poll instead. job: \
         {schedule, payload, sessionTarget?: current|isolated|main}. schedule: {kind:at,at:ISO}, \
         {kind:every,everyMs} or {kind:cron,expr,tz} in wall time. payload: {kind:agentTurn,message} \
         or {kind:systemEvent,text}. update: jobId, job (what changes; null clears); wake: text, \
         mode now|next-heartbeat. Also includeDisabled, limit, offset, runMode, sessionKey. Only \
         your own jobs.",
        // OpenClaw's other names are taken too, by what carries the call out: each
        // costs tokens of every message.
        json!({
            "type": "object",
            "properties": {
                "action": {"enum": [
                    "status", "list", "get", "add", "update", "remove", "run", "runs", "wake"
                ]},
                "job": {"type": "object"},
                "jobId": {"type": "string"}
            },
            "required": ["action"]
        }),
    )
}

fn remind() -> ToolDefinition {
    ToolDefinition::new(
        HostTool::Remind.name(),
        "Have a text said to the user later, as it is. when: ISO 8601 or words (tomorrow 9:00, \
         monday 18:30, in 20 minutes). who: telegram:123; this conversation unless given.",
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1},
                "when": {"type": "string", "minLength": 1},
                "who": {"type": "string"},
                "tz": {"type": "string"}
            },
            "required": ["text", "when"],
            "additionalProperties": false
        }),
    )
}

fn session_status() -> ToolDefinition {
    ToolDefinition::new(
        HostTool::SessionStatus.name(),
        "Which backend, agent and session this is.",
        json!({"type": "object", "additionalProperties": false}),
    )
}

#[cfg(test)]
mod tests {
    use openclaw_tools::catalog;

    use super::*;

    #[test]
    fn host_tool_has_one_name() {
        for tool in HostTool::ALL {
            assert_eq!(HostTool::from_name(tool.name()), Some(tool));
            assert_eq!(tool.definition().name, tool.name());
            assert!(catalog::is_known(tool.name()), "{tool:?}");
        }
        assert_eq!(HostTool::from_name(APPROVAL), None);
        assert_eq!(HostTool::from_name(OFFER), None);
    }
}
