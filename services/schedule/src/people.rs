//! Which sessions are the owner's own: nobody else talks in them.

use std::sync::Arc;

use openclaw_conversations::channels;
use openclaw_conversations::database::Fault;
use openclaw_inbound::{PairedPeople, bare, has_everybody, is_owner, names};
use openclaw_proto::channel_admin::PairedPeer;
use openclaw_proto::origin::{is_isolated, is_shared};
use openclaw_sessions::SessionKey;
use openclaw_settings::keys::channels::{Account, DmPolicy, PeerId};
use openclaw_settings::{DmScope, SessionScope, Settings};

use crate::audience::without_thread;
use crate::needs::Needs;

/// What stands in a key before the person of a private chat.
const DIRECT: &str = "direct:";

/// Whose words make a session, as its key says it.
#[derive(Debug, PartialEq, Eq)]
enum Talker<'a> {
    /// All who talk to the assistant.
    Everybody,
    /// Those of a group, or of what has the form of one.
    Many,
    /// The owner, and all private chats where they share that session.
    Main,
    /// Somebody on a channel; None: on all of them.
    Person(Option<&'a str>, &'a str),
    /// Another program, which passes on what it was sent, or a job.
    Program,
    /// Whoever gave it its name: an operator.
    Operator,
}

/// Those who talk to the assistant, and who of them owns it.
pub(crate) struct People {
    settings: Arc<Settings>,
    paired: Vec<PairedPeer>,
}

impl People {
    /// As they are now.
    pub(crate) async fn of(needs: &Needs) -> Result<Self, Fault> {
        let paired = needs.database.read("list who is paired", channels::peers);
        Ok(Self {
            paired: paired.await?,
            settings: needs.configuration.settings(),
        })
    }

    /// Whether the session `key` is the owner's own.
    pub(crate) fn own(&self, key: &SessionKey) -> bool {
        let session = &self.settings.session;
        match talker(key.as_str()) {
            Talker::Everybody | Talker::Many | Talker::Program => false,
            Talker::Operator => true,
            Talker::Main => {
                session.scope == SessionScope::PerSender
                    && (session.dm_scope != DmScope::Main || !self.others_talk())
            }
            Talker::Person(channel, peer) => match session.identity_links.get(peer) {
                Some(ids) => self.own_all(ids, channel),
                None => self.owns_everywhere(channel, peer),
            },
        }
    }

    /// Whether somebody on a channel is the owner.
    pub(crate) fn is_owner(&self, channel: &str, id: &str) -> bool {
        let owned = |it: &&PairedPeer| it.is_owner && it.account.channel == channel;
        let known = PairedPeople {
            is_paired: false,
            is_paired_owner: self.paired.iter().filter(owned).any(|it| it.peer == id),
            has_paired_owner: self.paired.iter().any(|it| it.is_owner),
            owners: &self.settings.channels.owners,
        };
        let mut accounts = self.accounts(channel);
        accounts.any(|account| is_owner(account, (channel, id), known))
    }

    /// Whether the people of one name that `ids` are on `channel` are the owner.
    fn own_all(&self, ids: &[String], channel: Option<&str>) -> bool {
        let mut ids = ids.iter().map(|id| match id.trim().split_once(':') {
            Some((on, peer)) => (Some(on), peer),
            None => (channel, id.trim()),
        });
        ids.all(|(on, peer)| {
            let is_elsewhere = channel.is_some() && on != channel;
            is_elsewhere || self.owns_everywhere(on, peer)
        })
    }

    /// Without a channel the same id is one person on each of them.
    fn owns_everywhere(&self, channel: Option<&str>, peer: &str) -> bool {
        let mut all = self.settings.channels.accounts.keys();
        match channel {
            Some(channel) => self.is_owner(channel, peer),
            None => all.all(|channel| self.is_owner(channel, peer)),
        }
    }

    /// Whether anybody but the owner may talk in private.
    fn others_talk(&self) -> bool {
        let channels = self.settings.channels.accounts.keys();
        let mut accounts = channels.flat_map(|it| self.accounts(it).map(move |at| (it, at)));
        accounts.any(|(channel, account)| self.others_talk_to(account, channel))
    }

    fn others_talk_to(&self, account: &Account, channel: &str) -> bool {
        let is_other = |written: &PeerId| {
            // Names that may change hands let nobody in.
            let id = bare(&written.to_string(), channel).filter(|id| !id.starts_with('@'));
            id.is_some_and(|id| names(written, channel, &id) && !self.is_owner(channel, &id))
        };
        let is_paired_other =
            |it: &PairedPeer| it.account.channel == channel && !self.is_owner(channel, &it.peer);
        let is_listed =
            has_everybody(&account.allow_from) || account.allow_from.iter().any(is_other);
        match account.dm_policy {
            DmPolicy::Disabled => false,
            DmPolicy::Allowlist | DmPolicy::Open => is_listed,
            DmPolicy::Pairing => is_listed || self.paired.iter().any(is_paired_other),
        }
    }

    fn accounts(&self, channel: &str) -> impl Iterator<Item = &Account> + use<'_> {
        let accounts = self.settings.channels.accounts.get(channel);
        let accounts = accounts.into_iter().flat_map(|it| it.values());
        accounts.filter(|account| account.enabled)
    }
}

fn talker(key: &str) -> Talker<'_> {
    let named = key.strip_prefix("agent:");
    let Some((_, own)) = named.and_then(|it| it.split_once(':')) else {
        return Talker::Everybody;
    };
    if is_shared(key) {
        return Talker::Many;
    }
    if is_isolated(key) {
        return Talker::Program;
    }
    let own = without_thread(own);
    if own == "main" {
        return Talker::Main;
    }
    let (first, rest) = own.split_once(':').unwrap_or((own, ""));
    let after_account = rest.split_once(':').and_then(|(_, rest)| person(rest));
    if let Some(peer) = person(own) {
        return Talker::Person(None, peer);
    }
    if let Some(peer) = person(rest).or(after_account) {
        return Talker::Person(Some(first), peer);
    }
    // The HTTP API makes the last of a request's own name for who asks.
    if first == "hook" || first.ends_with("-user") {
        return Talker::Program;
    }
    Talker::Operator
}

fn person(part: &str) -> Option<&str> {
    part.strip_prefix(DIRECT)
}

#[cfg(test)]
mod tests;
