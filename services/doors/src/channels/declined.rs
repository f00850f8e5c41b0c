//! What is refused whenever it is handed in: whoever said it is told.

use openclaw_conversations::Refusal;
use openclaw_conversations::channels as ledger;
use openclaw_conversations::outbox::{self, NewDelivery};
use openclaw_daemon::failure;
use openclaw_proto::channel::{IgnoredCode, Outcome, What};
use openclaw_proto::outbox::{Extras, Kind, Place};
use openclaw_sessions::now_ms;
use openclaw_settings::keys::channels::ErrorPolicy;

use super::hand_in::{Incoming, ignored};
use super::{Channels, Refused};

/// What somebody is told whose message nobody takes, for a reason that is the owner's.
const NOT_SET_UP: &str = "⚠️ Your message was not taken: how this assistant is set up, nobody \
                          answers here. Its owner finds the reason in the gateway's log.";

impl Channels {
    /// Notes that what came in is refused with `refusal`, and why; a message's sender
    /// is told, unless `errorPolicy` is `silent`. What would be taken another time is
    /// given back, to be handed in again.
    pub(super) async fn declined(
        &self,
        incoming: &Incoming<'_>,
        refusal: Refusal,
    ) -> Result<Outcome, Refused> {
        let Some(words) = words(&refusal) else {
            return Err(refusal.into());
        };
        let reason = failure::chain(&refusal);
        tracing::warn!(
            openclaw_channel = incoming.canonical.channel,
            chat = incoming.hand_in.place.id,
            "what came in is not taken: {reason}"
        );
        if matches!(incoming.hand_in.what, What::Press(_)) {
            return Ok(Outcome::Answered { text: words });
        }
        let outcome = ignored(IgnoredCode::Disabled, &reason);
        let is_told = matches!(incoming.hand_in.what, What::Message(_))
            && incoming.account.error_policy != ErrorPolicy::Silent;
        if !is_told {
            return Ok(outcome);
        }
        let (account, key) = (incoming.canonical.clone(), incoming.hand_in.key.clone());
        let told = NewDelivery {
            name: format!("declined {}", incoming.idempotency_key()),
            place: Place::of_route(&account.channel, &incoming.route()),
            session_key: String::new(),
            agent_id: String::new(),
            run_id: String::new(),
            kind: Kind::Announcement { text: words },
            extras: Extras::default(),
            paths: Vec::new(),
        };
        let kept = outcome.clone();
        let tell = move |connection: &rusqlite::Connection| {
            let now = now_ms();
            outbox::add(connection, &told, now)?;
            ledger::keep(connection, &account, &key, &kept, now)
        };
        let operation = "tell that a message is not taken";
        self.core.outbox.change(operation, tell).await?;
        Ok(outcome)
    }
}

/// What somebody is told whose message is refused whenever it comes; None: it may be
/// taken another time.
fn words(refusal: &Refusal) -> Option<String> {
    match refusal {
        Refusal::TooLong { .. } | Refusal::Empty { .. } => {
            Some(format!("⚠️ Your message was not taken: {refusal}."))
        }
        Refusal::Key(_)
        | Refusal::Agent(_)
        | Refusal::OtherAgent { .. }
        | Refusal::UnknownAgent { .. }
        | Refusal::Route(_)
        | Refusal::Limit(_)
        | Refusal::Model(_)
        | Refusal::UnknownAuthProfile { .. } => Some(NOT_SET_UP.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use openclaw_sessions::AgentId;

    use super::*;

    #[test]
    fn refusal_that_stays_is_told_without_what_is_the_owners() {
        let unknown = Refusal::UnknownAgent {
            agent: "ghost".parse().unwrap(),
            configured: vec![AgentId::main().to_string(), "secret".to_owned()],
        };
        let told = words(&unknown).unwrap();
        assert!(told.starts_with("⚠️ Your message was not taken"), "{told}");
        assert!(
            !told.contains("ghost") && !told.contains("secret"),
            "{told}"
        );
        assert_eq!(words(&Refusal::Stopping), None);
    }
}
