//! Buttons that were pressed.

use openclaw_commands::{Sender, SenderRole};
use openclaw_inbound::decision_of;
use openclaw_proto::approval::Decision;
use openclaw_proto::channel::{AccountName, Outcome};

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

    /// Whether `sender` is asked about what waits under `id`: the owner is about everything, an
    /// approver about what came by the account. What a button says can be made up.
    fn is_asked(&self, account: &AccountName, sender: &Sender, id: &str) -> bool {
        if !sender.approves || sender.role == SenderRole::Owner {
            return sender.approves;
        }
        let approvals = &self.core.approvals;
        approvals.came_by(id, (&account.channel, &account.account), &self.core.runs)
    }
}

fn done(decision: Decision) -> &'static str {
    match decision {
        Decision::AllowOnce => "Allowed once.",
        Decision::AllowAlways => "Allowed from now on.",
        Decision::Deny => "Denied.",
    }
}
