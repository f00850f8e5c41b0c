//! The newest part of a conversation, as a prompt needs it.

mod said;
mod tail;
mod thinking;
mod turns;

use std::collections::HashSet;
use std::path::Path;

use crate::error::Error;

pub use said::{Call, HistoryMessage};
pub use tail::Tail;
pub use thinking::{Thinking, Thought};

/// A stretch of a conversation: whole turns, each beginning with a user
/// message, every result preceded by its call. A call that was cut off with its
/// turn has none.
#[derive(Debug, Default, PartialEq)]
pub struct History {
    /// Oldest first.
    pub messages: Vec<Past>,
    /// Whether older messages were left out, because they do not fit.
    pub cut: bool,
    /// Whether the first of them is the summary of those before a compaction.
    has_summary: bool,
    /// Where lines begin that are no entries, among those that were read; at
    /// most [`transcript::CORRUPT_LIMIT`](crate::transcript::CORRUPT_LIMIT).
    pub corrupt: Vec<u64>,
    /// The entries of messages that were taken back before a model saw them.
    withdrawn: HashSet<String>,
    /// The entries that were read, in the order of the turns, also those that
    /// are not among `messages`.
    order: Vec<String>,
}

/// A message and where it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The entry's id.
    pub entry_id: String,
    /// The run it belongs to, if it says so.
    pub run_id: Option<String>,
    /// Runs whose messages were said while its own was being answered, and are answered from
    /// here on.
    pub answers: Vec<String>,
    /// The message.
    pub said: HistoryMessage,
    /// What a model thought before it. Of a message before a compaction there is
    /// none: it was signed with a conversation that is no longer told.
    pub thinking: Option<Box<Thinking>>,
    /// What `said` costs, in characters. It is counted once and not for each prompt:
    /// a tool may have been given a megabyte.
    cost: usize,
}

impl Past {
    /// What was said at an entry, of which nothing else is known.
    #[must_use]
    pub fn new(entry_id: String, said: HistoryMessage) -> Self {
        Self {
            cost: said.characters(),
            entry_id,
            run_id: None,
            answers: Vec::new(),
            said,
            thinking: None,
        }
    }

    /// What the message costs, in characters ([`openclaw_tokens::characters`]).
    pub(crate) fn characters(&self) -> usize {
        let thinking = self.thinking.as_ref().map_or(0, |it| it.characters());
        self.cost + thinking
    }

    /// Counts again what is said, which was changed.
    fn recount(&mut self) {
        self.cost = self.said.characters();
    }
}

impl History {
    /// Whether the entry `id` is a message that was taken back before a model saw it.
    pub fn is_withdrawn(&self, id: &str) -> bool {
        self.withdrawn.contains(id)
    }

    /// Leaves the last `turns` messages of the user, with what answered them, and the
    /// summary of what was before a compaction.
    pub fn keep_turns(&mut self, turns: usize) {
        let first = usize::from(self.has_summary).min(self.messages.len());
        let said = self.messages[first..].iter().enumerate();
        let asked = said.filter(|(_, past)| matches!(past.said, HistoryMessage::User { .. }));
        let asked: Vec<usize> = asked.map(|(at, _)| first + at).collect();
        let Some(too_many) = asked.len().checked_sub(turns).filter(|it| *it > 0) else {
            return;
        };
        let kept_from = asked.get(too_many).copied();
        self.messages
            .drain(first..kept_from.unwrap_or(self.messages.len()));
    }

    /// How many of the last messages come after the entry `id`; all of them
    /// when that entry was not read.
    pub fn after(&self, id: &str) -> usize {
        let Some(seen) = self.order.iter().rposition(|entry| entry == id) else {
            return self.messages.len();
        };
        let unseen: HashSet<&str> = self.order[seen + 1..].iter().map(String::as_str).collect();
        let is_unseen = |past: &&Past| unseen.contains(past.entry_id.as_str());
        self.messages.iter().filter(is_unseen).count()
    }
}

/// Reads the newest turns of the transcript at `path` that fit into `tokens`.
/// Messages of the runs in `waiting` are not part of the conversation yet: those
/// that wait for their turn, and the one whose turn it is; those that were taken back
/// are none of it for good. A file that is not
/// there is an empty history; a `reset` entry is where one begins, and what a
/// compaction summarised is told by its summary.
pub fn load(path: &Path, tokens: usize, waiting: &HashSet<String>) -> Result<History, Error> {
    Ok(Tail::read(path, tokens, waiting)?.into_history(tokens, waiting))
}
