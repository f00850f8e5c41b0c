//! Renewing logins before a turn: their tokens end after some hours, and the
//! refresh token beside them gets new ones.
//!
//! A refresh token is often good for one request. So one attempt is made at a
//! time, also across processes (a lock beside the file of the profile); what
//! cannot be kept is not asked for; and what was begun is brought to its end,
//! also when whoever wanted the turn is gone.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use openclaw_config::auth::renewal::{self, Endpoint, Form, MARGIN_MS, Renewable, Tokens};
use openclaw_config::auth::{Credential, Profile};
use openclaw_config::provider;
use openclaw_config::secret::Secret;
use openclaw_config::settings::{Settings, now_ms};
use openclaw_daemon::failure;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;
use serde_json::json;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::timeout;

use crate::model::{self, Upstream};
use crate::report::{Report, Use};

/// How long a provider may take to give new tokens.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// How long another process may take that renews a login of the same file.
const LOCK_LIMIT: Duration = Duration::from_secs(30);
/// Bytes of an answer; it is two tokens and a few words.
const BODY_LIMIT: usize = 64 * 1024;
/// How long a provider that could not be asked is left alone.
const PAUSE: Duration = Duration::from_secs(60);
/// Letters of a provider's error code (RFC 6749, 5.2) that are told.
const CODE_LIMIT: usize = 64;

/// Why there are no new tokens.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{host} refused it (HTTP {status}{})", code.as_deref().unwrap_or_default())]
    Refused {
        host: String,
        status: u16,
        code: Option<String>,
    },
    #[error("{host} answered with HTTP {status}")]
    Status { host: String, status: u16 },
    #[error("the answer of {0} has no tokens")]
    Form(String),
    #[error("{0} did not answer in time")]
    Silent(String),
    #[error(transparent)]
    Unsent(#[from] model::Error),
    #[error(transparent)]
    Store(#[from] renewal::Error),
    #[error("another process is renewing it and does not end")]
    Locked,
    #[error("its token endpoint is no URL")]
    Url,
    #[error("the thread that keeps it ended")]
    Thread(#[from] JoinError),
}

/// A profile: its agent and its id.
type Name = (String, String);

/// A renewal that did not succeed.
#[derive(Debug, Clone)]
struct Failed {
    /// For the user.
    message: String,
    provider: String,
    /// The refresh token that is no good; `None`: it was not the token.
    refused: Option<Secret>,
    at: Instant,
}

/// The settings that a turn begins with.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) settings: Arc<Settings>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// Renews logins. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renewals(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    upstream: Upstream,
    /// Held by the one attempt.
    attempt: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The configuration as it was read, and with what was renewed since.
    settings: Option<(Arc<Settings>, Arc<Settings>)>,
    failed: HashMap<Name, Failed>,
    /// What a provider did not accept though it had not ended.
    rejected: HashSet<Name>,
    /// What could not be written.
    unkept: HashMap<Name, Tokens>,
}

impl Renewals {
    /// The configuration with logins for `providers` that a turn of the agent
    /// can use.
    pub(crate) async fn prepare(
        &self,
        read: Arc<Settings>,
        agent_id: &str,
        providers: Vec<String>,
    ) -> Prepared {
        if self.0.due(&read, agent_id, &providers).is_empty() {
            return Prepared {
                settings: self.0.settings(&read),
                notes: Vec::new(),
            };
        }
        let (inner, agent_id, known) = (Arc::clone(&self.0), agent_id.to_owned(), read.clone());
        // Whoever asked may go away; a new refresh token must not go with him.
        let task = async move { inner.renew_all(known, &agent_id, &providers).await };
        tokio::spawn(task).await.unwrap_or_else(|error| {
            failure::report("renew a login", &error);
            Prepared {
                settings: self.0.settings(&read),
                notes: Vec::new(),
            }
        })
    }

    /// The configuration as it will be for the next turn, for a status: a login
    /// that will be renewed is as good as one that has not ended.
    pub(crate) fn expected(&self, read: &Arc<Settings>) -> Arc<Settings> {
        let settings = self.0.settings(read);
        let state = self.0.state();
        settings.with_logins(|agent_id, profile| {
            let name = (agent_id.to_owned(), profile.id.clone());
            profile.renewable().is_some() && !state.failed.contains_key(&name)
        })
    }

    /// Why logins for these providers could not be renewed.
    pub(crate) fn problems(&self, agents: &[&str], providers: &[String]) -> Vec<String> {
        let state = self.0.state();
        let of = |((agent, _), failed): (&Name, &Failed)| {
            let is_asked = agents.contains(&agent.as_str()) && providers.contains(&failed.provider);
            is_asked.then(|| failed.message.clone())
        };
        state.failed.iter().filter_map(of).collect()
    }

    /// Takes note of keys that were refused: a login among them is renewed
    /// before the next turn, however long it was to last.
    pub(crate) fn take(&self, reports: &[Report]) {
        let refused = reports.iter().filter(|report| report.used == Use::Refused);
        let mut state = self.0.state();
        for report in refused {
            let name = (report.agent_id.clone(), report.id.clone());
            state.rejected.insert(name);
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read, with what was renewed since. It is the same as long as
    /// nothing is: what stands ready for a turn is told by that.
    fn settings(&self, read: &Arc<Settings>) -> Arc<Settings> {
        let mut state = self.state();
        match &state.settings {
            Some((known, current)) if Arc::ptr_eq(known, read) => Arc::clone(current),
            _ => {
                state.settings = Some((Arc::clone(read), Arc::clone(read)));
                Arc::clone(read)
            }
        }
    }

    /// The logins that are to be renewed.
    fn due(
        &self,
        read: &Arc<Settings>,
        agent_id: &str,
        providers: &[String],
    ) -> Vec<(Name, Profile)> {
        let settings = self.settings(read);
        let state = self.state();
        let limit = now_ms().saturating_add(MARGIN_MS);
        let named = settings.logins(agent_id, providers).into_iter();
        let named = named.map(|(agent, profile)| ((agent, profile.id.clone()), profile));
        named
            .filter(|(name, profile)| !profile.is_usable(limit) || state.rejected.contains(name))
            .collect()
    }

    async fn renew_all(
        &self,
        read: Arc<Settings>,
        agent_id: &str,
        providers: &[String],
    ) -> Prepared {
        let _attempt = self.attempt.lock().await;
        let mut notes = Vec::new();
        // Again: the attempt before may have been for the same.
        for (name, profile) in self.due(&read, agent_id, providers) {
            let Some(renewable) = profile.renewable() else {
                continue;
            };
            let renewed = self.renew(&name, &profile, &renewable).await;
            let was_rejected = self.state().rejected.remove(&name);
            match renewed {
                Ok(tokens) => self.take_over(&name, &tokens),
                Err(failed) => {
                    if was_rejected || !profile.is_usable(now_ms()) {
                        notes.push(failed.message.clone());
                    }
                    self.state().failed.insert(name, failed);
                }
            }
        }
        Prepared {
            settings: self.settings(&read),
            notes,
        }
    }

    fn take_over(&self, name: &Name, tokens: &Tokens) {
        let mut state = self.state();
        state.failed.remove(name);
        if let Some((_, current)) = &mut state.settings {
            let (agent_id, id) = name;
            *current = Arc::new(current.with_tokens(agent_id, id, tokens));
        }
    }

    async fn renew(
        &self,
        name: &Name,
        profile: &Profile,
        renewable: &Renewable,
    ) -> Result<Tokens, Failed> {
        let failed = |error: Error, refresh: Option<Secret>| {
            let message = to_words(profile, &error);
            tracing::warn!("{}", openclaw_escape::line(&message));
            Failed {
                message,
                provider: profile.provider.clone(),
                refused: refresh.filter(|_| matches!(error, Error::Refused { .. })),
                at: Instant::now(),
            }
        };
        let turn = wait(renewable).await.map_err(|error| failed(error, None))?;
        let stored = turn.stored().map_err(|error| failed(error.into(), None))?;
        let unkept = self.state().unkept.get(name).cloned();
        if let Some(tokens) = unkept {
            self.keep(name, turn, &tokens).await;
            return Ok(tokens);
        }
        if is_news(profile, &stored) {
            return Ok(stored);
        }
        if let Some(before) = self.state().failed.get(name)
            && before.holds(&stored.refresh)
        {
            return Err(before.clone());
        }
        turn.rehearse()
            .map_err(|error| failed(error.into(), None))?;
        let answer = self.ask(&renewable.endpoint, &stored.refresh).await;
        let tokens = answer.map_err(|error| failed(error, Some(stored.refresh)))?;
        self.keep(name, turn, &tokens).await;
        tracing::info!(provider = %profile.provider, "a login was renewed");
        Ok(tokens)
    }

    /// Writes the tokens. Where that fails they are used all the same, and
    /// written with the next attempt.
    async fn keep(&self, name: &Name, turn: renewal::Turn, tokens: &Tokens) {
        let kept = tokens.clone();
        let written = spawn_blocking(move || turn.keep(&kept)).await;
        let written = written.map_err(Error::from).and_then(|it| Ok(it?));
        match written {
            Ok(()) => drop(self.state().unkept.remove(name)),
            Err(error) => {
                failure::report("keep a login that was renewed", &error);
                self.state().unkept.insert(name.clone(), tokens.clone());
            }
        }
    }

    async fn ask(&self, endpoint: &Endpoint, refresh: &Secret) -> Result<Tokens, Error> {
        let url = Url::parse(&endpoint.url).map_err(|_| Error::Url)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let silent = || Error::Silent(host.clone());
        let (kind, body) = body(endpoint, refresh);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let began = now_ms();
        let sent = self.upstream.relay(Method::POST, url, headers, body);
        let response = timeout(ANSWER_LIMIT, sent).await.map_err(|_| silent())??;
        let status = response.status();
        let body = Limited::new(reqwest::Body::from(response), BODY_LIMIT).collect();
        let body = timeout(ANSWER_LIMIT, body).await.map_err(|_| silent())?;
        let body = body
            .map(http_body_util::Collected::to_bytes)
            .unwrap_or_default();
        if !status.is_success() {
            return Err(refusal(host, status, &body));
        }
        let given: Given = serde_json::from_slice(&body).map_err(|_| Error::Form(host.clone()))?;
        if given.access_token.is_empty() {
            return Err(Error::Form(host));
        }
        let lasts = given.expires_in.map(|seconds| seconds.max(0.0) * 1e3);
        Ok(Tokens {
            access: Secret::new(given.access_token),
            // Many providers let the one there is be used again.
            refresh: match given.refresh_token.filter(|token| !token.is_empty()) {
                Some(token) => Secret::new(token),
                None => refresh.clone(),
            },
            expires_ms: lasts.map(|lasts| {
                began
                    .saturating_add(lasts as u64)
                    .saturating_sub(endpoint.skew_ms)
            }),
        })
    }
}

impl Failed {
    /// Whether there is no use in asking again.
    fn holds(&self, refresh: &Secret) -> bool {
        match &self.refused {
            Some(refused) => refused == refresh,
            None => self.at.elapsed() < PAUSE,
        }
    }
}

/// An answer with tokens (RFC 6749, 5.1).
#[derive(Deserialize)]
struct Given {
    access_token: String,
    refresh_token: Option<String>,
    expires_in: Option<f64>,
}

/// Whether somebody else has renewed the login.
fn is_news(profile: &Profile, stored: &Tokens) -> bool {
    let is_other = match &profile.credential {
        Credential::OAuth { access, .. } => *access != stored.access,
        _ => false,
    };
    let limit = now_ms().saturating_add(MARGIN_MS);
    is_other && stored.expires_ms.is_none_or(|end| end > limit)
}

async fn wait(renewable: &Renewable) -> Result<renewal::Turn, Error> {
    let renewable = renewable.clone();
    let lock = spawn_blocking(move || renewal::Turn::wait(&renewable));
    let lock = timeout(LOCK_LIMIT, lock).await;
    Ok(lock.map_err(|_| Error::Locked)???)
}

/// The content type and the body of a request (RFC 6749, 6).
fn body(endpoint: &Endpoint, refresh: &Secret) -> (&'static str, Bytes) {
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", &endpoint.client_id),
        ("refresh_token", refresh.reveal()),
    ];
    match endpoint.form {
        Form::Json => {
            let object: serde_json::Map<_, _> = fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
            let text = serde_json::Value::Object(object).to_string();
            ("application/json", text.into())
        }
        Form::Fields => {
            let mut form = form_urlencoded::Serializer::new(String::new());
            let text = form.extend_pairs(fields).finish();
            ("application/x-www-form-urlencoded", text.into())
        }
    }
}

/// Of what a provider says only its code is told: the rest may hold anything.
fn refusal(host: String, status: StatusCode, body: &[u8]) -> Error {
    let said: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let code = said["error"].as_str().or(said["error"]["code"].as_str());
    let is_plain = |code: &&str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
        code.len() <= CODE_LIMIT && code.chars().all(is_letter)
    };
    let code = code.filter(is_plain).map(|code| format!(", {code}"));
    let status = status.as_u16();
    match status {
        400 | 401 | 403 => Error::Refused { host, status, code },
        _ => Error::Status { host, status },
    }
}

/// What failed and the way out.
fn to_words(profile: &Profile, error: &Error) -> String {
    let (variable, _) = provider::variables(&profile.provider);
    let advice = match error {
        Error::Refused { .. } | Error::Store(renewal::Error::Missing(_)) => {
            "log in again with the program that made it, or set "
        }
        _ => {
            "it is tried again with a later message; until then another key is used, if there is one: set "
        }
    };
    format!(
        "the login {} could not be renewed: {}; {advice}{variable}",
        profile.id,
        failure::chain(error)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_form_of_their_provider() {
        let mut endpoint = Endpoint {
            url: String::new(),
            client_id: "c".to_owned(),
            form: Form::Json,
            skew_ms: 0,
        };
        let refresh = Secret::new("a+b/c=");
        let (kind, json) = body(&endpoint, &refresh);
        assert_eq!(kind, "application/json");
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let expected =
            json!({"grant_type": "refresh_token", "client_id": "c", "refresh_token": "a+b/c="});
        assert_eq!(json, expected);
        endpoint.form = Form::Fields;
        let (kind, text) = body(&endpoint, &refresh);
        assert_eq!(kind, "application/x-www-form-urlencoded");
        let expected = "grant_type=refresh_token&client_id=c&refresh_token=a%2Bb%2Fc%3D";
        assert_eq!(&text[..], expected.as_bytes());
    }

    #[test]
    fn a_refusal_tells_its_code_and_nothing_else() {
        let said = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            refusal("h".to_owned(), status, body.as_bytes()).to_string()
        };
        let plain = said(
            400,
            r#"{"error": "invalid_grant", "error_description": "x"}"#,
        );
        assert_eq!(plain, "h refused it (HTTP 400, invalid_grant)");
        let nested = said(401, r#"{"error": {"code": "refresh_token_reused"}}"#);
        assert_eq!(nested, "h refused it (HTTP 401, refresh_token_reused)");
        assert_eq!(
            said(400, r#"{"error": "Se cret"}"#),
            "h refused it (HTTP 400)"
        );
        assert_eq!(said(503, "x"), "h answered with HTTP 503");
    }
}
