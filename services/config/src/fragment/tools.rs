//! `tools` and `mcp`, as written in the file.

use std::collections::BTreeMap;

use serde::Deserialize;

/// `tools`, of the whole suite or of one agent.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Tools {
    /// What is there at most: `minimal`, `coding`, `messaging` or `full`.
    #[cfg_attr(test, schemars(extend("enum" = ["minimal", "coding", "messaging", "full"])))]
    pub profile: Option<String>,
    /// Tools, `group:NAME` or patterns with `*`; empty: everything the profile has.
    pub allow: Vec<String>,
    /// Tools beside those of the profile and of `allow`.
    pub also_allow: Vec<String>,
    /// Tools that are not there, whatever else is said.
    pub deny: Vec<String>,
    /// Commands.
    pub exec: Exec,
    /// File tools.
    pub fs: Files,
    /// The web, where the provider or a CLI has tools for it.
    pub web: Web,
}

/// `tools.fs`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Files {
    /// Whether file tools stay in the workspace, whatever else the sandbox
    /// shows. Commands do not.
    pub workspace_only: Option<bool>,
}

/// `tools.web`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Web {
    /// Searching it.
    pub search: WebTool,
    /// Fetching pages.
    pub fetch: WebTool,
}

/// `tools.web.search` and `tools.web.fetch`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WebTool {
    /// `false`: not there, whatever else is said.
    pub enabled: Option<bool>,
}

/// `tools.exec`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Exec {
    /// When somebody is asked before a command runs: `off`, `on-miss` (unless
    /// it only reads or is listed) or `always`. By default `off` when the
    /// sandbox leaves nothing but the workspace to be written and its network
    /// is not `full`, else `on-miss`. Where somebody is asked, it is also about
    /// files that a tool writes outside the workspace.
    #[cfg_attr(test, schemars(extend("enum" = ["off", "on-miss", "always"])))]
    pub ask: Option<String>,
    /// OpenClaw's: `deny` leaves no commands; `allowlist` and `safe-bin` ask
    /// about each that is not listed, granted or a safe bin, also when it only
    /// reads.
    #[cfg_attr(test, schemars(extend("enum" = ["deny", "allowlist", "safe-bin", "full"])))]
    pub security: Option<String>,
    /// OpenClaw's: `deny`, `allowlist`, `ask`, `auto` (the three like
    /// `security` `allowlist`) or `full`.
    #[cfg_attr(test, schemars(extend("enum" = ["deny", "allowlist", "ask", "auto", "full"])))]
    pub mode: Option<String>,
    /// Programs that may run where they only filter a stream, as their profiles
    /// have it: no words that name files, no options that read or write them or
    /// run programs. Where only what is listed runs and nothing is said: cut,
    /// uniq, head, tail, tr and wc.
    pub safe_bins: Option<Vec<String>>,
    /// What programs of `safeBins` may be given for which no profile is known;
    /// known are those and grep and sort.
    pub safe_bin_profiles: BTreeMap<String, SafeBinProfile>,
    /// Folders whose programs may be safe bins, beside /bin and /usr/bin.
    pub safe_bin_trusted_dirs: Vec<String>,
    /// Simple commands that may run, word by word and without quotation marks,
    /// `*` for anything: `cargo test *`.
    pub allowlist: Vec<String>,
    /// How long a command may take that names no time, in seconds; ours at most
    /// half an hour. Codex has times of its own.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub timeout_sec: Option<u64>,
    /// The same.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub timeout_seconds: Option<u64>,
    /// How long a command waits to be allowed before that counts as a no, in
    /// seconds.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub approval_timeout_sec: Option<u64>,
}

/// What a safe bin may be given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct SafeBinProfile {
    /// The fewest words that are no options.
    pub min_positional: Option<usize>,
    /// The most of them; without it any number.
    pub max_positional: Option<usize>,
    /// Options that it may have, each with a value.
    pub allowed_value_flags: Vec<String>,
    /// Options that it may not have, also not among letters; nor may it have
    /// any that are not named.
    pub denied_flags: Vec<String>,
}

/// `mcp`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Mcp {
    /// Servers by name.
    pub servers: BTreeMap<String, Server>,
    /// Milliseconds that the servers of a session stay up after a message; 0:
    /// until other sessions need the place.
    #[cfg_attr(test, schemars(range(max = 86_400_000)))]
    pub session_idle_ttl_ms: Option<u64>,
}

/// A server of tools.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Server {
    /// The program: a path or a name on the PATH.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables.
    pub env: BTreeMap<String, String>,
    /// Where it starts; by default its own folder.
    pub cwd: Option<String>,
    /// A server elsewhere; only programs are supported.
    pub url: Option<String>,
    /// Whether it is used.
    pub enabled: Option<bool>,
    /// Whether it is not, in other programs' words.
    pub disabled: Option<bool>,
    /// What it may reach: `none` (the default, unless there are `hosts`),
    /// `allowlist`, or `full`. Never this machine's own loopback or link-local
    /// addresses.
    #[cfg_attr(test, schemars(extend("enum" = ["none", "allowlist", "full"])))]
    pub network: Option<String>,
    /// For `allowlist`: `name`, `*.name`, each with `:port` or without.
    pub hosts: Vec<String>,
    /// Folders granted beside its own and the system.
    pub paths: super::SandboxPaths,
    /// Whether it is believed when it says of a tool that it only reads, and
    /// nobody is asked before such a call then.
    pub trusted: Option<bool>,
    /// Milliseconds that one call may take; 120,000 unless set.
    #[cfg_attr(test, schemars(range(min = 1, max = 540_000)))]
    pub request_timeout_ms: Option<u64>,
}
