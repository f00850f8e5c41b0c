//! Ends of runs that could not be saved when they came: a full disk may have room again.

use std::path::Path;
use std::time::Duration;

use openclaw_conversations::storage::{Closing, Fault};
use openclaw_sessions::Error;
use openclaw_sessions::transcript::{self, Message, StopReason};

use super::Turns;

/// How long is waited before it is tried again: of room on a disk there is no event.
const PAUSE: Duration = Duration::from_secs(1);

/// Saves the end of a run as soon as that can be done. Until then its session has no other
/// turn, whose question would come before this answer. Whether it was saved; what is not
/// when the gateway stops is closed by the next one.
pub(super) async fn save(turns: &Turns, closing: Closing) -> bool {
    while !turns.tasks.is_closed() {
        tokio::time::sleep(PAUSE).await;
        match try_saving(turns, closing.clone()).await {
            Ok(()) => {
                tracing::info!("the end of the run is saved after all");
                return true;
            }
            Err(fault) if fault.is_lasting() => return false,
            Err(fault) => tracing::debug!(%fault, "the end of the run is not saved yet"),
        }
    }
    false
}

/// What was saved of it the time before is not saved twice.
async fn try_saving(turns: &Turns, mut closing: Closing) -> Result<(), Fault> {
    let storage = &turns.storage;
    if let Some(found) = storage.find(&closing.run_id).await? {
        if has_end(&found.transcript, &closing.run_id)? {
            closing.messages.clear();
        }
        if found.record.ended_ms.is_some() {
            let messages = closing.messages;
            if messages.is_empty() {
                return Ok(());
            }
            return storage.append(&closing.key, messages).await?.answer().await;
        }
    }
    storage.close(closing).await
}

/// Whether the transcript has the entry with which the run ended.
fn has_end(path: &Path, run_id: &str) -> Result<bool, Error> {
    let entries = transcript::of_run(path, run_id)?;
    Ok(entries.iter().any(|entry| match &entry.message {
        Message::Assistant(said) => {
            !matches!(said.stop_reason, StopReason::ToolUse | StopReason::Other(_))
        }
        _ => false,
    }))
}
