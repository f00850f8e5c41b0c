//! Sections that stand alone.

use super::{Effect, JOURNALD, OWN_MODEL, PROVIDER, Row, UNSUPPORTED, When, row};

use Effect::{NotNeeded, NotSupported, Replaced, Restricts};

/// Of the search, without effect.
pub(super) const SEARCH_UNSUPPORTED: &[&str] = &[
    "cache",
    "documentInputType",
    "experimental",
    "fallback",
    "inputType",
    "multimodal",
    "outputDimensionality",
    "queryInputType",
    "remote.batch",
    "remote.headers",
];
/// Where vectors are.
pub(super) const INDEX: Effect = Replaced("the index of the memory daemon");
/// Whether conversations are searched.
pub(super) const TRANSCRIPTS: Effect = Restricts {
    when: When::False,
    instead: "take it away, and set sources beside it to [\"memory\"]",
};
pub(super) const SEARCH_RESTRICTS: &[&str] = &["experimental.sessionMemory"];
/// Which files of a folder are meant.
pub(super) const PATTERN: Effect = Restricts {
    when: When::Not(&["**/*.md", "*.md"]),
    instead: "take it away, and name folders or files whose Markdown may all be searched",
};
/// What only matters to plugins.
const PLUGINS: Effect = NotSupported("OpenClaw's plugins are not run");

pub(super) const ROWS: &[Row] = &[
    row(
        "",
        UNSUPPORTED,
        &[
            "accessGroups",
            "acp",
            "approvals",
            "attachments",
            "broadcast",
            "browser",
            "cloudWorkers",
            "desktop",
            "diagnostics",
            "hooks.gmail",
            "hooks.internal",
            "nodeHost",
            "proxy",
            "secrets",
            "skills",
            "surfaces",
            "talk",
            "transcripts",
            "tts",
            "ui",
            "worktreeAcceleration",
            "worktreeRoot",
        ],
    ),
    row(
        "cron",
        UNSUPPORTED,
        &[
            "failureAlert.includeSkipped",
            "triggers",
            "webhookSsrfPolicy.allowIpv6UniqueLocalRange",
            "webhookSsrfPolicy.allowRfc2544BenchmarkRange",
        ],
    ),
    row("", PLUGINS, &["plugins"]),
    row(
        "",
        NotNeeded("says which programs wrote the file"),
        &["meta", "wizard"],
    ),
    row("", NotNeeded("nothing is announced"), &["discovery"]),
    row("", NotNeeded("nothing is reported"), &["telemetry"]),
    row(
        "",
        NotNeeded("the package manager updates the programs"),
        &["update"],
    ),
    row(
        "",
        NotNeeded("nothing is installed into the suite, nor audited by it"),
        &["security"],
    ),
    row(
        "auth",
        NotNeeded("profiles say themselves what they are (agents/ID/auth)"),
        &["profiles.*.displayName", "profiles.*.email"],
    ),
    // Restrictions in sections that are not supported.
    row(
        "",
        Restricts {
            when: When::Set,
            instead: "take it away, and name the hosts in sandbox.hosts, with sandbox.network \
                      \"allowlist\"",
        },
        &["proxy.enabled", "secrets.egressProxy.enabled"],
    ),
    row(
        "commands",
        Restricts {
            when: When::False,
            instead: "take it away; whoever has the gateway's token may give every command",
        },
        &["text"],
    ),
    row(
        "hooks",
        NotSupported("only presets without a program of OpenClaw's are known"),
        &["transformsDir"],
    ),
    row(
        "logging",
        JOURNALD,
        &["consoleLevel", "consoleStyle", "file", "maxFileBytes"],
    ),
    row("logging", UNSUPPORTED, &["audit"]),
    row(
        "logging",
        Restricts {
            when: When::Set,
            instead: "take it away, and leave logging.content off: records have no texts of \
                      messages then; transcripts and memory keep what was said",
        },
        &["redactPatterns"],
    ),
    row("mcp", UNSUPPORTED, &["apps"]),
    row(
        "mcp.servers.*",
        NotSupported("servers are programs here"),
        &[
            "auth",
            "clientCert",
            "clientKey",
            "headers",
            "oauth",
            "sslVerify",
            "transport",
        ],
    ),
    row(
        "mcp.servers.*",
        UNSUPPORTED,
        &["codex", "connectionTimeoutMs", "supportsParallelToolCalls"],
    ),
    row(
        "mcp.servers.*",
        Restricts {
            when: When::Set,
            instead: "take it away, and name the tools in tools.deny as SERVER__TOOL",
        },
        &["toolFilter"],
    ),
    row(
        "mcp.servers.*",
        Restricts {
            when: When::Set,
            instead: "take it away, and name the server's tools in tools.deny of the other agents \
                      as SERVER__TOOL",
        },
        &["codex.agents"],
    ),
    row("memory.search", OWN_MODEL, &["local"]),
    row("memory.search", PROVIDER, &["provider"]),
    row("memory.search", PATTERN, &["extraPaths.*.pattern"]),
    row("memory", UNSUPPORTED, &["citations"]),
    row("memory.search", UNSUPPORTED, SEARCH_UNSUPPORTED),
    row("memory.search", TRANSCRIPTS, SEARCH_RESTRICTS),
    row("memory.search", INDEX, &["store"]),
    row(
        "messages",
        Replaced("channels.telegram.ackReaction"),
        &["ackReaction", "ackReactionScope"],
    ),
    row(
        "messages",
        Replaced("channels.telegram.historyLimit"),
        &["groupChat.historyLimit"],
    ),
    row(
        "messages",
        UNSUPPORTED,
        &[
            "groupChat",
            "inbound",
            "responsePrefix",
            "responseUsage",
            "statusReactions",
            "usageTemplate",
            "visibleReplies",
        ],
    ),
    row(
        "session",
        UNSUPPORTED,
        &[
            "groupScope",
            "maintenance.coldStorage",
            "notifyOnCreate",
            "sharing",
            "threadBindings",
        ],
    ),
    row(
        "session",
        NotNeeded("the main session is always \"main\", as in OpenClaw"),
        &["mainKey"],
    ),
    row(
        "session",
        Replaced("OPENCLAW_STATE_DIR: sessions are in agents/ID/sessions below it"),
        &["store"],
    ),
];
