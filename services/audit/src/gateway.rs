//! The doors: the gateway's ports, its token and its hooks.

use std::net::IpAddr;

use crate::check::{Check, Severity};
use crate::scene::Scene;

use Severity::{Critical, Info, Warn};

/// Characters that nobody guesses.
const TOKEN_LENGTH: usize = 24;
const PASSWORD_LENGTH: usize = 16;

/// What examples have in the place of a secret.
const PLACEHOLDERS: [&str; 10] = [
    "changeme",
    "change-me",
    "secret",
    "password",
    "token",
    "your-token-here",
    "example",
    "test",
    "123456",
    "openclaw",
];

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "gateway.bind_no_auth",
        severity: Critical,
        remedy: "set gateway.auth.mode to token, or gateway.bind to loopback",
        find: |it| {
            found(
                is_exposed(it) && has_no_auth(it),
                "everybody on the network gets in: gateway.auth.mode is none and gateway.bind is not loopback",
            )
        },
    },
    Check {
        id: "gateway.loopback_no_auth",
        severity: Critical,
        remedy: "set gateway.auth.mode to token",
        find: |it| {
            found(
                has_no_auth(it),
                "every user and every program of this machine gets in: gateway.auth.mode is none",
            )
        },
    },
    Check {
        id: "gateway.bind_beyond_loopback",
        severity: Warn,
        remedy: "set gateway.bind to loopback and reach it through ssh -L or a VPN: there is no TLS here",
        find: |it| {
            found(
                is_exposed(it),
                format!(
                    "gateway.bind is {:?}: what is said, and the token, pass the network in the open",
                    it.text("gateway.bind")
                ),
            )
        },
    },
    Check {
        id: "gateway.token_too_short",
        severity: Warn,
        remedy: "take gateway.auth.token out: one is made, or set 24 characters or more",
        find: |it| short(it, "gateway.auth.token", TOKEN_LENGTH),
    },
    Check {
        id: "gateway.token_placeholder_value",
        severity: Critical,
        remedy: "take gateway.auth.token out: one is made",
        find: |it| placeholder(it, "gateway.auth.token"),
    },
    Check {
        id: "gateway.password_too_short",
        severity: Warn,
        remedy: "set a password of 16 characters or more, or gateway.auth.mode to token",
        find: |it| short(it, "gateway.auth.password", PASSWORD_LENGTH),
    },
    Check {
        id: "gateway.password_placeholder_value",
        severity: Critical,
        remedy: "set another password, or gateway.auth.mode to token",
        find: |it| placeholder(it, "gateway.auth.password"),
    },
    Check {
        id: "gateway.auth_no_rate_limit",
        severity: Warn,
        remedy: "lower gateway.auth.rateLimit.maxAttempts: 10 is the default",
        find: |it| {
            let attempts = it.at("gateway.auth.rateLimit.maxAttempts").as_u64();
            found(
                attempts.is_some_and(|it| it > 100),
                "more than 100 wrong tokens are tried before anybody has to wait",
            )
        },
    },
    Check {
        id: "gateway.trusted_proxy_auth",
        severity: Critical,
        remedy: "set gateway.auth.mode to token: a proxy's word on who somebody is is not supported",
        find: |it| {
            found(
                it.text("gateway.auth.mode") == "trusted-proxy",
                "gateway.auth.mode is trusted-proxy",
            )
        },
    },
    Check {
        id: "gateway.trusted_proxies_broad",
        severity: Warn,
        remedy: "name the proxy's own address in gateway.trustedProxies",
        find: |it| {
            let broad = |proxy: &&str| ["*", "0.0.0.0/0", "::/0"].contains(proxy);
            found(
                it.list("gateway.trustedProxies").iter().any(broad),
                "gateway.trustedProxies believes anybody about the address of clients",
            )
        },
    },
    Check {
        id: "gateway.control_ui.allowed_origins_wildcard",
        severity: Critical,
        remedy: "name the pages in gateway.controlUi.allowedOrigins",
        find: |it| {
            found(
                it.list("gateway.controlUi.allowedOrigins").contains(&"*"),
                "every web page that this user opens may use the gateway",
            )
        },
    },
    Check {
        id: "gateway.allowed_hosts_wildcard",
        severity: Warn,
        remedy: "name the hosts in gateway.allowedHosts",
        find: |it| {
            found(
                it.list("gateway.allowedHosts").contains(&"*"),
                "gateway.allowedHosts has *: a web page can reach the gateway under a name of its own (DNS rebinding)",
            )
        },
    },
    Check {
        id: "gateway.control_ui.host_header_origin_fallback",
        severity: Critical,
        remedy: "take gateway.controlUi.dangerouslyAllowHostHeaderOriginFallback out; it has no effect here",
        find: |it| {
            found(
                it.is_on("gateway.controlUi.dangerouslyAllowHostHeaderOriginFallback"),
                "gateway.controlUi.dangerouslyAllowHostHeaderOriginFallback is true",
            )
        },
    },
    Check {
        id: "gateway.control.channel_uids",
        severity: Info,
        remedy: "take those out of gateway.control.channelUids that run no channel of yours",
        find: |it| {
            let users = it
                .at("gateway.control.channelUids")
                .as_array()
                .map_or(0, Vec::len);
            found(
                users > 0,
                format!("{users} other users of this machine may hand in messages of channels"),
            )
        },
    },
    Check {
        id: "gateway.http.metrics_enabled",
        severity: Info,
        remedy: "set gateway.http.endpoints.metrics.enabled to false where nothing reads it",
        find: |it| {
            found(
                it.is_on("gateway.http.endpoints.metrics.enabled"),
                "/metrics says how much is done, to whoever has the token",
            )
        },
    },
    Check {
        id: "gateway.cli_secret_too_short",
        severity: Warn,
        remedy: "set a secret of 24 characters or more: every user of this machine can try",
        find: |it| short(it, "gateway.cli.secret", TOKEN_LENGTH),
    },
    Check {
        id: "hooks.token_too_short",
        severity: Warn,
        remedy: "set hooks.token to 24 characters or more: openssl rand -hex 24",
        find: |it| {
            if it.is_on("hooks.enabled") {
                short(it, "hooks.token", TOKEN_LENGTH)
            } else {
                Vec::new()
            }
        },
    },
    Check {
        id: "hooks.token_reuse_gateway_token",
        severity: Critical,
        remedy: "give hooks a token of their own: it is known to other programs",
        find: |it| {
            let token = it.text("hooks.token");
            let same = !token.is_empty()
                && [
                    it.text("gateway.auth.token"),
                    it.text("gateway.auth.password"),
                ]
                .contains(&token);
            found(same, "hooks.token is the gateway's own token")
        },
    },
    Check {
        id: "hooks.path_root",
        severity: Critical,
        remedy: "set hooks.path to /hooks",
        find: |it| {
            found(
                it.text("hooks.path") == "/",
                "hooks.path is /: hooks answer in the place of everything else",
            )
        },
    },
    Check {
        id: "hooks.default_session_key_unset",
        severity: Warn,
        remedy: "set hooks.defaultSessionKey, such as hook:incoming",
        find: |it| {
            found(
                it.is_on("hooks.enabled") && it.text("hooks.defaultSessionKey").is_empty(),
                "hooks that name no session each get one of their own, or the main one",
            )
        },
    },
    Check {
        id: "hooks.allowed_agent_ids_unrestricted",
        severity: Warn,
        remedy: "name the agents in hooks.allowedAgentIds",
        find: |it| {
            let all = it.at("hooks.allowedAgentIds").is_null()
                || it.list("hooks.allowedAgentIds").contains(&"*");
            found(
                it.is_on("hooks.enabled") && all,
                "whoever has hooks.token may give work to every agent",
            )
        },
    },
    Check {
        id: "hooks.request_session_key_enabled",
        severity: Warn,
        remedy: "set hooks.allowRequestSessionKey to false",
        find: |it| {
            found(
                it.is_on("hooks.enabled") && it.is_on("hooks.allowRequestSessionKey"),
                "whoever has hooks.token chooses the conversation that it enters",
            )
        },
    },
    Check {
        id: "hooks.request_session_key_prefixes_missing",
        severity: Critical,
        remedy: "name beginnings in hooks.allowedSessionKeyPrefixes, such as hook:",
        find: |it| {
            let any = it.list("hooks.allowedSessionKeyPrefixes").is_empty();
            found(
                it.is_on("hooks.enabled") && it.is_on("hooks.allowRequestSessionKey") && any,
                "hooks may enter every conversation, also yours",
            )
        },
    },
];

fn has_no_auth(scene: &Scene) -> bool {
    scene.text("gateway.auth.mode") == "none"
}

fn is_exposed(scene: &Scene) -> bool {
    match scene.text("gateway.bind") {
        "" | "loopback" => false,
        "custom" => {
            let host = scene.text("gateway.customBindHost").parse::<IpAddr>();
            !host.is_ok_and(|host| host.is_loopback())
        }
        _ => true,
    }
}

pub(crate) fn found(is: bool, what: impl Into<String>) -> Vec<String> {
    is.then(|| what.into()).into_iter().collect()
}

/// A reference that nothing fills is no secret that could be judged.
fn secret<'a>(scene: &'a Scene, key: &str) -> Option<&'a str> {
    let text = scene.text(key);
    (!text.is_empty() && !text.contains("${")).then_some(text)
}

fn short(scene: &Scene, key: &str, least: usize) -> Vec<String> {
    let length = secret(scene, key).map(|text| text.chars().count());
    let short = length.filter(|length| *length < least);
    short
        .map(|length| format!("{key} has {length} characters"))
        .into_iter()
        .collect()
}

fn placeholder(scene: &Scene, key: &str) -> Vec<String> {
    let text = secret(scene, key).unwrap_or_default().to_lowercase();
    let is = PLACEHOLDERS.contains(&text.as_str());
    found(is, format!("{key} is what examples have in its place"))
}
