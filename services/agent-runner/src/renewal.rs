//! Renewing logins before a turn: their tokens end after some hours, and the
//! refresh token beside them gets new ones.
//!
//! A refresh token is often good for one request. So one attempt is made at a time, also across
//! processes (a lock beside the file of the profile); what cannot be kept is not asked for; and
//! what was begun is brought to its end, also when whoever wanted the turn is gone.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use openclaw_config::secret::Secret;
use openclaw_credentials::renewal::{self, MARGIN_MS, Renewable, Tokens};
use openclaw_credentials::{Credential, Profile, RenewalRefused};
use openclaw_daemon::failure;
use openclaw_handoff::report::{Report, Use};
use openclaw_model_api::upstream::{self, Upstream};
use openclaw_settings::provider;
use openclaw_settings::{RunnerSettings, now_ms};
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::timeout;

mod asking;

/// How long a turn waits for new tokens. It then goes on without them; they are
/// waited for all the same, because the refresh token may be used up.
const TURN_LIMIT: Duration = Duration::from_secs(5);
/// How long another process may take that renews a login of the same file.
const LOCK_LIMIT: Duration = Duration::from_secs(30);
/// How long a provider that could not be asked is left alone.
const PAUSE: Duration = Duration::from_secs(60);

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
    Status {
        host: String,
        status: u16,
        /// How long it wants not to be asked.
        wait: Option<Duration>,
    },
    #[error("the answer of {0} has no tokens")]
    Form(String),
    #[error("{0} did not answer in time")]
    Silent(String),
    #[error("it takes longer than the {} s that a message waits", TURN_LIMIT.as_secs())]
    Late,
    #[error(transparent)]
    Unsent(#[from] upstream::Error),
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
    again: Again,
}

/// When there is use in asking again.
#[derive(Debug, Clone)]
enum Again {
    /// With another refresh token than the one that is no good.
    Unlike(Secret),
    /// From then on: the provider could not be asked, or wants to be left alone so long.
    From(Instant),
    /// With the next turn: it is still being asked, or was not.
    Now,
}

/// Tokens that could not be written.
#[derive(Debug, Clone)]
struct Unkept {
    tokens: Tokens,
    /// The refresh token that was used up for them. With another one in the
    /// file, somebody has made the login anew.
    used: Secret,
    /// For the user.
    message: String,
}

/// The credential used from now on.
#[derive(Debug)]
struct Renewed {
    tokens: Tokens,
    /// Warnings for the user.
    note: Option<String>,
}

impl From<Unkept> for Renewed {
    fn from(unkept: Unkept) -> Self {
        Self {
            tokens: unkept.tokens,
            note: Some(unkept.message),
        }
    }
}

/// The settings that a turn begins with.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) settings: Arc<RunnerSettings>,
    /// Warnings for the user.
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
    settings: Option<(Arc<RunnerSettings>, Arc<RunnerSettings>)>,
    failed: HashMap<Name, Failed>,
    /// Credentials that their providers refused, not noted yet.
    refused: Vec<(Name, RenewalRefused)>,
    /// A credential that the provider refused before its end.
    rejected: HashSet<Name>,
    unkept: HashMap<Name, Unkept>,
}

impl State {
    /// What was read, with what was renewed since. It is the same as long as
    /// nothing is: what stands ready for a turn is told by that.
    fn settings(&mut self, read: &Arc<RunnerSettings>) -> Arc<RunnerSettings> {
        match &self.settings {
            Some((known, current)) if Arc::ptr_eq(known, read) => Arc::clone(current),
            _ => {
                self.settings = Some((Arc::clone(read), Arc::clone(read)));
                Arc::clone(read)
            }
        }
    }

    /// The logins that are to be renewed or written.
    fn due(
        &mut self,
        read: &Arc<RunnerSettings>,
        agent_id: &str,
        providers: &[String],
    ) -> Vec<(Name, Profile)> {
        let settings = self.settings(read);
        let limit = now_ms().saturating_add(MARGIN_MS);
        let named = settings.logins(agent_id, providers).into_iter();
        let named = named.map(|(agent, profile)| ((agent, profile.id.clone()), profile));
        let is_due = |name: &Name, profile: &Profile| {
            let is_marked = self.rejected.contains(name) || self.unkept.contains_key(name);
            is_marked || !profile.is_usable(limit)
        };
        named
            .filter(|(name, profile)| is_due(name, profile))
            .collect()
    }
}

impl Renewals {
    /// The configuration with logins for `providers` that a turn of the agent can use.
    pub(crate) async fn prepare(
        &self,
        read: Arc<RunnerSettings>,
        agent_id: &str,
        providers: Vec<String>,
    ) -> Prepared {
        if self.0.state().due(&read, agent_id, &providers).is_empty() {
            return self.0.unchanged(&read);
        }
        let (inner, agent, known) = (Arc::clone(&self.0), agent_id.to_owned(), read.clone());
        let wanted = providers.clone();
        // Whoever asked may go away; a new refresh token must not go with him.
        let task = async move { inner.renew_all(known, &agent, &wanted).await };
        match timeout(TURN_LIMIT, tokio::spawn(task)).await {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(error)) => {
                failure::report("renew a login", &error);
                self.0.unchanged(&read)
            }
            Err(_) => self.0.without(&read, agent_id, &providers),
        }
    }

    /// The logins that providers did not renew since this was asked last, by agent and id.
    pub(crate) fn take_refused(&self) -> Vec<((String, String), RenewalRefused)> {
        std::mem::take(&mut self.0.state().refused)
    }

    /// Waits for what is being asked: the refresh token may be used up.
    pub(crate) async fn idle(&self) {
        drop(self.0.attempt.lock().await);
    }

    /// Whether something is being asked.
    pub(crate) fn is_asking(&self) -> bool {
        self.0.attempt.try_lock().is_err()
    }

    /// The configuration as it will be for the next turn, for a status: a login
    /// that will be renewed is as good as one that has not ended.
    pub(crate) fn expected(&self, read: &Arc<RunnerSettings>) -> Arc<RunnerSettings> {
        let mut state = self.0.state();
        let settings = state.settings(read);
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

    fn unchanged(&self, read: &Arc<RunnerSettings>) -> Prepared {
        Prepared {
            settings: self.state().settings(read),
            notes: Vec::new(),
        }
    }

    /// The configuration for a turn that does not wait any longer. What is
    /// renewed at this very moment is there or still due, never both.
    fn without(
        &self,
        read: &Arc<RunnerSettings>,
        agent_id: &str,
        providers: &[String],
    ) -> Prepared {
        let mut state = self.state();
        let mut notes = Vec::new();
        for (name, profile) in state.due(read, agent_id, providers) {
            if profile.is_usable(now_ms()) && !state.rejected.contains(&name) {
                continue;
            }
            let failed = state.failed.entry(name).or_insert_with(|| Failed {
                message: to_words(&profile, &Error::Late),
                provider: profile.provider.clone(),
                again: Again::Now,
            });
            notes.push(failed.message.clone());
        }
        Prepared {
            settings: state.settings(read),
            notes,
        }
    }

    async fn renew_all(
        &self,
        read: Arc<RunnerSettings>,
        agent_id: &str,
        providers: &[String],
    ) -> Prepared {
        let _attempt = self.attempt.lock().await;
        let mut notes = Vec::new();
        // Again: the attempt before may have been for the same.
        let due = self.state().due(&read, agent_id, providers);
        for (name, profile) in due {
            let Some(renewable) = profile.renewable() else {
                continue;
            };
            let renewed = self.renew(&name, &profile, &renewable).await;
            let was_rejected = self.state().rejected.remove(&name);
            match renewed {
                Ok(renewed) => {
                    self.take_over(&name, &renewed.tokens);
                    notes.extend(renewed.note);
                }
                Err(failed) => {
                    if was_rejected || !profile.is_usable(now_ms()) {
                        notes.push(failed.message.clone());
                    }
                    self.state().failed.insert(name, failed);
                }
            }
        }
        Prepared {
            settings: self.state().settings(&read),
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
    ) -> Result<Renewed, Failed> {
        let renewed = match wait(renewable).await {
            Ok(turn) => self.renew_in(turn, name, profile, renewable).await,
            Err(error) => Err(failed(profile, &error, None)),
        };
        // What was given before is good, whether it can be written or not.
        renewed.or_else(|failed| match self.state().unkept.get(name) {
            Some(unkept) => Ok(unkept.clone().into()),
            None => Err(failed),
        })
    }

    async fn renew_in(
        &self,
        turn: renewal::Turn,
        name: &Name,
        profile: &Profile,
        renewable: &Renewable,
    ) -> Result<Renewed, Failed> {
        let failed = |error: Error| failed(profile, &error, None);
        let stored = turn.stored().map_err(|error| failed(error.into()))?;
        let unkept = self.state().unkept.remove(name);
        if let Some(Unkept { tokens, used, .. }) = unkept
            && used == stored.refresh
        {
            return Ok(self.keep(turn, name, profile, tokens, used).await);
        }
        if is_news(profile, &stored) {
            return Ok(Renewed {
                tokens: stored,
                note: None,
            });
        }
        if let Some(before) = self.state().failed.get(name)
            && before.holds(&stored.refresh)
        {
            return Err(before.clone());
        }
        turn.rehearse().map_err(|error| failed(error.into()))?;
        let used = stored.refresh;
        let answer = asking::tokens(&self.upstream, &renewable.endpoint, &used).await;
        let tokens = answer.map_err(|error| {
            if matches!(error, Error::Refused { .. }) {
                let refused = (name.clone(), refused(profile, &error));
                self.state().refused.push(refused);
            }
            self::failed(profile, &error, Some(&used))
        })?;
        tracing::info!(provider = %profile.provider, "a login was renewed");
        Ok(self.keep(turn, name, profile, tokens, used).await)
    }

    /// Writes the tokens. Where that fails they are used all the same, and
    /// written with a later turn.
    async fn keep(
        &self,
        turn: renewal::Turn,
        name: &Name,
        profile: &Profile,
        tokens: Tokens,
        used: Secret,
    ) -> Renewed {
        let kept = tokens.clone();
        let written = spawn_blocking(move || turn.keep(&kept)).await;
        let Err(error) = written.map_err(Error::from).and_then(|it| Ok(it?)) else {
            return Renewed { tokens, note: None };
        };
        failure::report("keep a login that was renewed", &error);
        let unkept = Unkept {
            message: format!(
                "the login {} was renewed, and could not be kept: {}; it is tried again with the \
                 next message, and lost when the agent-runner ends before",
                profile.id,
                failure::chain(&error)
            ),
            tokens,
            used,
        };
        self.state().unkept.insert(name.clone(), unkept.clone());
        unkept.into()
    }
}

impl Failed {
    /// Whether there is no use in asking again.
    fn holds(&self, refresh: &Secret) -> bool {
        match &self.again {
            Again::Unlike(refused) => refused == refresh,
            Again::From(then) => Instant::now() < *then,
            Again::Now => false,
        }
    }
}

/// The failure, told; `used` is the refresh token that the provider was asked with.
fn failed(profile: &Profile, error: &Error, used: Option<&Secret>) -> Failed {
    let message = to_words(profile, error);
    tracing::warn!("{}", openclaw_escape::line(&message));
    Failed {
        message,
        provider: profile.provider.clone(),
        again: match (error, used) {
            (Error::Refused { .. }, Some(used)) => Again::Unlike(used.clone()),
            (Error::Store(_), _) => Again::Now,
            (Error::Status { wait, .. }, _) => Again::From(Instant::now() + wait.unwrap_or(PAUSE)),
            _ => Again::From(Instant::now() + PAUSE),
        },
    }
}

/// The record of a refusal, for lists of logins.
fn refused(profile: &Profile, error: &Error) -> RenewalRefused {
    let expires = match &profile.credential {
        Credential::OAuth { expires_ms, .. } => *expires_ms,
        _ => None,
    };
    RenewalRefused {
        expires,
        why: openclaw_escape::line(&failure::chain(error)),
    }
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

/// The failure and the way out.
fn to_words(profile: &Profile, error: &Error) -> String {
    let (variable, _) = provider::variables(&profile.provider);
    let advice = match error {
        Error::Refused { .. } | Error::Store(renewal::Error::Missing(_)) => {
            "log in again with the program that made it, or set "
        }
        Error::Late => {
            "a later message uses it when it is there; until then another key is used, if there is one: set "
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
