//! An event on one line.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_proto::event;
use openclaw_proto::feed::{Entry, Event, FeedItem, Kind};
use openclaw_terminal::output::{line as plain, one_line};

/// Characters of what was said, of which this tells only that it was.
const WIDTH: usize = 100;

/// Its line; None: people are told nothing of it.
pub(super) fn of(told: &FeedItem) -> Option<String> {
    match told {
        FeedItem::Opened { .. } | FeedItem::CaughtUp { .. } => None,
        FeedItem::Gap {
            after_sequence,
            reason,
            ..
        } => Some(format!(
            "-- events after {after_sequence} are missing: {}",
            plain(reason)
        )),
        FeedItem::Event(event) => Some(happened(event)),
        FeedItem::Live {
            session_key, event, ..
        } => {
            let words = said(&event.kind)?;
            Some(head(event.at_ms, "live", session_key, &event.run_id) + &words)
        }
    }
}

fn happened(event: &Event) -> String {
    let number = event.sequence.to_string();
    head(event.at_ms, &number, &event.session_key, &event.run_id) + &words(&event.kind)
}

fn head(at_ms: i64, number: &str, session: &str, run_id: &str) -> String {
    let at = Timestamp::from_millisecond(at_ms).map(|at| at.to_zoned(TimeZone::system()));
    let at = at.map_or_else(|_| "-".to_owned(), |at| at.strftime("%H:%M:%S").to_string());
    let run: String = run_id.chars().take(8).collect();
    let run = if run.is_empty() { "-" } else { &run };
    format!("{at} {number:>6} {} {} ", plain(session), plain(run))
}

fn words(kind: &Kind) -> String {
    match kind {
        Kind::MessageAccepted { channel, route, .. } => {
            let sender = route
                .as_ref()
                .map(|it| it.sender.as_ref().unwrap_or(&it.id));
            let sender = sender.map(|sender| format!(" by {}", plain(sender)));
            let sender = sender.unwrap_or_default();
            format!("message accepted from {}{sender}", plain(channel))
        }
        Kind::RunStarted => "run started".to_owned(),
        Kind::EntryAppended(entry) => appended(entry),
        Kind::RunEnded(ended) => {
            let tokens = ended.input_tokens + ended.output_tokens;
            let tokens = (tokens > 0).then(|| format!(", {tokens} tokens"));
            let reason = (!ended.reason.is_empty()).then(|| one_line(&ended.reason, WIDTH));
            let reason = reason.map(|reason| format!(": {reason}"));
            let rest = [tokens, reason].into_iter().flatten().collect::<String>();
            format!("run {}{rest}", plain(&ended.state))
        }
        Kind::ApprovalAsked { id, command, .. } => {
            let id: String = id.chars().take(8).collect();
            let command = one_line(command, WIDTH);
            format!("approval {} asked: {command}", plain(&id))
        }
        Kind::ApprovalDecided { id, decision, by } => {
            let id: String = id.chars().take(8).collect();
            let (id, decision, by) = (plain(&id), plain(decision), plain(by));
            format!("approval {id} decided: {decision} by {by}")
        }
        Kind::SessionChanged { change, reason } => match reason.as_str() {
            "" => format!("session {}", change.as_str()),
            reason => format!("session {} ({})", change.as_str(), plain(reason)),
        },
        Kind::SystemEvent { text } => format!("system event: {}", one_line(text, WIDTH)),
        Kind::Announcement { entry_id } => format!("announcement {}", plain(entry_id)),
    }
}

fn appended(entry: &Entry) -> String {
    let (id, role) = (plain(&entry.entry_id), entry.role.as_str());
    match &entry.answers {
        None => format!("{role} entry {id}"),
        Some(answers) => {
            let outcome = if answers.success { "ok" } else { "failed" };
            format!("{role} entry {id}: {} {outcome}", plain(&answers.tool))
        }
    }
}

/// What a run says, as far as people follow it.
fn said(kind: &event::Kind) -> Option<String> {
    match kind {
        event::Kind::TextDelta { text } => Some(format!("text: {}", one_line(text, WIDTH))),
        event::Kind::ToolCall { name, .. } => Some(format!("calls {}", plain(name))),
        event::Kind::ToolResult(result) => {
            let outcome = if result.success { "ok" } else { "failed" };
            Some(format!("call {outcome}"))
        }
        event::Kind::Note { text } => Some(format!("note: {}", one_line(text, WIDTH))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use openclaw_proto::feed::Ended;

    use super::*;

    #[test]
    fn line_of_an_event_is_one_whatever_is_in_it() {
        let event = Event {
            sequence: 7,
            at_ms: 0,
            agent_id: "main".to_owned(),
            session_key: "agent:main:main".to_owned(),
            run_id: "0123456789".to_owned(),
            kind: Kind::RunEnded(Box::new(Ended {
                state: "failed".to_owned(),
                reason: "first\nsecond \u{1b}[31m".to_owned(),
                input_tokens: 3,
                ..Ended::default()
            })),
        };
        let line = of(&FeedItem::Event(event)).unwrap();
        assert!(line.contains("7 agent:main:main 01234567 run failed, 3 tokens: first"));
        assert!(!line.contains(['\n', '\u{1b}']), "{line:?}");
        assert_eq!(of(&FeedItem::CaughtUp { sequence: 7 }), None);
    }
}
