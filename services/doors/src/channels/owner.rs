//! What the owner asks and decides.

use std::time::Duration;

use openclaw_conversations::channels::{self as ledger, Decided};
use openclaw_conversations::outbox::{self, NewDelivery};
use openclaw_inbound::{bare, listing};
use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::{PairedPeer, PairingRequest, Pairings, Revoked, Sent, Text};
use openclaw_proto::outbox::{Extras, Kind, Place, State};
use openclaw_sessions::now_ms;
use openclaw_settings::recipient::Recipient;
use uuid::Uuid;

use super::{Channels, Refused};

/// Whom or where `text` is for, and in which thread.
fn recipient(channel: &str, text: &Text) -> Result<(String, Option<String>), Refused> {
    let named = Recipient::of(channel, text.to.trim());
    let named = named.ok_or_else(|| Refused::Invalid("say whom or where".to_owned()))?;
    let thread = text.thread.as_deref();
    if thread.is_some() && named.topic.is_some() && thread != named.topic {
        let problem = "the recipient names a thread of its own; name one of the two".to_owned();
        return Err(Refused::Invalid(problem));
    }
    let named = Recipient {
        channel,
        topic: named.topic.or(thread),
        ..named
    };
    match named.fault() {
        Some(fault) => Err(Refused::Invalid(fault.to_string())),
        None => Ok((named.to.to_owned(), named.topic.map(str::to_owned))),
    }
}

/// What somebody is told who was let in, in OpenClaw's words.
const APPROVED: &str = "✅ OpenClaw access approved. Send a message to start chatting.";

/// How long whoever has something said waits for what becomes of it: a provider answers
/// within a second or two, and one message a second goes to a chat.
const SEND_PATIENCE: Duration = Duration::from_secs(6);

/// Bytes of what may be said at once.
const TEXT_LIMIT: usize = 64 * 1024;

impl Channels {
    /// Who wants to talk, and who may.
    pub async fn pairings(&self) -> Result<Pairings, Refused> {
        let read = |connection: &rusqlite::Connection| {
            let requests = ledger::requests(connection, now_ms())?;
            Ok((requests, ledger::peers(connection)?))
        };
        let (requests, peers) = self.core.database.read("list pairings", read).await?;
        let peers = peers.into_iter().map(|peer| self.shown_peer(peer));
        Ok(Pairings {
            requests: requests.into_iter().map(|it| self.shown(it)).collect(),
            peers: peers.collect(),
        })
    }

    /// Lets in whoever was told `code`, or does not; None: no such code holds.
    /// Whoever is let in is told.
    pub(crate) async fn decide_pairing(
        &self,
        code: String,
        is_approved: bool,
    ) -> Result<Option<(PairingRequest, bool)>, Refused> {
        let decide = move |connection: &rusqlite::Connection| {
            let now = now_ms();
            if !is_approved {
                return ledger::deny(connection, &code, now);
            }
            let decided = ledger::approve(connection, &code, now)?;
            if let Decided::Done(request, _) = &decided {
                let name = format!("approved {} {}", request.code, request.created_ms);
                let told = announcement(name, place(request), APPROVED);
                outbox::add(connection, &told, now)?;
            }
            Ok(decided)
        };
        let decided = self.core.outbox.change("decide about a pairing", decide);
        Ok(match decided.await? {
            Decided::Unknown => None,
            Decided::Done(request, is_owner) => {
                tracing::info!(
                    openclaw_channel = request.account.channel,
                    peer = request.peer,
                    is_approved,
                    is_owner,
                    "a pairing was decided"
                );
                Some((self.shown(request), is_owner))
            }
        })
    }

    /// Takes back that `peer` was let in at the account `named`, which the configuration
    /// need not have any more; None: nobody let them in.
    pub(crate) async fn revoke_pairing(
        &self,
        named: &AccountName,
        peer: &str,
    ) -> Result<Option<Revoked>, Refused> {
        let of = AccountName {
            channel: named.channel.clone(),
            account: self.canonical(&named.channel, &named.account),
        };
        let who = bare(peer, &named.channel).unwrap_or_else(|| peer.to_owned());
        let revoke = move |connection: &rusqlite::Connection| ledger::revoke(connection, &of, &who);
        let revoked = self.core.outbox.change("revoke a pairing", revoke).await?;
        let Some(peer) = revoked else {
            return Ok(None);
        };
        tracing::info!(
            openclaw_channel = peer.account.channel,
            peer = peer.peer,
            is_owner = peer.is_owner,
            "a pairing was revoked"
        );
        let settings = self.core.configuration.settings();
        self.end_runs_of_removed(None, &settings).await;
        let account = settings.channels.account(&named.channel, &named.account);
        let account = account.map(|(_, account)| account);
        let keys = account.map_or_else(Vec::new, |it| listing(it, &named.channel, &peer.peer));
        Ok(Some(Revoked {
            peer: self.shown_peer(peer),
            keys,
        }))
    }

    /// Has something said on a channel, or a file sent, or both; what has become of it
    /// a moment later.
    pub async fn send(&self, text: Text) -> Result<Sent, Refused> {
        let settings = self.core.configuration.settings();
        let (canonical, _) = Self::account_that_is_on(&settings, &text.account)?;
        let (to, thread) = recipient(&canonical.channel, &text)?;
        let is_nothing = text.text.trim().is_empty() && text.file.is_none();
        if is_nothing {
            let problem = "there is nothing to say: neither words nor a file".to_owned();
            return Err(Refused::Invalid(problem));
        }
        if text.text.len() > TEXT_LIMIT {
            let problem = format!("at most {TEXT_LIMIT} bytes are said at once");
            return Err(Refused::Invalid(problem));
        }
        let place = Place {
            channel: canonical.channel.clone(),
            account: canonical.account.clone(),
            to,
            chat: None,
            thread,
        };
        let name = format!("sent {}", Uuid::new_v4());
        let mut new = announcement(name.clone(), place, &text.text);
        if let Some(file) = text.file {
            let sent = self.sent_file(&canonical, file).await?;
            new.paths = vec![sent.id];
            new.extras.files = vec![sent.file];
        }
        let add = move |connection: &rusqlite::Connection| outbox::add(connection, &new, now_ms());
        self.core
            .outbox
            .change("say something on a channel", add)
            .await?;
        if self.abilities(&canonical).is_none() {
            return Ok(Sent::Unattended);
        }
        let outcome = self.core.outbox.outcome_of(&name, SEND_PATIENCE);
        Ok(match outcome.await? {
            (State::Delivered, ids, _) => Sent::Delivered(ids),
            (State::Failed, _, reason) => Sent::Failed(reason),
            (State::Pending | State::Leased, _, reason) => Sent::Open(reason),
        })
    }

    /// The same, for whom it is an error when it fails.
    pub async fn send_or_fail(&self, text: Text) -> Result<(), Refused> {
        match self.send(text).await? {
            Sent::Failed(why) => Err(Refused::Undelivered(why)),
            Sent::Delivered(_) | Sent::Open(_) | Sent::Unattended => Ok(()),
        }
    }

    fn shown(&self, request: PairingRequest) -> PairingRequest {
        PairingRequest {
            account: self.named(request.account),
            ..request
        }
    }

    fn shown_peer(&self, peer: PairedPeer) -> PairedPeer {
        PairedPeer {
            account: self.named(peer.account),
            ..peer
        }
    }

    /// As the configuration names it.
    pub(super) fn named(&self, account: AccountName) -> AccountName {
        let settings = self.core.configuration.settings();
        let known = settings
            .channels
            .account(&account.channel, &account.account);
        AccountName {
            account: known.map_or(account.account, |(name, _)| name.to_owned()),
            channel: account.channel,
        }
    }
}

fn place(request: &PairingRequest) -> Place {
    Place {
        channel: request.account.channel.clone(),
        account: request.account.account.clone(),
        to: request.peer.clone(),
        chat: Some(openclaw_proto::gateway::ChatKind::Direct),
        thread: None,
    }
}

fn announcement(name: String, place: Place, text: &str) -> NewDelivery {
    NewDelivery {
        name,
        place,
        session_key: String::new(),
        agent_id: String::new(),
        run_id: String::new(),
        kind: Kind::Announcement {
            text: text.to_owned(),
        },
        extras: Extras::default(),
        paths: Vec::new(),
    }
}
