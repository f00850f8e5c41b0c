//! The conversation so far, as the runner wants it.

use std::collections::HashSet;
use std::path::PathBuf;

use openclaw_proto::history::{Message as Sent, ToolCall};
use openclaw_proto::runner::BackendSession;
use openclaw_sessions::history::{self, History};
use openclaw_sessions::store;
use openclaw_sessions::transcript::{Block, Message};

use super::context::Context;

/// What a token is taken for, in characters.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Why the conversation is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error(transparent)]
    Read(#[from] openclaw_sessions::Error),
    #[error("the reading thread ended")]
    Thread(#[from] tokio::task::JoinError),
}

/// The tokens that are left for the conversation.
pub(super) fn history_budget(tokens: u64, text: &str, context: &Context) -> usize {
    let files = context.bootstrap.iter().map(|file| file.content.len());
    let passages = context.passages.iter().map(|passage| passage.snippet.len());
    let spent = (files.chain(passages).sum::<usize>() + text.len()) / CHARACTERS_PER_TOKEN;
    usize::try_from(tokens)
        .unwrap_or(usize::MAX)
        .saturating_sub(spent)
}

/// Reads the conversation off the async thread, and not on the storage thread:
/// a long one takes milliseconds that every other commit would wait.
pub(super) async fn load(
    transcript: PathBuf,
    tokens: usize,
    waiting: HashSet<String>,
) -> Result<History, LoadError> {
    let read = move || history::load(&transcript, tokens, &waiting);
    Ok(tokio::task::spawn_blocking(read).await??)
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

pub(super) fn messages(history: History) -> Vec<Sent> {
    history
        .messages
        .into_iter()
        .map(|past| message(past.message))
        .collect()
}

fn message(message: Message) -> Sent {
    let text = message.content().to_text();
    match message {
        Message::User(_) => Sent::User { text },
        Message::Assistant(assistant) => Sent::Assistant {
            text,
            tool_calls: assistant
                .content
                .blocks()
                .iter()
                .filter_map(tool_call)
                .collect(),
        },
        Message::ToolResult(result) => Sent::Tool {
            call_id: result.tool_call_id,
            name: result.tool_name,
            output: text,
            is_error: result.is_error,
        },
    }
}

fn tool_call(block: &Block) -> Option<ToolCall> {
    match block {
        Block::ToolCall {
            id,
            name,
            arguments,
            ..
        } => Some(ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        }),
        _ => None,
    }
}
