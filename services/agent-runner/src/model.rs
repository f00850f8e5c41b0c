//! The way to the model: the agent's request goes out with the credential that
//! the agent itself never has.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use openclaw_config::provider::{Api, Provider};
use openclaw_daemon::failure;
use openclaw_proto::event::Code;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderValue};

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

/// Why the provider could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("set up HTTPS")]
    Client(#[source] reqwest::Error),
    #[error("use the key of {provider}: it holds characters that cannot be sent")]
    Key { provider: String },
    #[error("ask {url}")]
    Send {
        url: String,
        #[source]
        source: reqwest::Error,
    },
}

impl Error {
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Client(_) => Code::Internal,
            Self::Key { .. } => Code::Auth,
            Self::Send { source, .. } if source.is_timeout() => Code::Timeout,
            Self::Send { .. } => Code::Network,
        }
    }

    /// What failed and what to look at.
    pub(crate) fn to_words(&self) -> String {
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
pub(crate) struct Upstream {
    plain: OnceLock<Client>,
    tls: OnceLock<Client>,
}

impl Upstream {
    /// Sends `body` to the provider's endpoint. The response's status is the
    /// provider's, whatever it is.
    pub(crate) async fn post(
        &self,
        provider: &Provider,
        body: Bytes,
    ) -> Result<reqwest::Response, Error> {
        self.send(provider, endpoint(provider), body).await
    }

    /// Sends `body` to the provider's endpoint for embeddings.
    pub(crate) async fn embeddings(
        &self,
        provider: &Provider,
        body: Bytes,
    ) -> Result<reqwest::Response, Error> {
        let base = provider.base_url.trim_end_matches('/');
        self.send(provider, format!("{base}/embeddings"), body)
            .await
    }

    async fn send(
        &self,
        provider: &Provider,
        url: String,
        body: Bytes,
    ) -> Result<reqwest::Response, Error> {
        let mut request = self
            .client(&url)?
            .post(&url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body);
        if provider.api == Api::Anthropic {
            request = request.header("anthropic-version", ANTHROPIC_VERSION);
        }
        if let Some(key) = &provider.key {
            let (name, value) = match provider.api {
                Api::Anthropic => ("x-api-key", key.reveal().to_owned()),
                Api::OpenAi => ("authorization", format!("Bearer {}", key.reveal())),
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| Error::Key {
                provider: provider.id.clone(),
            })?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        request
            .send()
            .await
            .map_err(|source| Error::Send { url, source })
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
            .connect_timeout(CONNECT_DEADLINE)
            .read_timeout(READ_DEADLINE)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
            .build()
            .map_err(Error::Client)?;
        Ok(slot.get_or_init(|| client))
    }
}

fn endpoint(provider: &Provider) -> String {
    let base = provider.base_url.trim_end_matches('/');
    match provider.api {
        Api::Anthropic => format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)),
        Api::OpenAi => format!("{base}/chat/completions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_of_both_kinds() {
        let provider = |api, base_url: &str| Provider {
            id: "x".to_owned(),
            base_url: base_url.to_owned(),
            api,
            key: None,
            key_source: String::new(),
        };
        for (api, base, url) in [
            (
                Api::Anthropic,
                "https://api.example",
                "https://api.example/v1/messages",
            ),
            (
                Api::Anthropic,
                "https://api.example/v1/",
                "https://api.example/v1/messages",
            ),
            (
                Api::OpenAi,
                "http://localhost:1/v1",
                "http://localhost:1/v1/chat/completions",
            ),
        ] {
            assert_eq!(endpoint(&provider(api, base)), url);
        }
    }
}
