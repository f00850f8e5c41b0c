//! Keys that the recorded version of OpenClaw does not have: of versions before
//! it, of the seeds, and of pages that are older than the program.

use super::channels::TOKEN;
use super::general::{SEARCH_RESTRICTS, SEARCH_UNSUPPORTED, TRANSCRIPTS};
use super::{CHANNELS, Effect, JOURNALD, OWN_MODEL, PROVIDER, Row, UNSUPPORTED, When, row};

use Effect::{Acts, Alias, NotNeeded, NotSupported, Replaced, Restricts};

pub(super) const ROWS: &[Row] = &[
    row("channels", CHANNELS, &["*"]),
    row("channels.telegram", UNSUPPORTED, OLDER_CHANNEL),
    row("channels.telegram.accounts.*", UNSUPPORTED, OLDER_CHANNEL),
    row("channels.telegram", TOKEN, &["token"]),
    row("channels.telegram.accounts.*", TOKEN, &["token"]),
    row(
        "",
        UNSUPPORTED,
        &[
            "audio",
            "canvasHost",
            "cli",
            "commitments",
            "crestodian",
            "identity",
            "media",
            "multiAgent",
            "users",
            "web",
        ],
    ),
    row(
        "cron",
        UNSUPPORTED,
        &[
            "failureDestination",
            "jobs",
            "maxConcurrentRuns",
            "retry",
            "runLog",
            "store",
            "webhook",
        ],
    ),
    row("gateway", Alias("gateway.bind"), &["host"]),
    row(
        "gateway.reload",
        NotNeeded("a change of the file is taken up at once, and turns go on as they began"),
        &["debounceMs", "deferralTimeoutMs"],
    ),
    row("agents.entries.*", UNSUPPORTED, AGENT),
    // OpenClaw's schema does not say what is in them.
    row("agents.entries.*.params", UNSUPPORTED, &["*"]),
    row("agents.entries.*.params", Acts, PARAMS),
    row("agents.defaults.params", UNSUPPORTED, &["*"]),
    row("agents.defaults.params", Acts, PARAMS),
    row("agents.defaults", UNSUPPORTED, AGENT),
    row(
        "agents.defaults",
        UNSUPPORTED,
        &[
            "additionalSystemPrompt",
            "audioModel",
            "bootstrapPromptTruncationWarning",
            "cliBackends",
            "embeddedPi",
            "envelopeElapsed",
            "envelopeTimestamp",
            "envelopeTimezone",
            "imageGenerationModel",
            "llm",
            "mediaGenerationAutoProviderFallback",
            "musicGenerationModel",
            "pdfMaxBytesMb",
            "promptOverlays",
            "runtime",
            "silentReplyRewrite",
            "timeFormat",
            "tts",
            "videoGenerationModel",
        ],
    ),
    row(
        "agents.entries.*",
        UNSUPPORTED,
        &["blockStreamingDefault", "compaction", "userTimezone"],
    ),
    row(
        "agents.defaults",
        Restricts {
            when: When::Not(&["full", "workspace"]),
            instead: "take it away, and say which tools there are: tools.deny",
        },
        &["permissionMode"],
    ),
    row(
        "agents.entries.*",
        Restricts {
            when: When::Not(&["full", "workspace"]),
            instead: "take it away, and say which tools there are: agents.entries.ID.tools.deny",
        },
        &["permissionMode"],
    ),
    row(
        "agents.defaults.sandbox",
        Replaced("sandbox: namespaces and system calls in place of containers"),
        &["perSession"],
    ),
    row(
        "agents.entries.*.sandbox",
        Replaced("sandbox: namespaces and system calls in place of containers"),
        &["perSession"],
    ),
    row(
        "tools",
        UNSUPPORTED,
        &["artifacts", "codeExecution", "experimental", "xSearch"],
    ),
    row(
        "mcp.servers.*",
        UNSUPPORTED,
        &[
            "connectTimeout",
            "connectTimeoutMs",
            "description",
            "serverInstructions",
            "timeout",
            "workingDirectory",
        ],
    ),
    row(
        "mcp.servers.*",
        NotSupported("servers are programs here"),
        &["type"],
    ),
    row("models", UNSUPPORTED, &["bedrockDiscovery", "pricing"]),
    row("models.providers.*", UNSUPPORTED, &["contextTokens"]),
    row("auth", UNSUPPORTED, &["cooldowns"]),
    row(
        "gateway",
        UNSUPPORTED,
        &[
            "channelHealthCheckMinutes",
            "channelMaxRestartsPerHour",
            "channelStaleEventThresholdMinutes",
            "handshakeTimeoutMs",
            "pairing",
            "webchat",
        ],
    ),
    row(
        "gateway.controlUi",
        NotNeeded("OpenClaw's web pages are not served"),
        &["allowInsecureAuth", "chatMessageMaxWidth", "toolTitles"],
    ),
    row(
        "gateway.http.endpoints",
        NotNeeded("the gateway has limits of its own"),
        &[
            "chatCompletions.maxBodyBytes",
            "chatCompletions.maxImageParts",
            "chatCompletions.maxTotalImageBytes",
            "responses.maxBodyBytes",
        ],
    ),
    row(
        "hooks",
        NotNeeded("the gateway has limits of its own"),
        &["maxBodyBytes"],
    ),
    row("logging", JOURNALD, &["maxFiles", "maxSize", "path"]),
    row(
        "logging",
        NotNeeded("records have texts of messages with logging.content alone"),
        &["redactSensitive"],
    ),
    row(
        "messages",
        UNSUPPORTED,
        &[
            "messagePrefix",
            "removeAckAfterReply",
            "suppressToolErrors",
            "tts",
        ],
    ),
    row(
        "session",
        UNSUPPORTED,
        &[
            "agentToAgent",
            "archiveDashboardAfter",
            "coldStorage",
            "heartbeatIdleMinutes",
            "parentForkMaxTokens",
            "typingIntervalSeconds",
            "typingMode",
            "writeLock",
        ],
    ),
    row(
        "session",
        Restricts {
            when: When::False,
            instead: "take it away, and set memory.search.rememberAcrossConversations",
        },
        &["rememberAcrossConversations"],
    ),
    row(
        "session.maintenance",
        NotNeeded("the index is written anew as a whole and never rotated"),
        &["rotateBytes"],
    ),
    row("memory", UNSUPPORTED, &["backend", "dreaming", "qmd"]),
    row("agents.defaults.memorySearch", OWN_MODEL, &["local"]),
    row("agents.entries.*.memorySearch", OWN_MODEL, &["local"]),
    row("agents.defaults.memorySearch", UNSUPPORTED, SEARCH),
    row(
        "agents.defaults.memorySearch",
        UNSUPPORTED,
        SEARCH_UNSUPPORTED,
    ),
    row(
        "agents.defaults.memorySearch",
        TRANSCRIPTS,
        SEARCH_RESTRICTS,
    ),
    row(
        "agents.entries.*.memorySearch",
        TRANSCRIPTS,
        SEARCH_RESTRICTS,
    ),
    row("agents.entries.*.memorySearch", UNSUPPORTED, SEARCH),
    row(
        "agents.entries.*.memorySearch",
        UNSUPPORTED,
        SEARCH_UNSUPPORTED,
    ),
    row("agents.defaults.memorySearch", PROVIDER, &["provider"]),
    row("agents.entries.*.memorySearch", PROVIDER, &["provider"]),
    row("memory.search", UNSUPPORTED, &["chunking"]),
];

/// What a model is asked with.
const PARAMS: &[&str] = &[
    "frequencyPenalty",
    "frequency_penalty",
    "maxTokens",
    "max_tokens",
    "presencePenalty",
    "presence_penalty",
    "seed",
    "stop",
    "stopSequences",
    "temperature",
    "topK",
    "topP",
    "top_k",
    "top_p",
];

/// Of an account of a channel.
const OLDER_CHANNEL: &[&str] = &[
    "blockStreaming",
    "blockStreamingCoalesce",
    "chunkMode",
    "draftChunk",
    "retry",
    "streamMode",
    "timeoutSeconds",
];

/// Of agents and of their defaults.
const AGENT: &[&str] = &[
    "agentRuntime",
    "contextTokens",
    "embeddedHarness",
    "runRetries",
    "traceDefault",
];

/// Of the search of memory, besides what the recorded version has.
const SEARCH: &[&str] = &[
    "chunking",
    "store",
    "query.hybrid.candidateMultiplier",
    "query.hybrid.enabled",
    "remote.nonBatchConcurrency",
    "sync.embeddingBatchTimeoutSeconds",
    "sync.intervalMinutes",
    "sync.onSearch",
    "sync.onSessionStart",
    "sync.sessions",
    "sync.watchDebounceMs",
];
