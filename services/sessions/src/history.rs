//! The newest part of a conversation, as a prompt needs it.

mod said;
mod turns;

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::Error;
use crate::transcript::Backward;
use said::Read;

pub use said::{Call, Said};

/// What a token is taken for, in characters, where no tokenizer is.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Most messages a prompt gets. It bounds memory where a budget of tokens does
/// not: empty tool results cost nothing.
const MESSAGE_LIMIT: usize = 4096;

/// How many times the budget is read in search of the newest turn's beginning.
const OVERREAD: usize = 4;

/// A stretch of a conversation: whole turns, each beginning with a user
/// message, every tool call followed by its result.
#[derive(Debug, Default, PartialEq)]
pub struct History {
    /// Oldest first.
    pub messages: Vec<Past>,
    /// Whether older messages were left out.
    pub cut: bool,
    /// Lines that are no entries, among those that were read.
    pub corrupt_lines: usize,
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
    /// The message.
    pub said: Said,
}

impl History {
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
/// that wait for their turn, and the one whose turn it is. A file that is not
/// there is an empty history, and a `reset` entry is where one begins.
pub fn load(path: &Path, tokens: usize, waiting: &HashSet<String>) -> Result<History, Error> {
    let budget = tokens.saturating_mul(CHARACTERS_PER_TOKEN);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(History::default()),
        Err(error) => return Err(Error::io("open", path)(error)),
    };
    let tail = Tail::read(&file, budget, waiting).map_err(Error::io("read", path))?;
    let selection = turns::select(tail.messages, budget);
    Ok(History {
        messages: selection.messages,
        cut: selection.cut || tail.cut,
        corrupt_lines: tail.corrupt_lines,
        order: selection.order,
    })
}

/// The messages from the end of the file on, until the budget is spent.
#[derive(Default)]
struct Tail {
    /// Oldest first when it is read.
    messages: Vec<Past>,
    characters: usize,
    /// Whether a user message is among them.
    begun: bool,
    cut: bool,
    corrupt_lines: usize,
}

impl Tail {
    fn read(file: &File, budget: usize, waiting: &HashSet<String>) -> io::Result<Self> {
        let mut tail = Self::default();
        let mut lines = Backward::new(file)?;
        while let Some((_, line)) = lines.next_line()? {
            match Read::line(&line) {
                Read::Reset => break,
                Read::Silent => {}
                Read::Corrupt => tail.corrupt_lines += 1,
                Read::Message {
                    run_id: Some(run), ..
                } if waiting.contains(&run) => {}
                Read::Message {
                    entry_id,
                    run_id,
                    said,
                } => tail.take(Past {
                    entry_id,
                    run_id,
                    said,
                }),
            }
            if tail.is_enough(budget) {
                tail.cut = true;
                break;
            }
        }
        tail.messages.reverse();
        Ok(tail)
    }

    fn take(&mut self, past: Past) {
        self.characters += past.said.characters();
        self.begun |= matches!(past.said, Said::User { .. });
        self.messages.push(past);
    }

    /// The newest turn is wanted from its user message on, even when it is too
    /// long.
    fn is_enough(&self, budget: usize) -> bool {
        (self.begun && self.characters > budget)
            || self.characters > budget.saturating_mul(OVERREAD)
            || self.messages.len() >= MESSAGE_LIMIT
    }
}
