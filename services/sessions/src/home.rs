//! The home session's view, `sessions/default.json`: the exact shape of the
//! document "Data Model: CLI Access with Shared Session" (seed 000).
//!
//! It is a view: the transcript is what counts, and the view is made from it
//! again when it is missing. A conversation grows, so an exchange is written
//! behind the others, under a lock (flock(2)) that readers share.

mod view;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::disk;
use crate::error::Error;
use crate::history::HistoryMessage;
use crate::silence;
use crate::time::{iso_seconds, unix_ms};
use crate::transcript::{
    AssistantMessage, Block, Content, Draft, Line, LineRead, Lines, Message, StopReason,
    Transcript, UserMessage,
};

pub use view::View;

/// The id of the one home session.
const HOME: &str = "home";

/// The channel of messages that do not say theirs.
const DEFAULT_CHANNEL: &str = "cli";

/// The whole document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Always `home`.
    pub id: String,
    /// RFC 3339 in UTC, to the second.
    pub created_at: String,
    /// RFC 3339 in UTC, to the second.
    pub updated_at: String,
    /// Oldest first.
    pub messages: Vec<Exchange>,
}

/// What the user said and what was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Counts from 1.
    pub id: String,
    /// What the user said.
    pub user_text: String,
    /// The answer; empty when there was an error instead.
    pub bot_text: String,
    /// Where the message came from.
    pub channel: String,
    /// RFC 3339 in UTC, to the second.
    pub sent_at: String,
    /// RFC 3339 in UTC, to the second.
    pub replied_at: String,
}

/// An exchange that is not in the document yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewExchange {
    /// What the user said.
    pub user_text: String,
    /// The answer.
    pub bot_text: String,
    /// Where the message came from.
    pub channel: String,
    /// Unix milliseconds.
    pub sent_ms: i64,
    /// Unix milliseconds.
    pub replied_ms: i64,
}

impl Document {
    /// A document of these exchanges; None when there are none.
    pub fn of(exchanges: Vec<NewExchange>) -> Option<Self> {
        let first = exchanges.first()?;
        let last = exchanges.last()?;
        Some(Self {
            id: HOME.to_owned(),
            created_at: iso_seconds(first.sent_ms),
            updated_at: iso_seconds(last.replied_ms),
            messages: exchanges
                .into_iter()
                .zip(1..)
                .map(|(exchange, number)| exchange.numbered(number))
                .collect(),
        })
    }

    /// Reads the document at `path`; None when there is none. An error is a
    /// file that is something else.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        let Some(bytes) = disk::if_there(read(path)).map_err(Error::io("read", path))? else {
            return Ok(None);
        };
        let document = serde_json::from_slice(&bytes);
        document.map(Some).map_err(|source| Error::Decode {
            path: path.to_owned(),
            source,
        })
    }

    /// Appends what was said to a transcript, with the times of the document.
    pub fn append_to(&self, transcript: &mut Transcript, now_ms: i64) -> Result<(), Error> {
        for exchange in &self.messages {
            let sent = unix_ms(&exchange.sent_at).unwrap_or(now_ms);
            let replied = unix_ms(&exchange.replied_at).unwrap_or(sent);
            let mut user = Message::User(UserMessage {
                content: Content::Text(exchange.user_text.clone()),
                timestamp: sent,
                idempotency_key: None,
                rest: serde_json::Map::new(),
            });
            user.set_channel(&exchange.channel);
            let answer = Message::Assistant(AssistantMessage {
                content: Content::Blocks(vec![Block::text(exchange.bot_text.clone())]),
                timestamp: replied,
                ..AssistantMessage::default()
            });
            transcript.append([Draft::from(user)], sent)?;
            transcript.append([Draft::from(answer)], replied)?;
        }
        transcript.sync()
    }
}

/// The file while no exchange is being written into it.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match Flock::lock(File::open(path)?, FlockArg::LockShared) {
        Ok(file) => (&*file).read_to_end(&mut bytes)?,
        // Where there are no locks, whoever writes puts a copy in its place.
        Err((mut file, _)) => file.read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

impl NewExchange {
    /// The exchange with what there is of its answer to be told.
    pub fn without_silence(mut self) -> Self {
        if silence::is_silent(&self.bot_text) {
            self.bot_text.clear();
        }
        self
    }

    /// The exchange with its place in a document, 0 for one that is in none.
    pub fn numbered(self, number: u64) -> Exchange {
        Exchange {
            id: number.to_string(),
            user_text: self.user_text,
            bot_text: self.bot_text,
            channel: self.channel,
            sent_at: iso_seconds(self.sent_ms),
            replied_at: iso_seconds(self.replied_ms),
        }
    }
}

/// The exchanges of a transcript since its last reset, but for those of runs that have no end yet.
pub fn exchanges(path: &Path, is_open: impl Fn(&str) -> bool) -> Result<Vec<NewExchange>, Error> {
    let mut exchanges: Vec<(Option<String>, NewExchange)> = Vec::new();
    for line in Lines::open(path)? {
        match line? {
            LineRead::Whole(Line::Other(other)) if other.kind == "reset" => exchanges.clear(),
            LineRead::Whole(Line::Message(entry)) => {
                let at = match entry.message.timestamp() {
                    0 => unix_ms(&entry.timestamp).unwrap_or_default(),
                    at => at,
                };
                take(&mut exchanges, &entry.message, at);
            }
            _ => {}
        }
    }
    exchanges.retain(|(run, _)| !run.as_deref().is_some_and(&is_open));
    Ok(exchanges
        .into_iter()
        .map(|(_, exchange)| exchange.without_silence())
        .collect())
}

fn take(exchanges: &mut Vec<(Option<String>, NewExchange)>, message: &Message, at: i64) {
    let Some((run, said)) = HistoryMessage::of(message).filter(|_| !message.is_event()) else {
        return;
    };
    match said {
        HistoryMessage::User { text } if !text.trim().is_empty() => {
            let exchange = NewExchange {
                user_text: text,
                bot_text: String::new(),
                channel: message.channel().unwrap_or(DEFAULT_CHANNEL).to_owned(),
                sent_ms: at,
                replied_ms: at,
            };
            exchanges.push((run, exchange));
        }
        HistoryMessage::Assistant { text, .. } => {
            let meanwhile = said_meanwhile(exchanges, message);
            let mut latest = exchanges.iter_mut().rev();
            let answered = latest.find(|(known, _)| run.is_none() || *known == run);
            if let Some((_, exchange)) = answered {
                add(&mut exchange.user_text, &meanwhile);
                add(&mut exchange.bot_text, &text);
                if broke_off(message) {
                    exchange.bot_text.clear();
                }
                exchange.replied_ms = at;
            }
        }
        _ => {}
    }
}

/// Takes out what was said while the run of `message` was being answered, and is answered by
/// it: one answer is one exchange.
fn said_meanwhile(exchanges: &mut Vec<(Option<String>, NewExchange)>, message: &Message) -> String {
    let mut said = String::new();
    for run in message.also_answers() {
        let is_it = |(known, exchange): &(Option<String>, NewExchange)| {
            known.as_deref() == Some(run) && exchange.bot_text.is_empty()
        };
        if let Some(at) = exchanges.iter().rposition(is_it) {
            add(&mut said, &exchanges.remove(at).1.user_text);
        }
    }
    said
}

/// Whether the answer ends here without being whole: an error is recorded with
/// an empty one (seed 000).
fn broke_off(message: &Message) -> bool {
    matches!(
        message,
        Message::Assistant(AssistantMessage {
            stop_reason: StopReason::Error | StopReason::Aborted,
            ..
        })
    )
}

/// Adds the words of one more response: a paragraph.
pub fn add(words: &mut String, more: &str) {
    if !words.is_empty() && !more.is_empty() {
        words.push_str("\n\n");
    }
    words.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Origin;
    use crate::{AgentId, SessionKey};

    #[test]
    fn words_of_further_responses_are_paragraphs() {
        let mut words = String::new();
        for more in ["", "one", "", "two", "three\n"] {
            add(&mut words, more);
        }
        assert_eq!(words, "one\n\ntwo\n\nthree\n");
    }

    fn exchange(number: &str, sent_at: &str, replied_at: &str) -> Exchange {
        Exchange {
            id: number.to_owned(),
            user_text: format!("question {number}"),
            bot_text: format!("answer {number}"),
            channel: format!("channel-{number}"),
            sent_at: sent_at.to_owned(),
            replied_at: replied_at.to_owned(),
        }
    }

    #[test]
    fn document_is_appended_to_a_transcript_with_its_words_and_times() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let origin = Origin {
            session_id: "s".to_owned(),
            key: SessionKey::main(&AgentId::main()),
            cwd: dir.path().to_owned(),
        };
        let document = Document {
            id: HOME.to_owned(),
            created_at: "2026-11-21T00:00:01Z".to_owned(),
            updated_at: "2026-11-21T00:00:09Z".to_owned(),
            messages: vec![
                exchange("1", "2026-11-21T00:00:01Z", "2026-11-21T00:00:03Z"),
                exchange("2", "2026-11-21T00:00:05Z", "soon"),
                exchange("3", "never", ""),
            ],
        };
        let mut transcript = Transcript::open(&path, origin).unwrap().transcript;
        document.append_to(&mut transcript, 7).unwrap();
        let said = exchanges(&path, |_| false).unwrap();
        assert_eq!(said.len(), 3);
        let start = 1_795_219_200_000;
        let times =
            [(1000, 3000), (5000, 5000)].map(|(sent, replied)| (start + sent, start + replied));
        for ((said, known), (sent, replied)) in said
            .iter()
            .zip(&document.messages)
            .zip(times.into_iter().chain([(7, 7)]))
        {
            assert_eq!(said.user_text, known.user_text);
            assert_eq!(said.bot_text, known.bot_text);
            assert_eq!(said.channel, known.channel);
            assert_eq!((said.sent_ms, said.replied_ms), (sent, replied));
        }
        // Each message says so itself, too, for whoever reads OpenClaw's format.
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().skip(1);
        let lines = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let said: Vec<i64> = lines
            .filter_map(|line| line["message"]["timestamp"].as_i64())
            .collect();
        let own = [1000, 3000, 5000, 5000].map(|after| start + after);
        assert_eq!(said, [&own[..], &[7, 7]].concat());
    }
}
