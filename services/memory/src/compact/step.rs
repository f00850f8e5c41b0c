//! Messages, and what of them belongs together.

use std::collections::HashMap;

use openclaw_sessions::history::{HistoryMessage, Past};

use super::tokens::Tokens;

/// What a message costs beside its words: its role and its frame.
pub(super) const FRAME: usize = 4;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    /// The transcript entry.
    pub(crate) entry_id: String,
    /// The message.
    pub(crate) said: HistoryMessage,
}

/// What is kept or summarised together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// In their order; results come after the message that called for them.
    pub(crate) items: Vec<Item>,
    /// Whether a turn begins here.
    pub(crate) begins_turn: bool,
    /// All of it.
    pub(crate) tokens: usize,
}

impl Item {
    /// What the message costs.
    pub(crate) fn tokens(&self, tokens: &Tokens) -> usize {
        FRAME
            + match &self.said {
                HistoryMessage::User { text } => tokens.count(text),
                HistoryMessage::Tool { output, name, .. } => {
                    tokens.count(output) + tokens.count(name)
                }
                HistoryMessage::Assistant { text, calls } => {
                    let call = |call: &openclaw_sessions::history::Call| {
                        FRAME + tokens.count(&call.name) + tokens.count(&call.arguments.to_string())
                    };
                    tokens.count(text) + calls.iter().map(call).sum::<usize>()
                }
            }
    }
}

/// The messages as steps. A result whose call is not there is left out, as it
/// is when a prompt is made.
pub(crate) fn steps(messages: Vec<Past>, tokens: &Tokens) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut of_call: HashMap<String, usize> = HashMap::new();
    for past in messages {
        let begins_turn = matches!(past.said, HistoryMessage::User { .. });
        let called = match &past.said {
            HistoryMessage::Tool { call_id, .. } => match of_call.get(call_id) {
                Some(step) => Some(*step),
                None => continue,
            },
            HistoryMessage::Assistant { calls, .. } => {
                let step = steps.len();
                of_call.extend(calls.iter().map(|call| (call.id.clone(), step)));
                None
            }
            HistoryMessage::User { .. } => None,
        };
        let item = Item {
            entry_id: past.entry_id,
            said: past.said,
        };
        let cost = item.tokens(tokens);
        match called {
            Some(step) => {
                steps[step].tokens += cost;
                steps[step].items.push(item);
            }
            None => steps.push(Step {
                items: vec![item],
                begins_turn,
                tokens: cost,
            }),
        }
    }
    steps
}
