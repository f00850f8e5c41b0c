//! Going on by itself with an answer that the end of the machine cut off
//! (`session.interrupted`).

use std::sync::Arc;

use openclaw_config::settings::Interrupted;
use openclaw_proto::event::{Code, Kind};
use openclaw_proto::gateway::Message;

use super::Reply;
use crate::core::Core;
use crate::run::Run;
use crate::submission::Extra;

/// What the agent is told.
const GO_ON: &str = "[The machine stopped while you were answering. What you had said and done is \
                     above. Look at how far you came, then go on from there.]";

/// Begins the idempotency keys of messages that are sent here: an interrupted
/// run is gone on with once, however often the gateway starts, and what goes on
/// with it is not gone on with again.
const KEY: &str = "resume-";

/// Whether the run of `reply` is to be gone on with. Not when a tool was
/// running: what it did nobody knows, and it must not be done twice unasked.
pub(super) fn is_wanted(reply: &Reply<'_>, outcome: &Kind) -> bool {
    let is_interrupted =
        matches!(outcome, Kind::Failed(failed) if failed.code == Code::Interrupted);
    let policy = reply.core.configuration.settings().session.interrupted;
    let is_first = !reply
        .run
        .idempotency_key
        .as_deref()
        .is_some_and(|key| key.starts_with(KEY));
    is_interrupted && policy == Interrupted::Resume && reply.open_calls.is_empty() && is_first
}

/// Sends the message that goes on with `run`.
pub(super) fn go_on(core: &Arc<Core>, run: &Run) {
    let message = Message {
        text: GO_ON.to_owned(),
        session_key: run.key.to_string(),
        agent_id: String::new(),
        idempotency_key: format!("{KEY}{}", run.id),
        channel: run.channel.clone(),
        route: None,
    };
    match core.submit(message, Extra::default(), None) {
        Ok(_) => tracing::info!("the interrupted run is gone on with, as session.interrupted says"),
        Err(refusal) => tracing::warn!(%refusal, "the interrupted run is not gone on with"),
    }
}
