//! The events of a run that ended, made from what is on disk.

use std::path::Path;

use openclaw_proto::event::{Code, Event, Failed, Kind, ToolFailure, ToolResult, Usage};
use openclaw_sessions::silence;
use openclaw_sessions::transcript::{self, Block, Content, Message, ToolResultMessage};

use super::ledger::Record;
use openclaw_proto::paragraphs::Paragraphs;

/// The run's events with their own sequence numbers: what was streamed in many
/// pieces is one event here. The last is the terminal one.
pub fn replay(path: &Path, record: &Record) -> Result<Vec<Event>, openclaw_sessions::Error> {
    let mut at_ms = record.created_ms;
    let entries = transcript::of_run(path, &record.run_id)?;
    let mut kinds: Vec<Kind> = entries
        .iter()
        .flat_map(|entry| events(&entry.message))
        .collect();
    let outcome = record.outcome.as_ref();
    if matches!(outcome, Some(Kind::Done(done)) if done.stop_reason == silence::STOP_REASON) {
        // Nobody was told.
        kinds.retain(|kind| !matches!(kind, Kind::TextDelta { .. }));
    }
    kinds.push(record.outcome.clone().unwrap_or_else(unknown));
    let mut paragraphs = Paragraphs::default();
    for kind in &mut kinds {
        paragraphs.set_apart(kind);
    }
    let last = kinds.len();
    let number = |(at, kind)| {
        if at + 1 == last {
            at_ms = record.ended_ms.unwrap_or(at_ms);
        }
        Event {
            run_id: record.run_id.clone(),
            seq: at as u64 + 1,
            at_ms,
            kind,
        }
    };
    Ok(kinds.into_iter().enumerate().map(number).collect())
}

fn events(message: &Message) -> Vec<Kind> {
    match message {
        Message::User(_) => Vec::new(),
        Message::ToolResult(result) => vec![Kind::ToolResult(tool_result(result))],
        Message::Assistant(assistant) => {
            let mut kinds: Vec<Kind> = match &assistant.content {
                Content::Text(text) => vec![Kind::TextDelta { text: text.clone() }],
                Content::Blocks(blocks) => blocks.iter().filter_map(block).collect(),
            };
            let usage = Usage {
                input: assistant.usage.input,
                output: assistant.usage.output,
                cache_read: assistant.usage.cache_read,
                cache_write: assistant.usage.cache_write,
            };
            if usage != Usage::default() {
                kinds.push(Kind::Usage(usage));
            }
            kinds
        }
    }
}

fn block(block: &Block) -> Option<Kind> {
    if block.is_redacted() {
        return None;
    }
    match block.clone() {
        Block::Text { text, .. } => Some(Kind::TextDelta { text }),
        Block::Thinking { thinking, .. } => Some(Kind::Thinking { text: thinking }),
        Block::ToolCall {
            id,
            name,
            arguments,
            ..
        } => Some(Kind::ToolCall {
            id,
            name,
            arguments,
        }),
        Block::Other(_) => None,
    }
}

fn tool_result(result: &ToolResultMessage) -> ToolResult {
    let output = result.content.to_text();
    let stored = result
        .rest
        .get("details")
        .and_then(|details| details.get("error"));
    let error = result.is_error.then(|| {
        let known = stored.and_then(|error| serde_json::from_value(error.clone()).ok());
        known.unwrap_or_else(|| ToolFailure {
            tool: result.tool_name.clone(),
            kind: "failed".to_owned(),
            message: output.clone(),
        })
    });
    ToolResult {
        call_id: result.tool_call_id.clone(),
        success: !result.is_error,
        output,
        error,
    }
}

/// A row without an outcome was written by hand or by a later version.
fn unknown() -> Kind {
    Kind::Failed(Failed {
        code: Code::Interrupted,
        message: "how the run ended is not known".to_owned(),
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    })
}
