//! The events of a run, live or from the disk, as one kind of stream.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, stream};
use openclaw_conversations::Refusal;
use openclaw_conversations::storage::{Fault, Storage, StoredRun, replay};
use openclaw_proto::event::Event;

use crate::run::Run;

/// The events of a run, the terminal one last; an error ends them.
pub type Events = Pin<Box<dyn Stream<Item = Result<Event, Refusal>> + Send>>;

/// The events from `from_seq` on, at the reader's speed.
pub fn live(run: Arc<Run>, from_seq: u64) -> Events {
    Box::pin(stream::try_unfold(
        (run, from_seq.max(1)),
        |(run, seq)| async move {
            let event = run.log.wait_for(seq).await.map_err(Refusal::Missed)?;
            Ok(event.map(|event| (event, (run, seq + 1))))
        },
    ))
}

/// The events of a run that ended, with fewer and longer pieces than when it
/// was live. The terminal event is always among them.
pub async fn stored(storage: &Storage, run_id: &str, from_seq: u64) -> Result<Events, Refusal> {
    let found = storage.find(run_id).await.map_err(Refusal::Unreadable)?;
    let Some(StoredRun {
        record, transcript, ..
    }) = found
    else {
        return Err(Refusal::UnknownRun(run_id.to_owned()));
    };
    if record.ended_ms.is_none() {
        return Err(Refusal::LeftOpen(record.run_id));
    }
    let read = move || replay(&transcript, &record);
    let events = tokio::task::spawn_blocking(read)
        .await
        .map_err(|_| Refusal::Unreadable(Fault::Stopped))?
        .map_err(|error| Refusal::Unreadable(error.into()))?;
    let last = events.last().map_or(0, |event| event.seq);
    let wanted = events
        .into_iter()
        .filter(move |event| event.seq >= from_seq.min(last))
        .map(Ok);
    Ok(Box::pin(stream::iter(wanted)))
}
