//! The conversations, for every door: gRPC, WebSocket and HTTP.

mod aside;
mod compacting;
mod discover;
mod export;
mod forgetting;
mod import;
mod read;
mod usage;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_daemon::Configuration;
use openclaw_proto::sessions::{Deleted, Page, Query, Rows, Session, State};
use openclaw_sessions::store::Patch;
use openclaw_sessions::transcript::{self, Compaction, Count};
use openclaw_sessions::{AgentId, SessionKey};
use openclaw_settings::check_limit;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::lanes::Lanes;
use crate::refusal::Refusal;
use crate::storage::{Fault, Leftover, Listed, SessionError, Storage, Uncounted};

pub use compacting::Compacting;
pub use read::{History, Wanted};
pub use usage::Answered;

/// Everything that is done with sessions beside sending messages to them. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    storage: Storage,
    lanes: Lanes,
    configuration: Configuration,
    compacting: Arc<Mutex<HashSet<SessionKey>>>,
}

/// A session to be entered before anything is said in it.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// Its key; None: one of its own.
    pub key: Option<SessionKey>,
    /// The fields that are set from the beginning.
    pub patch: Patch,
    /// The session that starts it.
    pub spawned_by: Option<SessionKey>,
}

/// A session with everything the index has of it.
#[derive(Debug)]
pub struct Shown {
    /// The session in the form that clients see.
    pub session: Session,
    /// Its entry in `sessions.json`.
    pub entry: Map<String, Value>,
}

impl Sessions {
    /// The sessions that `storage` keeps; those with a turn in `lanes` are busy.
    pub fn new(storage: Storage, lanes: Lanes, configuration: Configuration) -> Self {
        Self {
            storage,
            lanes,
            configuration,
            compacting: Arc::default(),
        }
    }

    /// The sessions that `query` wants, the latest first.
    pub async fn list(&self, query: Query) -> Result<Page, Refusal> {
        let rows = self.rows(query).await?;
        let page = rows.page();
        page.map_err(|invalid| Refusal::Unreadable(invalid.into()))
    }

    /// The same as rows, to be passed on.
    pub async fn rows(&self, query: Query) -> Result<Rows, Refusal> {
        let mut listed = self.listed(query.clone()).await?;
        if !listed.uncounted.is_empty() {
            self.count(std::mem::take(&mut listed.uncounted)).await?;
            listed = self.listed(query).await?;
        }
        Ok(Rows {
            rows: listed.rows,
            total: u32::try_from(listed.total).unwrap_or(u32::MAX),
        })
    }

    async fn listed(&self, query: Query) -> Result<Listed, Refusal> {
        let listed = self.storage.list(query, self.busy()).await;
        listed.map_err(|error| error.refusal(Refusal::Unreadable))
    }

    /// The states of sessions in which something happens.
    fn busy(&self) -> HashMap<String, State> {
        let running = self.lanes.keys().into_iter();
        let compacting = self.compacting.lock();
        let compacting = compacting.unwrap_or_else(PoisonError::into_inner);
        let compacting = compacting.iter().map(SessionKey::to_string);
        running
            .map(|key| (key, State::Active))
            .chain(compacting.map(|key| (key, State::Compacting)))
            .collect()
    }

    /// The given fields of the sessions' entries, in the order of the sessions.
    pub async fn fields(
        &self,
        sessions: &[Session],
        fields: &'static [&'static str],
    ) -> Result<Vec<Map<String, Value>>, Refusal> {
        let names = |it: &Session| (it.agent_id.clone(), it.key.clone());
        let sessions = sessions.iter().map(names).collect();
        let picked = self.storage.fields(sessions, fields).await;
        picked.map_err(Refusal::Unreadable)
    }

    /// The key of the session that `text` means: its key in any form, its id
    /// or the beginning of it, or its label; empty is the main session. With
    /// `agent` only of that agent.
    pub async fn resolve(&self, text: &str, agent: &str) -> Result<SessionKey, Refusal> {
        let default = self.configuration.settings().default_agent.parse()?;
        let agent: Option<AgentId> = match agent {
            "" => None,
            id => Some(id.parse()?),
        };
        self.storage
            .resolve(text.to_owned(), agent, default)
            .await
            .map_err(|error| error.refusal(Refusal::Unreadable))
    }

    /// As [`Sessions::resolve`]; an id that no session has becomes that of a new
    /// one, whose key is OpenClaw's for it.
    pub async fn resolve_or_begin(&self, id: &str, agent: &str) -> Result<SessionKey, Refusal> {
        match self.resolve(id, agent).await {
            Err(Refusal::UnknownSession(_)) if is_session_id(id) => {}
            resolved => return resolved,
        }
        let agent: AgentId = match agent {
            "" => self.configuration.settings().default_agent.parse()?,
            id => id.parse()?,
        };
        self.is_configured(&agent)?;
        let key = SessionKey::parse(&format!("agent:{agent}:explicit:{id}"), &agent)?;
        let begun = self.storage.begin_as(key.clone(), id.to_owned()).await;
        begun.map_err(Refusal::of_session)?;
        Ok(key)
    }

    /// Begins the session of `key`, where there is none, with the id that its client asks
    /// for, unless that names another one.
    pub async fn begin_with(&self, key: &SessionKey, id: &str) -> Result<(), Refusal> {
        self.is_configured(key.agent())?;
        if !is_session_id(id) || self.resolve(id, "").await.is_ok() {
            return Ok(());
        }
        let begun = self.storage.begin_as(key.clone(), id.to_owned()).await;
        begun.map_err(Refusal::of_session)
    }

    /// The index entry of the session `key`; its messages are not counted.
    pub async fn entry(&self, key: &SessionKey) -> Result<Map<String, Value>, Refusal> {
        Ok(self.find(key).await?.entry)
    }

    /// The session of `key`.
    pub async fn get(&self, key: &SessionKey) -> Result<Shown, Refusal> {
        let found = self.find(key).await?;
        let mut session = found.session;
        if !found.is_counted {
            let uncounted = Uncounted {
                key: key.clone(),
                transcript: found.transcript,
                known: Count::default(),
            };
            let counts = self.count(vec![uncounted]).await?;
            session.message_count = counts.first().map_or(0, |(_, count)| count.messages);
        }
        Ok(Shown {
            session: self.with_state(session),
            entry: found.entry,
        })
    }

    /// Enters a session; an agent that is not configured has none.
    pub async fn create(&self, new: NewSession) -> Result<Session, Refusal> {
        let key = match new.key {
            Some(key) => key,
            None => self.own_key(new.spawned_by.as_ref())?,
        };
        self.is_configured(key.agent())?;
        self.check(key.agent(), &new.patch)?;
        let created = self.storage.create(key, new.patch, new.spawned_by).await;
        Ok(self.with_state(created.map_err(not_saved)?))
    }

    /// Changes what the user can set of a session. One in which a turn runs is not archived.
    pub async fn patch(&self, key: &SessionKey, patch: Patch) -> Result<Session, Refusal> {
        if patch.archives() {
            self.is_quiet(key)?;
        }
        self.check(key.agent(), &patch)?;
        let patched = self.storage.patch(key.clone(), patch).await;
        Ok(self.with_state(patched.map_err(not_saved)?))
    }

    /// Changes what the user can set of a session, also before anything was
    /// said in it. In one step: a message that comes meanwhile finds it set.
    pub async fn set(&self, key: &SessionKey, patch: Patch) -> Result<Session, Refusal> {
        if let Err(unknown) = self.is_configured(key.agent()) {
            // Of an agent that is gone only what is there is changed.
            return match self.patch(key, patch).await {
                Err(Refusal::UnknownSession(_)) => Err(unknown),
                patched => patched,
            };
        }
        if patch.archives() {
            self.is_quiet(key)?;
        }
        self.check(key.agent(), &patch)?;
        let set = self.storage.set(key.clone(), patch).await;
        Ok(self.with_state(set.map_err(not_saved)?))
    }

    /// Begins a conversation anew under the same id; `reason` is `new` or
    /// `reset`.
    pub async fn reset(&self, key: &SessionKey, reason: &str) -> Result<Session, Refusal> {
        self.is_quiet(key)?;
        let reset = self.storage.reset(key.clone(), reason.to_owned()).await;
        Ok(self.with_state(reset.map_err(not_saved)?))
    }

    /// Puts a summary in the place of all but the newest `keep` messages. Whoever makes a summary
    /// that takes long holds [`Compacting`] meanwhile, and gives it back here.
    pub async fn compact(
        &self,
        compacting: &Compacting,
        summary: String,
        keep: usize,
    ) -> Result<Session, Refusal> {
        if summary.trim().is_empty() {
            return Err(Refusal::Empty {
                what: "the summary",
            });
        }
        let key = compacting.key();
        let first_kept = self.first_kept(key, keep).await?;
        let before = self.find(key).await?.session.tokens.context;
        self.compact_before(compacting, summary, first_kept, before)
            .await
    }

    /// Puts a summary in the place of all messages before the entry
    /// `first_kept`; empty: of all there are. The context had `tokens_before`.
    pub async fn compact_before(
        &self,
        compacting: &Compacting,
        summary: String,
        first_kept: String,
        tokens_before: u64,
    ) -> Result<Session, Refusal> {
        let compaction = Compaction {
            summary,
            first_kept_entry_id: first_kept,
            tokens_before,
            details: None,
        };
        let compacted = self
            .storage
            .compact(compacting.key().clone(), compaction)
            .await;
        Ok(self.with_state(compacted.map_err(not_saved)?))
    }

    /// The entry from which on the newest `keep` messages are told; empty: none are.
    async fn first_kept(&self, key: &SessionKey, keep: usize) -> Result<String, Refusal> {
        if keep == 0 {
            return Ok(String::new());
        }
        let wanted = Wanted {
            skip: 0,
            limit: keep,
            all: false,
        };
        let history = self.history(key, wanted).await?;
        let first = history.entries.into_iter().next();
        Ok(first.map(|entry| entry.id).unwrap_or_default())
    }

    /// Takes a session out of the index; its transcript is archived, or removed for good.
    pub async fn delete(&self, key: &SessionKey, leftover: Leftover) -> Result<Deleted, Refusal> {
        self.is_quiet(key)?;
        let archive = self.storage.delete(key.clone(), leftover).await;
        let archive = archive.map_err(not_saved)?;
        Ok(Deleted {
            key: key.to_string(),
            archive_path: archive.map(|path: PathBuf| path.display().to_string()),
        })
    }

    /// Says that a session's history is being summarised, until the value is dropped.
    pub fn begin_compaction(&self, key: &SessionKey) -> Result<Compacting, Refusal> {
        let begun = Compacting::begin(&self.compacting, key);
        begun.ok_or_else(|| Refusal::Compacting(key.clone()))
    }

    /// A key for a session that nobody named, below the session's agent that starts it.
    fn own_key(&self, spawned_by: Option<&SessionKey>) -> Result<SessionKey, Refusal> {
        let default: AgentId = self.configuration.settings().default_agent.parse()?;
        let (agent, kind) = match spawned_by {
            Some(parent) => (parent.agent().clone(), "subagent"),
            None => (default, "explicit"),
        };
        let key = format!("agent:{agent}:{kind}:{}", Uuid::new_v4());
        Ok(SessionKey::parse(&key, &agent)?)
    }

    fn is_configured(&self, agent: &AgentId) -> Result<(), Refusal> {
        let settings = self.configuration.settings();
        match settings.agent(agent.as_str()) {
            Some(_) => Ok(()),
            None => Err(Refusal::UnknownAgent {
                agent: agent.clone(),
                configured: settings.agents.keys().cloned().collect(),
            }),
        }
    }

    /// Whether no turn runs or waits in the session.
    fn is_quiet(&self, key: &SessionKey) -> Result<(), Refusal> {
        if self.lanes.runs(key).is_empty() {
            Ok(())
        } else {
            Err(Refusal::Busy(key.clone()))
        }
    }

    /// Counts the messages of transcripts: not on the storage thread, because a
    /// long one takes a while.
    async fn count(&self, uncounted: Vec<Uncounted>) -> Result<Vec<(SessionKey, Count)>, Refusal> {
        let count = move || {
            let counted = uncounted.into_iter().map(|session| {
                let count = transcript::count(&session.transcript, session.known)?;
                Ok((session.key, count))
            });
            counted.collect::<Result<Vec<_>, openclaw_sessions::Error>>()
        };
        let counts = tokio::task::spawn_blocking(count)
            .await
            .map_err(|_| Refusal::Unreadable(Fault::Stopped))?
            .map_err(|error| Refusal::Unreadable(error.into()))?;
        let told = self.storage.counted(counts.clone()).await;
        told.map_err(Refusal::Unreadable)?;
        Ok(counts)
    }

    fn with_state(&self, mut session: Session) -> Session {
        let (archived, messages) = (session.archived_at_ms, session.message_count);
        session.state = match self.busy().get(&session.key) {
            Some(busy) => *busy,
            None => crate::storage::state(archived, messages),
        };
        session
    }

    /// A session keeps nothing that its turns cannot have: no limit, and no
    /// model that nobody knows.
    fn check(&self, agent: &AgentId, patch: &Patch) -> Result<(), Refusal> {
        for (name, value) in patch.limits() {
            check_limit(name, value)?;
        }
        match patch.model() {
            Some(model) => {
                let settings = self.configuration.settings();
                Ok(settings.check_model(agent.as_str(), &model)?)
            }
            None => Ok(()),
        }
    }
}

fn not_saved(error: SessionError) -> Refusal {
    error.refusal(Refusal::NotSaved)
}

/// The longest session id that a client may choose, in bytes.
const SESSION_ID_LIMIT: usize = 128;

/// Whether `id` may be that of a session, which names a file: OpenClaw's rule.
fn is_session_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric();
    id.len() <= SESSION_ID_LIMIT
        && id.starts_with(is_plain)
        && id.chars().all(|c| is_plain(c) || "._-".contains(c))
}
