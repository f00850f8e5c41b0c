//! `sessions show`: one session, and what was said in it.

use openclaw_proto::call::RefusalCode;
use openclaw_proto::sessions::{Item, Part, Reading, Said, Session};
use openclaw_terminal::{Failure, output, words};
use serde_json::{Value, json};

use super::{failure, list, named, remedy};
use crate::cli::sessions::Show;
use openclaw_connection::Gateway;

/// Messages asked for at once; the gateway gives no more.
const PAGE: u32 = 1000;
/// Characters of what a tool was given.
const ARGUMENT_WIDTH: usize = 200;

pub(super) async fn execute(gateway: &Gateway, arguments: &Show) -> Result<(), Failure> {
    let shown = session(gateway, arguments).await?;
    if !arguments.transcript {
        let (session, entry) = match shown {
            Shown::Listed(session, entry) => (session, entry),
            Shown::Unlisted(meant) => return Err(not_there(&arguments.session, meant)),
        };
        if arguments.json {
            return output::document(&json!({ "session": session, "entry": entry }));
        }
        let now = jiff::Timestamp::now().as_millisecond();
        return output::stdout(&facts(&session, now));
    }
    let reading = transcript(gateway, arguments).await?;
    if arguments.json {
        let session = match shown {
            Shown::Listed(session, _) => Some(session),
            Shown::Unlisted(_) => None,
        };
        return output::document(&json!({ "session": session, "transcript": reading }));
    }
    output::stdout(&rendered(&reading))
}

/// What the index has of a session.
enum Shown {
    /// The session, and its entry.
    Listed(Box<Session>, Value),
    /// None of that name, though there may be a transcript; what may have been meant.
    Unlisted(Option<String>),
}

async fn session(gateway: &Gateway, arguments: &Show) -> Result<Shown, Failure> {
    let named = named(&arguments.session, arguments.agent.as_deref());
    match gateway.sessions.get(named).await {
        Ok((session, entry)) => {
            let entry = serde_json::from_str(&entry).unwrap_or(Value::Null);
            Ok(Shown::Listed(Box::new(session), entry))
        }
        Err(error) if error.is_refused(RefusalCode::NotFound) => {
            Ok(Shown::Unlisted(remedy(&error).map(str::to_owned)))
        }
        Err(error) => Err(failure(gateway, &error)),
    }
}

/// Reads page by page: one answer has a limit, a conversation has none.
async fn transcript(gateway: &Gateway, arguments: &Show) -> Result<Reading, Failure> {
    let named = named(&arguments.session, arguments.agent.as_deref());
    let wanted = arguments.limit.unwrap_or(u32::MAX);
    let mut pages: Vec<(Vec<Item>, Vec<Value>)> = Vec::new();
    let (mut skip, mut corrupt_lines) = (0, 0);
    let mut reading;
    loop {
        let limit = PAGE.min(wanted - skip);
        let part = Part {
            limit,
            skip,
            all: !arguments.current,
            raw: arguments.raw,
        };
        let answer = gateway.sessions.read(named, part).await;
        reading = answer.map_err(|status| failure(gateway, &status))?;
        // A page is read from the end of the file, past those after it.
        corrupt_lines = reading.corrupt_lines.max(corrupt_lines);
        let items = std::mem::take(&mut reading.items);
        pages.push((items, std::mem::take(&mut reading.entries)));
        skip += limit;
        if !reading.has_more || skip >= wanted {
            break;
        }
    }
    for (items, entries) in pages.into_iter().rev() {
        reading.items.extend(items);
        reading.entries.extend(entries);
    }
    reading.corrupt_lines = corrupt_lines;
    Ok(reading)
}

fn not_there(session: &str, meant: Option<String>) -> Failure {
    let list = || "list them with: openclawctl sessions --all".to_owned();
    Failure::new(format!("there is no session {session:?}")).hint(meant.unwrap_or_else(list))
}

fn facts(session: &Session, now_ms: i64) -> String {
    let tokens = &session.tokens;
    let mut lines = vec![
        ("session", session.key.clone()),
        ("id", session.id.clone()),
        ("agent", session.agent_id.clone()),
        ("state", list::state(session, now_ms)),
        ("label", session.label.clone()),
        ("messages", session.message_count.to_string()),
        ("begun", words::ago(session.created_at_ms, now_ms)),
        ("updated", words::ago(session.updated_at_ms, now_ms)),
        ("channel", session.last_channel.clone()),
        ("last run", session.last_status.clone()),
        ("model", model(session)),
        ("thinking", session.thinking_level.clone()),
        (
            "tokens",
            format!(
                "{} in, {} out, {} from the cache, {} to it; context {}",
                tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.context
            ),
        ),
        ("cost", cost(session.cost_usd)),
        ("compactions", session.compaction_count.to_string()),
        ("spawned by", session.spawned_by.clone()),
        ("transcript", session.transcript_path.clone()),
    ];
    lines.retain(|(_, value)| !value.is_empty());
    let line = |(name, value): (&str, String)| format!("{:<12} {}\n", name, output::line(&value));
    lines.into_iter().map(line).collect()
}

fn model(session: &Session) -> String {
    let last = match (session.model_provider.as_str(), session.model.as_str()) {
        (_, "") => String::new(),
        ("", model) => model.to_owned(),
        (provider, model) => format!("{provider}/{model}"),
    };
    match (session.model_override.as_str(), last.as_str()) {
        ("", _) => last,
        (wanted, "") => format!("{wanted} (set for this session)"),
        (wanted, _) => format!("{wanted} (set for this session; last was {last})"),
    }
}

fn cost(dollars: f64) -> String {
    if dollars > 0.0 {
        format!("{dollars:.4} US dollars")
    } else {
        String::new()
    }
}

fn rendered(reading: &Reading) -> String {
    if reading.items.is_empty() {
        return format!("nothing was said yet\n{}", damage(reading));
    }
    let mut text = String::new();
    for item in &reading.items {
        let line = match &item.said {
            Said::User { text } => format!("\n{}you: {text}", time(item.at_ms)),
            Said::Assistant { text } => format!("\n{}assistant: {text}", time(item.at_ms)),
            Said::Tool { name, argument } if argument.is_empty() => {
                format!("  [{}]", output::line(name))
            }
            Said::Tool { name, argument } => {
                let argument = output::one_line(argument, ARGUMENT_WIDTH);
                format!("  [{}] {argument}", output::line(name))
            }
            Said::Result { name, error: true } => format!("  [{}] failed", output::line(name)),
            Said::Result { .. } => continue,
            Said::Reset => "\n--- a new conversation ---".to_owned(),
            Said::Compaction { summary } => {
                format!("\n--- summary of what was before ---\n{summary}")
            }
        };
        text.push_str(&output::prose(&line));
        text.push('\n');
    }
    text.push_str(&damage(reading));
    text.trim_start_matches('\n').to_owned()
}

/// What could not be read of the transcript.
fn damage(reading: &Reading) -> String {
    let kept = match &reading.corrupt_copy {
        Some(path) => format!("; a copy of them is in {path}"),
        None => String::new(),
    };
    match reading.corrupt_lines {
        0 => String::new(),
        1 => format!("\n1 line of the transcript is no entry and is skipped{kept}\n"),
        lines => {
            format!("\n{lines} lines of the transcript are no entries and are skipped{kept}\n")
        }
    }
}

/// When, in local time; empty when nobody knows.
fn time(at_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(at_ms).ok();
    at.filter(|_| at_ms > 0)
        .map(|at| {
            let local = at.to_zoned(jiff::tz::TimeZone::system());
            local.strftime("%Y-%m-%d %H:%M ").to_string()
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcript_tells_words_tools_and_errors() {
        let item = |said| Item { at_ms: 0, said };
        let reading = Reading {
            items: vec![
                item(Said::User {
                    text: "look".to_owned(),
                }),
                item(Said::Tool {
                    name: "read".to_owned(),
                    argument: "a.txt".to_owned(),
                }),
                item(Said::Result {
                    name: "read".to_owned(),
                    error: true,
                }),
                item(Said::Result {
                    name: "read".to_owned(),
                    error: false,
                }),
                item(Said::Assistant {
                    text: "gone\u{1b}[2J".to_owned(),
                }),
                item(Said::Reset),
            ],
            ..Reading::default()
        };
        assert_eq!(
            rendered(&reading),
            "you: look\n  [read] a.txt\n  [read] failed\n\nassistant: gone\\x1b[2J\n\n--- a new conversation ---\n"
        );
    }
}
