//! The conversation so far, as the runner wants it.

use std::collections::HashSet;
use std::path::Path;

use openclaw_prompt::Fixed;
use openclaw_proto::gateway::ChatKind;
use openclaw_proto::history::{Message as Sent, SignedThinking, Thought, ToolCall};
use openclaw_proto::memory::{Hit, Recall};
use openclaw_proto::origin;
use openclaw_proto::runner::{BackendSession, Passage};
use openclaw_sessions::SessionKey;
use openclaw_sessions::history::{Call, History, HistoryMessage, Past, Tail, Thinking};
use openclaw_sessions::store;
use openclaw_settings::{AgentSettings, Settings};
use openclaw_tokens::{characters, tokens};

use super::context::{Context, passage};
use super::tails::{self, Tails};
use crate::run::Run;

/// Bytes of a transcript that is read in less time than a thread wakes up in.
const SHORT: u64 = 48 * 1024;

/// The role of whose words are not of an agent.
const USER: &str = "user";

/// Why the conversation is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error(transparent)]
    Read(#[from] openclaw_sessions::Error),
    #[error("the reading thread ended")]
    Thread(#[from] tokio::task::JoinError),
}

/// The tokens of a request beside the conversation: instructions, our tools, memory's passages, and
/// the message.
pub(super) fn reserved(agent: Option<&AgentSettings>, text: &str, context: &Context) -> usize {
    let files = context.bootstrap.iter();
    let files: Vec<_> = files
        .map(|file| (file.name.as_str(), file.content.as_str()))
        .collect();
    let fixed = agent.map_or(0, |agent| Fixed::of(agent, &files).tokens());
    fixed + tokens(characters(text)) + recalled(&context.recall)
}

/// The tokens of the words around passages.
const QUOTES: usize = 80;

/// The most tokens that memory's passages take.
fn recalled(recall: &Recall) -> usize {
    let found: usize = recall.passages.iter().map(|found| found.tokens).sum();
    match found.min(recall.tokens) {
        0 => 0,
        tokens => tokens + QUOTES,
    }
}

/// How many of the user's messages a model is given of the conversation of `run`; None:
/// as many as fit. A direct chat that has a conversation of its own may have its own
/// bound; in one that several ways lead to, nobody's bound holds.
pub(super) fn turns_of(settings: &Settings, run: &Run) -> Option<usize> {
    let key = &run.key;
    let route = run.route.as_ref()?;
    if route.chat != ChatKind::Direct || key.is_main() || key.chat_type() != "direct" {
        return None;
    }
    let channels = &settings.channels;
    let (_, account) = channels.account(&run.channel, &route.account)?;
    let peer = route.sender.as_deref().unwrap_or(&route.id);
    let own = account.dms.get(peer).and_then(|chat| chat.history_limit);
    Some(own.unwrap_or(account.dm_history_limit)).filter(|turns| *turns > 0)
}

/// Reads the conversation. Not on the storage thread: a long one takes
/// milliseconds that every other commit would wait. A short one, and what was
/// said since the last message, is read right here, which costs less than waking another thread.
pub(super) async fn load(
    tails: &Tails,
    transcript: &Path,
    tokens: usize,
    waiting: HashSet<String>,
) -> Result<History, LoadError> {
    let known = tails.take(transcript);
    let length = std::fs::metadata(transcript).map_or(0, |file| file.len());
    let unread = length.saturating_sub(known.as_ref().map_or(0, Tail::length));
    let path = transcript.to_owned();
    let read = move || tails::read(known, &path, tokens, &waiting);
    let (tail, history) = match unread {
        0..=SHORT => read()?,
        _ => tokio::task::spawn_blocking(read).await??,
    };
    tails.put(transcript.to_owned(), tail, tokens);
    Ok(history)
}

/// Says of each backend's session what it has not seen.
pub(super) fn backend_sessions(
    history: &History,
    sessions: Vec<(String, store::BackendSession)>,
) -> Vec<BackendSession> {
    let unseen = |through: &str| u32::try_from(history.after(through)).unwrap_or(u32::MAX);
    let session = |(backend, session): (String, store::BackendSession)| BackendSession {
        backend,
        unseen: unseen(&session.through_entry_id),
        id: session.id,
    };
    sessions.into_iter().map(session).collect()
}

/// Where memory has the transcript of a session.
fn remembered_as(session_id: &str) -> String {
    format!("sessions/{session_id}.jsonl")
}

/// The conversation that a message is part of, as what memory gave is compared with it.
pub(super) struct Own<'a> {
    history: &'a History,
    /// Where memory has its transcript.
    transcript: String,
    is_isolated: bool,
    received_ms: i64,
}

impl<'a> Own<'a> {
    /// Of the session with the id `session_id`, before a message that came at `received_ms`.
    pub(super) fn new(
        history: &'a History,
        (session_id, key): (&str, &SessionKey),
        received_ms: i64,
    ) -> Self {
        Self {
            history,
            transcript: remembered_as(session_id),
            is_isolated: origin::is_isolated(key.as_str()),
            received_ms,
        }
    }

    /// Whether memory gave something of the conversation that is not given again, so that what
    /// stands elsewhere may have been left out for it.
    pub(super) fn has_some_of(&self, recall: &Recall) -> bool {
        let is_left_out = |hit: &Hit| self.is_hidden(hit) || self.holds(hit);
        recall.passages.iter().any(|it| is_left_out(&it.hit))
    }

    /// What memory gave, without the message itself, which memory may have seen since. What the
    /// user said and the conversation holds is there for who does not read the conversation.
    /// An isolated run is not told what runs before it answered, neither in its session nor
    /// where that was announced.
    pub(super) fn passages(&self, recall: &Recall) -> Vec<Passage> {
        let is_said = |hit: &Hit| self.holds(hit) && hit.speaker == USER;
        let all = recall.given(|hit| self.is_hidden(hit) || self.holds(hit) && !is_said(hit));
        let new = recall.given(|hit| self.is_hidden(hit) || self.holds(hit));
        let beyond = new
            .into_iter()
            .filter(|hit| !all.iter().any(|it| it.is_at(hit)));
        let beyond: Vec<Hit> = beyond.collect();
        let hits = all.into_iter().chain(beyond);
        hits.map(|hit| Passage {
            held: self.holds(&hit),
            ..passage(hit)
        })
        .collect()
    }

    /// Whether nobody is given it.
    fn is_hidden(&self, hit: &Hit) -> bool {
        let is_own = hit.path == self.transcript;
        // What the conversation has is not the message itself, which may have its time.
        let is_later = hit.timestamp_ms >= self.received_ms && !self.holds(hit);
        (self.is_isolated && hit.is_hidden_from(&self.transcript))
            || is_own && (is_later || self.history.is_withdrawn(&hit.message_id))
    }

    fn holds(&self, hit: &Hit) -> bool {
        let told = |past: &Past| past.entry_id == hit.message_id;
        hit.path == self.transcript && self.history.messages.iter().any(told)
    }
}

pub(super) fn messages(history: History) -> Vec<Sent> {
    history.messages.into_iter().map(message).collect()
}

fn message(past: Past) -> Sent {
    match past.said {
        HistoryMessage::User { text } => Sent::User { text },
        HistoryMessage::Assistant { text, calls } => Sent::Assistant {
            text,
            tool_calls: calls.into_iter().map(tool_call).collect(),
            thinking: past.thinking.map(|thinking| signed(*thinking)),
        },
        HistoryMessage::Tool {
            call_id,
            name,
            output,
            is_error,
        } => Sent::Tool {
            call_id,
            name,
            output,
            is_error,
        },
    }
}

fn signed(thinking: Thinking) -> SignedThinking {
    let thoughts = thinking.thoughts.into_iter().map(|thought| Thought {
        text: thought.text,
        signature: thought.signature,
        redacted: thought.redacted,
    });
    SignedThinking {
        provider: thinking.provider,
        model: thinking.model,
        thoughts: thoughts.collect(),
    }
}

fn tool_call(call: Call) -> ToolCall {
    ToolCall {
        id: call.id,
        name: call.name,
        arguments: call.arguments,
    }
}

#[cfg(test)]
mod tests {
    use openclaw_proto::memory::Recalled;
    use openclaw_sessions::AgentId;

    use super::*;

    fn recalled(path: &str, source: &str, speaker: &str) -> Recalled {
        Recalled {
            tokens: 1,
            hit: Hit {
                path: path.to_owned(),
                score: 1.0,
                source: source.to_owned(),
                timestamp_ms: 1,
                speaker: speaker.to_owned(),
                ..Hit::default()
            },
        }
    }

    #[test]
    fn passages_of_an_isolated_run_have_no_answers_of_runs_before() {
        let recall = || Recall {
            passages: vec![
                recalled("sessions/own.jsonl", "sessions", "user"),
                recalled("sessions/own.jsonl", "sessions", "assistant"),
                recalled("sessions/main.jsonl", "sessions", "assistant"),
                recalled("sessions/main.jsonl", "sessions", "user"),
                recalled("MEMORY.md", "memory", ""),
            ],
            limit: 9,
            tokens: 99,
            partial: false,
            beside: Vec::new(),
        };
        let paths = |key: &str| -> Vec<String> {
            let key = SessionKey::parse(key, &AgentId::main()).unwrap();
            let history = History::default();
            let given = Own::new(&history, ("own", &key), 5).passages(&recall());
            given.into_iter().map(|passage| passage.path).collect()
        };
        assert_eq!(paths("cron:daily"), ["sessions/main.jsonl", "MEMORY.md"]);
        assert_eq!(paths("main").len(), 5);
    }

    /// A conversation with a message of each of `ids`.
    fn history(ids: &[&str]) -> History {
        let past = |id: &&str| {
            let text = String::new();
            Past::new((*id).to_owned(), HistoryMessage::User { text })
        };
        let mut history = History::default();
        history.messages.extend(ids.iter().map(past));
        history
    }

    #[test]
    fn conversation_what_the_user_told_is_marked_as_held_and_takes_no_place() {
        let message = |id: &str, speaker: &str| {
            let mut recalled = recalled("sessions/own.jsonl", "sessions", speaker);
            recalled.hit.message_id = id.to_owned();
            recalled
        };
        let recall = Recall {
            passages: vec![
                message("told", "user"),
                message("answered", "assistant"),
                recalled("MEMORY.md", "memory", ""),
                message("before", "assistant"),
            ],
            limit: 2,
            tokens: 99,
            partial: false,
            beside: Vec::new(),
        };
        let key = SessionKey::parse("main", &AgentId::main()).unwrap();
        let history = history(&["told", "answered"]);
        let own = Own::new(&history, ("own", &key), 5);
        assert!(own.has_some_of(&recall));
        let given = own.passages(&recall);
        let given: Vec<(&str, bool)> = given.iter().map(|it| (it.role.as_str(), it.held)).collect();
        // Two for who does not read the conversation, and two for who does.
        assert_eq!(given, [("user", true), ("", false), ("assistant", false)]);
        let elsewhere = Own::new(&history, ("other", &key), 5);
        assert!(!elsewhere.has_some_of(&recall));
    }
}
