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
    least: &[("SESSION", 32), ("ID", 9), ("UPDATED", 18)],
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
    let answer = gateway.sessions.list(query.clone()).await;
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
    if page.sessions.is_empty() {
        let others = others(gateway, &query).await?;
        return output::stdout_line(&nothing(&query, others));
    }
    let now = jiff::Timestamp::now().as_millisecond();
    print(&page.sessions, page.total, now)?;
    output::stdout(&last_words(&previews))
}

/// How many sessions would be listed if archived ones were wanted, or others.
async fn others(gateway: &Gateway, query: &Query) -> Result<u32, Failure> {
    let archived = match query.archived {
        Archived::No => Archived::Only,
        Archived::Only => Archived::No,
        Archived::Also => return Ok(0),
    };
    let query = Query {
        archived,
        limit: 1,
        ..query.clone()
    };
    let answer = gateway.sessions.list(query).await;
    Ok(answer.map_err(|status| failure(gateway, &status))?.total)
}

/// What is said in the place of an empty table.
fn nothing(query: &Query, others: u32) -> String {
    let is_narrowed = *query
        != Query {
            archived: query.archived,
            limit: query.limit,
            ..Query::default()
        };
    let sessions = words::count(others.into(), "session");
    match (query.archived, is_narrowed, others) {
        (Archived::Only, false, _) => "no archived sessions".to_owned(),
        (_, false, 0) => "no sessions yet".to_owned(),
        (_, true, 0) => "no session matches".to_owned(),
        (Archived::Only, true, _) => {
            format!("no archived session matches; without --archived {sessions}")
        }
        (_, false, _) => format!("{sessions}, all archived: --archived lists them"),
        (_, true, _) => format!("no session matches; with --archived {sessions}"),
    }
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
    fn empty_table_says_what_is_elsewhere() {
        let query = |search: &str, archived| Query {
            search: search.to_owned(),
            archived,
            limit: 5,
            ..Query::default()
        };
        for (search, archived, others, said) in [
            ("", Archived::No, 0, "no sessions yet"),
            (
                "",
                Archived::No,
                2,
                "2 sessions, all archived: --archived lists them",
            ),
            ("", Archived::Only, 3, "no archived sessions"),
            ("", Archived::Also, 0, "no sessions yet"),
            ("x", Archived::Also, 0, "no session matches"),
            ("x", Archived::No, 0, "no session matches"),
            (
                "x",
                Archived::No,
                1,
                "no session matches; with --archived 1 session",
            ),
            (
                "x",
                Archived::Only,
                2,
                "no archived session matches; without --archived 2 sessions",
            ),
        ] {
            assert_eq!(nothing(&query(search, archived), others), said);
        }
    }

    #[test]
    fn session_is_one_row() {
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
