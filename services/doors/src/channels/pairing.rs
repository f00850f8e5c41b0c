//! Codes for strangers.

use openclaw_conversations::channels::{self as ledger, PairingAnswer};
use openclaw_conversations::outbox::{self, NewDelivery};
use openclaw_inbound::CODE_LENGTH;
use openclaw_proto::channel::{IgnoredCode, What};
use openclaw_proto::channel_admin::PairingRequest;
use openclaw_proto::gateway::Route;
use openclaw_proto::outbox::{Extras, Kind, Place};
use openclaw_sessions::now_ms;
use uuid::Uuid;

use super::hand_in::{Incoming, Step, ignored};
use super::{Channels, Refused};

impl Channels {
    /// Gives a stranger a code, once.
    pub(super) async fn pair(
        &self,
        incoming: &Incoming<'_>,
        may_ask: bool,
    ) -> Result<Step, Refused> {
        let outcome = ignored(IgnoredCode::NotPaired, "the sender is not paired");
        let hand_in = incoming.hand_in;
        if !may_ask || !matches!(hand_in.what, What::Message(_)) {
            return Ok(Step::Over(outcome));
        }
        let mut random = [0; CODE_LENGTH];
        random.copy_from_slice(&Uuid::new_v4().into_bytes()[..CODE_LENGTH]);
        // The version's bits are not random.
        random[6] = Uuid::new_v4().into_bytes()[0];
        let request = PairingRequest {
            account: incoming.canonical.clone(),
            peer: hand_in.sender.id.clone(),
            code: openclaw_inbound::code(random),
            name: incoming.name(),
            created_ms: 0,
        };
        let route = incoming.route();
        let (key, kept) = (hand_in.key.clone(), outcome.clone());
        let pair = move |connection: &rusqlite::Connection| {
            let now = now_ms();
            let account = request.account.clone();
            if let PairingAnswer::New(request) = ledger::ask(connection, request, now)? {
                let reply = pairing_reply(&request, &route);
                outbox::add(connection, &reply, now)?;
            }
            ledger::keep(connection, &account, &key, &kept, now)
        };
        self.core.outbox.change("give a pairing code", pair).await?;
        Ok(Step::Over(outcome))
    }
}

/// What a stranger is told.
fn pairing_reply(request: &PairingRequest, route: &Route) -> NewDelivery {
    let channel = &request.account.channel;
    let text = format!(
        "OpenClaw: access not configured.\n\nYour {channel} user id: {}\nPairing code: {}\n\nAsk \
         the owner to approve with:\nopenclawctl pairing approve {}",
        request.peer, request.code, request.code
    );
    NewDelivery {
        name: format!("pairing {channel} {} {}", request.code, request.created_ms),
        place: Place::of_route(channel, route),
        session_key: String::new(),
        agent_id: String::new(),
        run_id: String::new(),
        kind: Kind::Announcement { text },
        extras: Extras::default(),
        paths: Vec::new(),
    }
}
