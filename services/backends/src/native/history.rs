//! The conversation and the passages of a turn, as the agent is told of them.

use openclaw_proto::history::{Message, SignedThinking, ToolCall};
use openclaw_proto::runner;
use openclaw_turn::{HistoryCall, HistoryEntry, Passage, Thought};

/// An earlier entry of the session.
pub(super) fn entry(message: &Message) -> HistoryEntry {
    match message {
        Message::User { text } => HistoryEntry::User { text: text.clone() },
        Message::Assistant {
            text,
            tool_calls,
            thinking,
        } => HistoryEntry::Assistant {
            text: text.clone(),
            tool_calls: tool_calls.iter().map(call).collect(),
            thinking: thinking.as_ref().map(signed),
        },
        Message::Tool {
            call_id,
            output,
            is_error,
            ..
        } => HistoryEntry::Tool {
            call_id: call_id.clone(),
            output: output.clone(),
            is_error: *is_error,
        },
    }
}

fn call(call: &ToolCall) -> HistoryCall {
    HistoryCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
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
