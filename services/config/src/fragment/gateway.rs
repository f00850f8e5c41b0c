//! `gateway` and `hooks` of the file, typed but optional, as written.
//!
//! The names are OpenClaw's (reference: `gateway.*` and `hooks.*` of its
//! configuration pages). What we do not use is left alone.

use serde::Deserialize;

use crate::secret::Secret;

/// `gateway`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Gateway {
    /// Turns that may run at once, over all sessions.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_concurrent_turns: Option<u32>,
    /// The TCP port of WebSocket and HTTP.
    pub port: Option<u16>,
    /// `loopback`, `lan`, `auto`, `custom`, or an address.
    pub bind: Option<String>,
    /// The address that `bind: "custom"` means.
    pub custom_bind_host: Option<String>,
    /// Who may connect.
    pub auth: Auth,
    /// Proxies whose forwarding headers are believed.
    pub trusted_proxies: Vec<String>,
    /// Names, beside the loopback's, under which browsers may reach the port.
    pub allowed_hosts: Vec<String>,
    /// Browser clients.
    pub control_ui: ControlUi,
    /// HTTP endpoints.
    pub http: Http,
    /// The gRPC control socket.
    pub control: Control,
    /// The listener of the shared session, for programs of this machine.
    pub cli: Cli,
}

/// `gateway.auth`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Auth {
    /// `token`, `password` or `none`.
    #[cfg_attr(test, schemars(extend("enum" = ["none", "token", "password", "trusted-proxy"])))]
    pub mode: Option<String>,
    /// The shared token.
    pub token: Option<Secret>,
    /// The shared password.
    pub password: Option<Secret>,
    /// What failed attempts lead to.
    pub rate_limit: RateLimit,
}

/// `gateway.auth.rateLimit`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct RateLimit {
    /// Failed attempts in the window before the lockout.
    pub max_attempts: Option<u32>,
    /// The window, in milliseconds.
    pub window_ms: Option<u64>,
    /// The lockout, in milliseconds.
    pub lockout_ms: Option<u64>,
    /// Whether programs of this machine are not counted.
    pub exempt_loopback: Option<bool>,
}

/// `gateway.controlUi`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct ControlUi {
    /// Origins of web pages that may connect, beside the port's own.
    pub allowed_origins: Vec<String>,
}

/// `gateway.http`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Http {
    /// Its endpoints.
    pub endpoints: Endpoints,
}

/// `gateway.http.endpoints`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Endpoints {
    /// `/v1/chat/completions` and `/v1/models`.
    pub chat_completions: Endpoint,
    /// `/v1/responses`.
    pub responses: Endpoint,
    /// `/metrics`.
    pub metrics: Endpoint,
}

/// One endpoint.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Endpoint {
    /// Whether it is served.
    pub enabled: Option<bool>,
}

/// `gateway.control`: the gRPC control socket.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Control {
    /// Users that may send messages beside this one, as numbers: those of
    /// channel daemons that run under a user of their own.
    pub channel_uids: Vec<u32>,
}

/// `gateway.cli`: the shared session over HTTP.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Cli {
    /// OPENCLAW_CLI_PORT.
    pub port: Option<u16>,
    /// OPENCLAW_CLI_SECRET.
    pub secret: Option<Secret>,
}

/// `hooks`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Hooks {
    /// Whether they are served.
    pub enabled: Option<bool>,
    /// The token of the callers.
    pub token: Option<Secret>,
    /// Where they are, `/hooks` unless said otherwise.
    pub path: Option<String>,
    /// The session of calls that name none.
    pub default_session_key: Option<String>,
    /// Whether callers may name a session.
    pub allow_request_session_key: Option<bool>,
    /// How the keys of sessions begin that hooks work in; in any way when
    /// there is no list.
    pub allowed_session_key_prefixes: Option<Vec<String>>,
    /// Agents that may work for callers; all when there is no list.
    pub allowed_agent_ids: Option<Vec<String>>,
    /// Mappings after the user's own: `gmail`.
    pub presets: Vec<String>,
    /// What calls with names of the user's own do; the first that matches.
    pub mappings: Vec<super::hooks::Mapping>,
}
