//! `models`.

use super::{Row, UNSUPPORTED, row};
use crate::effect::{Effect, When};

use Effect::{Acts, NotNeeded, Restricts};

pub(super) const ROWS: &[Row] = &[
    row("models", Acts, &["mode"]),
    row(
        "models",
        NotNeeded("models are those of the configuration"),
        &["catalogRefresh"],
    ),
    row(
        "models.providers.*",
        Acts,
        &["api", "apiKey", "baseUrl", "maxTokens"],
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
        Acts,
        &[
            "contextWindow",
            "cost",
            "id",
            "input",
            "maxTokens",
            "name",
            "reasoning",
        ],
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
            "cost.tieredPricing",
            "headers",
            "mediaInput",
            "metadataSource",
            "params",
            "thinkingLevelMap",
        ],
    ),
];
