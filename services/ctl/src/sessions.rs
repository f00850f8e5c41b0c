//! `sessions`: which there are.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::gateway::Session;

use crate::cli::{self, SessionsAction};
use crate::connection::{self, Gateway};
use crate::failure::Failure;
use crate::output;
use crate::table;
use crate::words;

/// Does what was asked with the sessions.
pub(crate) fn execute(
    arguments: &cli::Sessions,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    match arguments.action {
        SessionsAction::List => list(arguments, environment),
    }
}

fn list(arguments: &cli::Sessions, environment: &Environment) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let agent = arguments.agent.as_deref().unwrap_or_default();
    let mut sessions = connection::runtime()?.block_on(ask(&paths, agent))?;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at_ms));
    if arguments.json {
        output::document(&serde_json::json!({ "sessions": sessions }))?;
    } else {
        output::stdout(&rendered(
            &sessions,
            jiff::Timestamp::now().as_millisecond(),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn ask(paths: &Paths, agent: &str) -> Result<Vec<Session>, Failure> {
    let gateway = Gateway::at(paths);
    let answer = gateway.client.list_sessions(agent).await;
    answer.map_err(|status| gateway.failure(&status))
}

fn rendered(sessions: &[Session], now_ms: i64) -> String {
    if sessions.is_empty() {
        return "no sessions yet\n".to_owned();
    }
    let heading = ["SESSION", "AGENT", "MESSAGES", "UPDATED", "ID"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(sessions.iter().map(|session| {
        vec![
            session.key.clone(),
            session.agent_id.clone(),
            session.message_count.to_string(),
            words::ago(session.updated_at_ms, now_ms),
            session.id.clone(),
        ]
    }));
    table::render(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_one_row() {
        let session = Session {
            key: "agent:main:main".to_owned(),
            id: "0a1b".to_owned(),
            agent_id: "main".to_owned(),
            created_at_ms: 0,
            updated_at_ms: 60_000,
            transcript_path: "/t.jsonl".to_owned(),
            message_count: 4,
        };
        let text = rendered(&[session], 185_000);
        let row = text.lines().nth(1).unwrap();
        let cells: Vec<&str> = row.split("  ").filter(|cell| !cell.is_empty()).collect();
        let cells: Vec<&str> = cells.into_iter().map(str::trim).collect();
        assert_eq!(
            cells,
            ["agent:main:main", "main", "4", "2 min 5 s ago", "0a1b"]
        );
        assert_eq!(rendered(&[], 0), "no sessions yet\n");
    }
}
