//! `sessions list`.

use openclaw_proto::sessions::{Archived, Preview, Query, Session, State};
use openclaw_terminal::table::{self, Shape};
use openclaw_terminal::width::cut;
use openclaw_terminal::{Failure, output, words};

use super::failure;
use crate::cli::sessions::List;
use openclaw_connection::Gateway;

/// Characters of the last thing said.
const PREVIEW_WIDTH: u32 = 100;

/// Columns of a label in the table.
const LABEL_WIDTH: usize = 30;
/// What a narrow terminal does without.
const SHAPE: Shape<'_> = Shape {
    optional: &["ID", "STATE", "MESSAGES"],
    least: &[("SESSION", 32), ("ID", 9), ("UPDATED", 10)],
};

pub(super) async fn execute(gateway: &Gateway, arguments: &List) -> Result<(), Failure> {
    let query = Query {
        agent_id: arguments.agent.clone().unwrap_or_default(),
        limit: arguments.limit.unwrap_or_default(),
        search: arguments.search.clone().unwrap_or_default(),
        active_minutes: arguments.active.unwrap_or_default(),
        archived: match (arguments.all, arguments.archived) {
            (true, _) => Archived::Also,
            (_, true) => Archived::Only,
            _ => Archived::No,
        },
        ..Query::default()
    };
    let answer = gateway.sessions.list(query).await;
    let page = answer.map_err(|status| failure(gateway, &status))?;
    let previews = if arguments.preview {
        let keys = page.sessions.iter().map(|session| session.key.clone());
        let answer = gateway.sessions.preview(keys.collect(), 1, PREVIEW_WIDTH);
        answer.await.map_err(|status| failure(gateway, &status))?
    } else {
        Vec::new()
    };
    if arguments.json {
        let mut document = serde_json::json!(page);
        if arguments.preview {
            document["previews"] = serde_json::json!(previews);
        }
        return output::document(&document);
    }
    let now = jiff::Timestamp::now().as_millisecond();
    print(&page.sessions, page.total, now)?;
    output::stdout(&last_words(&previews))
}

fn last_words(previews: &[Preview]) -> String {
    let mut text = String::new();
    for preview in previews {
        for item in &preview.items {
            let words = output::one_line(&item.text, PREVIEW_WIDTH as usize);
            let (key, role) = (output::line(&preview.key), output::line(&item.role));
            text.push_str(&format!("{key}  {role}: {words}\n"));
        }
    }
    text
}

fn print(sessions: &[Session], total: u32, now_ms: i64) -> Result<(), Failure> {
    if sessions.is_empty() {
        return output::stdout_line("no sessions yet");
    }
    table::print_named(&rows(sessions, now_ms), SHAPE)?;
    let shown = u32::try_from(sessions.len()).unwrap_or(u32::MAX);
    if shown < total {
        output::stdout_line(&format!("{} more", total - shown))?;
    }
    Ok(())
}

fn rows(sessions: &[Session], now_ms: i64) -> Vec<Vec<String>> {
    let heading = ["SESSION", "MESSAGES", "STATE", "UPDATED", "ID", "LABEL"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(sessions.iter().map(|session| row(session, now_ms)));
    rows
}

fn row(session: &Session, now_ms: i64) -> Vec<String> {
    vec![
        session.key.clone(),
        session.message_count.to_string(),
        session.state.as_str().to_owned(),
        words::ago(session.updated_at_ms, now_ms),
        session.id.clone(),
        short(&session.label),
    ]
}

/// The beginning of a label.
fn short(label: &str) -> String {
    cut(&output::line(label), LABEL_WIDTH)
}

/// The state, with when it was reached where that says more.
pub(super) fn state(session: &Session, now_ms: i64) -> String {
    match session.state {
        State::Archived => format!("archived {}", words::ago(session.archived_at_ms, now_ms)),
        state => state.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_one_row() {
        let session = Session {
            key: "agent:main:main".to_owned(),
            id: "0a1b".to_owned(),
            updated_at_ms: 60_000,
            message_count: 4,
            state: State::Idle,
            label: "Trip".to_owned(),
            ..Session::default()
        };
        assert_eq!(
            rows(&[session], 185_000)[1],
            [
                "agent:main:main",
                "4",
                "idle",
                "2 min 5 s ago",
                "0a1b",
                "Trip"
            ]
        );
    }
}
