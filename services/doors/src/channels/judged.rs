//! What becomes of something that came in, by who says it and by what runs there.

use openclaw_commands::SenderRole;
use openclaw_inbound::{Facts, PairedPeople, Verdict, judge};
use openclaw_proto::channel::What;
use openclaw_runs::{Run, Sender};

use super::Channels;
use super::hand_in::Incoming;
use super::stop::is_stop;

impl Channels {
    /// What becomes of what `facts` say. A stop is to the bot where that works for whoever
    /// says it, called or not.
    pub(super) fn judged(
        &self,
        incoming: &Incoming<'_>,
        facts: &Facts<'_>,
        known: PairedPeople<'_>,
    ) -> Verdict {
        let verdict = judge(incoming.account, facts, known);
        let is_stop = matches!(&incoming.hand_in.what,
            What::Message(message) if !message.is_edit && is_stop(&message.text));
        if !is_stop || !matches!(verdict, Verdict::Overhear(_)) {
            return verdict;
        }
        let called = Facts {
            is_to_bot: true,
            ..*facts
        };
        let stop = judge(incoming.account, &called, known);
        match &stop {
            Verdict::Allow { sender, agent, .. }
                if self.works_for(incoming, sender, &incoming.agent(facts, agent.clone())) =>
            {
                stop
            }
            _ => verdict,
        }
    }

    /// Whether something runs there that `sender` began, or as the owner may end.
    fn works_for(&self, incoming: &Incoming<'_>, sender: &Sender, agent: &str) -> bool {
        let Ok(key) = self.key(incoming, agent) else {
            return false;
        };
        let is_owner = sender.role == SenderRole::Owner;
        let began = |run: &Run| {
            let began = run.route.as_ref()?.sender.as_deref()?;
            Some(began == sender.id)
        };
        let is_theirs = |run: &Run| is_owner || began(run) == Some(true);
        let live = self.core.runs.live();
        live.iter()
            .any(|run| run.key == key && run.command().is_none() && is_theirs(run))
    }
}
