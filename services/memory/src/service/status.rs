//! What the daemon says of itself.

use std::time::Duration;

use openclaw_proto::wire::memory as wire;

use super::whole_milliseconds;
use crate::agents::Agents;
use crate::question;
use crate::store::Store;

/// The state of all memories.
pub(super) fn of(agents: &Agents, uptime: Duration) -> wire::StatusResponse {
    let (files, passages) = size(agents);
    wire::StatusResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: whole_milliseconds(uptime),
        files: files as u64,
        chunks: passages as u64,
        configuration_problem: agents.configuration().problem(),
        agents: agents.stores().iter().map(|store| agent(store)).collect(),
    }
}

/// Indexed files and passages of all agents.
pub(crate) fn size(agents: &Agents) -> (usize, usize) {
    let stores = agents.stores();
    let sizes = stores
        .iter()
        .filter_map(|store| Some(store.index().opened()?.count()));
    sizes.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

fn agent(store: &Store) -> wire::AgentStatus {
    let health = store.health();
    let status = store.index().opened().map(|engine| engine.status());
    let (provider, model) = question::names(&store.embedder);
    let mut problems: Vec<String> = health.problems.into_iter().collect();
    problems.extend(status.as_ref().and_then(|status| status.problem.clone()));
    let extra = store.search.extra_paths.iter();
    wire::AgentStatus {
        agent_id: store.agent.clone(),
        workspace: store.places.workspace.display().to_string(),
        store: store.index().folder().display().to_string(),
        files: status.as_ref().map_or(0, |status| status.documents as u64),
        chunks: status.as_ref().map_or(0, |status| status.passages as u64),
        pending: health.pending as u64,
        index_bytes: status.as_ref().map_or(0, |status| status.size),
        provider,
        model,
        vectors_missing: status.as_ref().map_or(0, |status| status.stale as u64),
        watching: health.watching,
        problems,
        extra_paths: extra.map(|path| path.display().to_string()).collect(),
        searches_sessions: store.search.enabled && store.search.sessions,
    }
}
