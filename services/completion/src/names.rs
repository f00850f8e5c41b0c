//! The names of sessions, runs, agents, models and tools, which are looked up while
//! somebody types.

use std::time::Duration;

use openclaw_config::{Environment, Paths};
use openclaw_connection::{self as connection, Gateway};
use openclaw_proto::call::{CallError, within};
use openclaw_proto::sessions::{Query, Session};
use openclaw_terminal::words;

use crate::candidate::Candidate;

/// Names that are offered at most.
const LIMIT: u32 = 50;
/// Nobody waits longer for a name.
const PATIENCE: Duration = Duration::from_secs(1);

/// The things that a value of this name can be that begins so; None: they are not known now.
pub(crate) fn of(kind: &str, begun: &str, environment: &Environment) -> Option<Vec<Candidate>> {
    let all = |names: Vec<String>, what: &str| {
        let names = names.iter().map(|name| Candidate::new(name, what));
        Some(names.collect())
    };
    match kind {
        "KEY" | "SESSION" | "SESSION_KEY" | "RUN_ID" => {
            let paths = Paths::resolve(environment).ok()?;
            let runtime = connection::runtime().ok()?;
            runtime.block_on(async {
                let gateway = Gateway::at(&paths);
                let is_named = kind != "SESSION_KEY";
                match kind {
                    "RUN_ID" => within(PATIENCE, runs(&gateway)).await.ok(),
                    _ => within(PATIENCE, sessions(&gateway, begun, is_named))
                        .await
                        .ok(),
                }
            })
        }
        "ID" => {
            let settings = openclaw_settings::load_usable(environment).ok()?;
            all(settings.agents.keys().cloned().collect(), "an agent")
        }
        "PROVIDER/MODEL" => all(openclaw_models::names(environment, PATIENCE)?, "a model"),
        "TOOL" => all(openclaw_logs::tools(environment)?, "a tool"),
        _ => None,
    }
}

/// The sessions with a name that begins so, each by that one; `is_named`: labels and ids are
/// names too.
async fn sessions(
    gateway: &Gateway,
    begun: &str,
    is_named: bool,
) -> Result<Vec<Candidate>, CallError> {
    let query = Query {
        limit: LIMIT,
        search: begun.to_owned(),
        ..Query::default()
    };
    let now = jiff::Timestamp::now().as_millisecond();
    let page = gateway.sessions.list(query).await?;
    let named = |session: &Session| {
        let key = session.key.as_str();
        // As a key is written for the default agent, and found for each where no other has it.
        let rest = key.strip_prefix("agent:").and_then(|it| it.split_once(':'));
        let names = [Some(key), rest.map(|(_, rest)| rest)]
            .into_iter()
            .flatten();
        let more = [session.label.as_str(), session.id.as_str()];
        let more = more.into_iter().filter(|_| is_named);
        let mut all = names.chain(more).filter(|name| !name.is_empty());
        let name = all.find(|name| name.starts_with(begun))?;
        let ago = words::ago(session.updated_at_ms, now);
        Some(if name == key {
            Candidate::new(key, &ago)
        } else {
            Candidate::new(name, &format!("{key}, {ago}"))
        })
    };
    Ok(page.sessions.iter().filter_map(named).collect())
}

async fn runs(gateway: &Gateway) -> Result<Vec<Candidate>, CallError> {
    let turns = gateway.client.list_turns(LIMIT).await?;
    let runs = turns.into_iter();
    Ok(runs
        .map(|turn| {
            Candidate::new(
                &turn.run_id,
                &format!("{} in {}", turn.state, turn.session_key),
            )
        })
        .collect())
}
