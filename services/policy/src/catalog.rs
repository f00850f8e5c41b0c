//! Every tool the suite knows by name: its other names, its group, and the
//! profiles it belongs to. Pure data: what a daemon needs to decide without
//! loading a tool.

use serde::{Deserialize, Serialize};

/// A tool as policies see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The name models call it by.
    pub name: &'static str,
    /// Names that mean the same tool; OpenClaw's first.
    pub aliases: &'static [&'static str],
    /// OpenClaw's group, without `group:`.
    pub group: &'static str,
    /// What it is for, for people.
    pub summary: &'static str,
    /// The tools of the Claude Code CLI that do the same.
    pub claude: &'static [&'static str],
}

/// All of them, in the order models are told about them.
pub const KNOWN: [Known; 13] = [
    Known {
        name: "read_file",
        aliases: &["read"],
        group: "fs",
        summary: "Read a text file",
        claude: &["Read", "Glob", "Grep"],
    },
    Known {
        name: "write_file",
        aliases: &["write"],
        group: "fs",
        summary: "Create, replace or append to a file of the workspace",
        claude: &["Write", "NotebookEdit"],
    },
    Known {
        name: "edit",
        aliases: &["edit_file"],
        group: "fs",
        summary: "Replace pieces of a file",
        claude: &["Edit", "MultiEdit"],
    },
    Known {
        name: "apply_patch",
        aliases: &["apply-patch"],
        group: "fs",
        summary: "Add, change, move and delete files with one patch",
        claude: &[],
    },
    Known {
        name: "list_directory",
        aliases: &["ls"],
        group: "fs",
        summary: "List a folder",
        claude: &["LS"],
    },
    Known {
        name: COMMANDS,
        aliases: &["exec", "bash"],
        group: "runtime",
        summary: "Run a command in the sandbox",
        claude: &["Bash"],
    },
    Known {
        name: "process",
        aliases: &[],
        group: "runtime",
        summary: "Follow and end commands that run in the background",
        claude: &["BashOutput", "KillShell", "TaskOutput", "TaskStop"],
    },
    Known {
        name: "memory_search",
        aliases: &[],
        group: "memory",
        summary: "Search memory",
        claude: &[],
    },
    Known {
        name: "memory_get",
        aliases: &[],
        group: "memory",
        summary: "Read what memory found",
        claude: &[],
    },
    Known {
        name: "memory_write",
        aliases: &[],
        group: "memory",
        summary: "Keep something in memory",
        claude: &[],
    },
    Known {
        name: "cron",
        aliases: &["automations"],
        group: "automation",
        summary: "Make jobs for later and look after them",
        claude: &[],
    },
    Known {
        name: "remind",
        aliases: &[],
        group: "automation",
        summary: "Have something said later",
        claude: &[],
    },
    Known {
        name: "session_status",
        aliases: &["status"],
        group: "sessions",
        summary: "Say how the assistant is set up",
        claude: &[],
    },
];

/// A tool of another agent's CLI that has no counterpart here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign {
    /// As that CLI calls it.
    pub name: &'static str,
    /// OpenClaw's group that it is in.
    pub group: &'static str,
    /// OpenClaw's tools that do the same: who denies one of them means this.
    pub openclaw: &'static [&'static str],
}

/// Those of the Claude Code CLI.
pub const CLAUDE_ONLY: [Foreign; 4] = [
    Foreign {
        name: "WebFetch",
        group: "web",
        openclaw: &["web_fetch"],
    },
    Foreign {
        name: "WebSearch",
        group: "web",
        openclaw: &["web_search"],
    },
    Foreign {
        name: "Task",
        group: "sessions",
        openclaw: &["sessions_spawn", "subagents"],
    },
    Foreign {
        name: "TodoWrite",
        group: "agents",
        openclaw: &["update_plan"],
    },
];

/// Those of the Codex CLI.
const CODEX_ONLY: [Foreign; 1] = [Foreign {
    name: "web_search",
    group: "web",
    openclaw: &[],
}];

/// The tool of another agent's CLI of that name.
#[must_use]
pub fn foreign(name: &str) -> Option<&'static Foreign> {
    all_foreign().find(|known| known.name == name)
}

/// The tools that other agents' CLIs alone have.
pub(crate) fn all_foreign() -> impl Iterator<Item = &'static Foreign> {
    CLAUDE_ONLY.iter().chain(&CODEX_ONLY)
}

/// The group of a tool that other agents' CLIs alone have.
#[must_use]
pub fn foreign_group(name: &str) -> Option<&'static str> {
    foreign(name).map(|known| known.group)
}

/// The group of the tools of MCP servers.
pub(crate) const SERVER_GROUP: &str = "plugins";

/// The tool that runs commands.
pub const COMMANDS: &str = "execute_shell";

/// What stands between a server's name and its tool's.
pub const SERVER_SEPARATOR: &str = "__";

/// The known tool called `name`, whichever of its names that is.
#[must_use]
pub fn find(name: &str) -> Option<&'static Known> {
    let is_it = |tool: &&Known| tool.name == name || tool.aliases.contains(&name);
    KNOWN
        .iter()
        .find(is_it)
        .or_else(|| KNOWN.iter().find(|tool| tool.claude.contains(&name)))
}

/// Whether `name` is one of the names of the tool that runs commands.
#[must_use]
pub fn is_command(name: &str) -> bool {
    find(name).is_some_and(|tool| tool.name == COMMANDS)
}

/// Whether `name` is a tool of the suite's or of another agent's CLI that
/// policies know.
#[must_use]
pub fn is_known(name: &str) -> bool {
    find(name).is_some() || foreign_group(name).is_some()
}

/// The groups, with what people call them.
pub const GROUPS: [(&str, &str); 5] = [
    ("fs", "Files"),
    ("runtime", "Runtime"),
    ("memory", "Memory"),
    ("automation", "Automation"),
    ("sessions", "Sessions"),
];

/// A named choice of tools (OpenClaw's `tools.profile`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profile {
    /// Only what says how the assistant is set up.
    Minimal,
    /// Files, commands, memory.
    Coding,
    /// Memory; nothing that touches files or runs commands.
    Messaging,
    /// Everything.
    Full,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Minimal, Self::Coding, Self::Messaging, Self::Full];

    /// As it is written in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Coding => "coding",
            Self::Messaging => "messaging",
            Self::Full => "full",
        }
    }

    /// The profile of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Whether the profile has the tools of `group`.
    #[must_use]
    pub fn has(self, group: &str) -> bool {
        match self {
            Self::Minimal => group == "sessions",
            Self::Messaging => ["sessions", "memory", "automation"].contains(&group),
            Self::Coding => [
                "sessions",
                "memory",
                "automation",
                "fs",
                "runtime",
                "agents",
            ]
            .contains(&group),
            Self::Full => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalog_no_name_means_two_tools() {
        let mut names: Vec<&str> = KNOWN
            .iter()
            .flat_map(|tool| {
                std::iter::once(&tool.name)
                    .chain(tool.aliases)
                    .chain(tool.claude)
            })
            .chain(CLAUDE_ONLY.iter().map(|tool| &tool.name))
            .chain(CODEX_ONLY.iter().map(|tool| &tool.name))
            .copied()
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn tool_is_found_by_every_name() {
        for name in ["exec", "execute_shell", "bash", "Bash"] {
            assert_eq!(find(name).unwrap().name, "execute_shell");
        }
        assert!(find("web_search").is_none());
    }
}
