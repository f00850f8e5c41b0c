//! The gateway's doors: where it listens, and who may come in.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU64;
use std::time::Duration;

use crate::keys::gateway as keys;
pub use crate::keys::gateway::RateLimit;
use hooks::Hooks;
use openclaw_config::error::Error;
use openclaw_config::secret::Secret;

pub(crate) mod files;
pub mod hooks;

/// The name of the listener's secret among systemd's credentials.
pub(crate) const CLI_CREDENTIAL: &str = "openclaw-cli-secret";

/// How clients prove that they may connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMode {
    /// With the shared token.
    Token,
    /// With the shared password.
    Password,
    /// Not at all; only where nobody else can reach the port.
    None,
}

/// The listener of the shared session, for programs of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cli {
    /// Its port on the loopback.
    pub port: u16,
    /// Its secret, never empty; the listener is off without. Kept by the gateway alone.
    pub secret: Option<Secret>,
}

/// The gateway's doors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    /// The TCP port of WebSocket and HTTP; 0: any that is free.
    pub port: u16,
    /// Whether the port was chosen rather than left at its default.
    pub port_is_chosen: bool,
    /// The address it is on.
    pub address: IpAddr,
    /// How clients prove that they may connect.
    pub mode: AuthMode,
    /// The shared token; kept by the gateway alone.
    pub token: Option<Secret>,
    /// The shared password; kept by the gateway alone.
    pub password: Option<Secret>,
    /// What failed attempts lead to.
    pub rate_limit: RateLimit,
    /// Proxies whose forwarding headers are believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// Names, beside the loopback's, that requests may be addressed to.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may connect, lowercase; `*` is all.
    pub allowed_origins: Vec<String>,
    /// Whether `/v1/chat/completions` and `/v1/models` are served.
    pub chat_completions: bool,
    /// Whether `/v1/responses` is served.
    pub responses: bool,
    /// Whether `/metrics` is served.
    pub metrics: bool,
    /// Webhooks.
    pub hooks: Hooks,
    /// The listener of the shared session, for programs of this machine.
    pub cli: Cli,
    /// Users that may hand in messages of channels over the control socket beside this one.
    pub channel_uids: Vec<u32>,
    /// How long a daemon that has nothing to do stays; `None`: for ever.
    pub idle_exit: Option<Duration>,
}

/// A key and what is wrong with it.
type Problem = (String, String);

impl Gateway {
    /// Validates the sections. Secrets are checked and not kept: only the
    /// gateway may hold them, see [`Gateway::with_secrets`].
    pub fn resolve(
        gateway: &keys::Gateway,
        hooks: &keys::Hooks,
        origin: &str,
    ) -> Result<Self, Error> {
        Self::validated(gateway, hooks).map_err(|(key, problem)| Error::Value {
            origin: origin.to_owned(),
            key,
            problem,
        })
    }

    fn validated(gateway: &keys::Gateway, hooks: &keys::Hooks) -> Result<Self, Problem> {
        let mode = mode(&gateway.auth)?;
        let address = address(gateway)?;
        if mode == AuthMode::None && !address.is_loopback() {
            let problem = format!(
                "is \"none\" while gateway.bind opens the port to others ({address}); \
                 use \"token\" or \"password\", or bind to \"loopback\""
            );
            return Err(("gateway.auth.mode".to_owned(), problem));
        }
        let endpoints = &gateway.http.endpoints;
        Ok(Self {
            port: *gateway.port.value(),
            port_is_chosen: gateway.port.is_chosen(),
            address,
            mode,
            token: None,
            password: None,
            rate_limit: gateway.auth.rate_limit,
            trusted_proxies: proxies(&gateway.trusted_proxies)?,
            allowed_hosts: lowercase(&gateway.allowed_hosts),
            allowed_origins: origins(&gateway.control_ui.allowed_origins)?,
            chat_completions: endpoints.chat_completions.enabled,
            responses: endpoints.responses.enabled,
            metrics: endpoints.metrics.enabled,
            hooks: hooks::resolve(hooks)?,
            cli: Cli {
                port: gateway.cli.port,
                secret: None,
            },
            channel_uids: gateway.control.channel_uids.clone(),
            idle_exit: NonZeroU64::new(gateway.idle_exit_seconds)
                .map(|seconds| Duration::from_secs(seconds.get())),
        })
    }

    /// Puts the secrets in, for the gateway alone. `credentials` (systemd's,
    /// by file name) come before the configuration.
    pub(crate) fn with_secrets(
        &mut self,
        gateway: &keys::Gateway,
        hooks: &keys::Hooks,
        credentials: &BTreeMap<String, Secret>,
        origin: &str,
    ) -> Result<(), Error> {
        let source = Source {
            credentials,
            origin,
        };
        let auth = &gateway.auth;
        self.token = source.secret(
            "openclaw-gateway-token",
            ("gateway.auth.token", &auth.token),
        )?;
        self.password = source.secret(
            "openclaw-gateway-password",
            ("gateway.auth.password", &auth.password),
        )?;
        if self.mode == AuthMode::Password && self.password.is_none() && self.token.is_none() {
            return Err(source.error(
                "gateway.auth.mode",
                "is \"password\" and there is none; set gateway.auth.password or \
                 OPENCLAW_GATEWAY_PASSWORD",
            ));
        }
        self.hooks.token = source.secret("openclaw-hooks-token", ("hooks.token", &hooks.token))?;
        if self.hooks.enabled && self.hooks.token.is_none() {
            return Err(source.error(
                "hooks.enabled",
                "is true and there is no hooks.token; set one, for nobody could call them",
            ));
        }
        self.cli.secret =
            source.secret(CLI_CREDENTIAL, ("gateway.cli.secret", &gateway.cli.secret))?;
        Ok(())
    }
}

/// The sources of secrets.
struct Source<'a> {
    credentials: &'a BTreeMap<String, Secret>,
    origin: &'a str,
}

impl Source<'_> {
    fn secret(
        &self,
        credential: &str,
        (key, written): (&str, &Option<Secret>),
    ) -> Result<Option<Secret>, Error> {
        let found = self.credentials.get(credential);
        let Some(secret) = found.or(written.as_ref()) else {
            return Ok(None);
        };
        let text = secret.reveal().trim();
        if text.contains("${") {
            return Err(self.error(key, "refers to a variable that is not set"));
        }
        // An empty secret is none: a door that it opens is open to everybody.
        Ok((!text.is_empty()).then(|| Secret::new(text)))
    }

    fn error(&self, key: &str, problem: &str) -> Error {
        Error::Value {
            origin: self.origin.to_owned(),
            key: key.to_owned(),
            problem: problem.to_owned(),
        }
    }
}

fn mode(auth: &keys::Auth) -> Result<AuthMode, Problem> {
    match auth.mode.chosen().map(String::as_str) {
        Some("token") => Ok(AuthMode::Token),
        Some("password") => Ok(AuthMode::Password),
        Some("none") => Ok(AuthMode::None),
        Some(other) => {
            let problem = format!("is {other:?}; allowed are \"token\", \"password\" and \"none\"");
            Err(("gateway.auth.mode".to_owned(), problem))
        }
        // As in OpenClaw: what is configured says which.
        None => Ok(if auth.password.is_some() && auth.token.is_none() {
            AuthMode::Password
        } else {
            AuthMode::Token
        }),
    }
}

fn address(gateway: &keys::Gateway) -> Result<IpAddr, Problem> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let invalid = |key: &str, text: &str| {
        let problem = format!(
            "is {text:?}; allowed are \"loopback\", \"lan\", \"auto\", \"custom\" with \
             gateway.customBindHost, or an address such as \"192.168.1.2\""
        );
        (key.to_owned(), problem)
    };
    match gateway.bind.as_str() {
        "loopback" | "auto" => Ok(loopback),
        "lan" => Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        "custom" => {
            let host = gateway.custom_bind_host.as_deref().unwrap_or_default();
            let parsed = host.parse();
            parsed.map_err(|_| invalid("gateway.customBindHost", host))
        }
        text => text.parse().map_err(|_| invalid("gateway.bind", text)),
    }
}

fn proxies(written: &[String]) -> Result<Vec<IpAddr>, Problem> {
    let parse = |(index, text): (usize, &String)| {
        text.parse().map_err(|_| {
            let key = format!("gateway.trustedProxies.{index}");
            (
                key,
                format!("is {text:?}; give an address such as \"10.0.0.1\""),
            )
        })
    };
    written.iter().enumerate().map(parse).collect()
}

fn origins(written: &[String]) -> Result<Vec<String>, Problem> {
    let check = |(index, text): (usize, &String)| {
        let text = text.trim_end_matches('/').to_lowercase();
        if text == "*" || text.contains("://") {
            return Ok(text);
        }
        let key = format!("gateway.controlUi.allowedOrigins.{index}");
        let problem =
            format!("is {text:?}; give scheme and host, such as \"https://claw.example\"");
        Err((key, problem))
    };
    written.iter().enumerate().map(check).collect()
}

fn lowercase(written: &[String]) -> Vec<String> {
    written.iter().map(|text| text.to_lowercase()).collect()
}

#[cfg(test)]
mod tests;
