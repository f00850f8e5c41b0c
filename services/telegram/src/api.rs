//! The Bot API: one call at a time, each answer judged. No error has the token.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use openclaw_config::secret::Secret;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Body, Client, Proxy};
use serde_json::{Value, json};

use crate::settings::Options;

const CONNECT_DEADLINE: Duration = Duration::from_secs(15);
/// The longest silence of an answer; a long poll is silent for 30 seconds.
const READ_DEADLINE: Duration = Duration::from_secs(60);
const IDLE: Duration = Duration::from_secs(60);
/// Bytes of an answer: 100 updates are far from it.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// What the answer to a call that was carried out begins with.
const CARRIED_OUT: &[u8] = b"{\"ok\":true";

/// Why a call brought no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// There was no answer; whether the call was carried out is not known unless
    /// it was not even made.
    #[error("{method}: {why}")]
    Lost {
        /// The call.
        method: String,
        /// What happened.
        why: String,
        /// The connection was never there.
        is_unsent: bool,
    },
    /// The call was carried out, and then the answer broke off.
    #[error("{method}: carried out, but its answer broke off: {why}")]
    Unread {
        /// The call.
        method: String,
        /// What happened.
        why: String,
        /// The message that it made, as far as that was read.
        message: Option<i64>,
    },
    /// Telegram says no.
    #[error("{method}: {description} ({code})")]
    Refused {
        /// The call.
        method: String,
        /// As in HTTP.
        code: i64,
        /// Telegram's words.
        description: String,
        /// When to try again, in seconds.
        retry_after: Option<u64>,
        /// The group is this one now.
        migrated_to: Option<i64>,
    },
}

impl Error {
    /// Telegram's code.
    pub(crate) fn code(&self) -> Option<i64> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Lost { .. } | Self::Unread { .. } => None,
        }
    }

    /// Telegram's words.
    pub(crate) fn description(&self) -> &str {
        match self {
            Self::Refused { description, .. } => description,
            Self::Lost { .. } | Self::Unread { .. } => "",
        }
    }

    /// How long Telegram wants nothing of the kind.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => retry_after.map(Duration::from_secs),
            Self::Lost { .. } | Self::Unread { .. } => None,
        }
    }

    /// The token is not valid (any more). An unknown one is answered as not found.
    pub(crate) fn is_token_refused(&self) -> bool {
        matches!(self.code(), Some(401 | 404))
    }

    /// The same call may do later.
    pub(crate) fn is_passing(&self) -> bool {
        self.code().is_none_or(|code| code >= 500 || code == 429)
    }
}

/// A bot's way to the API. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Api {
    client: Client,
    root: String,
    token: Secret,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Api({})", self.root)
    }
}

impl Api {
    /// The way to the API of `options`, as the bot of `token`.
    pub(crate) fn new(options: &Options, token: Secret) -> Result<Self, String> {
        let root = options.root();
        let mut builder = Client::builder()
            .tls_built_in_root_certs(root.starts_with("https://"))
            // The token is for the one host that is configured.
            .redirect(Policy::none())
            .connect_timeout(CONNECT_DEADLINE)
            .read_timeout(READ_DEADLINE)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true);
        builder = match &options.proxy {
            // With a proxy configured there is no other way out.
            Some(proxy) if !is_taken(proxy) => {
                return Err(
                    "channels.telegram.proxy is of a kind that is not supported (only \
                            http:// and https:// are), and nothing is sent without it: set it to \
                            one of these, or remove it"
                        .to_owned(),
                );
            }
            Some(proxy) => builder.proxy(
                Proxy::all(proxy)
                    .map_err(|_| "channels.telegram.proxy is no URL of a proxy".to_owned())?,
            ),
            None => builder,
        };
        Ok(Self {
            client: builder.build().map_err(|error| said(error, &token))?,
            root: root.to_owned(),
            token,
        })
    }

    /// The bot's id, which its token begins with.
    pub(crate) fn bot_id(&self) -> &str {
        self.token.reveal().split(':').next().unwrap_or_default()
    }

    /// Whether its token is `token`.
    pub(crate) fn has(&self, token: &Secret) -> bool {
        self.token == *token
    }

    /// Calls `method`.
    pub(crate) async fn call(&self, method: &str, parameters: &Value) -> Result<Value, Error> {
        let body = Body::from(parameters.to_string());
        self.post(method, "application/json", body).await
    }

    /// Calls `method`, which sends or changes a message: one that Telegram has is
    /// not sent again because its answer broke off.
    pub(crate) async fn send(&self, method: &str, parameters: &Value) -> Result<Value, Error> {
        taken(self.call(method, parameters).await)
    }

    /// The same with a body of parts (RFC 7578).
    pub(crate) async fn upload(
        &self,
        method: &str,
        form: crate::form::Form,
    ) -> Result<Value, Error> {
        let kind = form.content_type();
        let body = Body::wrap_stream(form.into_stream());
        taken(self.post(method, &kind, body).await)
    }

    async fn post(&self, method: &str, kind: &str, body: Body) -> Result<Value, Error> {
        let url = format!("{}/bot{}/{method}", self.root, self.token.reveal());
        let lost = |error: reqwest::Error| Error::Lost {
            method: method.to_owned(),
            is_unsent: error.is_connect() || error.is_builder(),
            why: said(error, &self.token),
        };
        let request = self.client.post(url).header(CONTENT_TYPE, kind).body(body);
        let response = request.send().await.map_err(lost)?;
        let status = response.status().as_u16();
        let mut answer = Vec::new();
        let mut pieces = response.bytes_stream();
        let broke_off = |error, begun: &[u8]| match begun.strip_prefix(CARRIED_OUT) {
            Some(rest) => Error::Unread {
                method: method.to_owned(),
                why: said(error, &self.token),
                message: message(rest),
            },
            None => lost(error),
        };
        while let Some(piece) = pieces
            .try_next()
            .await
            .map_err(|error| broke_off(error, &answer))?
        {
            answer.extend_from_slice(&piece);
            if answer.len() > ANSWER_LIMIT {
                return Err(unreadable(method, "the answer is too large".into()));
            }
        }
        judge(method, status, &answer)
    }

    /// The content of the file that getFile calls `path`.
    pub(crate) async fn file(
        &self,
        path: &str,
    ) -> Result<BoxStream<'static, Result<Bytes, String>>, Error> {
        let token = self.token.clone();
        let url = format!("{}/file/bot{}/{path}", self.root, token.reveal());
        let sent = self.client.get(url).send().await;
        let response = sent.map_err(|error| Error::Lost {
            method: "file".into(),
            is_unsent: true,
            why: said(error, &token),
        })?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(
                "file",
                i64::from(status.as_u16()),
                status.to_string(),
            ));
        }
        let pieces = response.bytes_stream();
        Ok(pieces.map_err(move |error| said(error, &token)).boxed())
    }
}

/// Whether `proxy` is of a kind that is spoken.
fn is_taken(proxy: &str) -> bool {
    let scheme = proxy.split_once("://").map_or("", |(scheme, _)| scheme);
    ["http", "https"]
        .iter()
        .any(|it| scheme.eq_ignore_ascii_case(it))
}

/// A call that was carried out has done what it should, also when it is not known
/// what became of it.
fn taken(result: Result<Value, Error>) -> Result<Value, Error> {
    match result {
        Err(ref error @ Error::Unread { message, .. }) => {
            tracing::warn!("{error}; it is not sent again");
            Ok(json!({"message_id": message}))
        }
        other => other,
    }
}

/// The number of the message that an answer's result begins with.
fn message(rest: &[u8]) -> Option<i64> {
    let rest = std::str::from_utf8(rest).ok()?;
    let number = rest.strip_prefix(",\"result\":{\"message_id\":")?;
    let (number, _) = number.split_once([',', '}'])?;
    number.parse().ok()
}

fn judge(method: &str, status: u16, answer: &[u8]) -> Result<Value, Error> {
    let Ok(mut answer) = serde_json::from_slice::<Value>(answer) else {
        // A proxy or a server that is being started again.
        let code = i64::from(status);
        return Err(match status {
            200 => unreadable(method, "the answer is no JSON".into()),
            _ => refused(method, code, "the answer is no JSON".into()),
        });
    };
    if answer["ok"] == true {
        return Ok(answer["result"].take());
    }
    let parameters = &answer["parameters"];
    Err(Error::Refused {
        method: method.to_owned(),
        code: answer["error_code"].as_i64().unwrap_or(i64::from(status)),
        description: answer["description"]
            .as_str()
            .unwrap_or("no reason")
            .to_owned(),
        retry_after: parameters["retry_after"].as_u64(),
        migrated_to: parameters["migrate_to_chat_id"].as_i64(),
    })
}

fn refused(method: &str, code: i64, description: String) -> Error {
    Error::Refused {
        method: method.to_owned(),
        code,
        description,
        retry_after: None,
        migrated_to: None,
    }
}

fn unreadable(method: &str, why: String) -> Error {
    Error::Lost {
        method: method.to_owned(),
        why,
        is_unsent: false,
    }
}

/// An error of the HTTP client in words, without the URL and so without the token.
fn said(error: reqwest::Error, token: &Secret) -> String {
    let error = error.without_url();
    let words = openclaw_daemon::failure::chain(&error);
    words.replace(token.reveal(), "TOKEN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn api_tells_no_token_in_errors() {
        let options = Options {
            // Nobody listens there.
            api_root: Some("http://127.0.0.1:9".into()),
            ..Options::default()
        };
        let api = Api::new(&options, Secret::new("12:sesame")).unwrap();
        let error = api.call("getMe", &json!({})).await.unwrap_err();
        let words = format!("{error} {error:?} {api:?}");
        assert!(
            words.contains("getMe") && !words.contains("sesame"),
            "{words}"
        );
        let Err(error) = api.file("a/b").await else {
            panic!()
        };
        assert!(!format!("{error:?}").contains("sesame"));
        assert_eq!(api.bot_id(), "12");
    }

    #[test]
    fn api_goes_out_by_no_other_way_than_the_proxy() {
        for proxy in [
            "socks5://127.0.0.1:1080",
            "socks5h://a",
            "ftp://a",
            "a:3128",
            "",
        ] {
            let options = Options {
                proxy: Some(proxy.into()),
                ..Options::default()
            };
            let why = Api::new(&options, Secret::new("12:s")).unwrap_err();
            assert!(why.contains("channels.telegram.proxy"), "{proxy}: {why}");
        }
        let options = Options {
            proxy: Some("HTTP://127.0.0.1:3128".into()),
            ..Options::default()
        };
        Api::new(&options, Secret::new("12:s")).unwrap();
    }

    #[test]
    fn message_is_known_when_its_number_is_whole() {
        assert_eq!(message(b",\"result\":{\"message_id\":12,\"da"), Some(12));
        assert_eq!(message(b",\"result\":{\"message_id\":12"), None);
        assert_eq!(message(b",\"result\":[{\"message_id\":12,"), None);
    }

    #[test]
    fn judge_has_telegrams_words() {
        let answer = json!({"ok": false, "error_code": 429, "description": "Too Many Requests",
            "parameters": {"retry_after": 7}});
        let error = judge("sendMessage", 429, answer.to_string().as_bytes()).unwrap_err();
        assert!(error.is_passing());
        let Error::Refused { retry_after, .. } = error else {
            panic!()
        };
        assert_eq!(retry_after, Some(7));
        assert!(judge("getMe", 502, b"<html>").unwrap_err().is_passing());
        assert!(
            judge("getMe", 404, b"{\"ok\":false}")
                .unwrap_err()
                .is_token_refused()
        );
    }
}
