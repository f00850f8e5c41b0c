//! A message on its way in, with what a client may say beside it.

use std::sync::Arc;

use openclaw_conversations::Refusal;
use openclaw_conversations::storage::{Fault, Record};
use openclaw_proto::gateway::{Accepted, Message};
use openclaw_proto::runner::ContextFile;
use openclaw_sessions::transcript;

use crate::core::Core;
use crate::queue::Wish;
use crate::run::{MessageStatus, Run};
use crate::stream::{self, Events};

/// What a client may say beside its message.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// Put after the bootstrap files, for this turn.
    pub instructions: Vec<ContextFile>,
    /// A conversation that the client had elsewhere, put into the transcript
    /// before the message.
    pub earlier: Vec<transcript::Message>,
    /// What becomes of it when the session is busy; None: it is answered next.
    pub queue: Option<Wish>,
    /// `provider/model` for this turn, instead of the session's.
    pub model: Option<String>,
    /// How much is thought in this turn, instead of what the session says.
    pub thinking_level: Option<String>,
}

/// Whether `text` names a model: `provider/model`.
pub fn is_model(text: &str) -> bool {
    let parts = text.split_once('/');
    parts.is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// A message that was accepted.
pub struct Started {
    /// What its sender is told.
    pub accepted: Accepted,
    /// The run's events, the terminal one last.
    pub events: Events,
    /// The run, unless it had ended before.
    pub run: Option<Arc<Run>>,
}

impl Core {
    /// Submits `message` and waits until it is durable.
    pub async fn begin(
        self: &Arc<Self>,
        message: Message,
        extra: Extra,
    ) -> Result<Started, Refusal> {
        let (run, existing) = self.submit(message, extra, None)?;
        match run.settled().await {
            MessageStatus::Accepted(accepted) => Ok(Started {
                accepted: Accepted {
                    existing,
                    ..accepted
                },
                events: stream::live(Arc::clone(&run), 1),
                run: Some(run),
            }),
            MessageStatus::Existing(record) => Ok(Started {
                events: stream::stored(self, &record.run_id, 1).await?,
                accepted: again(&record),
                run: None,
            }),
            MessageStatus::Refused(fault) => Err(Refusal::of_message(fault)),
            // It is settled when it is waited for.
            MessageStatus::Asked => Err(Refusal::NotDurable(Fault::Stopped)),
        }
    }
}

fn again(record: &Record) -> Accepted {
    Accepted {
        run_id: record.run_id.clone(),
        session_key: record.session_key.clone(),
        session_id: record.session_id.clone(),
        agent_id: record.agent_id.clone(),
        existing: true,
    }
}
