//! Buttons that were pressed.

use openclaw_commands::{Sender, SenderRole};
use openclaw_inbound::decision_of;
use openclaw_proto::approval::Decision;
use openclaw_proto::channel::{AccountName, Outcome};
use openclaw_proto::outbox::Place;

use super::Channels;

impl Channels {
    /// What whoever pressed is shown.
    pub(super) async fn press(
        &self,
        account: &AccountName,
        sender: &Sender,
        data: &str,
    ) -> Outcome {
        let text = match decision_of(data) {
            None => "That button does nothing any more.".to_owned(),
            Some((id, _)) if !self.is_asked(account, sender, id) => {
                "You are not asked about this.".to_owned()
            }
            Some((id, decision)) => {
                let by = format!("{} {}", account.channel, sender.id);
                match self.core.approvals.decide(id, decision, &by).await {
                    Ok(_) => done(decision).to_owned(),
                    Err(refused) => refused.to_string(),
                }
            }
        };
        Outcome::Answered { text }
    }

    /// Whether `sender` is asked about what waits under `id`. The owner is about everything; an
    /// approver of an account about what came by that account, and by the question's whole id:
    /// what a button says can be made up.
    fn is_asked(&self, account: &AccountName, sender: &Sender, id: &str) -> bool {
        if !sender.approves || sender.role == SenderRole::Owner {
            return sender.approves;
        }
        // Of what does not wait it is said that it does not.
        let Ok(approval) = self.core.approvals.pending.find(id) else {
            return true;
        };
        let of_turn = approval.of_turn.as_ref();
        let run = of_turn.and_then(|of_turn| self.core.runs.find(&of_turn.run_id));
        let place = run.and_then(|run| Some(Place::of_route(&run.channel, run.route.as_ref()?)));
        approval.id == id
            && place.is_some_and(|it| {
                (&it.channel, &it.account) == (&account.channel, &account.account)
            })
    }
}

fn done(decision: Decision) -> &'static str {
    match decision {
        Decision::AllowOnce => "Allowed once.",
        Decision::AllowAlways => "Allowed from now on.",
        Decision::Deny => "Denied.",
    }
}
