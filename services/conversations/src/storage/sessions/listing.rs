//! Looking sessions up.

use std::collections::HashMap;

use openclaw_config::nearest::nearest;
use openclaw_proto::sessions::{Archived, Query, Row, Session, State};
use openclaw_sessions::store::{ListedEntry, SessionEntry, Store};
use openclaw_sessions::transcript::Count;
use openclaw_sessions::{AgentId, SessionKey, now_ms};
use serde_json::{Map, Value};

use super::{Listed, SessionError, Shown, Uncounted};
use crate::fault::Fault;
use crate::refusal::{MissingSession, Refusal};
use crate::route;
use crate::storage::state_files::StateFiles;

/// Milliseconds of a minute.
const MINUTE: i64 = 60_000;

/// A session that may be wanted.
struct Candidate<'a> {
    agent: &'a AgentId,
    store: &'a Store,
    key: &'a str,
    entry: &'a SessionEntry,
    listed: &'a ListedEntry,
}

impl<'a> Candidate<'a> {
    fn new(agent: &'a AgentId, store: &'a Store, key: &'a str, entry: &'a SessionEntry) -> Self {
        let listed = entry.listed(|entry| {
            let session = session(agent, store, key, entry);
            ListedEntry {
                is_archived: session.archived_at_ms > 0,
                row: Row::new(session).into(),
            }
        });
        Self {
            agent,
            store,
            key,
            entry,
            listed,
        }
    }
}

impl StateFiles {
    /// `busy` has the states of sessions in which something happens now.
    pub(super) fn list(
        &mut self,
        query: &Query,
        busy: &HashMap<String, State>,
    ) -> Result<Listed, SessionError> {
        let agents = match query.agent_id.as_str() {
            "" => self.session_files.agents(),
            id => match id.parse::<AgentId>() {
                Ok(agent) => vec![agent],
                Err(invalid) => return Err(Refusal::Agent(invalid).into()),
            },
        };
        let now = now_ms();
        let wanted = Filter::new(query, now);
        let mut found = Vec::new();
        for agent in &agents {
            let Some(store) = self.session_files.known_store(agent) else {
                continue;
            };
            let candidates = store
                .sessions()
                .map(|(key, entry)| Candidate::new(agent, store, key, entry));
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
        let total = found.len();
        let part = found.into_iter().skip(query.offset as usize).take(limit);
        let mut listed = Listed {
            rows: Vec::with_capacity(part.len()),
            total,
            uncounted: Vec::new(),
        };
        for candidate in part {
            if !candidate.entry.is_counted() {
                listed.uncounted.extend(uncounted(&candidate));
            }
            let row = Row::from(candidate.listed.row.clone());
            let row = match busy.get(candidate.key) {
                Some(state) => row.with_state(*state),
                None => row,
            };
            listed.rows.push(row);
        }
        Ok(listed)
    }

    pub(super) fn fields(
        &self,
        sessions: &[(String, String)],
        fields: &[&str],
    ) -> Vec<Map<String, Value>> {
        let entry = |agent: &str, key: &str| {
            let agent: AgentId = agent.parse().ok()?;
            let key = SessionKey::stored(key, &agent).ok()?;
            self.session_files.known_store(&agent)?.get(&key)
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
            self.session_files
                .store(key.agent())?
                .set_count(key, *count);
        }
        Ok(())
    }

    pub(super) fn resolve(
        &mut self,
        text: &str,
        agent: Option<AgentId>,
        default: &AgentId,
    ) -> Result<SessionKey, SessionError> {
        let named = named_agent(text);
        let first = named.as_ref().or(agent.as_ref()).unwrap_or(default);
        let settings = self.session_files.settings();
        let main = route::main(first, &settings.session);
        let written =
            SessionKey::parse(text, first).map(|key| route::scoped(key, &settings.session));
        if text.trim().is_empty() || (!main.is_main() && written.is_ok_and(|key| key == main)) {
            return Ok(main);
        }
        let mut found = self.found(text, first);
        if found.is_empty() && named.is_none() && agent.is_none() {
            let others = self.session_files.agents().into_iter();
            found = others
                .filter(|agent| agent != first)
                .flat_map(|agent| self.found(text, &agent))
                .collect();
        }
        match found.len() {
            0 => Err(self.unknown(text, first).into()),
            1 => Ok(found.remove(0)),
            _ => Err(SessionError::Refused(Refusal::Ambiguous {
                text: text.to_owned(),
                keys: found.iter().map(SessionKey::to_string).collect(),
            })),
        }
    }

    fn unknown(&self, text: &str, agent: &AgentId) -> Refusal {
        let store = self.session_files.known_store(agent);
        let near = store.and_then(|it| nearest(text.trim(), it.names()));
        Refusal::UnknownSession(MissingSession(text.to_owned(), near.map(str::to_owned)))
    }

    fn found(&self, text: &str, agent: &AgentId) -> Vec<SessionKey> {
        let store = self.session_files.known_store(agent);
        store.map(|store| store.find(text)).unwrap_or_default()
    }

    pub(super) fn show(&mut self, key: &SessionKey) -> Result<Option<Shown>, Fault> {
        let store = self.session_files.store(key.agent())?;
        let Some(entry) = store.get(key) else {
            return Ok(None);
        };
        let transcript = store.transcript_path(entry);
        Ok(Some(Shown {
            is_counted: entry.is_counted(),
            session: session(key.agent(), store, key.as_str(), entry),
            entry: entry.to_json(),
            transcript,
        }))
    }

    /// A session as it is listed, which is there.
    pub(super) fn shown_session(&mut self, key: &SessionKey) -> Result<Session, SessionError> {
        let shown = self.show(key)?;
        let shown = shown.ok_or_else(|| Refusal::unknown(key))?;
        Ok(shown.session)
    }
}

/// The agent that a key names.
fn named_agent(text: &str) -> Option<AgentId> {
    let lower = text.trim().to_lowercase();
    let (agent, _) = lower.strip_prefix("agent:")?.split_once(':')?;
    agent.parse().ok()
}

fn uncounted(candidate: &Candidate<'_>) -> Option<Uncounted> {
    Some(Uncounted {
        key: SessionKey::stored(candidate.key, candidate.agent).ok()?,
        transcript: candidate.store.transcript_path(candidate.entry),
        known: candidate.entry.counted(),
    })
}

/// A query as a filter.
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
        let of_archive = match self.query.archived {
            Archived::No => !candidate.listed.is_archived,
            Archived::Only => candidate.listed.is_archived,
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

/// The session as it is listed. Whether a turn is running is not known here.
fn session(agent: &AgentId, store: &Store, key: &str, entry: &SessionEntry) -> Session {
    let mut row = Session {
        transcript_path: store.transcript_path(entry).display().to_string(),
        key: key.to_owned(),
        id: entry.session_id().to_owned(),
        agent_id: agent.to_string(),
        created_at_ms: entry.updated_at(),
        updated_at_ms: entry.updated_at(),
        message_count: entry.counted().messages,
        ..Session::default()
    };
    let mut wanted = (None, None);
    for (name, value) in entry.fields() {
        match name {
            "providerOverride" => wanted.0 = value.as_str().filter(|text| !text.is_empty()),
            "modelOverride" => wanted.1 = value.as_str().filter(|text| !text.is_empty()),
            _ => fill(&mut row, name, value),
        }
    }
    row.model_override = match wanted {
        (Some(provider), Some(model)) => format!("{provider}/{model}"),
        (None, Some(model)) => model.to_owned(),
        (_, None) => String::new(),
    };
    row.state = state(row.archived_at_ms, row.message_count);
    row
}

/// Takes a field over; one of another type counts as absent.
fn fill(row: &mut Session, name: &str, value: &Value) {
    let text = || value.as_str().unwrap_or_default().to_owned();
    let number = || value.as_u64().unwrap_or_default();
    let time = || value.as_i64().unwrap_or_default();
    match name {
        "sessionStartedAt" => row.created_at_ms = value.as_i64().unwrap_or(row.created_at_ms),
        "archivedAt" => row.archived_at_ms = time(),
        "lastInteractionAt" => row.last_interaction_at_ms = time(),
        "label" => row.label = text(),
        "chatType" => row.chat_type = text(),
        "lastChannel" => row.last_channel = text(),
        "modelProvider" => row.model_provider = text(),
        "model" => row.model = text(),
        "thinkingLevel" => row.thinking_level = text(),
        "inputTokens" => row.tokens.input = number(),
        "outputTokens" => row.tokens.output = number(),
        "cacheRead" => row.tokens.cache_read = number(),
        "cacheWrite" => row.tokens.cache_write = number(),
        "totalTokens" => row.tokens.context = number(),
        "estimatedCostUsd" => row.cost_usd = value.as_f64().unwrap_or_default(),
        "compactionCount" => row.compaction_count = number(),
        "spawnedBy" => row.spawned_by = text(),
        "spawnDepth" => row.spawn_depth = u32::try_from(number()).unwrap_or_default(),
        "status" => row.last_status = text(),
        _ => {}
    }
}

/// The state of a session in which no turn runs.
pub fn state(archived_at_ms: i64, messages: u64) -> State {
    if archived_at_ms > 0 {
        State::Archived
    } else if messages == 0 {
        State::Created
    } else {
        State::Idle
    }
}
