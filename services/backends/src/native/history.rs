//! The conversation and the passages of a turn, as the agent is told of them.

use std::borrow::Cow;

use openclaw_proto::history::{Message, SignedThinking, ToolCall};
use openclaw_proto::runner;
use openclaw_turn::{HistoryCall, HistoryEntry, Passage, Thought};
use serde::Serializer as _;

/// The conversation before a turn, as JSON. Nothing of it is copied on the way: of most turns it is
/// the longest part.
///
/// # Errors
/// When it cannot be written.
pub fn written(history: &[Message]) -> serde_json::Result<Vec<u8>> {
    let mut json = Vec::new();
    serde_json::Serializer::new(&mut json).collect_seq(history.iter().map(entry))?;
    Ok(json)
}

/// An earlier entry of the session.
fn entry(message: &Message) -> HistoryEntry<'_> {
    match message {
        Message::User { text } => HistoryEntry::User { text: text.into() },
        Message::Assistant {
            text,
            tool_calls,
            thinking,
        } => HistoryEntry::Assistant {
            text: text.into(),
            tool_calls: tool_calls.iter().map(call).collect(),
            thinking: thinking.as_ref().map(signed),
        },
        Message::Tool {
            call_id,
            output,
            is_error,
            ..
        } => HistoryEntry::Tool {
            call_id: call_id.into(),
            output: output.into(),
            is_error: *is_error,
        },
    }
}

fn call(call: &ToolCall) -> HistoryCall<'_> {
    HistoryCall {
        id: (&call.id).into(),
        name: (&call.name).into(),
        arguments: Cow::Borrowed(&call.arguments),
    }
}

fn signed(thinking: &SignedThinking) -> openclaw_turn::SignedThinking {
    let thoughts = thinking.thoughts.iter().map(|thought| Thought {
        text: thought.text.clone(),
        signature: thought.signature.clone(),
        redacted: thought.redacted,
    });
    openclaw_turn::SignedThinking {
        provider: thinking.provider.clone(),
        model: thinking.model.clone(),
        thoughts: thoughts.collect(),
    }
}

/// A search hit of the memory daemon.
pub(super) fn passage(passage: &runner::Passage) -> Passage {
    Passage {
        path: passage.path.clone(),
        start_line: passage.start_line,
        end_line: passage.end_line,
        snippet: passage.snippet.clone(),
        role: passage.role.clone(),
        context: passage.context.clone(),
        answer: passage.answer.clone(),
    }
}
