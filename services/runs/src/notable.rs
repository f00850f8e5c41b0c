//! The events of a run that a journal is searched for, each with its own
//! MESSAGE_ID (systemd.journal-fields(7)). The run's span adds the rest.

use std::time::Duration;

use openclaw_proto::event::Kind;

/// A message is durable and has a run.
const RUN_ACCEPTED: &str = "7cde505430944ee39571c1a4b8d43d88";
/// The runner has taken the turn.
const RUN_STARTED: &str = "1598c3c479a247bb8605a921218e233f";
/// The run has its terminal event, and that is durable.
const RUN_ENDED: &str = "127fc85473024db2a466b9bd4bc54252";

pub(crate) fn accepted() {
    tracing::info!(message_id = RUN_ACCEPTED, "run accepted");
}

pub(crate) fn started(backend: &str) {
    tracing::info!(message_id = RUN_STARTED, backend, "run started");
}

pub(crate) fn ended(outcome: &Kind, took: Duration) {
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    match outcome {
        Kind::Failed(failed) => tracing::warn!(
            message_id = RUN_ENDED,
            outcome = "failed",
            code = failed.code.as_str(),
            backend = failed.backend,
            took_ms,
            "run ended: {}",
            openclaw_escape::line(&failed.message)
        ),
        Kind::Aborted {
            reason, backend, ..
        } => tracing::info!(
            message_id = RUN_ENDED,
            outcome = "aborted",
            backend,
            took_ms,
            "run ended: {}",
            openclaw_escape::line(reason)
        ),
        Kind::Done(done) => tracing::info!(
            message_id = RUN_ENDED,
            outcome = "done",
            backend = done.backend,
            model = done.model,
            took_ms,
            "run ended"
        ),
        _ => {}
    }
}
