//! The way to the model: the agent's request goes out with the credential that
//! the agent itself never has.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use openclaw_daemon::failure;
use openclaw_proto::event::Code;
use openclaw_settings::provider::Provider;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Url};

use crate::route::{Key, Stop};

/// How long the provider may take to accept a connection.
const CONNECT_DEADLINE: Duration = Duration::from_secs(15);
/// How long the provider may be silent within a response. Models that think
/// send pings.
const READ_DEADLINE: Duration = Duration::from_secs(300);
/// Idle connections are kept this long, so that the next turn of a
/// conversation pays no TLS handshake.
const IDLE: Duration = Duration::from_secs(90);
/// The version of the Messages API that the agent speaks.
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// What the Messages API wants to see with the token of a login.
const ANTHROPIC_OAUTH: &str = "oauth-2025-04-20";

/// Why the provider could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("set up HTTPS")]
    /// There is no HTTPS on this machine.
    Client(#[source] reqwest::Error),
    #[error("use {source_of}: it holds characters that cannot be sent")]
    /// The key is none.
    Key {
        /// Where it comes from.
        source_of: String,
    },
    #[error("ask {url}")]
    /// There was no response.
    Send {
        /// What was asked.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
}

impl Error {
    /// Whether the provider heard nothing of the question.
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::Client(_) | Self::Key { .. } => true,
            Self::Send { source, .. } => source.is_connect() || source.is_builder(),
        }
    }

    /// The code of the turn that fails for it.
    pub fn code(&self) -> Code {
        match self {
            Self::Client(_) => Code::Internal,
            Self::Key { .. } => Code::Auth,
            Self::Send { source, .. } if source.is_timeout() => Code::Timeout,
            Self::Send { .. } => Code::Network,
        }
    }

    /// What failed and what to look at.
    pub fn to_words(&self) -> String {
        let advice = match self {
            Self::Client(_) => "",
            Self::Key { .. } => "; set it again",
            Self::Send { .. } => "; check the network and the provider's baseUrl",
        };
        format!("cannot {}{advice}", failure::chain(self))
    }
}

/// Connections to providers, shared by all turns.
#[derive(Debug, Default)]
pub struct Upstream {
    plain: OnceLock<Client>,
    tls: OnceLock<Client>,
}

impl Upstream {
    /// Sends `body` to the provider's endpoint for embeddings.
    pub async fn embeddings(
        &self,
        provider: &Provider,
        body: Bytes,
    ) -> Result<reqwest::Response, Error> {
        let base = provider.base_url.trim_end_matches('/');
        let url = format!("{base}/embeddings");
        let mut request = self
            .client(&url)?
            .post(&url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body);
        if let Some(key) = &provider.key {
            let bearer = format!("Bearer {}", key.reveal());
            let mut value = HeaderValue::from_str(&bearer).map_err(|_| Error::Key {
                source_of: provider.key_source.clone(),
            })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        request
            .send()
            .await
            .map_err(|source| Error::Send { url, source })
    }

    /// Sends `body` to the provider's endpoint. The response's status is the
    /// provider's, whatever it is.
    pub async fn post(&self, stop: &Stop, body: Bytes) -> Result<reqwest::Response, Error> {
        let url = endpoint(stop);
        let mut request = self
            .client(&url)?
            .post(&url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body);
        if stop.anthropic {
            request = request.header("anthropic-version", ANTHROPIC_VERSION);
        }
        if let Some(key) = &stop.key {
            let (name, value) = credential(stop, key)?;
            request = request.header(name, value);
            if stop.anthropic && key.bearer {
                request = request.header("anthropic-beta", ANTHROPIC_OAUTH);
            }
        }
        request
            .send()
            .await
            .map_err(|source| Error::Send { url, source })
    }

    /// Sends on what a program of a turn's asked for, with these headers.
    pub async fn relay(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<reqwest::Response, Error> {
        let name = url.to_string();
        let request = self.client(&name)?.request(method, url);
        let sent = request.headers(headers).body(body).send().await;
        sent.map_err(|source| Error::Send { url: name, source })
    }

    /// Reading the system's certificates costs a megabyte and some
    /// milliseconds, which a model on this machine does not need.
    fn client(&self, url: &str) -> Result<&Client, Error> {
        let tls = url.starts_with("https://");
        let slot = if tls { &self.tls } else { &self.plain };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let client = Client::builder()
            .tls_built_in_root_certs(tls)
            // A credential is for the one host that is configured.
            .redirect(Policy::none())
            .connect_timeout(CONNECT_DEADLINE)
            .read_timeout(READ_DEADLINE)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
            .build()
            .map_err(Error::Client)?;
        Ok(slot.get_or_init(|| client))
    }
}

fn credential(stop: &Stop, key: &Key) -> Result<(HeaderName, HeaderValue), Error> {
    let secret = key.secret.reveal();
    let (name, value) = if stop.anthropic && !key.bearer {
        (HeaderName::from_static("x-api-key"), secret.to_owned())
    } else {
        (AUTHORIZATION, format!("Bearer {secret}"))
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| Error::Key {
        source_of: key.source.clone(),
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn endpoint(stop: &Stop) -> String {
    let base = stop.base_url.trim_end_matches('/');
    if stop.anthropic {
        format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base))
    } else {
        format!("{base}/chat/completions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_of_both_kinds() {
        let stop = |anthropic, base_url: &str| Stop {
            provider: "x".to_owned(),
            base_url: base_url.to_owned(),
            anthropic,
            model: "m".to_owned(),
            key: None,
            price: None,
            sees_images: false,
            wanted: Default::default(),
            max_tokens: 1,
            agent_id: "main".to_owned(),
        };
        for (anthropic, base, url) in [
            (
                true,
                "https://api.example",
                "https://api.example/v1/messages",
            ),
            (
                true,
                "https://api.example/v1/",
                "https://api.example/v1/messages",
            ),
            (
                false,
                "http://localhost:1/v1",
                "http://localhost:1/v1/chat/completions",
            ),
        ] {
            assert_eq!(endpoint(&stop(anthropic, base)), url);
        }
    }
}
