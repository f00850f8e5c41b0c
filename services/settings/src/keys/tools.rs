//! `tools` and `mcp`, as written in the file.

use std::collections::BTreeMap;

use crate::chosen::Chosen;
use crate::section::{sections, words};

sections! {
    /// `tools`, of the whole suite or of one agent.
    pub struct Tools {
        /// What is there at most: `minimal`, `coding`, `messaging` or `full`.
        #[cfg_attr(test, schemars(extend("enum" = ["minimal", "coding", "messaging", "full"])))]
        profile: Chosen<String> = Chosen::by_default("full".to_owned()),
        /// Tools, `group:NAME` or patterns with `*`; empty: everything the profile has.
        allow: Vec<String>,
        /// Tools beside those of the profile and of `allow`.
        also_allow: Vec<String>,
        /// Tools that are not there, whatever else is said.
        deny: Vec<String>,
        /// Commands.
        exec: Exec,
        /// File tools.
        fs: Files,
        /// The web, where the provider or a CLI has tools for it.
        web: Web,
    }

    /// `tools.fs`.
    pub struct Files {
        /// Whether file tools stay in the workspace, whatever else the sandbox
        /// shows. Commands do not.
        workspace_only: Option<bool>,
    }

    /// `tools.web`.
    pub struct Web {
        /// Searching it.
        search: WebSearch,
        /// Fetching pages.
        fetch: WebFetch,
    }

    /// `tools.web.search`.
    pub struct WebSearch {
        /// `false`: not there, whatever else is said.
        enabled: Option<bool>,
    }

    /// `tools.web.fetch`.
    pub struct WebFetch {
        /// `false`: not there, whatever else is said.
        enabled: Option<bool>,
    }

    /// `tools.exec`.
    pub struct Exec {
        /// When somebody is asked before a command runs: `off`, `on-miss` (unless
        /// it only reads or is listed) or `always`. By default `off` when the
        /// sandbox leaves nothing but the workspace to be written and its network
        /// is not `full`, else `on-miss`. Where somebody is asked, it is also about
        /// files that a tool writes outside the workspace.
        ask: Option<Ask>,
        /// OpenClaw's: `deny` leaves no commands; `allowlist` and `safe-bin` ask
        /// about each that is not listed, granted or a safe bin, also when it only
        /// reads; with `ask` `off` they refuse it.
        #[cfg_attr(test, schemars(extend("enum" = ["deny", "allowlist", "safe-bin", "full"])))]
        security: Option<String>,
        /// OpenClaw's: `deny`, `allowlist` (like `security` `allowlist` with `ask`
        /// `off`), `ask`, `auto` (both like `security` `allowlist`) or `full`.
        #[cfg_attr(test, schemars(extend("enum" = ["deny", "allowlist", "ask", "auto", "full"])))]
        mode: Option<String>,
        /// Programs that may run where they only filter a stream, as their profiles
        /// have it: no words that name files, no options that read or write them or
        /// run programs. Where only what is listed runs and nothing is said: cut,
        /// uniq, head, tail, tr and wc.
        safe_bins: Option<Vec<String>>,
        /// What programs of `safeBins` may be given for which no profile is known;
        /// known are those and grep and sort.
        safe_bin_profiles: BTreeMap<String, SafeBinProfile>,
        /// Folders whose programs may be safe bins, beside /bin and /usr/bin.
        safe_bin_trusted_dirs: Vec<String>,
        /// Simple commands that may run, word by word and without quotation marks,
        /// `*` for anything: `cargo test *`.
        allowlist: Vec<String>,
        /// How long a command may take that names no time, in seconds; ours at most
        /// half an hour. Codex has times of its own.
        #[cfg_attr(test, schemars(range(min = 1)))]
        timeout_sec: Option<u64>,
        /// The same.
        #[cfg_attr(test, schemars(range(min = 1)))]
        timeout_seconds: Option<u64>,
        /// How long a command waits to be allowed before that counts as a no, in
        /// seconds.
        #[cfg_attr(test, schemars(range(min = 1)))]
        // As in OpenClaw.
        approval_timeout_sec: Chosen<u64> = Chosen::by_default(30 * 60),
    }

    /// What a safe bin may be given.
    #[derive(Eq)]
    pub struct SafeBinProfile {
        /// The fewest words that are no options.
        min_positional: Option<usize>,
        /// The most of them; without it any number.
        max_positional: Option<usize>,
        /// Options that it may have, each with a value.
        allowed_value_flags: Vec<String>,
        /// Options that it may not have, also not among letters; nor may it have
        /// any that are not named.
        denied_flags: Vec<String>,
    }

    /// `mcp`.
    pub struct Mcp {
        /// Servers by name.
        servers: BTreeMap<String, Server>,
        /// Milliseconds that the servers of a session stay up after a message; 0:
        /// until other sessions need the place.
        #[cfg_attr(test, schemars(range(max = 86_400_000)))]
        // As in OpenClaw.
        session_idle_ttl_ms: u64 = 600_000,
    }

    /// A server of tools.
    pub struct Server {
        /// The program: a path or a name on the PATH.
        command: Option<String>,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables.
        env: BTreeMap<String, String>,
        /// Where it starts; by default its own folder.
        cwd: Option<String>,
        /// A server elsewhere; only programs are supported.
        url: Option<String>,
        /// Whether it is used.
        enabled: bool = true,
        /// Whether it is not, in other programs' words.
        disabled: bool = false,
        /// What it may reach: `none` (the default, unless there are `hosts`),
        /// `allowlist`, or `full`. Never this machine's own loopback or link-local
        /// addresses.
        #[cfg_attr(test, schemars(extend("enum" = ["none", "allowlist", "full"])))]
        network: Option<String>,
        /// For `allowlist`: `name`, `*.name`, each with `:port` or without.
        hosts: Vec<String>,
        /// Folders granted beside its own and the system.
        paths: super::SandboxPaths,
        /// Whether it is believed when it says of a tool that it only reads, and
        /// nobody is asked before such a call then.
        trusted: bool = false,
        /// Milliseconds that one call may take; 120,000 unless set.
        #[cfg_attr(test, schemars(range(min = 1, max = 540_000)))]
        // As much as a command; at most as much as a wait for one.
        request_timeout_ms: u64 = 120_000,
    }
}

words! {
    /// When somebody is asked before a command runs.
    pub enum Ask {
        /// Never.
        Off = "off",
        /// Unless the command only reads or is listed.
        OnMiss = "on-miss",
        /// Always.
        Always = "always",
    }
}
