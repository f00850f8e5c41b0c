//! `agents`.

use super::general::{INDEX, PATTERN, SEARCH_RESTRICTS, SEARCH_UNSUPPORTED, TRANSCRIPTS};
use super::{Effect, OWN_MODEL, PROVIDER, Row, UNSUPPORTED, When, row};

use Effect::{NotNeeded, NotSupported, Replaced, Restricts};

/// What only matters to agents that agents start.
const SUBAGENTS: Effect = NotSupported("agents start no others");
/// What only matters to containers.
const CONTAINERS: Effect = Replaced("sandbox: namespaces and system calls in place of containers");
/// Which models a session may be switched to.
const MODEL_POLICY: Effect = Restricts {
    when: When::Set,
    instead: "take it away; a session can be switched to every model of a provider that has a key",
};
/// What an agent may do to its workspace.
const WORKSPACE_ACCESS: Effect = Restricts {
    when: When::Not(&["rw"]),
    instead: "set it to \"rw\" or take it away; an agent writes to its workspace and to nothing else",
};

pub(super) const ROWS: &[Row] = &[
    row(
        "agents",
        NotSupported(
            "messages that name no agent go to the one that is marked with \"default\": true, or to \
             the first",
        ),
        &["ownership"],
    ),
    row(
        "agents.defaults",
        Replaced("channels.telegram.streaming"),
        &[
            "blockStreamingBreak",
            "blockStreamingChunk",
            "blockStreamingCoalesce",
            "blockStreamingDefault",
        ],
    ),
    row(
        "agents.defaults",
        Replaced("channels.telegram.mediaMaxMb"),
        &["mediaMaxMb"],
    ),
    row("agents.defaults", SUBAGENTS, &["subagents"]),
    row("agents.defaults", MODEL_POLICY, &["modelPolicy.allow"]),
    row(
        "agents.defaults",
        Replaced("gateway.maxConcurrentTurns"),
        &["maxConcurrent"],
    ),
    row(
        "agents.defaults",
        NotNeeded("there is no mode outside the sandbox"),
        &["elevatedDefault"],
    ),
    row(
        "agents.defaults",
        UNSUPPORTED,
        &[
            "authInheritance",
            "compaction",
            "contextInjection",
            "contextLimits",
            "contextPruning",
            "cwd",
            "decisionModel",
            "embeddedAgent",
            "experimental",
            "fastModeDefault",
            "humanDelay",
            "imageMaxDimensionPx",
            "imageModel",
            "imageQuality",
            "mediaModels",
            "modelSelectionScope",
            "models",
            "pdfMaxMb",
            "pdfMaxPages",
            "pdfModel",
            "reasoningDefault",
            "repoRoot",
            "sessionStore",
            "silentReply",
            "skills",
            "skipOptionalBootstrapFiles",
            "startupContext",
            "systemAgent",
            "thinkingDefault",
            "toolProgressDetail",
            "typingIntervalSeconds",
            "typingMode",
            "userTimezone",
            "utilityModel",
            "verboseDefault",
            "voiceModel",
        ],
    ),
    row("agents.defaults.sandbox", CONTAINERS, SANDBOX),
    row(
        "agents.defaults.sandbox",
        WORKSPACE_ACCESS,
        &["workspaceAccess"],
    ),
    row("agents.entries.*", SUBAGENTS, &["subagents"]),
    row("agents.entries.*", MODEL_POLICY, &["modelPolicy.allow"]),
    row(
        "agents.entries.*",
        Replaced("OPENCLAW_STATE_DIR: an agent's folder is agents/ID below it"),
        &["agentDir"],
    ),
    row(
        "agents.entries.*",
        UNSUPPORTED,
        &[
            "contextInjection",
            "contextLimits",
            "cwd",
            "decisionModel",
            "description",
            "embeddedAgent",
            "experimental",
            "fastModeDefault",
            "groupChat",
            "humanDelay",
            "models",
            "reasoningDefault",
            "runtime",
            "skills",
            "skillsLimits",
            "thinkingDefault",
            "toolProgressDetail",
            "tts",
            "typingMode",
            "utilityModel",
            "verboseDefault",
        ],
    ),
    row("agents.entries.*.memory.search", OWN_MODEL, &["local"]),
    row("agents.entries.*.memory.search", PROVIDER, &["provider"]),
    row(
        "agents.entries.*.memory.search",
        PATTERN,
        &["extraPaths.*.pattern"],
    ),
    row(
        "agents.entries.*.memory.search",
        UNSUPPORTED,
        SEARCH_UNSUPPORTED,
    ),
    row(
        "agents.entries.*.memory.search",
        TRANSCRIPTS,
        SEARCH_RESTRICTS,
    ),
    row("agents.entries.*.memory.search", INDEX, &["store"]),
    row("agents.entries.*.sandbox", CONTAINERS, SANDBOX),
    row(
        "agents.entries.*.sandbox",
        WORKSPACE_ACCESS,
        &["workspaceAccess"],
    ),
];

/// Of the containers that OpenClaw runs tools in.
const SANDBOX: &[&str] = &[
    "backend",
    "browser",
    "docker",
    "mode",
    "prune",
    "scope",
    "sessionToolsVisibility",
    "ssh",
    "workspaceRoot",
];
