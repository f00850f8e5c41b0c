//! What runs and waits of people who may talk no more: ended as soon as that is known.

use std::sync::Arc;

use openclaw_conversations::channels as ledger;
use openclaw_daemon::failure;
use openclaw_inbound::{Facts, PairedPeople, Verdict, judge};
use openclaw_proto::channel::AccountName;
use openclaw_proto::gateway::{ChatKind, Route};
use openclaw_runs::Run;
use openclaw_settings::Settings;
use openclaw_settings::channels::CHANNELS;

use super::Channels;

/// Why a run ended.
const REMOVED: &str = "whoever asked may not talk here any more";

impl Channels {
    /// Ends the runs of people whom the configuration lets in no more, at the start and
    /// whenever it changed.
    pub async fn end_removed(self: Arc<Self>) {
        let mut configuration = self.core.configuration.clone();
        let mut before = None;
        loop {
            let settings = configuration.settings();
            self.end_runs_of_removed(before.as_deref(), &settings).await;
            before = Some(settings);
            if !configuration.changed().await {
                return;
            }
        }
    }

    /// Ends the runs of people who may not talk by `settings`. Where it is not known what
    /// a group is called now, which may be how it is listed, those alone who could by the
    /// settings `before`.
    pub(super) async fn end_runs_of_removed(&self, before: Option<&Settings>, settings: &Settings) {
        for run in self.core.runs.live() {
            let Some(route) = of_a_channel(&run) else {
                continue;
            };
            let pairing = match self.pairing_of(&run.channel, route).await {
                Ok(pairing) => pairing,
                // Who it is of is not known; the next message is judged again.
                Err(fault) => {
                    failure::report("look up who may talk", &fault);
                    continue;
                }
            };
            let may_talk = |by: &Settings| may_talk(by, &run.channel, route, &pairing);
            let is_known = route.chat == ChatKind::Direct || route.present_id.is_some();
            let could = is_known || before.is_some_and(may_talk);
            if could && !may_talk(settings) && run.stop(REMOVED) {
                tracing::info!(parent: &run.span, "ended: {REMOVED}");
            }
        }
    }

    async fn pairing_of(
        &self,
        channel: &str,
        route: &Route,
    ) -> Result<ledger::PeerPairing, openclaw_conversations::database::Fault> {
        let of = AccountName {
            channel: channel.to_owned(),
            account: route.account.clone(),
        };
        let peer = route.sender.clone().unwrap_or_default();
        let look = move |connection: &rusqlite::Connection| ledger::of_peer(connection, &of, &peer);
        self.core.database.read("look up who may talk", look).await
    }
}

/// Where on a channel a message of a person came from that `run` answers.
fn of_a_channel(run: &Run) -> Option<&Route> {
    let route = run.route.as_ref().filter(|it| it.sender.is_some())?;
    CHANNELS.contains(&run.channel.as_str()).then_some(route)
}

/// Whether whoever is at `route` may talk there by `settings`; nobody may at an account
/// that is off or gone.
fn may_talk(
    settings: &Settings,
    channel: &str,
    route: &Route,
    pairing: &ledger::PeerPairing,
) -> bool {
    let named = AccountName {
        channel: channel.to_owned(),
        account: route.account.clone(),
    };
    let Ok((canonical, account)) = Channels::account_that_is_on(settings, &named) else {
        return false;
    };
    let present = route.present_id.as_ref().unwrap_or(&route.id);
    let facts = Facts {
        channel,
        account: &route.account,
        is_default_account: canonical.account.is_empty(),
        chat: route.chat,
        chat_id: present,
        former_chat_id: if *present == route.id { "" } else { &route.id },
        thread: route.thread.as_deref(),
        sender: route.sender.as_deref().unwrap_or_default(),
        is_bot: false,
        is_to_bot: true,
    };
    let known = PairedPeople {
        is_paired: pairing.is_paired,
        is_paired_owner: pairing.is_owner,
        has_paired_owner: pairing.has_owner,
        owners: &settings.channels.owners,
    };
    matches!(judge(account, &facts, known), Verdict::Allow { .. })
}
