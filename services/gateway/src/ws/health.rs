//! The health snapshot.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use openclaw_proto::sessions::{Query, Session};
use openclaw_sessions::now_ms;
use serde_json::{Value, json};

use super::audience::Audience;
use crate::gateway::Gateway;
use crate::refusal::Refusal;

/// How long a snapshot is good enough.
const FRESH: Duration = Duration::from_secs(60);

/// Sessions named in a snapshot.
const RECENT_LIMIT: u32 = 5;

/// The last snapshot.
#[derive(Debug, Default)]
pub(crate) struct Health {
    last: Mutex<Option<(Instant, Arc<Value>)>>,
    version: AtomicU64,
}

impl Health {
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed) + 1
    }

    fn last(&self) -> Option<(Instant, Arc<Value>)> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    fn set(&self, snapshot: Arc<Value>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((Instant::now(), snapshot));
        self.version.fetch_add(1, Ordering::Relaxed);
    }
}

/// What is known without asking anybody, for `hello-ok`.
pub(super) fn snapshot(gateway: &Gateway) -> Value {
    match gateway.hub.health.last() {
        Some((_, last)) => Value::clone(&last),
        None => describe(gateway, &[], 0),
    }
}

/// The snapshot, at most a minute old unless `probe`; everybody is told of a
/// new one.
pub(super) async fn current(gateway: &Gateway, probe: bool) -> Result<Arc<Value>, Refusal> {
    if let Some((at, last)) = gateway.hub.health.last()
        && !probe
        && at.elapsed() < FRESH
    {
        return Ok(last);
    }
    let begun = Instant::now();
    let query = Query {
        limit: RECENT_LIMIT,
        brief: true,
        ..Query::default()
    };
    let sessions = gateway.sessions.list(query).await?.sessions;
    let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let snapshot = Arc::new(describe(gateway, &sessions, took));
    gateway.hub.health.set(Arc::clone(&snapshot));
    gateway
        .hub
        .tell_versioned(Audience::Readers, "health", || Value::clone(&snapshot));
    Ok(snapshot)
}

fn describe(gateway: &Gateway, sessions: &[Session], took_ms: u64) -> Value {
    let settings = gateway.configuration.settings();
    let now = now_ms();
    let agents: Vec<Value> = settings
        .agents
        .keys()
        .map(|id| {
            let own: Vec<&Session> = sessions.iter().filter(|it| it.agent_id == *id).collect();
            json!({
                "agentId": id,
                "isDefault": *id == settings.default_agent,
                "sessions": list(&settings.paths.sessions(id), &own, own.len() as u64, now),
            })
        })
        .collect();
    let all: Vec<&Session> = sessions.iter().collect();
    let path = settings.paths.sessions(&settings.default_agent);
    json!({
        "ok": true,
        "ts": now,
        "durationMs": took_ms,
        "plugins": { "loaded": [], "errors": [] },
        "configReload": { "hotReloadStatus": "active" },
        "channels": {},
        "channelOrder": [],
        "channelLabels": {},
        "heartbeatSeconds": 0,
        "defaultAgentId": settings.default_agent,
        "agents": agents,
        "sessions": list(&path, &all, gateway.storage.session_count(), now),
    })
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
