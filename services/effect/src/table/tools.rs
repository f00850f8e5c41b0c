//! `tools`, and those of one agent.

use super::{Effect, Row, UNSUPPORTED, When, row};

use Effect::{NotNeeded, NotSupported, Replaced, Restricts};

/// Policies that depend on something else than the agent.
const POLICY: Effect = Restricts {
    when: When::Set,
    instead: "take it away, and say it for all turns of an agent: tools.allow and tools.deny, or \
              agents.entries.ID.tools",
};
/// What only matters to messengers and other sessions.
const MESSAGES: Effect = NotSupported("there are no tools for messages and other sessions");
/// What only matters to tools of the web.
const WEB: Effect =
    NotSupported("the web is the provider's or the CLI's own tool (sandbox.providerTools)");
/// What only matters to commands outside the sandbox.
const ELEVATED: Effect = NotNeeded("there is no mode outside the sandbox");
/// How long an approval for good holds.
const EXPIRY: Effect = Restricts {
    when: When::Set,
    instead: "take it away; what is allowed for good holds until it is taken back \
              (openclawctl approvals)",
};
/// What is asked about although it is listed.
const INLINE: Effect = Restricts {
    when: When::Set,
    instead: "take it away, and list no interpreter in tools.exec.safeBins and \
              tools.exec.allowlist: what is not listed is asked about",
};
/// What is said of one tool alone, for all agents and for one.
const ALL_PATCH: &str = "tools.exec.applyPatch";
const OWN_PATCH: &str = "agents.entries.*.tools.exec.applyPatch";
const PATCH: Effect = NotNeeded("tools.deny and tools.fs.workspaceOnly hold for apply_patch too");
const NO_PATCH: Effect = Restricts {
    when: When::False,
    instead: "take it away, and put \"apply_patch\" into tools.deny",
};
const PATCH_MODELS: Effect = Restricts {
    when: When::Set,
    instead: "take it away, and put \"apply_patch\" into tools.deny of the agents whose models are \
              not to have it",
};
const PATCH_PLACE: Effect = Restricts {
    when: When::Set,
    instead: "take it away, and set tools.fs.workspaceOnly",
};
/// Where commands run.
const HOST: Effect = Restricts {
    when: When::Not(&["auto", "sandbox", "gateway", "host"]),
    instead: "set it to \"auto\"; commands run in the agent's sandbox on this machine",
};

pub(super) const ROWS: &[Row] = &[
    row("tools.exec", UNSUPPORTED, EXEC),
    row("tools.exec", PATCH, &["applyPatch"]),
    row(ALL_PATCH, NO_PATCH, &["enabled"]),
    row(ALL_PATCH, PATCH_MODELS, &["allowModels"]),
    row(ALL_PATCH, PATCH_PLACE, &["workspaceOnly"]),
    row("tools.exec", EXPIRY, &["grantExpiryDays"]),
    row("tools.exec", INLINE, &["strictInlineEval"]),
    row("tools.exec", HOST, &["host"]),
    row(
        "tools",
        POLICY,
        &["byProvider", "sandbox.tools", "toolsBySender"],
    ),
    row(
        "tools",
        MESSAGES,
        &["agentToAgent", "message", "sessions", "sessions_spawn"],
    ),
    row(
        "tools",
        NotSupported("agents start no others"),
        &["subagents", "swarm"],
    ),
    row("tools", ELEVATED, &["elevated"]),
    row(
        "tools",
        Replaced("agents.defaults.limits.identicalCalls"),
        &["loopDetection"],
    ),
    row(
        "tools",
        UNSUPPORTED,
        &[
            "codeMode",
            "github",
            "links",
            "media",
            "toolSearch",
            "updatePlan",
        ],
    ),
    row(
        "tools.web.fetch",
        WEB,
        &[
            "cacheTtlMinutes",
            "headers",
            "maxChars",
            "maxCharsCap",
            "maxRedirects",
            "maxResponseBytes",
            "provider",
            "readability",
            "ssrfPolicy",
            "timeoutSeconds",
            "useTrustedEnvProxy",
            "userAgent",
        ],
    ),
    row(
        "tools.web.search",
        WEB,
        &[
            "cacheTtlMinutes",
            "maxResults",
            "openaiCodex",
            "provider",
            "timeoutSeconds",
        ],
    ),
    row(
        "tools.web",
        Restricts {
            when: When::Set,
            instead: "take it away, and name the hosts that may be reached in sandbox.hosts",
        },
        &[
            "fetch.ssrfPolicy.blockedHostnames",
            "search.openaiCodex.allowedDomains",
        ],
    ),
    row("agents.entries.*.tools.exec", UNSUPPORTED, EXEC),
    row("agents.entries.*.tools.exec", PATCH, &["applyPatch"]),
    row(OWN_PATCH, NO_PATCH, &["enabled"]),
    row(OWN_PATCH, PATCH_MODELS, &["allowModels"]),
    row(OWN_PATCH, PATCH_PLACE, &["workspaceOnly"]),
    row("agents.entries.*.tools.exec", EXPIRY, &["grantExpiryDays"]),
    row("agents.entries.*.tools.exec", INLINE, &["strictInlineEval"]),
    row("agents.entries.*.tools.exec", HOST, &["host"]),
    row(
        "agents.entries.*.tools",
        POLICY,
        &["byProvider", "sandbox.tools", "toolsBySender"],
    ),
    row("agents.entries.*.tools", MESSAGES, &["message"]),
    row(
        "agents.entries.*.tools",
        NotSupported("agents start no others"),
        &["swarm"],
    ),
    row("agents.entries.*.tools", ELEVATED, &["elevated"]),
    row(
        "agents.entries.*.tools",
        Replaced("agents.entries.ID.limits.identicalCalls"),
        &["loopDetection"],
    ),
    row(
        "agents.entries.*.tools",
        UNSUPPORTED,
        &["codeMode", "github"],
    ),
];

/// Of commands.
const EXEC: &[&str] = &[
    "approvalRunningNoticeMs",
    "backgroundMs",
    "cleanupMs",
    "commandHighlighting",
    "node",
    "notifyOnExit",
    "notifyOnExitEmptySuccess",
    "pathPrepend",
    "reviewer",
];
