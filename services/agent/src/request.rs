//! The turn as the runner describes it: the answer to `GET /turn`.

use std::path::PathBuf;

use openclaw_tools::{Denial, ToolDefinition};
use serde::Deserialize;
use serde_json::Value;

/// Everything about one turn.
#[derive(Debug, Deserialize)]
pub(crate) struct TurnRequest {
    pub(crate) run_id: String,
    pub(crate) mode: Mode,
    /// Native only.
    #[serde(default)]
    pub(crate) api: Api,
    #[serde(default)]
    pub(crate) model: String,
    /// Whose model it is.
    #[serde(default)]
    pub(crate) provider: String,
    #[serde(default = "default_max_tokens")]
    pub(crate) max_tokens: u32,
    /// Tokens the model may think for beside those; 0: it is not asked to.
    #[serde(default)]
    pub(crate) thinking_tokens: u32,
    /// The same in OpenAI's words.
    #[serde(default)]
    pub(crate) reasoning_effort: Option<String>,
    /// Model requests of this turn; 0 counts as 1.
    #[serde(default = "default_step_limit")]
    pub(crate) step_limit: u32,
    /// Where that is set, for the user.
    #[serde(default = "default_step_limit_key")]
    pub(crate) step_limit_key: String,
    /// The repetition of a call with the same result that ends the turn; below 3 counts as 3.
    #[serde(default = "default_identical_call_limit")]
    pub(crate) identical_call_limit: u32,
    pub(crate) workspace: PathBuf,
    #[serde(default)]
    pub(crate) system: String,
    #[serde(default)]
    pub(crate) history: Vec<HistoryEntry>,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) hits: Vec<Hit>,
    #[serde(flatten)]
    pub(crate) offer: Offer,
    #[serde(default)]
    pub(crate) hint: String,
    /// Whether the model sees images.
    #[serde(default)]
    pub(crate) sees_images: bool,
}

/// The tools of a turn.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Offer {
    /// Known tools, by name. Names that are not known are left out: a newer
    /// runner may have tools that this program does not.
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    /// Known tools that are not there, and why.
    #[serde(default)]
    pub(crate) denied: Vec<Denial>,
    /// Tools about whose calls the runner is asked first.
    #[serde(default)]
    pub(crate) gated: Vec<String>,
    /// Tools that the runner has from elsewhere.
    #[serde(default)]
    pub(crate) host_tools: Vec<ToolDefinition>,
    /// Those of them that change what others look at.
    #[serde(default)]
    pub(crate) alone: Vec<String>,
    /// How those are to be used, for a model that is not told elsewhere.
    #[serde(default)]
    pub(crate) instructions: String,
    /// Whether the file tools stay in the workspace.
    #[serde(default)]
    pub(crate) workspace_only: bool,
    /// Seconds that a command may take that names no time.
    #[serde(default)]
    pub(crate) command_seconds: Option<u64>,
}

fn default_max_tokens() -> u32 {
    8192
}

fn default_step_limit() -> u32 {
    40
}

fn default_step_limit_key() -> String {
    "agents.defaults.limits.steps".to_owned()
}

fn default_identical_call_limit() -> u32 {
    5
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    Native,
    Offline,
}

/// Which protocol the model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Api {
    #[default]
    Anthropic,
    Openai,
}

/// An earlier entry of the session.
#[derive(Debug, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(crate) enum HistoryEntry {
    User {
        #[serde(default)]
        text: String,
    },
    Assistant {
        #[serde(default)]
        text: String,
        #[serde(default)]
        tool_calls: Vec<HistoryCall>,
        #[serde(default)]
        thinking: Option<SignedThinking>,
    },
    Tool {
        call_id: String,
        #[serde(default)]
        output: String,
        #[serde(default)]
        is_error: bool,
    },
}

/// What one model thought before an earlier entry.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct SignedThinking {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) thoughts: Vec<Thought>,
}

/// One block of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Thought {
    #[serde(default)]
    pub(crate) text: String,
    pub(crate) signature: String,
    #[serde(default)]
    pub(crate) redacted: bool,
}

/// A tool call of an earlier entry.
#[derive(Debug, Deserialize)]
pub(crate) struct HistoryCall {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
}

/// A passage of memory that fits the message, or that a search found, whose
/// results have OpenClaw's names.
#[derive(Debug, Deserialize)]
pub(crate) struct Hit {
    pub(crate) path: String,
    #[serde(alias = "startLine")]
    pub(crate) start_line: u32,
    #[serde(alias = "endLine")]
    pub(crate) end_line: u32,
    pub(crate) snippet: String,
}

/// What is new while a turn goes on: the answer to `GET /news`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct News {
    #[serde(default)]
    pub(crate) messages: Vec<Steering>,
    /// `None`: they are those that were told last.
    #[serde(default)]
    pub(crate) tools: Option<Renewed>,
}

/// Other tools than before.
#[derive(Debug, Deserialize)]
pub(crate) struct Renewed {
    #[serde(flatten)]
    pub(crate) offer: Offer,
    /// What the model is told with them.
    #[serde(default)]
    pub(crate) system: String,
}

/// A message that came while the turn went on.
#[derive(Debug, Deserialize)]
pub(crate) struct Steering {
    /// The run that it began as.
    pub(crate) run_id: String,
    pub(crate) text: String,
}
