//! The turns that run and those that ended.

use std::collections::HashMap;
use std::time::Duration;

use openclaw_conversations::Refusal;
use openclaw_conversations::storage::{Record, Spent};
use openclaw_proto::event::{Kind, Resources};
use openclaw_proto::gateway::Turn;
use tokio::time::timeout;

use crate::doors::Doors;

/// Turns that are listed unless a number is asked for.
const DEFAULT: u32 = 20;
/// As many as are listed at most: some hundred kilobytes.
const LIMIT: u32 = 1000;
/// How long the runner may take to say what turns use now.
const DEADLINE: Duration = Duration::from_secs(2);

/// The last turns, the newest first.
pub(super) async fn list(doors: &Doors, limit: u32) -> Result<Vec<Turn>, Refusal> {
    let limit = match limit {
        0 => DEFAULT,
        limit => limit.min(LIMIT),
    };
    let last = doors.core.storage.last(limit);
    let last = last.await.map_err(Refusal::Unreadable)?;
    let running = last.iter().any(|(record, _)| record.ended_ms.is_none());
    let mut now = if running {
        used_now(doors).await
    } else {
        HashMap::new()
    };
    Ok(last
        .into_iter()
        .map(|(record, spent)| {
            let live = now.remove(&record.run_id);
            turn(record, spent, live)
        })
        .collect())
}

/// Without the runner the list lacks the live figures, and is a list all the same.
async fn used_now(doors: &Doors) -> HashMap<String, Resources> {
    match timeout(DEADLINE, doors.core.runner.list_turns()).await {
        Ok(Ok(turns)) => turns.into_iter().collect(),
        _ => HashMap::new(),
    }
}

fn turn(record: Record, spent: Option<Spent>, live: Option<Resources>) -> Turn {
    let spent = spent.map(|spent| (spent.resources.clone(), spent));
    let (resources, spent) = spent.unzip();
    let spent = spent.unwrap_or_default();
    let (model, backend, reason) = end(record.outcome);
    Turn {
        run_id: record.run_id,
        session_key: record.session_key,
        agent_id: record.agent_id,
        channel: record.channel,
        state: record.state,
        created_ms: record.created_ms,
        ended_ms: record.ended_ms,
        resources: resources.or(live),
        input_tokens: spent.input_tokens,
        output_tokens: spent.output_tokens,
        cost_usd: spent.cost_usd,
        model,
        backend,
        reason,
    }
}

fn end(outcome: Option<Kind>) -> (String, String, String) {
    match outcome {
        Some(Kind::Done(done)) => (done.model, done.backend, String::new()),
        Some(Kind::Failed(failed)) => (String::new(), failed.backend, failed.message),
        Some(Kind::Aborted {
            reason, backend, ..
        }) => (String::new(), backend, reason),
        _ => Default::default(),
    }
}
