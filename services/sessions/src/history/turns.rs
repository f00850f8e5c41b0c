//! Turns: a user message and what answered it.

use std::collections::{HashMap, HashSet};

use super::Past;
use crate::transcript::{Block, Content, Message};

/// The newest turns that cost at most `budget` characters. When not even the newest fits, its words alone are
/// tried: a turn of many tool results should not cost the whole memory of it.
pub(super) fn select(messages: Vec<Past>, budget: usize) -> Selection {
    let mut turns = group(messages);
    let entries = turns.iter().flat_map(|turn| &turn.0);
    let order = entries.map(|past| past.entry_id.clone()).collect();
    turns.iter_mut().for_each(Turn::complete_calls);
    let mut left = budget;
    let mut kept = Vec::new();
    let mut cut = false;
    while let Some(mut turn) = turns.pop() {
        if turn.characters() > left && kept.is_empty() {
            turn.keep_words();
            cut = true;
        }
        let cost = turn.characters();
        if cost > left || !turn.begins_with_user() {
            cut = true;
            break;
        }
        left -= cost;
        kept.push(turn.0);
    }
    kept.reverse();
    Selection {
        messages: kept.into_iter().flatten().collect(),
        cut,
        order,
    }
}

pub(super) struct Selection {
    pub(super) messages: Vec<Past>,
    /// Whether older turns were left out.
    pub(super) cut: bool,
    /// All entries in the order of the turns.
    pub(super) order: Vec<String>,
}

struct Turn(Vec<Past>);

/// A message that came while another was being answered stands before that
/// answer in the file; answers that name their run join it again.
fn group(messages: Vec<Past>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut of_run: HashMap<String, usize> = HashMap::new();
    for past in messages {
        let run = past.message.run_id().map(str::to_owned);
        let place = match (&past.message, &run) {
            (Message::User(_), _) => None,
            (_, Some(run)) => of_run.get(run).copied().or(turns.len().checked_sub(1)),
            (_, None) => turns.len().checked_sub(1),
        };
        match place {
            Some(place) => turns[place].0.push(past),
            None => {
                if let Some(run) = run {
                    of_run.insert(run, turns.len());
                }
                turns.push(Turn(vec![past]));
            }
        }
    }
    turns
}

impl Turn {
    fn characters(&self) -> usize {
        self.0.iter().map(|past| past.message.characters()).sum()
    }

    fn begins_with_user(&self) -> bool {
        matches!(
            self.0.first().map(|past| &past.message),
            Some(Message::User(_))
        )
    }

    /// A call without a result, or the other way round, is what a turn leaves
    /// that was ended half-way; providers refuse both.
    fn complete_calls(&mut self) {
        let called: HashSet<String> = self.ids(calls_of);
        let answered: HashSet<String> = self.ids(|message| match message {
            Message::ToolResult(result) => vec![result.tool_call_id.clone()],
            _ => Vec::new(),
        });
        self.retain(|id| answered.contains(id), |id| called.contains(id));
    }

    fn keep_words(&mut self) {
        self.retain(|_| false, |_| false);
    }

    fn ids(&self, of: impl Fn(&Message) -> Vec<String>) -> HashSet<String> {
        self.0.iter().flat_map(|past| of(&past.message)).collect()
    }

    /// Drops calls and results, then assistant messages that say nothing more.
    fn retain(&mut self, call: impl Fn(&str) -> bool, result: impl Fn(&str) -> bool) {
        self.0.retain_mut(|past| match &mut past.message {
            Message::User(_) => true,
            Message::ToolResult(message) => result(&message.tool_call_id),
            Message::Assistant(message) => {
                if let Content::Blocks(blocks) = &mut message.content {
                    blocks.retain(|block| match block {
                        Block::ToolCall { id, .. } => call(id),
                        _ => true,
                    });
                }
                says_something(&message.content)
            }
        });
    }
}

fn calls_of(message: &Message) -> Vec<String> {
    let Message::Assistant(message) = message else {
        return Vec::new();
    };
    let calls = message
        .content
        .blocks()
        .iter()
        .filter_map(|block| match block {
            Block::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
    calls.collect()
}

fn says_something(content: &Content) -> bool {
    match content {
        Content::Text(text) => !text.is_empty(),
        Content::Blocks(blocks) => blocks.iter().any(|block| match block {
            Block::Text { text, .. } => !text.is_empty(),
            Block::ToolCall { .. } => true,
            Block::Thinking { .. } | Block::Other(_) => false,
        }),
    }
}
