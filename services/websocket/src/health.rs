//! The health snapshot.

use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use openclaw_conversations::Refusal;
use openclaw_doors::Doors;
use openclaw_proto::channel_admin::AccountState;
use openclaw_proto::sessions::{Page, Query, Session};
use openclaw_runs::Core;
use openclaw_sessions::now_ms;
use serde_json::{Map, Value, json};

use super::audience::Audience;
use super::channels;
use super::heartbeat;
use super::hub::Hub;

/// How long a snapshot is good enough.
const FRESH: Duration = Duration::from_secs(60);

/// Sessions named in a snapshot.
const RECENT_LIMIT: u32 = 5;

/// The last snapshot.
pub(crate) struct Health {
    core: Arc<Core>,
    /// Whether messages would be answered.
    doors: Arc<Doors>,
    hub: Arc<Hub>,
    last: Mutex<Option<Last>>,
}

#[derive(Debug, Clone)]
struct Last {
    at: Instant,
    stamp: Stamp,
    snapshot: Arc<Value>,
}

/// Whether a message would be answered, sessions there are, runs that ended, whether
/// the configuration is in use, and how the accounts of channels do: with another one
/// the snapshot is not true any more.
type Stamp = (bool, u64, u64, bool, Vec<AccountState>);

impl Health {
    pub(crate) fn new(core: Arc<Core>, doors: Arc<Doors>, hub: Arc<Hub>) -> Self {
        Self {
            core,
            doors,
            hub,
            last: Mutex::default(),
        }
    }

    fn last(&self) -> Option<Last> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    fn set(&self, stamp: Stamp, snapshot: Arc<Value>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(Last {
            at: Instant::now(),
            stamp,
            snapshot,
        });
        self.hub.versions.count_health();
    }

    fn stamp(&self, ok: bool) -> Stamp {
        let ended = self.core.counters.runs.all().map(|(_, count)| count).sum();
        let is_in_use = self.core.configuration.is_in_use();
        let mut channels = self.doors.channels.states();
        // The provider answers all the time; that alone is no news.
        for health in channels.iter_mut().filter_map(|it| it.health.as_mut()) {
            health.last_contact_ms = 0;
            health.last_error_ms = 0;
        }
        let count = self.core.storage.session_count();
        (ok, count, ended, is_in_use, channels)
    }

    /// The last snapshot, for `hello-ok`.
    pub(super) fn snapshot(&self) -> Value {
        match self.last() {
            Some(last) => Value::clone(&last.snapshot),
            None => self.describe(!self.core.is_stopping(), &[], 0),
        }
    }

    /// The snapshot, made anew after a minute, when a session or a run came to it,
    /// or for `probe`; everybody is told of a new one.
    pub(super) async fn current(&self, probe: bool) -> Result<Arc<Value>, Refusal> {
        // It is known for a second, by a cache of its own.
        let ok = self.doors.report().await.is_ready();
        let stamp = self.stamp(ok);
        if let Some(last) = self.last()
            && !probe
            && last.at.elapsed() < FRESH
            && last.stamp == stamp
        {
            return Ok(last.snapshot);
        }
        let begun = Instant::now();
        let mut agents = Vec::new();
        for id in self.core.configuration.settings().agents.keys() {
            let query = Query {
                agent_id: id.clone(),
                limit: RECENT_LIMIT,
                ..Query::default()
            };
            let page = self.core.sessions.list(query).await?;
            agents.push((id.clone(), page));
        }
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let snapshot = Arc::new(self.describe(ok, &agents, took));
        self.set(stamp, Arc::clone(&snapshot));
        self.hub
            .tell_versioned(Audience::Readers, "health", || Value::clone(&snapshot));
        Ok(snapshot)
    }

    /// With the agents' last sessions, as far as known. `ok`: a message would be answered.
    fn describe(&self, ok: bool, known: &[(String, Page)], took_ms: u64) -> Value {
        let settings = self.core.configuration.settings();
        let now = now_ms();
        let agents: Vec<Value> = settings
            .agents
            .keys()
            .map(|id| {
                let own = known.iter().find(|(known, _)| known == id);
                let (count, recent) = own.map_or((0, &[][..]), |(_, page)| {
                    (u64::from(page.total), &page.sessions[..])
                });
                let recent: Vec<&Session> = recent.iter().collect();
                json!({
                    "agentId": id,
                    "isDefault": *id == settings.default_agent,
                    "heartbeat": heartbeat::whole(&settings, id),
                    "sessions": list(&settings.paths.sessions(id), &recent, count, now),
                })
            })
            .collect();
        let mut all: Vec<&Session> = known.iter().flat_map(|(_, page)| &page.sessions).collect();
        all.sort_by_key(|session| std::cmp::Reverse(session.updated_at_ms));
        all.truncate(RECENT_LIMIT as usize);
        let path = settings.paths.sessions(&settings.default_agent);
        let channels = channels::summaries(&self.doors.channels.states(), &settings.channels);
        let order: Vec<String> = channels.keys().cloned().collect();
        let labels: Map<String, Value> = order
            .iter()
            .map(|name| (name.clone(), json!(name)))
            .collect();
        json!({
            "ok": ok,
            "ts": now,
            "durationMs": took_ms,
            "plugins": { "loaded": [], "errors": [] },
            // A file that is not in use is not reloaded either.
            "configReload": {
                "hotReloadStatus": if self.core.configuration.is_in_use() { "active" } else { "disabled" },
            },
            "channelOrder": order,
            "channelLabels": labels,
            "channels": channels,
            "heartbeatSeconds": heartbeat::seconds(&settings),
            "defaultAgentId": settings.default_agent,
            "agents": agents,
            "sessions": list(&path, &all, self.core.storage.session_count(), now),
        })
    }
}

fn list(path: &std::path::Path, sessions: &[&Session], count: u64, now: i64) -> Value {
    let recent: Vec<Value> = sessions
        .iter()
        .map(|session| {
            json!({
                "key": session.key,
                "updatedAt": session.updated_at_ms,
                "age": (now - session.updated_at_ms).max(0),
            })
        })
        .collect();
    json!({
        "path": path.join("sessions.json").display().to_string(),
        "count": count,
        "recent": recent,
    })
}
