//! What an entry of a list of tools names.

use crate::catalog::{self, CLAUDE_ONLY, GROUPS, KNOWN, SERVER_GROUP, SERVER_SEPARATOR};
use crate::policy::{SERVERS, glob};

/// OpenClaw's tools that are not here (its docs, `gateway/config-tools/tool-policy.md`).
const ABSENT: &[&str] = &[
    "agents_list",
    "ask_user",
    "browser",
    "canvas",
    "code_execution",
    "computer",
    "conversations_list",
    "conversations_send",
    "conversations_turn",
    "create_goal",
    "dashboard",
    "dismiss_task",
    "gateway",
    "get_goal",
    "heartbeat_respond",
    "image",
    "image_generate",
    "message",
    "music_generate",
    "nodes",
    "openclaw",
    "pdf",
    "plugins",
    "portal",
    "progress_card",
    "screen",
    "sessions",
    "sessions_history",
    "sessions_list",
    "sessions_search",
    "sessions_send",
    "sessions_yield",
    "show_widget",
    "skill_workshop",
    "suggest_task",
    "terminal",
    "theme",
    "tts",
    "update_goal",
    "video_generate",
    "view_image",
    "x_search",
];

/// Its groups of which nothing is here.
const ABSENT_GROUPS: [&str; 4] = ["media", "messaging", "nodes", "ui"];

/// What an entry of a list of tools names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A tool or a group that policies act on, or what may be a server's.
    Here,
    /// A tool or a group of OpenClaw's that is not here.
    Absent,
    /// Nothing that is known: a mistake, or a tool of a plugin.
    Unknown,
}

impl Entry {
    /// What `written` names.
    #[must_use]
    pub fn of(written: &str) -> Self {
        if let Some(group) = written.strip_prefix("group:") {
            return Self::found(
                groups().any(|it| it == group),
                ABSENT_GROUPS.contains(&group),
            );
        }
        let is_server = written == SERVERS || written.contains(SERVER_SEPARATOR);
        if written.contains('*') {
            let fits = |name: &&str| glob(written, name);
            return Self::found(
                is_server || names().any(|name| fits(&name)),
                ABSENT.iter().any(fits),
            );
        }
        let is_here = is_server || names().any(|name| name == written);
        Self::found(is_here, ABSENT.contains(&written))
    }

    fn found(is_here: bool, is_absent: bool) -> Self {
        match (is_here, is_absent) {
            (true, _) => Self::Here,
            (false, true) => Self::Absent,
            (false, false) => Self::Unknown,
        }
    }
}

/// All that a list may name: tools by each of their names, and groups.
pub fn known() -> impl Iterator<Item = String> {
    let groups = groups().chain(ABSENT_GROUPS);
    let names = names().chain(ABSENT.iter().copied()).map(str::to_owned);
    names.chain(groups.map(|group| format!("group:{group}")))
}

/// Tools by each of the names that policies know them by.
fn names() -> impl Iterator<Item = &'static str> {
    let ours = KNOWN.iter().flat_map(|tool| {
        let others = tool.aliases.iter().chain(tool.claude);
        std::iter::once(tool.name).chain(others.copied())
    });
    let foreign = catalog::all_foreign().flat_map(|tool| {
        let others = tool.openclaw.iter().copied();
        std::iter::once(tool.name).chain(others)
    });
    ours.chain(foreign)
}

fn groups() -> impl Iterator<Item = &'static str> {
    let ours = GROUPS.iter().map(|(group, _)| *group);
    let foreign = CLAUDE_ONLY.iter().map(|tool| tool.group);
    ours.chain(foreign).chain([SERVER_GROUP, "openclaw", "all"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_names_what_is_here_what_is_elsewhere_or_nothing() {
        for (written, expected) in [
            ("exec", Entry::Here),
            ("Bash", Entry::Here),
            ("TodoWrite", Entry::Here),
            ("web_fetch", Entry::Here),
            ("group:fs", Entry::Here),
            ("group:web", Entry::Here),
            ("group:plugins", Entry::Here),
            ("mem*", Entry::Here),
            ("files__read", Entry::Here),
            ("files__*", Entry::Here),
            ("bundle-mcp", Entry::Here),
            ("browser", Entry::Absent),
            ("brow*", Entry::Absent),
            ("group:ui", Entry::Absent),
            ("raed", Entry::Unknown),
            ("group:files", Entry::Unknown),
            ("xyz*", Entry::Unknown),
            ("", Entry::Unknown),
        ] {
            assert_eq!(Entry::of(written), expected, "{written}");
        }
    }

    #[test]
    fn whatever_is_known_is_no_mistake() {
        for name in known() {
            assert_ne!(Entry::of(&name), Entry::Unknown, "{name}");
        }
    }

    #[test]
    fn entry_what_is_said_to_be_elsewhere_is_not_here() {
        assert!(ABSENT.is_sorted());
        for name in ABSENT {
            assert_eq!(Entry::of(name), Entry::Absent, "{name}");
            assert!(!catalog::is_known(name), "{name}");
        }
    }
}
