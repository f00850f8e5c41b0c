//! Commands, which have a run and no turn.

use std::sync::Arc;
use std::time::Instant;

use openclaw_conversations::storage::{Incoming, TurnOptions};
use openclaw_notable as notable;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::Accepted;

use super::reply::Reply;
use super::{Turns, conclude, new_or_settled};
use crate::run::Run;

impl Turns {
    /// Makes the message of `run` durable, which is the command `name`. None: it
    /// is refused, or was answered before, and whoever waits is told.
    pub(crate) async fn accept_command(
        &self,
        run: &Arc<Run>,
        text: String,
        name: &'static str,
    ) -> Option<Accepted> {
        let incoming = Incoming {
            command: Some(name),
            may_begin_anew: false,
            ..incoming(run, text.clone())
        };
        let admitted = new_or_settled(run, self.storage.accept(incoming).await)?;
        notable::accepted(&run.channel, self.spoken(&text));
        Some(admitted.accepted)
    }

    /// Answers the command of `run`.
    pub(crate) async fn answer_command(&self, run: &Run, said: String, started: Instant) {
        let mut reply = Reply::new(self, run, 0);
        reply.command = run.command();
        reply.of_command = true;
        reply.take(Kind::TextDelta { text: said }).await;
        conclude(reply, Run::answered_by_gateway(), started).await;
    }
}

/// The message of `run`.
pub(super) fn incoming(run: &Run, text: String) -> Incoming {
    Incoming {
        run_id: run.id.clone(),
        key: run.key.clone(),
        idempotency_key: run.idempotency_key.clone(),
        channel: run.channel.clone(),
        route: run.route.clone(),
        text,
        command: None,
        may_begin_anew: true,
        options: TurnOptions::default(),
    }
}
