//! The process that stands ready for a turn, if there is one, and the one run
//! id that it shares with the turn.
//!
//! The id is given out before it is known what the turn will be: until then the backend, the
//! session's model, its limits and the configuration may change. A process of another kind under
//! the same id would hold the spool, the unit and the folders that the turn needs.

use openclaw_backends::choice::Plan;

use super::{Task, TurnContext, keeps_warm};
use crate::spare::{Ready, Spare};

impl TurnContext {
    /// A run has this id: nothing is started under it to stand ready.
    pub(crate) fn retire(&self, run_id: &str) {
        for spare in self.spares() {
            spare.retire(run_id);
        }
    }

    /// Ends whatever stands ready under this id.
    pub(crate) async fn vacate(&self, run_id: &str) {
        for spare in self.spares() {
            spare.vacate(run_id).await;
        }
    }

    fn spares(&self) -> Vec<Spare> {
        let mut all = self.warm.all();
        all.push(self.spare.clone());
        all
    }
}

/// What stands ready for the turn. Anything else that has its id is gone
/// afterwards, also where the turn cannot begin.
pub(super) async fn take(turn_context: &TurnContext, task: &Task) -> Option<Ready> {
    let run_id = &task.turn.run_id;
    let place = place(turn_context, task);
    for spare in turn_context.spares() {
        if place.as_ref().is_none_or(|place| !place.is(&spare)) {
            spare.vacate(run_id).await;
        }
    }
    let agent_id = &task.turn.agent_id;
    place?.take(run_id, &task.settings, agent_id).await
}

/// The slot of a process for such a turn.
fn place(turn_context: &TurnContext, task: &Task) -> Option<Spare> {
    let agent = task.settings.agent(&task.turn.agent_id)?;
    match task.choice.plan.as_ref().ok()? {
        Plan::Native { .. } | Plan::Offline => Some(turn_context.spare.clone()),
        Plan::Cli { .. } => {
            keeps_warm(agent, &task.turn).then(|| turn_context.warm.of(&task.turn.session_key))
        }
    }
}
