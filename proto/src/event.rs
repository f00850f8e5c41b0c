//! What a run says while it happens.

use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalRequested, ApprovalResolved};
use crate::invalid::Invalid;
use crate::wire::run as wire;

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The run it belongs to.
    pub run_id: String,
    /// Counts from 1 without gaps within the run.
    pub seq: u64,
    /// Unix time in milliseconds.
    pub at_ms: i64,
    /// What happened.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What happened in a run (seed 002, `AgentEvent`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum Kind {
    /// More text of the reply.
    TextDelta {
        /// The piece, to be appended.
        text: String,
    },
    /// More of the model's visible thinking.
    Thinking {
        /// The piece, to be appended.
        text: String,
    },
    /// The thinking just told is whole, and signed by the model that thought it.
    ThinkingSigned(ThinkingSigned),
    /// The agent asks for a tool.
    ToolCall {
        /// Names the call within the run.
        id: String,
        /// The tool.
        name: String,
        /// A JSON object.
        arguments: serde_json::Value,
    },
    /// What the tool answered.
    ToolResult(ToolResult),
    /// Tokens of one model response.
    Usage(Usage),
    /// Something the user should know that does not end the run.
    Note {
        /// One sentence.
        text: String,
    },
    /// What the run's processes used.
    Resources(Resources),
    /// A call waits until somebody allows it.
    ApprovalRequested(Box<ApprovalRequested>),
    /// The call runs, or does not.
    ApprovalResolved(ApprovalResolved),
    /// More of what a tool says while it runs; its result has it again.
    ToolOutput {
        /// The call.
        call_id: String,
        /// The piece.
        text: String,
    },
    /// The run took messages that came while it went on; what it says from
    /// here on answers them too.
    Steered {
        /// The runs that these messages began as.
        run_ids: Vec<String>,
    },
    /// The run ended with a reply.
    Done(Done),
    /// The run ended without a whole reply.
    Failed(Failed),
    /// Somebody ended the run.
    Aborted {
        /// Who or what.
        reason: String,
        /// The backend's own session, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        backend_session: Option<String>,
        /// The backend; empty when none was started.
        backend: String,
    },
}

/// What makes thinking fit to be sent back to the model that thought it, and to
/// no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingSigned {
    /// Opaque. Of thinking that is not shown, all that there is of it.
    pub signature: String,
    /// Nothing of it was told: its model alone can read it.
    pub redacted: bool,
    /// The provider that was asked.
    pub provider: String,
    /// The model that was asked for, which need not be what the answer calls
    /// itself.
    pub model: String,
}

/// What a tool answered (seed 002, `ToolResult`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: String,
    /// Whether the tool did what it was asked.
    pub success: bool,
    /// What it printed or found, also when it failed half-way.
    pub output: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

/// Why a tool failed (seed 002, property 17).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFailure {
    /// The tool.
    pub tool: String,
    /// The kind of failure.
    #[serde(rename = "type")]
    pub kind: String,
    /// What went wrong, in words.
    pub message: String,
}

/// Tokens of one model response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens sent that were in no cache.
    pub input: u64,
    /// Tokens generated.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
}

impl Usage {
    /// Counts `more` too.
    pub fn add(&mut self, more: &Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
    }
}

fn is_none_or_zero(number: &Option<u64>) -> bool {
    number.is_none_or(|it| it == 0)
}

/// What the processes of a run used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// Processor time in milliseconds.
    pub cpu_ms: u64,
    /// The most memory at once, in bytes; 0: not known.
    pub memory_peak_bytes: u64,
    /// The most processes and threads at once; 0: not known.
    pub tasks_peak: u64,
    /// The unit they ran in; empty without a service manager.
    pub unit: String,
    /// What the model's answers cost, in US dollars; `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Tokens that what the servers of tools offered takes of each request; `None`: not
    /// known.
    #[serde(default, skip_serializing_if = "is_none_or_zero")]
    pub server_tool_tokens: Option<u64>,
}

/// A reply that is whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// `stop`, `length` or `step_limit`.
    pub stop_reason: String,
    /// `anthropic`, `openai`, … or `openclaw` for the offline backend.
    pub provider: String,
    /// The model that answered.
    pub model: String,
    /// The backend's own session, to be given back with the next turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_session: Option<String>,
    /// `claude-cli`, `codex-cli`, `native` or `offline`.
    pub backend: String,
}

/// What whoever talks may do when a turn was stopped. A job's run has nobody who talks.
pub const GO_ON: &str = "say \"continue\" to go on from here";

/// How it begins to be told of a turn whose first question costs more than all of it may.
pub const NOTHING_ASKED: &str = "nothing was asked of the model";

/// How a limit of the agent is called where it is the session's own.
pub fn limit_of_session(name: &str) -> String {
    format!("the session's limits.{name} (`openclawctl sessions patch --set`)")
}

/// Why a run has no whole reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failed {
    /// For programs.
    pub code: Code,
    /// For people: what happened and what to do.
    pub message: String,
    /// When trying again may help, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The backend's own session, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_session: Option<String>,
    /// The backend; empty when none was started.
    pub backend: String,
}

/// Why a run failed, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The backend's program is not installed.
    BackendMissing,
    /// The agent CLI has no login.
    NotLoggedIn,
    /// The provider refused the key.
    Auth,
    /// The provider wants us to slow down.
    RateLimited,
    /// The provider is overloaded.
    Overloaded,
    /// The provider answered with another error.
    ModelError,
    /// The provider or the agent sent something that is not its format.
    MalformedOutput,
    /// The connection to the provider failed or broke off.
    Network,
    /// The turn's deadline passed, or nothing came for too long.
    Timeout,
    /// The agent process ended without a result.
    Crashed,
    /// The confinement could not be put in place; nothing was run.
    Sandbox,
    /// The agent made as many steps as it may.
    StepLimit,
    /// The agent made the same call again and again.
    LoopDetected,
    /// Somebody ended it.
    Cancelled,
    /// A daemon stopped while the run went on.
    Interrupted,
    /// The turn used more than it may.
    ResourceLimit,
    /// The conversation does not fit into the model's window.
    ContextOverflow,
    /// A bug.
    Internal,
}

impl Code {
    /// The code as it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BackendMissing => "backend_missing",
            Self::NotLoggedIn => "not_logged_in",
            Self::Auth => "auth",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ModelError => "model_error",
            Self::MalformedOutput => "malformed_output",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::Crashed => "crashed",
            Self::Sandbox => "sandbox",
            Self::StepLimit => "step_limit",
            Self::LoopDetected => "loop_detected",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::ResourceLimit => "resource_limit",
            Self::ContextOverflow => "context_overflow",
            Self::Internal => "internal",
        }
    }

    /// The code written as `text`; one that is not known counts as a bug.
    pub fn parse(text: &str) -> Self {
        serde_json::from_value(serde_json::Value::from(text)).unwrap_or(Self::Internal)
    }
}

impl Kind {
    /// Whether it ends its run.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Failed(_) | Self::Aborted { .. })
    }
}

impl TryFrom<wire::Event> for Event {
    type Error = Invalid;

    fn try_from(event: wire::Event) -> Result<Self, Invalid> {
        let kind = event.kind.ok_or(Invalid::missing("Event", "kind"))?;
        Ok(Self {
            run_id: event.run_id,
            seq: event.seq,
            at_ms: event.at_ms,
            kind: kind.try_into()?,
        })
    }
}

impl TryFrom<wire::event::Kind> for Kind {
    type Error = Invalid;

    fn try_from(kind: wire::event::Kind) -> Result<Self, Invalid> {
        use wire::event::Kind as W;
        Ok(match kind {
            W::TextDelta(delta) => Self::TextDelta { text: delta.text },
            W::Thinking(delta) => Self::Thinking { text: delta.text },
            W::ThinkingSigned(signed) => Self::ThinkingSigned(ThinkingSigned {
                signature: signed.signature,
                redacted: signed.redacted,
                provider: signed.provider,
                model: signed.model,
            }),
            W::ToolCall(call) => Self::ToolCall {
                arguments: arguments_from_wire(&call.arguments_json)?,
                id: call.id,
                name: call.name,
            },
            W::ToolResult(result) => Self::ToolResult(result.into()),
            W::Usage(usage) => Self::Usage(usage.into()),
            W::Note(note) => Self::Note { text: note.text },
            W::Resources(resources) => Self::Resources(resources.into()),
            W::ApprovalRequested(request) => Self::ApprovalRequested(Box::new(request.into())),
            W::ApprovalResolved(resolved) => Self::ApprovalResolved(resolved.into()),
            W::ToolOutput(output) => Self::ToolOutput {
                call_id: output.call_id,
                text: output.text,
            },
            W::Steered(steered) => Self::Steered {
                run_ids: steered.run_ids,
            },
            W::Done(done) => Self::Done(done.into()),
            W::Failed(failed) => Self::Failed(failed.into()),
            W::Aborted(aborted) => Self::Aborted {
                reason: aborted.reason,
                backend_session: filled(aborted.backend_session),
                backend: aborted.backend,
            },
        })
    }
}

pub(crate) fn arguments_from_wire(json: &str) -> Result<serde_json::Value, Invalid> {
    serde_json::from_str(json).map_err(|error| {
        Invalid::because(
            "ToolCall",
            "arguments_json",
            format!("is not JSON: {error}"),
        )
    })
}

fn filled(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

impl From<wire::ToolResult> for ToolResult {
    fn from(result: wire::ToolResult) -> Self {
        Self {
            call_id: result.call_id,
            success: result.success,
            output: result.output,
            error: result.error.map(|error| ToolFailure {
                tool: error.tool,
                kind: error.r#type,
                message: error.message,
            }),
        }
    }
}

impl From<wire::Usage> for Usage {
    fn from(usage: wire::Usage) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
        }
    }
}

impl From<wire::Resources> for Resources {
    fn from(resources: wire::Resources) -> Self {
        Self {
            cpu_ms: resources.cpu_ms,
            memory_peak_bytes: resources.memory_peak_bytes,
            tasks_peak: resources.tasks_peak,
            unit: resources.unit,
            cost_usd: resources.cost_usd,
            server_tool_tokens: resources.server_tool_tokens,
        }
    }
}

impl From<Resources> for wire::Resources {
    fn from(resources: Resources) -> Self {
        Self {
            cpu_ms: resources.cpu_ms,
            memory_peak_bytes: resources.memory_peak_bytes,
            tasks_peak: resources.tasks_peak,
            unit: resources.unit,
            cost_usd: resources.cost_usd,
            server_tool_tokens: resources.server_tool_tokens,
        }
    }
}

impl From<wire::Done> for Done {
    fn from(done: wire::Done) -> Self {
        Self {
            stop_reason: done.stop_reason,
            provider: done.provider,
            model: done.model,
            backend_session: filled(done.backend_session),
            backend: done.backend,
        }
    }
}

impl From<wire::Failed> for Failed {
    fn from(failed: wire::Failed) -> Self {
        Self {
            code: Code::parse(&failed.code),
            message: failed.message,
            retry_after_ms: (failed.retry_after_ms > 0).then_some(failed.retry_after_ms),
            backend_session: filled(failed.backend_session),
            backend: failed.backend,
        }
    }
}

impl From<Event> for wire::Event {
    fn from(event: Event) -> Self {
        Self {
            run_id: event.run_id,
            seq: event.seq,
            at_ms: event.at_ms,
            kind: Some(event.kind.into()),
        }
    }
}

impl From<Kind> for wire::event::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::TextDelta { text } => Self::TextDelta(wire::TextDelta { text }),
            Kind::Thinking { text } => Self::Thinking(wire::Thinking { text }),
            Kind::ThinkingSigned(signed) => Self::ThinkingSigned(wire::ThinkingSigned {
                signature: signed.signature,
                redacted: signed.redacted,
                provider: signed.provider,
                model: signed.model,
            }),
            Kind::ToolCall {
                id,
                name,
                arguments,
            } => Self::ToolCall(wire::ToolCall {
                id,
                name,
                arguments_json: arguments.to_string(),
            }),
            Kind::ToolResult(result) => Self::ToolResult(result.into()),
            Kind::Usage(usage) => Self::Usage(usage.into()),
            Kind::Note { text } => Self::Note(wire::Note { text }),
            Kind::Resources(resources) => Self::Resources(resources.into()),
            Kind::ApprovalRequested(request) => Self::ApprovalRequested((*request).into()),
            Kind::ApprovalResolved(resolved) => Self::ApprovalResolved(resolved.into()),
            Kind::ToolOutput { call_id, text } => {
                Self::ToolOutput(wire::ToolOutput { call_id, text })
            }
            Kind::Steered { run_ids } => Self::Steered(wire::Steered { run_ids }),
            Kind::Done(done) => Self::Done(done.into()),
            Kind::Failed(failed) => Self::Failed(failed.into()),
            Kind::Aborted {
                reason,
                backend_session,
                backend,
            } => Self::Aborted(wire::Aborted {
                reason,
                backend_session: backend_session.unwrap_or_default(),
                backend,
            }),
        }
    }
}

impl From<ToolResult> for wire::ToolResult {
    fn from(result: ToolResult) -> Self {
        Self {
            call_id: result.call_id,
            success: result.success,
            output: result.output,
            error: result.error.map(|error| wire::ToolFailure {
                tool: error.tool,
                r#type: error.kind,
                message: error.message,
            }),
        }
    }
}

impl From<Usage> for wire::Usage {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
        }
    }
}

impl From<Done> for wire::Done {
    fn from(done: Done) -> Self {
        Self {
            stop_reason: done.stop_reason,
            provider: done.provider,
            model: done.model,
            backend_session: done.backend_session.unwrap_or_default(),
            backend: done.backend,
        }
    }
}

impl From<Failed> for wire::Failed {
    fn from(failed: Failed) -> Self {
        Self {
            code: failed.code.as_str().to_owned(),
            message: failed.message,
            retry_after_ms: failed.retry_after_ms.unwrap_or_default(),
            backend_session: failed.backend_session.unwrap_or_default(),
            backend: failed.backend,
        }
    }
}
