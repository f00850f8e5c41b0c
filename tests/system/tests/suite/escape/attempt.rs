//! One way out, and where it has to be closed.

/// What answers the turn in which everything is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Our own loop, whose tool runs the lines.
    Native,
    /// No model: `/run` runs them.
    Offline,
    /// A hostile program in the place of the Claude Code CLI.
    Claude,
    /// The same in the place of Codex.
    Codex,
    /// A hostile MCP server, in a turn of the native backend.
    Server,
}

/// A level of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Strict,
    Workspace,
    Off,
}

/// What `sandbox.network` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    ModelOnly,
    Allowlist,
    Full,
}

/// Who tries, and from where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) backend: Backend,
    pub(crate) level: Level,
    pub(crate) reach: Reach,
    /// Whether the runner is root, and the agent another user.
    pub(crate) root: bool,
}

/// Why a line that gets out of a setting breaks no promise (the tables of services/README.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Level `workspace` shows names, sizes and processes.
    Names,
    /// Landlock judges opening, not what changes a file's mode, times and attributes; the user's own are changed at
    /// level `workspace` by who is the same user.
    Attributes,
    /// Priority and limits of the user's other processes, at level `workspace`.
    Priorities,
    /// At level `workspace` below this version of Landlock.
    Landlock(i32),
    /// Programs that want a URL, or a list of hosts, have internet sockets; and a network of their own has an address.
    Sockets,
    /// Network `full` reaches what the machine reaches, and so may the provider on its behalf.
    Network,
    /// Nobody's door: network `full` reaches the provider itself, without the user's credential. A CLI's attempts take
    /// its door there too.
    Direct,
    /// Granted to the agent; a server of tools is to do without.
    Granted,
    /// Servers of tools stay up between the messages of their session, confined, and with them what they started.
    Kept,
    /// A runtime that reserves ranges it never touches is held by its unit's memory limit alone, which systemd-nspawn on
    /// a machine without cgroup v2 does not pass on.
    Memory,
}

impl Gap {
    /// Whether it is open there, on a kernel with this version of Landlock.
    fn is_open(self, at: &Setting, abi: i32) -> bool {
        let shared = at.level == Level::Workspace;
        match self {
            Self::Names => shared,
            Self::Attributes | Self::Priorities => shared && !at.root,
            Self::Landlock(least) => shared && abi < least,
            Self::Sockets => at.has_sockets(),
            Self::Network => at.reach == Reach::Full,
            Self::Direct => at.reach == Reach::Full && !at.is_cli(),
            Self::Granted => at.backend != Backend::Server,
            Self::Kept => at.backend == Backend::Server,
            Self::Memory => !matches!(at.backend, Backend::Native | Backend::Offline),
        }
    }
}

impl Setting {
    /// Whether a program can make internet sockets there.
    fn has_sockets(&self) -> bool {
        self.is_cli() || self.reach != Reach::ModelOnly
    }

    fn is_cli(&self) -> bool {
        matches!(self.backend, Backend::Claude | Backend::Codex)
    }
}

/// One way out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    /// Run by the agent, with bash. Without `outside` its success is the escape.
    pub(crate) inside: &'static str,
    /// Run outside afterwards: its success is the escape.
    pub(crate) outside: Option<&'static str>,
    /// Where it may succeed.
    pub(crate) gaps: &'static [Gap],
    /// What it tries, not every kernel has: it proves nothing there.
    pub(crate) optional: bool,
}

impl Attempt {
    /// With where it may succeed.
    pub(crate) const fn but(self, gaps: &'static [Gap]) -> Self {
        Self { gaps, ..self }
    }

    /// The same, for what a kernel may be built without: then root cannot do it either.
    pub(crate) const fn where_it_is(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }

    /// Why it may succeed there; `None` where it must not.
    pub(crate) fn gap(&self, at: &Setting, abi: i32) -> Option<Gap> {
        self.gaps.iter().copied().find(|gap| gap.is_open(at, abi))
    }
}

/// It succeeds when the agent's own line does.
pub(crate) const fn seen(name: &'static str, inside: &'static str) -> Attempt {
    Attempt {
        name,
        inside,
        outside: None,
        gaps: &[],
        optional: false,
    }
}

/// It succeeds when something is found outside afterwards.
pub(crate) const fn left(
    name: &'static str,
    inside: &'static str,
    outside: &'static str,
) -> Attempt {
    Attempt {
        name,
        inside,
        outside: Some(outside),
        gaps: &[],
        optional: false,
    }
}
