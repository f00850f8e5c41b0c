//! Looking sessions up.

use openclaw_proto::sessions::{Archived, Query, Session, State, Tokens};
use openclaw_sessions::store::{SessionEntry, Store};
use openclaw_sessions::transcript::Count;
use openclaw_sessions::{AgentId, SessionKey, now_ms};
use serde_json::{Map, Value};

use super::{Asked, Listed, Shown, Uncounted};
use crate::refusal::Refusal;
use crate::storage::books::Books;
use crate::storage::fault::Fault;

/// Milliseconds of a minute.
const MINUTE: i64 = 60_000;

/// A session that may be wanted.
struct Candidate<'a> {
    agent: &'a AgentId,
    key: &'a str,
    entry: &'a SessionEntry,
}

impl Books {
    pub(super) fn list(&mut self, query: &Query) -> Result<Asked<Listed>, Fault> {
        let agents = match query.agent_id.as_str() {
            "" => self.shelf.agents(),
            id => match id.parse::<AgentId>() {
                Ok(agent) => vec![agent],
                Err(invalid) => return Ok(Err(Refusal::Agent(invalid))),
            },
        };
        let now = now_ms();
        let wanted = Filter::new(query, now);
        let mut found = Vec::new();
        for agent in &agents {
            let Some(store) = self.shelf.known_store(agent) else {
                continue;
            };
            let candidates = store
                .sessions()
                .map(|(key, entry)| Candidate { agent, key, entry });
            found.extend(candidates.filter(|candidate| wanted.takes(candidate)));
        }
        found.sort_by(|a, b| {
            let time = |candidate: &Candidate<'_>| candidate.entry.updated_at();
            time(b).cmp(&time(a)).then_with(|| a.key.cmp(b.key))
        });
        let limit = match query.limit {
            0 => usize::MAX,
            limit => limit as usize,
        };
        let mut listed = Listed {
            total: found.len(),
            ..Listed::default()
        };
        for candidate in found.into_iter().skip(query.offset as usize).take(limit) {
            let Some(store) = self.shelf.known_store(candidate.agent) else {
                continue;
            };
            if !candidate.entry.is_counted() {
                let uncounted = uncounted(store, &candidate);
                listed
                    .uncounted
                    .extend(uncounted.map(|uncounted| (listed.sessions.len(), uncounted)));
            }
            let mut row = row(candidate.agent, candidate.key, candidate.entry);
            if !query.brief {
                let path = store.transcript_path(candidate.entry);
                row.transcript_path = path.display().to_string();
            }
            listed.sessions.push(row);
        }
        Ok(Ok(listed))
    }

    pub(super) fn fields(
        &self,
        sessions: &[(String, String)],
        fields: &[&str],
    ) -> Vec<Map<String, Value>> {
        let entry = |agent: &str, key: &str| {
            let agent: AgentId = agent.parse().ok()?;
            let key = SessionKey::stored(key, &agent).ok()?;
            self.shelf.known_store(&agent)?.get(&key)
        };
        let picked = |entry: &SessionEntry| {
            let values = fields
                .iter()
                .filter_map(|name| Some((*name, entry.get(name)?)));
            values
                .map(|(name, value)| (name.to_owned(), value))
                .collect()
        };
        sessions
            .iter()
            .map(|(agent, key)| entry(agent, key).map(picked).unwrap_or_default())
            .collect()
    }

    pub(super) fn counted(&mut self, counts: &[(SessionKey, Count)]) -> Result<(), Fault> {
        for (key, count) in counts {
            self.shelf.store(key.agent())?.set_count(key, *count);
        }
        Ok(())
    }

    pub(super) fn resolve(
        &mut self,
        text: &str,
        agent: Option<AgentId>,
        default: &AgentId,
    ) -> Result<Asked<SessionKey>, Fault> {
        let named = named_agent(text);
        let first = named.as_ref().or(agent.as_ref()).unwrap_or(default);
        if text.trim().is_empty() {
            return Ok(Ok(SessionKey::main(first)));
        }
        let mut found = self.found(text, first);
        if found.is_empty() && named.is_none() && agent.is_none() {
            let others = self.shelf.agents().into_iter();
            found = others
                .filter(|agent| agent != first)
                .flat_map(|agent| self.found(text, &agent))
                .collect();
        }
        Ok(match found.len() {
            0 => Err(Refusal::UnknownSession(text.to_owned())),
            1 => Ok(found.remove(0)),
            _ => Err(Refusal::Ambiguous {
                text: text.to_owned(),
                keys: found.iter().map(SessionKey::to_string).collect(),
            }),
        })
    }

    fn found(&self, text: &str, agent: &AgentId) -> Vec<SessionKey> {
        let store = self.shelf.known_store(agent);
        store.map(|store| store.find(text)).unwrap_or_default()
    }

    pub(super) fn show(&mut self, key: &SessionKey) -> Result<Option<Shown>, Fault> {
        let store = self.shelf.store(key.agent())?;
        let Some(entry) = store.get(key) else {
            return Ok(None);
        };
        let transcript = store.transcript_path(entry);
        Ok(Some(Shown {
            is_counted: entry.is_counted(),
            session: Session {
                transcript_path: transcript.display().to_string(),
                ..row(key.agent(), key.as_str(), entry)
            },
            entry: entry.to_json(),
            transcript,
        }))
    }

    /// A session as it is listed, which is there.
    pub(super) fn shown_session(&mut self, key: &SessionKey) -> Result<Asked<Session>, Fault> {
        let shown = self.show(key)?;
        Ok(shown
            .map(|shown| shown.session)
            .ok_or_else(|| Refusal::UnknownSession(key.to_string())))
    }
}

/// The agent that a key names.
fn named_agent(text: &str) -> Option<AgentId> {
    let lower = text.trim().to_lowercase();
    let (agent, _) = lower.strip_prefix("agent:")?.split_once(':')?;
    agent.parse().ok()
}

fn uncounted(store: &Store, candidate: &Candidate<'_>) -> Option<Uncounted> {
    Some(Uncounted {
        key: SessionKey::stored(candidate.key, candidate.agent).ok()?,
        transcript: store.transcript_path(candidate.entry),
        known: candidate.entry.counted(),
    })
}

/// What a query asks for.
struct Filter<'a> {
    query: &'a Query,
    search: String,
    since: i64,
}

impl<'a> Filter<'a> {
    fn new(query: &'a Query, now: i64) -> Self {
        let since = match query.active_minutes {
            0 => i64::MIN,
            minutes => now - i64::from(minutes) * MINUTE,
        };
        Self {
            query,
            search: query.search.trim().to_lowercase(),
            since,
        }
    }

    fn takes(&self, candidate: &Candidate<'_>) -> bool {
        let entry = candidate.entry;
        let is_archived = entry.archived_at().is_some();
        let of_archive = match self.query.archived {
            Archived::No => !is_archived,
            Archived::Only => is_archived,
            Archived::Also => true,
        };
        let parent = self.query.spawned_by.as_str();
        of_archive
            && entry.updated_at() >= self.since
            && (parent.is_empty() || entry.text("spawnedBy") == Some(parent))
            && (self.search.is_empty() || self.matches(candidate))
    }

    fn matches(&self, candidate: &Candidate<'_>) -> bool {
        let names = [
            Some(candidate.key),
            Some(candidate.entry.session_id()),
            candidate.entry.label(),
            candidate.entry.text("displayName"),
        ];
        let has = |name: &str| name.to_lowercase().contains(&self.search);
        names.into_iter().flatten().any(has)
    }
}

/// The session as it is listed, without its transcript's path. Whether a turn
/// is running is not known here.
fn row(agent: &AgentId, key: &str, entry: &SessionEntry) -> Session {
    let text = |field: &str| entry.text(field).unwrap_or_default().to_owned();
    let number = |field: &str| entry.get::<u64>(field).unwrap_or_default();
    let messages = entry.counted().messages;
    let archived_at_ms = entry.archived_at().unwrap_or_default();
    Session {
        key: key.to_owned(),
        id: entry.session_id().to_owned(),
        agent_id: agent.to_string(),
        created_at_ms: entry.started_at().unwrap_or(entry.updated_at()),
        updated_at_ms: entry.updated_at(),
        transcript_path: String::new(),
        message_count: messages,
        state: state(archived_at_ms, messages),
        label: text("label"),
        chat_type: text("chatType"),
        last_channel: text("lastChannel"),
        last_interaction_at_ms: entry.last_interaction_at().unwrap_or_default(),
        model_provider: text("modelProvider"),
        model: text("model"),
        model_override: entry.model_override().unwrap_or_default(),
        thinking_level: text("thinkingLevel"),
        tokens: Tokens {
            input: number("inputTokens"),
            output: number("outputTokens"),
            cache_read: number("cacheRead"),
            cache_write: number("cacheWrite"),
            context: number("totalTokens"),
        },
        cost_usd: entry.get("estimatedCostUsd").unwrap_or_default(),
        compaction_count: number("compactionCount"),
        archived_at_ms,
        spawned_by: text("spawnedBy"),
        spawn_depth: entry.get("spawnDepth").unwrap_or_default(),
        last_status: text("status"),
    }
}

/// The state of a session in which no turn runs.
pub(crate) fn state(archived_at_ms: i64, messages: u64) -> State {
    if archived_at_ms > 0 {
        State::Archived
    } else if messages == 0 {
        State::Created
    } else {
        State::Idle
    }
}
