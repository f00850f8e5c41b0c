//! Whom something is told on a channel, as `channel`, `to` and `accountId` of a job, an
//! alert or a heartbeat say it, and whether somebody is there.

use super::channels::{CHANNELS, ChannelSettings, DEFAULT_ACCOUNT};
use crate::keys::channels::Account;

/// Wherever the session is.
pub const LAST: &str = "last";

/// The one channel that is always there: the sessions themselves.
pub const SESSIONS: &str = "webchat";

/// What stands before the topic of a recipient, as in OpenClaw.
pub const TOPIC: &str = ":topic:";

/// Characters of a public name.
const NAME_LENGTH: usize = 64;

/// Somebody on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipient<'a> {
    /// The channel; it may be one that there is not.
    pub channel: &'a str,
    /// Whom, as the channel knows them; it may be empty.
    pub to: &'a str,
    /// The topic in that chat.
    pub topic: Option<&'a str>,
}

/// Why nobody is told something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Nobody {
    /// No daemon speaks on that channel.
    #[error("there is no channel {0} here; there are {known} and webchat (sessions)", known = CHANNELS.join(", "))]
    Channel(String),
    /// It is not said whom.
    #[error("must say whom on {0}: an id there, such as \"12345\" (with openclawctl: {0}:12345)")]
    Unsaid(String),
    /// Nobody is called so there.
    #[error(
        "{to:?} is nobody on {channel}: an id there is a number, such as 12345 (of a group \
         -100123), or the @name of a public group or channel"
    )]
    Id {
        /// The channel.
        channel: String,
        /// What was given.
        to: String,
    },
    /// There is no such topic.
    #[error("{topic:?} is no topic on {channel}: those are numbers, such as 4")]
    Topic {
        /// The channel.
        channel: String,
        /// What was given.
        topic: String,
    },
    /// The configuration has nothing of the channel.
    #[error("channels.{0} is not configured: nobody is told there (openclawctl channels add {0})")]
    Unset(String),
    /// The channel has no such account.
    #[error("channels.{channel} has no account {account:?}; there are {known}")]
    Account {
        /// The channel.
        channel: String,
        /// The account that is named.
        account: String,
        /// Those that there are.
        known: String,
    },
    /// The account is switched off.
    #[error(
        "the account {account} of channels.{channel} is switched off (enabled): nobody is told there"
    )]
    Off {
        /// The channel.
        channel: String,
        /// The account, by its name.
        account: String,
    },
}

impl Nobody {
    /// The field of a place that is at fault.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Channel(_) | Self::Unset(_) => "channel",
            Self::Unsaid(_) | Self::Id { .. } | Self::Topic { .. } => "to",
            Self::Account { .. } | Self::Off { .. } => "accountId",
        }
    }
}

impl<'a> Recipient<'a> {
    /// Who is meant by `channel` and `to`, which may name its channel itself, as in
    /// `telegram:123`; None: a session, or wherever one is.
    pub fn of(channel: &'a str, to: &'a str) -> Option<Self> {
        let named = to.split_once(':');
        let named = named.filter(|(name, _)| CHANNELS.contains(name));
        let (channel, to) = match (channel, named) {
            (LAST, Some(named)) => named,
            (channel, Some((name, rest))) if channel == name => (name, rest),
            (LAST | SESSIONS, _) => return None,
            (channel, _) => (channel, to),
        };
        let (to, topic) = match to.split_once(TOPIC) {
            Some((to, topic)) => (to, Some(topic)),
            None => (to, None),
        };
        Some(Self { channel, to, topic })
    }

    /// Why nobody can be meant, whatever is configured: there is no such channel, or
    /// no id of it looks so.
    pub fn fault(&self) -> Option<Nobody> {
        let channel = || self.channel.to_owned();
        if !CHANNELS.contains(&self.channel) {
            return Some(Nobody::Channel(channel()));
        }
        if self.to.trim().is_empty() {
            return Some(Nobody::Unsaid(channel()));
        }
        if !is_id(self.to) {
            let to = self.to.to_owned();
            return Some(Nobody::Id {
                channel: channel(),
                to,
            });
        }
        let topic = self.topic.filter(|topic| !is_topic(topic))?;
        Some(Nobody::Topic {
            channel: channel(),
            topic: topic.to_owned(),
        })
    }
}

/// Whether Telegram may call somebody so: by a number, or the name of what is public.
fn is_id(to: &str) -> bool {
    match to.strip_prefix('@') {
        Some(name) => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !name.is_empty() && name.len() <= NAME_LENGTH && name.chars().all(is_plain)
        }
        None => to.parse::<i64>().is_ok_and(|id| id != 0) && !to.starts_with('+'),
    }
}

fn is_topic(topic: &str) -> bool {
    topic.parse::<i64>().is_ok_and(|id| id > 0) && !topic.starts_with('+')
}

impl ChannelSettings {
    /// The account of `channel` that is meant by `name`, with its own name: empty, and
    /// the word `default` where none is called so, mean the default one.
    pub fn meant(&self, channel: &str, name: &str) -> Option<(&str, &Account)> {
        let usual = || (name == DEFAULT_ACCOUNT).then(|| self.account(channel, ""));
        self.account(channel, name).or_else(|| usual().flatten())
    }

    /// Why `recipient` is told nothing as `account`; empty: the default one.
    pub fn nobody_at(&self, recipient: &Recipient<'_>, account: &str) -> Option<Nobody> {
        if let Some(fault) = recipient.fault() {
            return Some(fault);
        }
        let channel = recipient.channel.to_owned();
        let Some(accounts) = self.accounts.get(&channel) else {
            return Some(Nobody::Unset(channel));
        };
        match self.meant(&channel, account) {
            None => Some(Nobody::Account {
                known: accounts.keys().cloned().collect::<Vec<_>>().join(", "),
                account: account.to_owned(),
                channel,
            }),
            Some((name, found)) if !found.enabled => Some(Nobody::Off {
                account: name.to_owned(),
                channel,
            }),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(channel: &'static str, to: &'static str) -> Option<Recipient<'static>> {
        Recipient::of(channel, to)
    }

    #[test]
    fn recipient_is_read_with_and_without_its_channel_and_topic() {
        let somebody = |channel, to, topic| Some(Recipient { channel, to, topic });
        for (channel, to, expected) in [
            ("telegram", "5", somebody("telegram", "5", None)),
            ("telegram", "telegram:5", somebody("telegram", "5", None)),
            (
                "last",
                "telegram:-5:topic:7",
                somebody("telegram", "-5", Some("7")),
            ),
            (
                "telegram",
                "-5:topic:7",
                somebody("telegram", "-5", Some("7")),
            ),
            ("telegram", ":topic:7", somebody("telegram", "", Some("7"))),
            ("last", "telegram:", somebody("telegram", "", None)),
            (
                "signal",
                "telegram:5",
                somebody("signal", "telegram:5", None),
            ),
            ("", "5", somebody("", "5", None)),
            ("last", "", None),
            ("last", "signal:5", None),
            ("webchat", "agent:main:x", None),
            ("webchat", "telegram:5", None),
        ] {
            assert_eq!(of(channel, to), expected, "{channel} {to}");
        }
    }

    #[test]
    fn recipient_nobody_is_at_places_that_are_not_set_up() {
        let account = |enabled| Account {
            enabled,
            ..Default::default()
        };
        let mut channels = ChannelSettings::default();
        let at = |channels: &ChannelSettings, channel, to, account| {
            let nobody = channels.nobody_at(&of(channel, to).unwrap(), account);
            nobody.map(|why| (why.field(), why.to_string()))
        };
        let (field, why) = at(&channels, "telegram", "5", "").unwrap();
        assert_eq!(field, "channel");
        assert!(
            why.starts_with("channels.telegram is not configured"),
            "{why}"
        );
        let accounts = [
            ("home".to_owned(), account(true)),
            ("old".to_owned(), account(false)),
        ];
        channels
            .accounts
            .insert("telegram".to_owned(), accounts.into());
        channels
            .defaults
            .insert("telegram".to_owned(), "home".to_owned());
        for (account, expected) in [
            ("", None),
            ("default", None),
            ("home", None),
            (
                "work",
                Some("channels.telegram has no account \"work\"; there are home, old"),
            ),
            (
                "old",
                Some("the account old of channels.telegram is switched off"),
            ),
        ] {
            let found = at(&channels, "telegram", "5", account);
            match (found, expected) {
                (Some((field, why)), Some(expected)) => {
                    assert_eq!(field, "accountId");
                    assert!(why.starts_with(expected), "{why}");
                }
                (found, expected) => assert!(
                    found.is_none() && expected.is_none(),
                    "{account}: {found:?}"
                ),
            }
        }
        for (channel, to, field) in [
            ("signal", "5", "channel"),
            ("telegram", " ", "to"),
            ("telegram", "notanid", "to"),
            ("telegram", "tg:5", "to"),
            ("telegram", "+5", "to"),
            ("telegram", "0", "to"),
            ("telegram", "@", "to"),
            ("telegram", "@two words", "to"),
            ("telegram", "-100:topic:x", "to"),
            ("telegram", "-100:topic:", "to"),
        ] {
            assert_eq!(at(&channels, channel, to, "").unwrap().0, field, "{to}");
        }
        for to in ["5", "-100123", "@public_name", "-100:topic:4", "telegram:5"] {
            assert_eq!(at(&channels, "telegram", to, ""), None, "{to}");
        }
    }
}
