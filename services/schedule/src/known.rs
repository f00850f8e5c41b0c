//! Whom a job that an agent made may tell something on a channel: those who may talk
//! there themselves.
//!
//! Channels let a bot write to whoever wrote to it once, a stranger who was given a
//! code included, and what an agent says may hold what it knows of its user. So the way
//! out of a confined network does not lead through a chat either.

use openclaw_conversations::channels::of_peer;
use openclaw_inbound::{bare, names};
use openclaw_jobs::Maker;
use openclaw_proto::channel::AccountName;
use openclaw_proto::outbox::Place;
use openclaw_settings::keys::channels::{Account, DmPolicy, GroupPolicy};

use crate::audience::is_of_many;
use crate::needs::Needs;

/// What is known of somebody beside the configuration.
#[derive(Debug, Clone, Copy, Default)]
struct Acquaintance {
    is_paired: bool,
    /// The session that the job was made in talks to them.
    is_own: bool,
    /// Of the assistant itself (`commands.ownerAllowFrom`, or paired first).
    is_owner: bool,
}

/// Why a job that `maker` made may not tell anything at `place`, if so.
pub(crate) async fn stranger(needs: &Needs, maker: &Maker, place: &Place) -> Option<String> {
    let settings = needs.configuration.settings();
    // Nobody is told anything as an account that there is not.
    let (name, account) = settings.channels.meant(&place.channel, &place.account)?;
    let to = bare(&place.to, &place.channel)?;
    let of = AccountName {
        channel: place.channel.clone(),
        account: settings
            .channels
            .ledger_name(&place.channel, name)
            .to_owned(),
    };
    let owners = &settings.channels.owners;
    let (is_paired, is_paired_owner) = paired(needs, of, to.clone()).await;
    let known = Acquaintance {
        is_paired,
        is_own: is_own(needs, maker, place).await,
        is_owner: is_paired_owner || owners.iter().any(|it| names(it, &place.channel, &to)),
    };
    if may_be_told(account, (&place.channel, &to), known) {
        return None;
    }
    let channel = &place.channel;
    Some(if is_of_many(&to) {
        format!(
            "an agent's job tells {channel}:{to} nothing: channels.{channel} does not list that \
             group (groups); list it there, or make the job yourself"
        )
    } else {
        format!(
            "an agent's job tells {channel}:{to} nothing, who may not talk here: let them in \
             (pairing, or allowFrom of channels.{channel}), or make the job yourself"
        )
    })
}

/// Whether the peer is paired, and whether as the owner. What cannot be looked up counts as no.
async fn paired(needs: &Needs, of: AccountName, peer: String) -> (bool, bool) {
    let look = move |connection: &rusqlite::Connection| of_peer(connection, &of, &peer);
    let found = needs.database.read("look whether somebody is paired", look);
    found
        .await
        .map_or((false, false), |it| (it.is_paired, it.is_owner))
}

async fn is_own(needs: &Needs, maker: &Maker, place: &Place) -> bool {
    let settings = needs.configuration.settings();
    let Ok(key) = openclaw_runs::keys::named(&settings, &maker.session_key, &maker.agent_id) else {
        return false;
    };
    let Ok(entry) = needs.sessions.entry(&key).await else {
        return false;
    };
    let own = entry.get(Place::FIELD).and_then(Place::of_session);
    own.is_some_and(|own| {
        let account = |it: &Place| {
            settings
                .channels
                .meant(&it.channel, &it.account)
                .map(|it| it.0.to_owned())
        };
        own.channel == place.channel
            && account(&own) == account(place)
            && bare(&own.to, &own.channel) == bare(&place.to, &place.channel)
    })
}

/// Whether whoever is called `to` on `channel` may be told something there by an agent of its own
/// accord: one who may talk to it by name, or a chat of many that is listed. Where everybody may
/// talk, that is nobody in particular, beside those who are talking with it.
fn may_be_told(account: &Account, (channel, to): (&str, &str), known: Acquaintance) -> bool {
    if is_of_many(to) {
        let all = account.groups.get("*");
        let listed = account.groups.get(to);
        let is_off = listed.or(all).is_some_and(|it| it.enabled == Some(false));
        let own_policy = listed.or(all).and_then(|it| it.group_policy);
        if is_off || own_policy.unwrap_or(account.group_policy) == GroupPolicy::Disabled {
            return false;
        }
        let is_any = account.groups.is_empty() || all.is_some();
        return listed.is_some() || (known.is_own && is_any);
    }
    if known.is_owner {
        return true;
    }
    let is_named = account.allow_from.iter().any(|it| names(it, channel, to));
    let is_for_all = openclaw_inbound::has_everybody(&account.allow_from);
    match account.dm_policy {
        DmPolicy::Disabled => false,
        DmPolicy::Pairing => is_named || known.is_paired || (known.is_own && is_for_all),
        DmPolicy::Allowlist | DmPolicy::Open => is_named || (known.is_own && is_for_all),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOBODY: Acquaintance = Acquaintance {
        is_paired: false,
        is_own: false,
        is_owner: false,
    };
    const PAIRED: Acquaintance = Acquaintance {
        is_paired: true,
        ..NOBODY
    };
    const OWN: Acquaintance = Acquaintance {
        is_own: true,
        ..NOBODY
    };
    const OWNER: Acquaintance = Acquaintance {
        is_owner: true,
        ..NOBODY
    };

    fn is_told(account: Value, to: &str, known: Acquaintance) -> bool {
        let account: Account = serde_json::from_value(account).unwrap();
        may_be_told(&account, ("telegram", to), known)
    }

    #[test]
    fn those_are_told_who_may_talk_by_name() {
        let listed = json!({"dmPolicy": "allowlist", "allowFrom": ["tg:7"]});
        let paired = json!({"dmPolicy": "pairing", "allowFrom": [7]});
        let open = json!({"dmPolicy": "open", "allowFrom": ["*"]});
        let off = json!({"dmPolicy": "disabled", "allowFrom": [7]});
        for (account, to, known, expected) in [
            (&listed, "7", NOBODY, true),
            (&listed, "8", NOBODY, false),
            (&listed, "8", PAIRED, false),
            // Taken out of the list since the session was begun.
            (&listed, "8", OWN, false),
            (&paired, "7", NOBODY, true),
            (&paired, "8", PAIRED, true),
            (&paired, "8", OWN, false),
            (&open, "8", NOBODY, false),
            (&open, "8", OWN, true),
            (&off, "7", PAIRED, false),
            (&paired, "8", OWNER, true),
        ] {
            assert_eq!(
                is_told(account.clone(), to, known),
                expected,
                "{account} {to} {known:?}"
            );
        }
    }

    #[test]
    fn groups_are_told_that_are_listed_or_whose_session_it_is() {
        let listed = json!({"groupPolicy": "open", "groups": {"-5": {}, "-6": {"enabled": false}}});
        let any = json!({"groupPolicy": "open"});
        let all = json!({"groupPolicy": "allowlist", "groups": {"*": {}}});
        let off = json!({"groupPolicy": "disabled", "groups": {"-5": {}}});
        for (account, to, known, expected) in [
            (&listed, "-5", NOBODY, true),
            (&listed, "-6", OWN, false),
            (&listed, "-7", OWN, false),
            (&listed, "@news", NOBODY, false),
            (&any, "-7", NOBODY, false),
            (&any, "-7", OWN, true),
            (&all, "-7", NOBODY, false),
            (&all, "-7", OWN, true),
            (&off, "-5", OWN, false),
        ] {
            assert_eq!(
                is_told(account.clone(), to, known),
                expected,
                "{account} {to} {known:?}"
            );
        }
    }
}
