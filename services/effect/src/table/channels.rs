//! Channels, which agent answers there, and commands.

use super::{CHANNELS, Effect, Row, UNSUPPORTED, When, row};

use Effect::{NotNeeded, NotSupported, Replaced, Restricts};

/// What a token was called before.
pub(super) const TOKEN: Effect = Replaced(
    "channels.telegram.tokenFile, which `openclawctl channels add telegram` writes, and botToken",
);

/// What an agent is offered in a group.
const SKILLS: Effect =
    NotSupported("agents are given no skills yet, so there are none to choose from in a group");

/// Which tools somebody's messages may use.
const TOOLS: Effect = Restricts {
    when: When::Set,
    instead: "take it away, and bind the group to an agent that has these tools (bindings)",
};

/// Rules for one direct chat.
const DIRECT: Effect = Restricts {
    when: When::Set,
    instead: "take it away; who may talk is in channels.telegram.dmPolicy and allowFrom",
};
/// A direct chat that is switched off.
const DIRECT_OFF: Effect = Restricts {
    when: When::False,
    instead: "take it away, and leave the person out of channels.telegram.allowFrom",
};
/// Whose words an agent sees beside what it is asked.
const VISIBILITY: Effect = Restricts {
    when: When::Not(&["all"]),
    instead: "take it away; what is quoted is shown to the agent, whoever said it",
};
/// Which questions approvers are asked.
const FILTER: Effect = Restricts {
    when: When::Set,
    instead: "take it away; approvers are asked about the commands of every agent and session",
};

/// Whether an agent may react to messages.
const REACTIONS: Effect = Restricts {
    when: When::Not(&["minimal", "extensive"]),
    instead: "take it away; an agent that is told in AGENTS.md to send no reactions sends none",
};
/// What an agent may do of itself.
const ACTIONS: Effect = Restricts {
    when: When::False,
    instead: "take it away; which tools there are is in tools.deny",
};

/// What belongs to the runtime of OpenClaw.
const NODE: Effect = NotNeeded("it is about the network of Node.js");

/// Of an account, and of what holds for all of them.
const UNSUPPORTED_HERE: &[&str] = &[
    "actions",
    "autoTopicLabel",
    "commands.nativeSkills",
    "configWrites",
    "defaultTo",
    "direct",
    "groups.*.disableAudioPreflight",
    "groups.*.errorPolicy",
    "groups.*.ingest",
    "groups.*.topics.*.disableAudioPreflight",
    "groups.*.topics.*.errorPolicy",
    "groups.*.topics.*.ingest",
    "healthMonitor",
    "heartbeatVisibility",
    "joinIntro",
    "markdown",
    "mentionPatterns",
    "responsePrefix",
    "richMessages",
    "silentErrorReplies",
    "streaming.block",
    "streaming.chunkMode",
    "streaming.preview",
    "streaming.progress",
    "threadBindings",
    "trustedLocalFileRoots",
    "webhookCertPath",
];
const OF_AGENTS: &[&str] = &["actions.reactions", "actions.sendMessage"];
const SKILLS_OF_GROUPS: &[&str] = &["groups.*.skills", "groups.*.topics.*.skills"];
const NETWORK: &[&str] = &["network"];
const TOOLS_OF_GROUPS: &[&str] = &["groups.*.tools", "groups.*.toolsBySender"];
const SWITCHES_OF_DIRECT: &[&str] = &["direct.*.enabled"];
const VISIBILITIES: &[&str] = &["contextVisibility"];
const FILTERS: &[&str] = &["execApprovals.agentFilter", "execApprovals.sessionFilter"];
const RULES_OF_DIRECT: &[&str] = &[
    "direct.*.allowFrom",
    "direct.*.dmPolicy",
    "direct.*.requireTopic",
    "direct.*.tools",
    "direct.*.toolsBySender",
];

/// OpenClaw's channels that are not connected.
pub(crate) const OTHER_CHANNELS: &[&str] = &[
    "a2a",
    "buzz",
    "clickclack",
    "discord",
    "feishu",
    "googlechat",
    "imessage",
    "irc",
    "line",
    "matrix",
    "mattermost",
    "msteams",
    "nextcloud-talk",
    "nostr",
    "qa-channel",
    "raft",
    "reef",
    "signal",
    "slack",
    "sms",
    "synology-chat",
    "tlon",
    "twitch",
    "whatsapp",
    "zalo",
    "zalouser",
];

/// All accounts, and each.
const ALL: &str = "channels.telegram";
const EACH: &str = "channels.telegram.accounts.*";

pub(super) const ROWS: &[Row] = &[
    row("channels", CHANNELS, OTHER_CHANNELS),
    row("channels", UNSUPPORTED, &["defaults", "modelByChannel"]),
    row(
        "channels.defaults",
        Restricts {
            when: When::Not(&["allowlist", "open"]),
            instead: "take it away, and set channels.telegram.groupPolicy",
        },
        &["groupPolicy"],
    ),
    row("channels.defaults", VISIBILITY, VISIBILITIES),
    row(
        "channels.defaults.implicitMentions",
        Restricts {
            when: When::False,
            instead: "take it away; who answers one of its messages calls the bot",
        },
        &["replyToBot"],
    ),
    row(ALL, UNSUPPORTED, UNSUPPORTED_HERE),
    row(EACH, UNSUPPORTED, UNSUPPORTED_HERE),
    row(ALL, SKILLS, SKILLS_OF_GROUPS),
    row(EACH, SKILLS, SKILLS_OF_GROUPS),
    row(ALL, REACTIONS, &["reactionLevel"]),
    row(EACH, REACTIONS, &["reactionLevel"]),
    row(ALL, ACTIONS, OF_AGENTS),
    row(EACH, ACTIONS, OF_AGENTS),
    row(ALL, NODE, NETWORK),
    row(EACH, NODE, NETWORK),
    row(ALL, TOOLS, TOOLS_OF_GROUPS),
    row(EACH, TOOLS, TOOLS_OF_GROUPS),
    row(ALL, DIRECT, RULES_OF_DIRECT),
    row(EACH, DIRECT, RULES_OF_DIRECT),
    row(ALL, DIRECT_OFF, SWITCHES_OF_DIRECT),
    row(EACH, DIRECT_OFF, SWITCHES_OF_DIRECT),
    row(ALL, VISIBILITY, VISIBILITIES),
    row(EACH, VISIBILITY, VISIBILITIES),
    row(ALL, FILTER, FILTERS),
    row(EACH, FILTER, FILTERS),
    row(
        "bindings.*",
        Restricts {
            when: When::Set,
            instead: "take the binding away; channels with guilds, teams and roles are not \
                      connected",
        },
        &["match.guildId", "match.roles", "match.teamId"],
    ),
    row("bindings.*", UNSUPPORTED, &["acp", "session"]),
    row(
        "bindings.*",
        Restricts {
            when: When::Not(&["main"]),
            instead: "take it away, and set session.dmScope, which holds for all",
        },
        &["session.dmScope"],
    ),
    row(
        "bindings.*",
        NotNeeded("is for whoever reads the file"),
        &["comment"],
    ),
    row(
        "bindings.*",
        NotSupported("every binding is a route"),
        &["type"],
    ),
    row(
        "commands",
        UNSUPPORTED,
        &[
            "bash",
            "bashForegroundMs",
            "config",
            "debug",
            "mcp",
            "nativeSkills",
            "plugins",
            "restart",
        ],
    ),
    row(
        "commands",
        Replaced("channels.telegram.commands.native"),
        &["native"],
    ),
    row(
        "commands",
        Restricts {
            when: When::Set,
            instead: "take it away; who may talk by name gives the commands of their own \
                      conversation, and commands.ownerAllowFrom says who gives all",
        },
        &["allowFrom"],
    ),
];
