//! `models`.

use super::{Effect, Row, UNSUPPORTED, When, row};

use Effect::{NotNeeded, Restricts};

pub(super) const ROWS: &[Row] = &[
    row(
        "models",
        NotNeeded("models are those of the configuration"),
        &["catalogRefresh"],
    ),
    row(
        "models.providers.*",
        UNSUPPORTED,
        &[
            "agentRuntime",
            "auth",
            "authHeader",
            "headers",
            "injectNumCtxForOpenAICompat",
            "localService",
            "params",
            "region",
            "request",
            "timeoutSeconds",
        ],
    ),
    row(
        "models.providers.*.request",
        Restricts {
            when: When::Set,
            instead: "take it away, and give the proxy's address as baseUrl: the provider would be \
                      asked directly",
        },
        &["proxy.url"],
    ),
    row(
        "models.providers.*.models.*",
        UNSUPPORTED,
        &[
            "agentRuntime",
            "api",
            "baseUrl",
            "compat",
            "contextTokens",
            "headers",
            "mediaInput",
            "metadataSource",
            "params",
            "thinkingLevelMap",
        ],
    ),
];
