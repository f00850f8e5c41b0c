//! `gateway` and `hooks` of the file, typed but optional, as written.
//!
//! The names are OpenClaw's (reference: `gateway.*` and `hooks.*` of its
//! configuration pages). What we do not use is left alone.

use std::time::Duration;

use openclaw_config::secret::Secret;

use crate::chosen::Chosen;
use crate::section::sections;
use openclaw_config::units::milliseconds;

/// Sockets are made before the daemons start, by the service manager.
#[cfg(test)]
const SOCKETS: &str = "openclaw.target";

sections! {
    /// `gateway`.
    pub struct Gateway {
        /// Turns that may run at once, over all sessions.
        #[cfg_attr(test, schemars(range(min = 1)))]
        // Enough for a household, few enough that a small machine does not swap.
        max_concurrent_turns: u32 = 8,
        /// The TCP port of WebSocket and HTTP.
        // As in OpenClaw.
        #[cfg_attr(test, schemars(extend("x-restart" = SOCKETS)))]
        port: Chosen<u16> = Chosen::by_default(18789),
        /// `loopback`, `lan`, `auto`, `custom`, or an address.
        #[cfg_attr(test, schemars(extend("x-restart" = SOCKETS)))]
        bind: String = "loopback".to_owned(),
        /// The address that `bind: "custom"` means.
        custom_bind_host: Option<String>,
        /// Seconds without anything to do after which the daemons end, to be started
        /// by the next message; 0: never. Without a service manager they stay.
        // Long enough that a conversation with pauses does not wait for a start.
        idle_exit_seconds: u64 = 300,
        /// Who may connect.
        auth: Auth,
        /// Proxies whose forwarding headers are believed.
        trusted_proxies: Vec<String>,
        /// Names, beside the loopback's, under which browsers may reach the port.
        allowed_hosts: Vec<String>,
        /// Browser clients.
        control_ui: ControlUi,
        /// HTTP endpoints.
        http: Http,
        /// The gRPC control socket.
        control: Control,
        /// The listener of the shared session, for programs of this machine.
        cli: Cli,
    }

    /// `gateway.auth`.
    pub struct Auth {
        /// `token`, `password` or `none`.
        #[cfg_attr(test, schemars(extend("enum" = ["none", "token", "password", "trusted-proxy"])))]
        // As in OpenClaw, what is configured says which.
        mode: Chosen<String> = Chosen::by_default("token".to_owned()),
        /// The shared token.
        #[serde(skip_serializing)]
        token: Option<Secret>,
        /// The shared password.
        #[serde(skip_serializing)]
        password: Option<Secret>,
        /// What failed attempts lead to.
        rate_limit: RateLimit,
    }

    /// `gateway.auth.rateLimit`: what failed attempts lead to.
    #[derive(Copy, Eq)]
    pub struct RateLimit {
        /// Failed attempts in the window before the lockout.
        #[cfg_attr(test, schemars(range(min = 1)))]
        #[serde(rename = "maxAttempts")]
        attempts: u32 = 10,
        /// The window, in milliseconds.
        #[serde(rename = "windowMs", with = "milliseconds")]
        #[cfg_attr(test, schemars(with = "Option<u64>"))]
        window: Duration = Duration::from_secs(60),
        /// The lockout, in milliseconds.
        #[serde(rename = "lockoutMs", with = "milliseconds")]
        #[cfg_attr(test, schemars(with = "Option<u64>"))]
        lockout: Duration = Duration::from_secs(300),
        /// Whether programs of this machine are not counted.
        exempt_loopback: bool = true,
    }

    /// `gateway.controlUi`.
    pub struct ControlUi {
        /// Origins of web pages that may connect, beside the port's own.
        allowed_origins: Vec<String>,
    }

    /// `gateway.http`.
    pub struct Http {
        /// Its endpoints.
        endpoints: Endpoints,
    }

    /// `gateway.http.endpoints`.
    pub struct Endpoints {
        /// `/v1/chat/completions` and `/v1/models`.
        chat_completions: Endpoint,
        /// `/v1/responses`.
        responses: Endpoint,
        /// `/metrics`.
        metrics: Metrics,
    }

    /// One endpoint.
    pub struct Endpoint {
        /// Whether it is served.
        enabled: bool = true,
    }

    /// The endpoint of numbers about the suite.
    pub struct Metrics {
        /// Whether it is served.
        enabled: bool = false,
    }

    /// `gateway.control`: the gRPC control socket.
    pub struct Control {
        /// Users that may hand in messages of channels beside this one, as numbers:
        /// those of channel daemons that run under a user of their own.
        channel_uids: Vec<u32>,
    }

    /// `gateway.cli`: the shared session over HTTP.
    pub struct Cli {
        /// OPENCLAW_CLI_PORT.
        // Seed 000.
        #[cfg_attr(test, schemars(extend("x-restart" = SOCKETS)))]
        port: u16 = 8080,
        /// OPENCLAW_CLI_SECRET.
        #[serde(skip_serializing)]
        #[cfg_attr(test, schemars(extend("x-restart" = SOCKETS)))]
        secret: Option<Secret>,
    }

    /// `hooks`.
    pub struct Hooks {
        /// Whether they are served.
        enabled: bool = false,
        /// The token of the callers.
        #[serde(skip_serializing)]
        token: Option<Secret>,
        /// Where they are, `/hooks` unless said otherwise.
        path: String = "/hooks".to_owned(),
        /// The session of calls that name none.
        default_session_key: Option<String>,
        /// Whether callers may name a session.
        allow_request_session_key: bool = false,
        /// How the keys of sessions begin that hooks work in; in any way when
        /// there is no list.
        allowed_session_key_prefixes: Option<Vec<String>>,
        /// Agents that may work for callers; all when there is no list.
        allowed_agent_ids: Option<Vec<String>>,
        /// Mappings after the user's own: `gmail`.
        presets: Vec<String>,
        /// What calls with names of the user's own do; the first that matches.
        mappings: Vec<super::hooks::Mapping>,
    }
}
