//! `sandbox`, and an agent's own part of it, as they are written.

use crate::section::{sections, words};

sections! {
    /// `sandbox`.
    pub struct Sandbox {
        /// `strict`, `workspace`, `text` (neither commands nor files) or `off`;
        /// unset: the strictest that this machine gives.
        level: Option<SandboxLevel>,
        /// What an agent may reach: `model-only`, `allowlist` or `full`.
        network: Reach = Reach::ModelOnly,
        /// For `allowlist`: `name`, `*.name`, each with `:port` or without.
        hosts: Vec<String>,
        /// What the model's provider may do for an agent that carries data to
        /// others: `web_search`, `web_fetch`, `urls`, `code_execution`,
        /// `file_search`, `files`, `image_generation`, `mcp`. `network` `full`
        /// grants all of it.
        provider_tools: Vec<String>,
        /// What to do where the machine cannot give what a level that is set
        /// promises: `refuse` to run agents, or `weaken` the level.
        missing: Missing = Missing::Refuse,
        /// The user that agents run as when the daemon is root.
        user: String = "openclaw-agent".to_owned(),
        /// Folders granted beside the workspace.
        paths: SandboxPaths,
    }

    /// `agents.defaults.sandbox`, and that of one agent. OpenClaw's own keys for
    /// its containers stand there too.
    pub struct AgentSandbox {
        /// `strict`, `workspace`, `text` or `off`, instead of `sandbox.level`.
        level: Option<SandboxLevel>,
        /// What the agent may reach: `model-only`, `allowlist` or `full`.
        network: Option<Reach>,
        /// For `allowlist`, instead of `sandbox.hosts`.
        hosts: Option<Vec<String>>,
        /// Instead of `sandbox.providerTools`.
        provider_tools: Option<Vec<String>>,
        /// Folders granted beside those of `sandbox.paths`.
        paths: SandboxPaths,
    }

    /// `sandbox.paths`.
    pub struct SandboxPaths {
        /// Read-only.
        ro: Vec<String>,
        /// Read and write.
        rw: Vec<String>,
    }
}

words! {
    /// How agent processes are confined.
    pub enum SandboxLevel {
        /// What is granted, in namespaces of the turn's own: nothing else exists.
        Strict = "strict",
        /// What is granted, without namespaces: path rules and the system-call
        /// filter alone.
        Workspace = "workspace",
        /// No command runs, no file is opened for writing or changed, and no socket
        /// is made: thinking and memory alone.
        Text = "text",
        /// Only limits.
        Off = "off",
    }
}

words! {
    /// `sandbox.network`.
    pub enum Reach {
        /// The model.
        ModelOnly = "model-only",
        /// The model and `hosts`.
        Allowlist = "allowlist",
        /// Everything.
        Full = "full",
    }
}

words! {
    /// Whether a level that the machine cannot give is refused.
    pub enum Missing {
        /// No agent is started.
        Refuse = "refuse",
        /// The next lower level is taken that holds.
        Weaken = "weaken",
    }
}
