//! The sections we use, typed but optional, as written in the file.
//!
//! The JSON Schema is generated from these types; it refuses keys that neither
//! they nor OpenClaw know ([`crate::schema`]), so the types need not.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::schema::Schema;
use crate::secret::Secret;
use crate::settings::memory;

pub mod gateway;
pub mod hooks;
pub mod maintenance;
pub mod messages;
pub mod model;
mod sandbox;
pub mod session;
pub mod tools;

pub use sandbox::{AgentSandbox, Sandbox, SandboxPaths};

/// The whole file.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Fragment {
    /// `agent`: the short way to say what holds for the only agent.
    pub agent: SingleAgent,
    /// `agents`.
    pub agents: Agents,
    /// `models`.
    pub models: Models,
    /// `auth`.
    pub auth: Auth,
    /// `sandbox`: how agents are confined; OpenClaw itself has no such section.
    pub sandbox: Sandbox,
    /// `gateway`.
    pub gateway: gateway::Gateway,
    /// `hooks`.
    pub hooks: gateway::Hooks,
    /// `cron`.
    pub cron: Cron,
    /// `messages`.
    pub messages: messages::Messages,
    /// `session`.
    pub session: session::Session,
    /// `logging`.
    pub logging: Logging,
    /// `memory`.
    pub memory: memory::Fragment,
    /// `tools`.
    pub tools: tools::Tools,
    /// `mcp`.
    pub mcp: tools::Mcp,
    /// `env`.
    pub env: Env,
}

/// `cron`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Cron {
    /// `false`: no job runs by itself. Jobs are kept, and those that somebody
    /// starts run.
    pub enabled: Option<bool>,
}

/// `agent`: what holds for the only agent; `agents.defaults` comes before it.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SingleAgent {
    /// The Claude Code CLI: a path or a name on the PATH.
    pub claude_cli_path: Option<String>,
    /// `provider/model`, or a model of Anthropic's.
    pub model: Option<String>,
    /// The most tokens one model response may have.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_tokens: Option<u32>,
}

/// `agents`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Agents {
    /// What holds for every agent that does not say otherwise.
    pub defaults: Agent,
    /// Agents beside `main`, or settings for it.
    pub list: Vec<ListedAgent>,
    /// The same by id; they are in the list when settings are made.
    pub entries: BTreeMap<String, AgentEntry>,
}

/// An agent of `agents.entries`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AgentEntry {
    /// Whether messages that name no agent go to it.
    pub default: bool,
    /// Everything else.
    #[serde(flatten)]
    pub agent: Agent,
}

/// An agent of `agents.list`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedAgent {
    /// Letters, digits, `-` and `_`.
    pub id: String,
    /// Whether messages that name no agent go to it.
    #[serde(default)]
    pub default: bool,
    /// Everything else.
    #[serde(flatten)]
    pub agent: Agent,
}

/// `agents.defaults` and an agent's own settings.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Agent {
    /// The folder the agent works in.
    pub workspace: Option<String>,
    /// `auto`, `claude-cli`, `codex-cli`, `native` or `offline`.
    #[cfg_attr(test, schemars(extend("enum" = ["auto", "claude-cli", "claude", "codex-cli", "codex", "native", "offline"])))]
    pub backend: Option<String>,
    /// `provider/model`.
    pub model: Option<Model>,
    /// The most tokens one model response may have.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_tokens: Option<u32>,
    /// What it is called, unless its identity has a name.
    pub name: Option<String>,
    /// What it is told beside everything else.
    pub system_prompt: Option<String>,
    /// What it is told in place of everything else: bootstrap files and the
    /// words about its workspace are left out.
    pub system_prompt_override: Option<String>,
    /// Who it is.
    pub identity: Identity,
    /// What its model is asked with: `temperature`, `topP`, `topK`, `stop`,
    /// `seed`, `frequencyPenalty`, `presencePenalty`, `maxTokens`, as far as its
    /// API knows them. A model that thinks is asked without the first three.
    pub params: Map<String, Value>,
    /// The longest a turn may take.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub timeout_seconds: Option<u64>,
    /// The longest a turn may be silent.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub no_output_seconds: Option<u64>,
    /// The Claude Code CLI: a path or a name on the PATH.
    pub claude_cli_path: Option<String>,
    /// The Codex CLI: a path or a name on the PATH.
    pub codex_cli_path: Option<String>,
    /// How long a CLI stands ready for the next message of a conversation
    /// after it has answered one, in seconds; 0: not at all.
    #[cfg_attr(test, schemars(range(max = 3600)))]
    pub cli_warm_seconds: Option<u64>,
    /// Limits of the agent's processes and of its loop.
    pub limits: Limits,
    /// How its memory is searched.
    pub memory_search: memory::SearchFragment,
    /// The same as `memory.search`.
    pub memory: AgentMemory,
    /// Characters of each bootstrap file that a conversation begins with.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bootstrap_max_chars: Option<usize>,
    /// Characters of all of them.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bootstrap_total_max_chars: Option<usize>,
    /// Whether a fresh workspace is left without the files it begins with.
    pub skip_bootstrap: Option<bool>,
    /// Which tools it has, beside what `tools` says.
    pub tools: tools::Tools,
    /// How the agent is confined.
    pub sandbox: AgentSandbox,
}

/// `memory` of an agent.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AgentMemory {
    /// How its memory is searched.
    pub search: memory::SearchFragment,
}

/// `identity` of an agent.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Identity {
    /// What it is called.
    pub name: Option<String>,
    /// What it is like.
    pub theme: Option<String>,
    /// Its sign.
    pub emoji: Option<String>,
    /// Its picture: a path in the workspace, or a URL.
    pub avatar: Option<String>,
}

/// A model: the string, or OpenClaw's object with fallbacks.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Model {
    /// `"provider/model"`.
    Name(String),
    /// `{ primary: "provider/model", … }`.
    Choice {
        /// The one to use.
        primary: Option<String>,
        /// Those to use instead.
        #[serde(default)]
        fallbacks: Vec<String>,
    },
}

impl Model {
    /// The model's name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Choice { primary, .. } => primary.as_deref(),
        }
    }

    /// Those to use instead, in their order.
    pub fn fallbacks(&self) -> &[String] {
        match self {
            Self::Name(_) => &[],
            Self::Choice { fallbacks, .. } => fallbacks,
        }
    }
}

/// `agents.defaults.limits`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Model responses in one turn.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub steps: Option<u32>,
    /// The same tool calls with the same results, in a row or in a circle.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub identical_calls: Option<u32>,
    /// RLIMIT_AS of the agent's processes, in MiB.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub address_space_mib: Option<u64>,
    /// Processes and threads the agent may add to those there are.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub processes: Option<u64>,
    /// RLIMIT_NOFILE.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub open_files: Option<u64>,
    /// RLIMIT_FSIZE, in MiB.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub file_size_mib: Option<u64>,
    /// RLIMIT_CPU of one process, in seconds.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub cpu_seconds: Option<u64>,
    /// Memory of all processes of a turn together.
    pub memory_max: Option<crate::size::Size>,
    /// Processes and threads of a turn.
    pub tasks_max: Option<u64>,
    /// Processor time of a turn, in percent of one processor.
    pub cpu_quota: Option<u64>,
    /// Tokens that the model may write in one turn.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub output_tokens: Option<u64>,
    /// Searches of memory that the agent may make in one turn.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub memory_searches: Option<u32>,
    /// What one turn may cost, in US dollars.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub cost_per_turn: Option<f64>,
    /// What an agent's turns of one day may cost, in US dollars.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub cost_per_day: Option<f64>,
    /// The longest that one question to a busy model is waited for; 0: not at
    /// all.
    pub retry_seconds: Option<u64>,
}

/// `models`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Models {
    /// `provider/model`.
    pub default: Option<String>,
    /// Whether models.json keeps what others put into it: `merge` (the default)
    /// or `replace`.
    #[cfg_attr(test, schemars(extend("enum" = ["merge", "replace"])))]
    pub mode: Option<String>,
    /// Providers by id.
    pub providers: BTreeMap<String, Provider>,
}

/// A provider of models.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Provider {
    /// Where its API is.
    pub base_url: Option<String>,
    /// Its key.
    pub api_key: Option<Secret>,
    /// `anthropic-messages` or `openai-completions`; a provider with another
    /// one is not used.
    pub api: Option<String>,
    /// Its models, as OpenClaw describes them.
    #[cfg_attr(test, schemars(with = "Vec<model::Described>"))]
    pub models: Vec<Value>,
    /// The context of models that do not say theirs, in tokens.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub context_window: Option<u64>,
    /// The longest answer of models that do not say theirs, in tokens.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_tokens: Option<u32>,
}

impl Provider {
    /// Whether a variable is left to be put in.
    pub fn has_references(&self) -> bool {
        let texts = [&self.base_url, &self.api];
        texts.into_iter().flatten().any(|text| text.contains("${"))
    }
}

/// `auth`: which profiles there are is said where they are stored.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Auth {
    /// Profiles by provider, those to be tried first before the others.
    pub order: BTreeMap<String, Vec<String>>,
}

/// `logging`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Logging {
    /// `debug`, `info`, `warn`, `error`, or `silent` for nothing; OpenClaw's
    /// other words mean the nearest of them.
    #[cfg_attr(test, schemars(extend("enum" = ["debug", "info", "warn", "error", "trace", "fatal", "silent"])))]
    pub level: Option<String>,
}

/// `env`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Env {
    /// Variables for what the environment does not set.
    pub vars: BTreeMap<String, String>,
    /// Whether the login shell is asked for variables that nothing else sets.
    pub shell_env: Option<ShellEnv>,
    /// Variables as in `vars`.
    #[serde(flatten)]
    pub direct: BTreeMap<String, String>,
}

/// `env.shellEnv`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ShellEnv {
    /// On or off.
    Enabled(bool),
    /// The shell to ask, as an absolute path, or `on` or `off`.
    Shell(String),
    /// OpenClaw's options.
    #[serde(rename_all = "camelCase")]
    Options {
        /// On or off.
        enabled: Option<bool>,
        /// How long it may take, in milliseconds.
        timeout_ms: Option<u64>,
    },
}

/// Types the document; the error names the keys and what is allowed.
pub fn typed(path: &Path, document: Value) -> Result<Fragment, Error> {
    serde_path_to_error::deserialize(&document).map_err(|error| {
        let problems = Schema::shipped().check(&document);
        if problems.is_empty() {
            // What only the types know, such as the size of a number.
            Error::Value {
                origin: path.display().to_string(),
                key: error.path().to_string(),
                problem: error.inner().to_string(),
            }
        } else {
            Error::invalid(path, problems)
        }
    })
}
