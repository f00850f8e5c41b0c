//! The sections we use, typed but optional, as written in the file.
//!
//! Inside sections that OpenClaw defines, keys we do not use are left alone,
//! so that an OpenClaw user's file loads. Sections of our own refuse keys they
//! do not know.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;
use crate::secret::Secret;
use crate::settings::memory;

/// The whole file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Fragment {
    /// `agent`: the MVP schema of seed 002.
    pub agent: MvpAgent,
    /// `agents`.
    pub agents: Agents,
    /// `models`.
    pub models: Models,
    /// `sandbox`: ours.
    pub sandbox: Sandbox,
    /// `gateway`.
    pub gateway: Gateway,
    /// `logging`.
    pub logging: Logging,
    /// `memory`.
    pub memory: memory::Fragment,
    /// `env`.
    pub env: Env,
}

/// Seed 002, `OpenClawConfig.agent`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct MvpAgent {
    /// The Claude Code CLI: a path or a name on the PATH.
    pub claude_cli_path: Option<String>,
    /// `provider/model`, or a model of Anthropic's.
    pub model: Option<String>,
    /// The most tokens one model response may have.
    pub max_tokens: Option<u32>,
}

/// `agents`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Agents {
    /// What holds for every agent that does not say otherwise.
    pub defaults: Agent,
    /// Agents beside `main`, or settings for it.
    pub list: Vec<ListedAgent>,
}

/// An agent of `agents.list`.
#[derive(Debug, Clone, Deserialize)]
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
#[serde(default, rename_all = "camelCase")]
pub struct Agent {
    /// The folder the agent works in.
    pub workspace: Option<String>,
    /// `auto`, `claude-cli`, `native` or `offline`.
    pub backend: Option<String>,
    /// `provider/model`.
    pub model: Option<Model>,
    /// The most tokens one model response may have.
    pub max_tokens: Option<u32>,
    /// The longest a turn may take.
    pub timeout_seconds: Option<u64>,
    /// The longest a turn may be silent.
    pub no_output_seconds: Option<u64>,
    /// The Claude Code CLI: a path or a name on the PATH.
    pub claude_cli_path: Option<String>,
    /// Limits of the agent's processes and of its loop.
    pub limits: Limits,
    /// How its memory is searched.
    pub memory_search: memory::SearchFragment,
    /// Characters of each bootstrap file that a conversation begins with.
    pub bootstrap_max_chars: Option<usize>,
    /// Characters of all of them.
    pub bootstrap_total_max_chars: Option<usize>,
    /// Whether a fresh workspace is left without the files it begins with.
    pub skip_bootstrap: Option<bool>,
}

/// A model: the string, or OpenClaw's object with fallbacks.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Model {
    /// `"provider/model"`.
    Name(String),
    /// `{ primary: "provider/model", … }`.
    Choice {
        /// The one to use.
        primary: Option<String>,
    },
}

impl Model {
    /// The model's name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Choice { primary } => primary.as_deref(),
        }
    }
}

/// `agents.defaults.limits`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Model responses in one turn.
    pub steps: Option<u32>,
    /// The same tool call in a row.
    pub identical_calls: Option<u32>,
    /// RLIMIT_AS of the agent's processes, in MiB.
    pub address_space_mib: Option<u64>,
    /// Processes and threads the agent may add to those there are.
    pub processes: Option<u64>,
    /// RLIMIT_NOFILE.
    pub open_files: Option<u64>,
    /// RLIMIT_FSIZE, in MiB.
    pub file_size_mib: Option<u64>,
    /// RLIMIT_CPU of one process, in seconds.
    pub cpu_seconds: Option<u64>,
}

/// `models`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Models {
    /// `provider/model`.
    pub default: Option<String>,
    /// Providers by id.
    pub providers: BTreeMap<String, Provider>,
}

/// A provider of models.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Provider {
    /// Where its API is.
    pub base_url: Option<String>,
    /// Its key.
    pub api_key: Option<Secret>,
    /// `anthropic-messages` or `openai-completions`.
    pub api: Option<String>,
}

impl Provider {
    /// Whether a variable is left to be put in.
    pub fn has_references(&self) -> bool {
        let texts = [&self.base_url, &self.api];
        texts.into_iter().flatten().any(|text| text.contains("${"))
    }
}

/// `sandbox`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Sandbox {
    /// `workspace` or `off`.
    pub level: Option<String>,
    /// The user that agents run as when the daemon is root.
    pub user: Option<String>,
    /// Folders granted beside the workspace.
    pub paths: SandboxPaths,
}

/// `sandbox.paths`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxPaths {
    /// Read-only.
    pub ro: Vec<String>,
    /// Read and write.
    pub rw: Vec<String>,
}

/// `gateway`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Gateway {
    /// Turns that may run at once, over all sessions.
    pub max_concurrent_turns: Option<u32>,
}

/// `logging`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Logging {
    /// `debug`, `info`, `warn` or `error`.
    pub level: Option<String>,
}

/// `env`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Env {
    /// Variables for what the environment does not set.
    pub vars: BTreeMap<String, String>,
}

/// Types the document; the error names the key and what was expected.
pub fn typed(path: &Path, document: Value) -> Result<Fragment, Error> {
    serde_path_to_error::deserialize(document).map_err(|error| Error::Value {
        origin: path.display().to_string(),
        key: error.path().to_string(),
        problem: error.inner().to_string(),
    })
}
