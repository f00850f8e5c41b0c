//! Reading the home session's document (seed 000), which the storage thread writes.

use std::sync::Arc;

use openclaw_conversations::Refusal;
use openclaw_conversations::storage::Fault;
use openclaw_sessions::home::{Document, Exchange};

use crate::doors::Doors;

/// The document, when there was an exchange.
pub(super) async fn document(doors: &Arc<Doors>) -> Result<Option<Document>, Refusal> {
    let path = doors.front.settings().paths.home_session();
    let read = tokio::task::spawn_blocking(move || Document::read(&path));
    let read = read
        .await
        .map_err(|_| Refusal::Unreadable(Fault::Stopped))?;
    read.map_err(|error| Refusal::Unreadable(error.into()))
}

/// The exchange of the run `run_id`, which has ended: the last one that begins with its words.
pub(crate) async fn exchange(
    doors: &Arc<Doors>,
    run_id: &str,
    text: &str,
) -> Result<Option<Exchange>, Refusal> {
    // The thread brings the document up to date after it has answered those who
    // wait for the run's end, and before it takes up anything else.
    doors
        .core
        .storage
        .find(run_id)
        .await
        .map_err(Refusal::Unreadable)?;
    let document = document(doors).await?;
    let messages = document.map(|document| document.messages);
    let mut messages = messages.into_iter().flatten().rev();
    Ok(messages.find(|exchange| exchange.user_text == text))
}
