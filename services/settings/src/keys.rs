//! The keys of the configuration, each stated once: its type, its bounds, its
//! default, what it is for, and whether it holds only from the next start on.
//!
//! The JSON Schema is generated from these types. It is what bounds are checked
//! with, and it refuses keys that neither the types nor OpenClaw know
//! ([`openclaw_config::schema`]), so the types need not.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use openclaw_agent_clis::CliPaths;
use openclaw_config::error::Error;
use openclaw_config::schema::Schema;
use openclaw_config::secret::Secret;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chosen::Chosen;
use crate::section::{sections, words};
use openclaw_config::units::{MIB, mebibytes, seconds};

pub mod channels;
mod clis;
pub mod cron;
pub mod gateway;
pub mod heartbeat;
pub mod hooks;
pub mod maintenance;
pub mod memory;
pub mod messages;
pub mod model;
mod sandbox;
pub mod send_policy;
pub mod session;
pub mod tools;

pub use clis::Backend;
pub use sandbox::{AgentSandbox, Missing, Reach, Sandbox, SandboxLevel, SandboxPaths};

/// Of an answer where nobody said so (seed 002, `agent.maxTokens`).
pub const MAX_TOKENS: u32 = 8192;

sections! {
    /// The whole file.
    pub struct Fragment {
        /// `agent`: the short way to say what holds for the only agent.
        #[serde(skip_serializing)]
        agent: SingleAgent,
        /// `agents`.
        agents: Agents,
        /// `models`.
        models: Models,
        /// `auth`.
        auth: Auth,
        /// `sandbox`: how agents are confined; OpenClaw itself has no such section.
        sandbox: Sandbox,
        /// `gateway`.
        gateway: gateway::Gateway,
        /// `hooks`.
        hooks: gateway::Hooks,
        /// `cron`.
        cron: cron::Cron,
        /// `messages`.
        messages: messages::Messages,
        /// `session`.
        session: session::Session,
        /// `logging`.
        logging: Logging,
        /// `memory`.
        memory: memory::Memory,
        /// `tools`.
        tools: tools::Tools,
        /// `mcp`.
        mcp: tools::Mcp,
        /// `env`.
        env: Env,
        /// `channels`: where people are.
        #[serde(skip_serializing)]
        channels: channels::Channels,
        /// `bindings`: which agent answers where; the first of the narrowest that
        /// fit.
        bindings: Vec<channels::Binding>,
        /// `commands`.
        commands: channels::Commands,
    }

    /// `agent`: what holds for the only agent; `agents.defaults` comes before it.
    pub struct SingleAgent {
        /// The Claude Code CLI: a path or a name on the PATH.
        claude_cli_path: Option<String>,
        /// `provider/model`, or a model of Anthropic's.
        model: Option<String>,
        /// The most tokens one model response may have.
        #[cfg_attr(test, schemars(range(min = 1)))]
        max_tokens: Option<u32>,
    }

    /// `agents`.
    pub struct Agents {
        /// What holds for every agent that does not say otherwise.
        defaults: Agent,
        /// Agents beside `main`, or settings for it. The first one is the default
        /// unless another is marked.
        list: Vec<ListedAgent>,
        /// The same by id; they are in the list when settings are made.
        #[serde(skip_serializing)]
        entries: BTreeMap<String, AgentEntry>,
    }

    /// An agent of `agents.entries`.
    pub struct AgentEntry {
        /// Whether messages that name no agent go to it.
        default: bool,
        /// Everything else.
        #[serde(flatten)]
        agent: Agent,
    }
}

/// An agent of `agents.list`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
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

sections! {
    /// `agents.defaults` and an agent's own settings.
    pub struct Agent {
        /// The folder the agent works in.
        workspace: Option<String>,
        /// The backend that answers its turns.
        #[cfg_attr(test, schemars(extend("description" = Backend::described())))]
        backend: Backend = Backend::Auto,
        /// `provider/model`.
        model: Option<Model>,
        /// The most tokens one model response may have.
        #[cfg_attr(test, schemars(range(min = 1)))]
        max_tokens: Chosen<u32> = Chosen::by_default(MAX_TOKENS),
        /// What it is called, unless its identity has a name.
        name: Option<String>,
        /// What it is told beside everything else.
        system_prompt: Option<String>,
        /// What it is told in place of everything else: bootstrap files and the
        /// words about its workspace are left out.
        system_prompt_override: Option<String>,
        /// Who it is.
        identity: Identity,
        /// What its model is asked with: `temperature`, `topP`, `topK`, `stop`,
        /// `seed`, `frequencyPenalty`, `presencePenalty`, `maxTokens`, as far as its
        /// API knows them. A model that thinks is asked without the first three.
        #[serde(skip_serializing)]
        params: Map<String, Value>,
        /// The longest a turn may take.
        #[cfg_attr(test, schemars(range(min = 1)))]
        // Half an hour: long enough for a build, short enough to notice a turn that
        // hangs.
        timeout_seconds: u64 = 1800,
        /// The longest a turn may be silent.
        #[cfg_attr(test, schemars(range(min = 1)))]
        // A model that thinks sends something every few seconds; a build may be
        // silent for minutes.
        no_output_seconds: u64 = 600,
        /// Where the programs of agent CLIs are.
        #[serde(flatten)]
        #[cfg_attr(test, schemars(with = "tests::CliPaths"))]
        cli_paths: CliPaths,
        /// How long a CLI stands ready for the next message of a conversation
        /// after it has answered one, in seconds; 0: not at all.
        #[cfg_attr(test, schemars(range(max = 3600)))]
        // A CLI keeps its memory as long.
        cli_warm_seconds: u64 = 0,
        /// Limits of the agent's processes and of its loop.
        limits: Limits,
        /// How its memory is searched.
        memory_search: memory::Search,
        /// The same as `memory.search`.
        #[serde(skip_serializing)]
        memory: AgentMemory,
        /// Characters of each bootstrap file that a conversation begins with.
        #[cfg_attr(test, schemars(range(min = 1)))]
        bootstrap_max_chars: usize = 20_000,
        /// Characters of all of them.
        #[cfg_attr(test, schemars(range(min = 1)))]
        bootstrap_total_max_chars: usize = 60_000,
        /// Whether a fresh workspace is left without the files it begins with.
        skip_bootstrap: bool = false,
        /// Looking after it now and then; not at all unless set.
        heartbeat: Option<heartbeat::Heartbeat>,
        /// Which tools it has, beside what `tools` says.
        #[serde(skip_serializing)]
        tools: tools::Tools,
        /// How the agent is confined.
        #[serde(skip_serializing)]
        sandbox: AgentSandbox,
    }

    /// `memory` of an agent.
    pub struct AgentMemory {
        /// How its memory is searched.
        search: memory::Search,
    }

    /// `identity` of an agent.
    pub struct Identity {
        /// What it is called.
        name: Option<String>,
        /// What it is like.
        theme: Option<String>,
        /// Its sign.
        emoji: Option<String>,
        /// Its picture: a path in the workspace, or a URL.
        avatar: Option<String>,
    }
}

/// A model: the string, or OpenClaw's object with fallbacks.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
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

sections! {
    /// `agents.defaults.limits`.
    #[derive(Copy)]
    pub struct Limits {
        /// Model responses in one turn.
        #[cfg_attr(test, schemars(range(min = 1)))]
        // A loop that needs more is usually lost.
        steps: u32 = 50,
        /// The same tool calls with the same results, in a row or in a circle.
        #[cfg_attr(test, schemars(range(min = 1)))]
        identical_calls: u32 = 5,
        /// RLIMIT_AS of the agent's processes, in MiB.
        // Not applied to CLIs that are not ours, whose runtimes reserve far more
        // address space than they use.
        #[serde(rename = "addressSpaceMib", with = "mebibytes")]
        #[cfg_attr(test, schemars(with = "Option<u64>", range(min = 1)))]
        address_space: u64 = 8192 * MIB,
        /// Processes and threads the agent may add to those there are.
        #[cfg_attr(test, schemars(range(min = 1)))]
        processes: u64 = 512,
        /// RLIMIT_NOFILE.
        #[cfg_attr(test, schemars(range(min = 1)))]
        open_files: u64 = 4096,
        /// RLIMIT_FSIZE, in MiB.
        #[serde(rename = "fileSizeMib", with = "mebibytes")]
        #[cfg_attr(test, schemars(with = "Option<u64>", range(min = 1)))]
        file_size: u64 = 1024 * MIB,
        /// RLIMIT_CPU of one process, in seconds.
        #[cfg_attr(test, schemars(range(min = 1)))]
        cpu_seconds: u64 = 3600,
        /// Memory of all processes of a turn together.
        // Room for a build or a test suite, and half of a small machine.
        #[serde(with = "openclaw_config::size::bytes")]
        #[cfg_attr(test, schemars(with = "Option<tests::Size>"))]
        memory_max: u64 = 2048 * MIB,
        /// Processes and threads of a turn.
        // A parallel build needs tens; a fork bomb ends here.
        #[cfg_attr(test, schemars(range(min = 1)))]
        tasks_max: u64 = 512,
        /// Processor time of a turn, in percent of one processor.
        #[cfg_attr(test, schemars(range(min = 1)))]
        cpu_quota: u64 = most_of_the_machine(),
        /// Tokens that the model may write in one turn.
        #[cfg_attr(test, schemars(range(min = 1)))]
        // A long turn writes some tens of thousands; one that writes more goes on
        // and on.
        output_tokens: u64 = 200_000,
        /// Searches of memory that the agent may make in one turn.
        #[cfg_attr(test, schemars(range(min = 1)))]
        // Each may be paid for, and a turn that searches this often is lost.
        memory_searches: u32 = 100,
        /// What one turn may cost, in US dollars.
        #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
        // Several times a long turn of the dearest model, so that only one that has
        // gone astray ends here.
        cost_per_turn: f64 = 5.0,
        /// What an agent's turns of one day may cost, in US dollars.
        #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
        // A day of hard work, so that nobody finds a bill of hundreds.
        cost_per_day: f64 = 25.0,
        /// The longest that one question to a busy model is waited for; 0: not at
        /// all.
        // Most rate limits are counted by the minute.
        #[serde(rename = "retrySeconds", with = "seconds")]
        #[cfg_attr(test, schemars(with = "Option<u64>"))]
        retry_wait: Duration = Duration::from_secs(60),
    }

    /// `models`.
    pub struct Models {
        /// `provider/model`.
        default: Option<String>,
        /// Whether models.json keeps what others put into it: `merge` (the default)
        /// or `replace`.
        mode: ModelsMode = ModelsMode::Merge,
        /// Providers by id.
        providers: BTreeMap<String, Provider>,
    }

    /// A provider of models.
    pub struct Provider {
        /// Where its API is.
        base_url: Option<String>,
        /// Its key.
        #[serde(skip_serializing)]
        api_key: Option<Secret>,
        /// `anthropic-messages` or `openai-completions`; a provider with another
        /// one is not used.
        api: Option<String>,
        /// Its models, as OpenClaw describes them.
        #[cfg_attr(test, schemars(with = "Vec<model::Described>"))]
        models: Vec<Value>,
        /// The context of models that do not say theirs, in tokens.
        #[cfg_attr(test, schemars(range(min = 1)))]
        context_window: Option<u64>,
        /// The longest answer of models that do not say theirs, in tokens.
        #[cfg_attr(test, schemars(range(min = 1)))]
        max_tokens: Option<u32>,
    }
}

impl Provider {
    /// Whether a variable is left to be put in.
    pub(crate) fn has_references(&self) -> bool {
        let texts = [self.base_url.as_deref(), self.api.as_deref()];
        let key = self.api_key.as_ref().map(Secret::reveal);
        let mut texts = texts.into_iter().chain([key]).flatten();
        texts.any(|text| text.contains("${"))
    }
}

sections! {
    /// `auth`: which profiles there are is said where they are stored.
    pub struct Auth {
        /// Profiles by provider, those to be tried first before the others; one that
        /// is left out is not used.
        order: BTreeMap<String, Vec<String>>,
        /// Profiles by id: where there is no order, no others are used.
        profiles: BTreeMap<String, AuthProfile>,
    }

    /// What `auth.profiles` says of a profile.
    pub struct AuthProfile {
        /// The provider that it is for.
        provider: String,
        /// The kind of its credential, "api_key", "oauth", "token" or "aws-sdk"; one
        /// of another kind is not used.
        mode: Option<String>,
    }

    /// `logging`.
    pub struct Logging {
        /// `debug`, `info`, `warn`, `error`, or `silent` for nothing; OpenClaw's
        /// other words mean the nearest of them.
        level: LogLevel = LogLevel::Info,
        /// Whether the log may say what was said: messages, answers, what tools are
        /// asked and answer. Without it it says how long each is.
        content: bool = false,
    }

    /// `env`.
    pub struct Env {
        /// Variables for what the environment does not set.
        vars: BTreeMap<String, String>,
        /// Whether the login shell is asked for variables that nothing else sets.
        shell_env: ShellEnv = ShellEnv::Enabled(false),
        /// Variables as in `vars`.
        #[serde(flatten)]
        direct: BTreeMap<String, String>,
    }
}

/// `env.shellEnv`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
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

words! {
    /// `models.mode`.
    pub enum ModelsMode {
        /// Providers of others stay in models.json.
        Merge = "merge",
        /// They do not.
        Replace = "replace",
    }
}

words! {
    /// The least severe level that is logged (seed 002, property 24).
    pub enum LogLevel {
        /// Everything.
        Debug = "debug" | "trace",
        /// What a user may want to see later.
        Info = "info",
        /// What went wrong and was dealt with.
        Warn = "warn",
        /// What went wrong.
        Error = "error" | "fatal",
        /// Nothing.
        Silent = "silent",
    }
}

/// Nine tenths of the machine, so that it keeps answering.
fn most_of_the_machine() -> u64 {
    const PERCENT: u64 = 90;
    // Asked once: where control groups limit processors, each answer reads four files.
    static PROCESSORS: LazyLock<u64> = LazyLock::new(|| {
        std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
    });
    *PROCESSORS * PERCENT
}

/// Types the document. What is wrong with it names the keys and what is allowed.
pub fn typed(path: &Path, document: &Value) -> Result<Fragment, Error> {
    let problems = Schema::shipped().check(document);
    if problems.is_empty() {
        section(path, "", document)
    } else {
        Err(Error::invalid(path, problems))
    }
}

/// Types a part of the document, `key`, that the schema admits: what is wrong
/// still is what only types know, such as the size of a number.
pub(crate) fn section<T: DeserializeOwned>(
    path: &Path,
    key: &str,
    document: &Value,
) -> Result<T, Error> {
    let mut document = document.clone();
    without_nulls(&mut document);
    serde_path_to_error::deserialize(&document).map_err(|error| Error::Value {
        origin: path.display().to_string(),
        key: match key {
            "" => error.path().to_string(),
            key => format!("{key}.{}", error.path()),
        },
        problem: error.inner().to_string(),
    })
}

/// A key that is `null` is not set.
pub(crate) fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
