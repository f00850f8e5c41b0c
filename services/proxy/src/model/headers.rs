//! Which headers of a request go out. Those that are known here do, so that
//! none selects another account, organization or credential than the
//! configured one.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use openclaw_model_api::relay::Relay;
use openclaw_model_api::wire::{Api, Grants, betas};

/// Which features of the API a request uses.
const BETA: &str = "anthropic-beta";
/// Passed on to each API: what is understood, and what asks.
const COMMON: [&str; 3] = ["accept", "user-agent", "x-app"];
/// The beginning of what Anthropic's libraries say of themselves.
const LIBRARY: &str = "x-stainless-";
/// Passed on to the Messages API.
const MESSAGES: [&str; 3] = [
    "anthropic-dangerous-direct-browser-access",
    "anthropic-version",
    "x-claude-code-session-id",
];
/// Passed on to the responses API: what one conversation's requests have in
/// common, for its cache.
const RESPONSES: [&str; 14] = [
    "conversation_id",
    "originator",
    "session-id",
    "session_id",
    "thread-id",
    "version",
    "x-client-request-id",
    "x-codex-beta-features",
    "x-codex-installation-id",
    "x-codex-parent-thread-id",
    "x-codex-root-turn-id",
    "x-codex-turn-metadata",
    "x-codex-turn-state",
    "x-codex-window-id",
];
/// Which features of OpenAI's APIs a request uses, of those that are known.
const OPENAI_BETA: (&str, &str) = ("openai-beta", "responses=experimental");

/// The headers of a request as they go out, the credential among them.
/// `None`: one that is configured cannot be sent.
pub(super) fn outgoing(relay: &Relay, asked: &HeaderMap, grants: &Grants) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in asked {
        if is_passed(relay.api, name, value) {
            headers.append(name.clone(), value.clone());
        }
    }
    if relay.api.is_messages()
        && let Some(features) = features(relay, asked, grants)
    {
        headers.insert(BETA, HeaderValue::from_str(&features).ok()?);
    }
    for (name, value) in &relay.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(value.0.reveal()).ok()?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Some(headers)
}

fn is_passed(api: Api, name: &HeaderName, value: &HeaderValue) -> bool {
    let name = name.as_str();
    let own = match api {
        Api::Anthropic | Api::Bedrock => MESSAGES.contains(&name) || name.starts_with(LIBRARY),
        Api::Responses => RESPONSES.contains(&name) || (name, value.as_bytes()) == beta(),
        Api::Chat => false,
    };
    own || COMMON.contains(&name)
}

fn beta() -> (&'static str, &'static [u8]) {
    (OPENAI_BETA.0, OPENAI_BETA.1.as_bytes())
}

/// The features that a request may use, and the one that the credential needs.
fn features(relay: &Relay, asked: &HeaderMap, grants: &Grants) -> Option<String> {
    let named = asked.get_all(BETA).iter();
    let named = named
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|name| betas::passes(name, grants));
    let mut all: Vec<&str> = named.collect();
    if let Some(own) = relay.beta.as_deref().filter(|own| !all.contains(own)) {
        all.push(own);
    }
    (!all.is_empty()).then(|| all.join(","))
}

#[cfg(test)]
mod tests {
    use openclaw_config::secret::Secret;
    use openclaw_model_api::relay::HeaderSecret;

    use super::*;

    fn sent(api: Api, asked: &[(&'static str, &'static str)]) -> HeaderMap {
        let relay = Relay {
            api,
            base_url: String::new(),
            mount: String::new(),
            headers: vec![(
                "authorization".to_owned(),
                HeaderSecret(Secret::new("Bearer real")),
            )],
            beta: (api == Api::Anthropic).then(|| "oauth-2025-04-20".to_owned()),
        };
        let mut headers = HeaderMap::new();
        for (name, value) in asked {
            headers.append(*name, HeaderValue::from_static(value));
        }
        outgoing(&relay, &headers, &Grants::default()).unwrap()
    }

    #[test]
    fn credential_replaces_what_the_program_sent() {
        let sent = sent(
            Api::Anthropic,
            &[
                ("x-api-key", "token"),
                ("authorization", "Bearer token"),
                ("host", "127.0.0.1"),
                (
                    "anthropic-beta",
                    "claude-code-20250219, web-fetch-2025-09-10",
                ),
                ("anthropic-beta", "effort-2025-11-24"),
                ("anthropic-version", "2023-06-01"),
                ("x-stainless-os", "Linux"),
            ],
        );
        assert_eq!(sent["authorization"], "Bearer real");
        assert_eq!(sent.get_all("authorization").iter().count(), 1);
        assert!(sent.get("x-api-key").is_none() && sent.get("host").is_none());
        assert_eq!(
            sent["anthropic-beta"],
            "claude-code-20250219,effort-2025-11-24,oauth-2025-04-20"
        );
        assert_eq!(sent["anthropic-version"], "2023-06-01");
        assert_eq!(sent["x-stainless-os"], "Linux");
    }

    #[test]
    fn header_that_selects_another_account_does_not_pass() {
        let others = [
            ("anthropic-organization", "o"),
            ("anthropic-workspace-id", "w"),
            ("openai-organization", "o"),
            ("openai-project", "p"),
            ("openai-beta", "assistants=v2"),
            ("chatgpt-account-id", "a"),
            ("x-openai-account-routing-override", "a"),
            ("x-goog-api-key", "k"),
            ("x-amz-security-token", "t"),
            ("x-forwarded-host", "h"),
            ("x-http-method-override", "DELETE"),
            ("cookie", "c"),
            ("proxy-authorization", "p"),
            ("accept-encoding", "gzip"),
            ("content-encoding", "gzip"),
            ("transfer-encoding", "chunked"),
        ];
        for api in [Api::Anthropic, Api::Bedrock, Api::Responses] {
            let sent = sent(api, &others);
            for (name, _) in others {
                assert!(sent.get(name).is_none(), "{name}");
            }
        }
        let codex = [
            ("session-id", "s"),
            ("openai-beta", "responses=experimental"),
        ];
        assert_eq!(sent(Api::Responses, &codex).len(), 3);
        assert_eq!(sent(Api::Bedrock, &codex).len(), 1);
    }
}
