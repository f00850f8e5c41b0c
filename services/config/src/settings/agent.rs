//! One agent's settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;
use crate::fragment::{self, Agent, Fragment};
use crate::paths::Paths;
use crate::settings::limits::{Limits, limits};
use crate::settings::memory::{self, MemorySearch};
use crate::settings::persona::{ModelParams, Persona};
use crate::settings::sandbox::{self, AgentSandbox, SandboxLevel};
use crate::settings::tools::{self, Ask, ToolSettings};

/// The agent that is always there.
const MAIN: &str = "main";
/// Agent ids are folder names and parts of session keys.
const ID_LENGTH: usize = 64;
/// Of an answer where nobody said so (seed 002, `agent.maxTokens`).
pub const MAX_TOKENS: u32 = 8192;
/// Half an hour: long enough for a build, short enough to notice a turn that
/// hangs.
const TIMEOUT: Duration = Duration::from_secs(1800);
/// A model that thinks sends something every few seconds; a build may be
/// silent for minutes.
const NO_OUTPUT: Duration = Duration::from_secs(600);

/// Of each bootstrap file (OpenClaw's bootstrapMaxChars).
const BOOTSTRAP_FILE: usize = 20_000;
/// Of all of them (OpenClaw's bootstrapTotalMaxChars).
const BOOTSTRAP_TOTAL: usize = 60_000;

/// Which backend answers an agent's turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// By what is there: claude-cli, then native, then codex-cli, then offline.
    Auto,
    /// The Claude Code CLI.
    ClaudeCli,
    /// The Codex CLI.
    CodexCli,
    /// Our own loop.
    Native,
    /// No model: answers from memory.
    Offline,
}

impl Backend {
    /// As it is written in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ClaudeCli => "claude-cli",
            Self::CodexCli => "codex-cli",
            Self::Native => "native",
            Self::Offline => "offline",
        }
    }
}

/// What conversations begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Of each file, in characters.
    pub file: usize,
    /// Of all of them, in characters.
    pub total: usize,
    /// Whether a fresh workspace is filled from templates.
    pub templates: bool,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self {
            file: BOOTSTRAP_FILE,
            total: BOOTSTRAP_TOTAL,
            templates: true,
        }
    }
}

/// One agent's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    /// The agent.
    pub id: String,
    /// The folder it works in.
    pub workspace: PathBuf,
    /// Which backend answers.
    pub backend: Backend,
    /// `provider/model`, when the agent names one itself.
    pub model: Option<String>,
    /// Models to be used when that one cannot be, in their order.
    pub fallbacks: Vec<String>,
    /// The key of the configuration that says which, or that could.
    pub model_key: String,
    /// The key that says which backend answers, or that could.
    pub backend_key: String,
    /// The most tokens one model response may have; `None`: nobody said so, see
    /// [`MAX_TOKENS`].
    pub max_tokens: Option<u32>,
    /// Who it is.
    pub persona: Persona,
    /// How its model is asked.
    pub params: ModelParams,
    /// The longest a turn may take.
    pub timeout: Duration,
    /// The longest a turn may be silent.
    pub no_output: Duration,
    /// The Claude Code CLI: a path or a name on the PATH.
    pub claude_path: String,
    /// The Codex CLI: a path or a name on the PATH.
    pub codex_path: String,
    /// How long a CLI stands ready for a conversation's next message; zero: not
    /// at all.
    pub cli_warm: Duration,
    /// Limits of its processes and its loop.
    pub limits: Limits,
    /// How its memory is searched.
    pub memory: MemorySearch,
    /// What its conversations begin with.
    pub bootstrap: Bootstrap,
    /// Which tools it has, and when somebody is asked.
    pub tools: ToolSettings,
    /// How it is confined.
    pub sandbox: AgentSandbox,
}

impl AgentSettings {
    /// When somebody is asked before a command of this agent runs at `level`,
    /// which may be lower than the configured one.
    pub fn ask(&self, level: SandboxLevel) -> Ask {
        tools::asks(self, level)
    }
}

/// A value that is not allowed.
pub(super) struct Problem {
    pub(super) key: String,
    pub(super) problem: String,
}

impl Problem {
    pub(super) fn at(self, file: &str) -> Error {
        Error::Value {
            origin: file.to_owned(),
            key: self.key,
            problem: self.problem,
        }
    }
}

/// All agents by id, and the default one's id.
pub(super) fn resolve(
    paths: &Paths,
    fragment: &Fragment,
) -> Result<(BTreeMap<String, AgentSettings>, String), Problem> {
    let base = base(fragment);
    let half_life = fragment.memory.temporal_decay_half_life;
    let mut agents = BTreeMap::new();
    let mut default_agent = MAIN.to_owned();
    for (index, listed) in fragment.agents.list.iter().enumerate() {
        check_id(&listed.id, &format!("agents.list.{index}.id"))?;
        let merged = over(&base, &listed.agent);
        let key = format!("agents.list.{index}");
        // The one of the defaults is the default agent's.
        let mut settings = one(
            paths,
            &listed.id,
            &merged,
            listed.agent.workspace.as_deref(),
            &key,
            half_life,
            &fragment.sandbox,
        )?;
        let defaults = &fragment.agents.defaults.tools;
        settings.tools = tools::resolve(&[&fragment.tools, defaults, &listed.agent.tools]);
        let own = format!("agents.list[{index}]");
        if listed.agent.model.is_some() {
            settings.model_key = format!("{own}.model");
        }
        if listed.agent.backend.is_some() {
            settings.backend_key = format!("{own}.backend");
        }
        agents.insert(listed.id.clone(), settings);
        if listed.default {
            default_agent.clone_from(&listed.id);
        }
    }
    if !agents.contains_key(MAIN) {
        let mut settings = one(
            paths,
            MAIN,
            &base,
            None,
            "agents.defaults",
            half_life,
            &fragment.sandbox,
        )?;
        settings.tools = tools::resolve(&[&fragment.tools, &fragment.agents.defaults.tools]);
        agents.insert(MAIN.to_owned(), settings);
    }
    let default_workspace = fragment.agents.defaults.workspace.as_deref();
    let own = fragment
        .agents
        .list
        .iter()
        .any(|listed| listed.id == default_agent && listed.agent.workspace.is_some());
    if let (Some(workspace), false, Some(agent)) =
        (default_workspace, own, agents.get_mut(&default_agent))
    {
        agent.workspace = paths.expand(workspace);
    }
    Ok((agents, default_agent))
}

/// `agents.defaults`, with the search of all agents behind it.
fn base(fragment: &Fragment) -> Agent {
    let mut base = fragment.agents.defaults.clone();
    let general = memory::merged(&fragment.memory.search, &base.memory.search);
    base.memory_search = memory::merged(&general, &base.memory_search);
    base
}

fn over(base: &Agent, own: &Agent) -> Agent {
    let limits = &own.limits;
    let under = &base.limits;
    Agent {
        workspace: own.workspace.clone(),
        backend: own.backend.clone().or_else(|| base.backend.clone()),
        model: own.model.clone().or_else(|| base.model.clone()),
        max_tokens: own.max_tokens.or(base.max_tokens),
        name: own.name.clone(),
        system_prompt: own
            .system_prompt
            .clone()
            .or_else(|| base.system_prompt.clone()),
        system_prompt_override: own
            .system_prompt_override
            .clone()
            .or_else(|| base.system_prompt_override.clone()),
        identity: own.identity.clone(),
        params: {
            let mut params = base.params.clone();
            params.extend(own.params.clone());
            params
        },
        timeout_seconds: own.timeout_seconds.or(base.timeout_seconds),
        no_output_seconds: own.no_output_seconds.or(base.no_output_seconds),
        claude_cli_path: own
            .claude_cli_path
            .clone()
            .or_else(|| base.claude_cli_path.clone()),
        codex_cli_path: own
            .codex_cli_path
            .clone()
            .or_else(|| base.codex_cli_path.clone()),
        cli_warm_seconds: own.cli_warm_seconds.or(base.cli_warm_seconds),
        limits: fragment::Limits {
            steps: limits.steps.or(under.steps),
            identical_calls: limits.identical_calls.or(under.identical_calls),
            address_space_mib: limits.address_space_mib.or(under.address_space_mib),
            processes: limits.processes.or(under.processes),
            open_files: limits.open_files.or(under.open_files),
            file_size_mib: limits.file_size_mib.or(under.file_size_mib),
            cpu_seconds: limits.cpu_seconds.or(under.cpu_seconds),
            memory_max: limits.memory_max.or(under.memory_max),
            tasks_max: limits.tasks_max.or(under.tasks_max),
            cpu_quota: limits.cpu_quota.or(under.cpu_quota),
            output_tokens: limits.output_tokens.or(under.output_tokens),
            memory_searches: limits.memory_searches.or(under.memory_searches),
            cost_per_turn: limits.cost_per_turn.or(under.cost_per_turn),
            cost_per_day: limits.cost_per_day.or(under.cost_per_day),
            retry_seconds: limits.retry_seconds.or(under.retry_seconds),
        },
        memory_search: memory::merged(
            &memory::merged(&base.memory_search, &own.memory.search),
            &own.memory_search,
        ),
        memory: fragment::AgentMemory::default(),
        bootstrap_max_chars: own.bootstrap_max_chars.or(base.bootstrap_max_chars),
        bootstrap_total_max_chars: own
            .bootstrap_total_max_chars
            .or(base.bootstrap_total_max_chars),
        skip_bootstrap: own.skip_bootstrap.or(base.skip_bootstrap),
        // Layers, which are not merged: see `tools`.
        tools: own.tools.clone(),
        sandbox: own.sandbox.over(&base.sandbox),
    }
}

fn one(
    paths: &Paths,
    id: &str,
    agent: &Agent,
    workspace: Option<&str>,
    key: &str,
    half_life: Option<f64>,
    all: &fragment::Sandbox,
) -> Result<AgentSettings, Problem> {
    Ok(AgentSettings {
        id: id.to_owned(),
        workspace: workspace.map_or_else(|| paths.default_workspace(id), |path| paths.expand(path)),
        backend: backend(agent, key)?,
        model: agent
            .model
            .as_ref()
            .and_then(fragment::Model::name)
            .map(str::to_owned),
        fallbacks: agent
            .model
            .as_ref()
            .map(|model| model.fallbacks().to_vec())
            .unwrap_or_default(),
        model_key: "agents.defaults.model".to_owned(),
        backend_key: "agents.defaults.backend".to_owned(),
        max_tokens: match agent.max_tokens {
            None => ModelParams::max_tokens(&agent.params),
            set => Some(positive(set, MAX_TOKENS, key, "maxTokens")?),
        },
        persona: Persona::of(agent),
        params: ModelParams::of(&agent.params),
        timeout: seconds(agent.timeout_seconds, TIMEOUT, key, "timeoutSeconds")?,
        no_output: seconds(agent.no_output_seconds, NO_OUTPUT, key, "noOutputSeconds")?,
        claude_path: program(paths, agent.claude_cli_path.as_deref(), "claude"),
        codex_path: program(paths, agent.codex_cli_path.as_deref(), "codex"),
        cli_warm: warm(agent, key)?,
        limits: limits(&agent.limits, &Limits::default(), &format!("{key}.limits"))?,
        memory: search(paths, agent, half_life, key)?,
        bootstrap: bootstrap(agent, key)?,
        tools: ToolSettings::default(),
        sandbox: sandbox::of_agent(all, &agent.sandbox, paths).map_err(|(below, problem)| {
            Problem {
                key: format!("{key}.sandbox.{below}"),
                problem,
            }
        })?,
    })
}

fn search(
    paths: &Paths,
    agent: &Agent,
    half_life: Option<f64>,
    key: &str,
) -> Result<MemorySearch, Problem> {
    memory::search(&agent.memory_search, half_life, paths).map_err(|(below, problem)| Problem {
        key: format!("{key}.memorySearch.{below}"),
        problem,
    })
}

fn bootstrap(agent: &Agent, key: &str) -> Result<Bootstrap, Problem> {
    Ok(Bootstrap {
        file: positive(
            agent.bootstrap_max_chars,
            BOOTSTRAP_FILE,
            key,
            "bootstrapMaxChars",
        )?,
        total: positive(
            agent.bootstrap_total_max_chars,
            BOOTSTRAP_TOTAL,
            key,
            "bootstrapTotalMaxChars",
        )?,
        templates: !agent.skip_bootstrap.unwrap_or(false),
    })
}

/// The longest `cliWarmSeconds`: a CLI keeps its memory as long.
const CLI_WARM_MAX: u64 = 3600;

fn warm(agent: &Agent, key: &str) -> Result<Duration, Problem> {
    match agent.cli_warm_seconds.unwrap_or_default() {
        seconds if seconds <= CLI_WARM_MAX => Ok(Duration::from_secs(seconds)),
        seconds => Err(Problem {
            key: format!("{key}.cliWarmSeconds"),
            problem: format!("is {seconds}; it must be at most {CLI_WARM_MAX}"),
        }),
    }
}

/// A program's name stays: it is looked for on the PATH.
fn program(paths: &Paths, configured: Option<&str>, usual: &str) -> String {
    let path = configured.unwrap_or(usual);
    if path.contains('/') {
        paths.expand(path).display().to_string()
    } else {
        path.to_owned()
    }
}

fn backend(agent: &Agent, key: &str) -> Result<Backend, Problem> {
    let text = agent.backend.as_deref().unwrap_or("auto");
    match text {
        "auto" => Ok(Backend::Auto),
        "claude-cli" | "claude" => Ok(Backend::ClaudeCli),
        "codex-cli" | "codex" => Ok(Backend::CodexCli),
        "native" => Ok(Backend::Native),
        "offline" => Ok(Backend::Offline),
        other => Err(Problem {
            key: format!("{key}.backend"),
            problem: format!(
                "is {other:?}; allowed are auto, claude-cli, codex-cli, native and offline"
            ),
        }),
    }
}

pub(super) fn positive<N: Copy + PartialEq + Default>(
    value: Option<N>,
    default: N,
    key: &str,
    name: &str,
) -> Result<N, Problem> {
    match value {
        Some(zero) if zero == N::default() => Err(Problem {
            key: format!("{key}.{name}"),
            problem: "is 0; it must be at least 1".to_owned(),
        }),
        other => Ok(other.unwrap_or(default)),
    }
}

fn seconds(
    value: Option<u64>,
    default: Duration,
    key: &str,
    name: &str,
) -> Result<Duration, Problem> {
    positive(value, default.as_secs(), key, name).map(Duration::from_secs)
}

fn check_id(id: &str, key: &str) -> Result<(), Problem> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if !id.is_empty() && id.len() <= ID_LENGTH && id.chars().all(allowed) {
        return Ok(());
    }
    Err(Problem {
        key: key.to_owned(),
        problem: format!(
            "is {id:?}; allowed are 1 to {ID_LENGTH} lowercase letters, digits, '-' and '_'"
        ),
    })
}
