//! `sandbox`, and an agent's own part of it, as they are written.

use serde::Deserialize;

/// `sandbox`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Sandbox {
    /// `strict`, `workspace` or `off`.
    #[cfg_attr(test, schemars(extend("enum" = ["strict", "workspace", "off"])))]
    pub level: Option<String>,
    /// What an agent may reach: `model-only`, `allowlist` or `full`.
    #[cfg_attr(test, schemars(extend("enum" = ["model-only", "allowlist", "full"])))]
    pub network: Option<String>,
    /// For `allowlist`: `name`, `*.name`, each with `:port` or without.
    pub hosts: Vec<String>,
    /// What the model's provider may do for an agent that carries data to
    /// others: `web_search`, `web_fetch`, `urls`, `code_execution`,
    /// `file_search`, `files`, `image_generation`, `mcp`. `network` `full`
    /// grants all of it.
    pub provider_tools: Vec<String>,
    /// What to do where the machine cannot give what the level promises:
    /// `refuse` to run agents, or `weaken` the level.
    #[cfg_attr(test, schemars(extend("enum" = ["refuse", "weaken"])))]
    pub missing: Option<String>,
    /// The user that agents run as when the daemon is root.
    pub user: Option<String>,
    /// Folders granted beside the workspace.
    pub paths: SandboxPaths,
}

/// `agents.defaults.sandbox`, and that of one agent. OpenClaw's own keys for
/// its containers stand there too.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct AgentSandbox {
    /// `strict`, `workspace` or `off`.
    #[cfg_attr(test, schemars(extend("enum" = ["strict", "workspace", "off"])))]
    pub level: Option<String>,
    /// What the agent may reach: `model-only`, `allowlist` or `full`.
    #[cfg_attr(test, schemars(extend("enum" = ["model-only", "allowlist", "full"])))]
    pub network: Option<String>,
    /// For `allowlist`, instead of `sandbox.hosts`.
    pub hosts: Option<Vec<String>>,
    /// Instead of `sandbox.providerTools`.
    pub provider_tools: Option<Vec<String>>,
    /// Folders granted beside those of `sandbox.paths`.
    pub paths: SandboxPaths,
}

/// `sandbox.paths`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SandboxPaths {
    /// Read-only.
    pub ro: Vec<String>,
    /// Read and write.
    pub rw: Vec<String>,
}

impl AgentSandbox {
    /// The agent's own, with `base` behind it.
    pub(crate) fn over(&self, base: &Self) -> Self {
        let joined = |base: &[String], own: &[String]| [base, own].concat();
        Self {
            level: self.level.clone().or_else(|| base.level.clone()),
            network: self.network.clone().or_else(|| base.network.clone()),
            hosts: self.hosts.clone().or_else(|| base.hosts.clone()),
            provider_tools: self
                .provider_tools
                .clone()
                .or_else(|| base.provider_tools.clone()),
            paths: SandboxPaths {
                ro: joined(&base.paths.ro, &self.paths.ro),
                rw: joined(&base.paths.rw, &self.paths.rw),
            },
        }
    }
}
