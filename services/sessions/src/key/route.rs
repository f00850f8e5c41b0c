//! From where a message came to which conversation it belongs to.

use std::collections::BTreeMap;

use super::form;
use super::{InvalidKey, SessionKey};
use crate::agent::AgentId;

/// Which direct chats share a conversation (`session.dmScope`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DmScope {
    /// All of them, with the CLI: `agent:<id>:main`.
    #[default]
    Main,
    /// One per peer over all channels: `agent:<id>:direct:<peer>`.
    PerPeer,
    /// `agent:<id>:<channel>:direct:<peer>`.
    PerChannelPeer,
    /// `agent:<id>:<channel>:<account>:direct:<peer>`.
    PerAccountChannelPeer,
}

/// Who is one person on several channels (`session.identityLinks`): canonical
/// name to `<channel>:<peer>`.
pub type IdentityLinks = BTreeMap<String, Vec<String>>;

/// Where a message came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The channel, such as `telegram`.
    pub channel: String,
    /// The bot's account on the channel; empty: `default`.
    pub account: String,
    /// The kind of chat and who or what is at its other end.
    pub chat: Chat,
    /// The thread or topic in a group, if it is one.
    pub thread: Option<String>,
}

/// A chat of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chat {
    /// With one person.
    Direct(String),
    /// With several; the channel calls it a group.
    Group(String),
    /// The channel calls it a channel.
    Channel(String),
    /// The channel calls it a room.
    Room(String),
}

/// A route that no key can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRoute {
    /// A part is empty, or would be taken for two.
    #[error("the {part} {value:?} of a message's route is empty or has a \":\" in it")]
    Part {
        /// Which.
        part: &'static str,
        /// As it was given.
        value: String,
    },
    /// The key would not be valid.
    #[error(transparent)]
    Key(#[from] InvalidKey),
}

impl Route {
    /// The key of the conversation with `agent`.
    ///
    /// Two routes have the same key when, and only when, the scope puts them
    /// together: a channel or account with a `:` is refused, and the id of a
    /// peer, group or thread that would be ambiguous is escaped as in URLs.
    /// Other ids stay as they are, as OpenClaw's keys have them.
    pub fn key(
        &self,
        agent: &AgentId,
        scope: DmScope,
        links: &IdentityLinks,
    ) -> Result<SessionKey, InvalidRoute> {
        let channel = part("channel", &self.channel)?;
        let rest = match &self.chat {
            Chat::Direct(peer) => self.direct(&channel, peer, scope, links)?,
            Chat::Group(id) => format!("{channel}:group:{}", id_of("group", id)?),
            Chat::Channel(id) => format!("{channel}:channel:{}", id_of("channel id", id)?),
            Chat::Room(id) => format!("{channel}:room:{}", id_of("room", id)?),
        };
        let rest = match (&self.thread, &self.chat) {
            (None, _) => rest,
            // A direct chat that shares the main session has no threads.
            (Some(_), Chat::Direct(_)) if rest == "main" => rest,
            (Some(thread), _) => {
                let word = if channel == "telegram" {
                    "topic"
                } else {
                    "thread"
                };
                format!("{rest}:{word}:{}", id_of("thread", thread)?)
            }
        };
        Ok(SessionKey::parse(&format!("agent:{agent}:{rest}"), agent)?)
    }

    fn direct(
        &self,
        channel: &str,
        peer: &str,
        scope: DmScope,
        links: &IdentityLinks,
    ) -> Result<String, InvalidRoute> {
        let own = id_of("peer", peer)?;
        let peer = match linked(channel, peer, links) {
            Some(name) => id_of("linked name", name)?,
            None => own,
        };
        Ok(match scope {
            DmScope::Main => "main".to_owned(),
            DmScope::PerPeer => format!("direct:{peer}"),
            DmScope::PerChannelPeer => format!("{channel}:direct:{peer}"),
            DmScope::PerAccountChannelPeer => {
                let account = match self.account.trim() {
                    "" => "default".to_owned(),
                    account => part("account", account)?,
                };
                format!("{channel}:{account}:direct:{peer}")
            }
        })
    }
}

/// The canonical name of a peer, if somebody said that it has one.
fn linked<'a>(channel: &str, peer: &str, links: &'a IdentityLinks) -> Option<&'a str> {
    let peer = form::phone_number(&peer.trim().to_lowercase());
    let is_peer = |id: &String| {
        let id = id.trim().to_lowercase();
        match id.split_once(':') {
            Some((of, linked)) if of == channel => form::phone_number(linked) == peer,
            _ => form::phone_number(&id) == peer,
        }
    };
    let found = links.iter().find(|(_, ids)| ids.iter().any(is_peer));
    found.map(|(name, _)| name.as_str())
}

/// A part that is a word of the channel's or of the configuration's.
fn part(part: &'static str, value: &str) -> Result<String, InvalidRoute> {
    let word = value.trim().to_lowercase();
    if word.is_empty() || word.contains(':') {
        return Err(InvalidRoute::Part {
            part,
            value: value.to_owned(),
        });
    }
    Ok(word)
}

/// A part that a channel chose.
fn id_of(part: &'static str, value: &str) -> Result<String, InvalidRoute> {
    let id = form::phone_number(&value.trim().to_lowercase());
    if id.is_empty() {
        return Err(InvalidRoute::Part {
            part,
            value: value.to_owned(),
        });
    }
    let is_plain = |c: char| c != '%' && !c.is_whitespace() && !c.is_control();
    let is_ambiguous = [":thread:", ":topic:"].iter().any(|word| id.contains(word));
    if id.chars().all(is_plain) && !is_ambiguous && !id.split(':').any(str::is_empty) {
        return Ok(id);
    }
    Ok(id.chars().map(escaped).collect())
}

fn escaped(c: char) -> String {
    match c {
        '%' | ':' => format!("%{:02x}", u32::from(c)),
        c if c.is_whitespace() || c.is_control() => format!("%u{:04x}", u32::from(c)),
        c => c.to_string(),
    }
}
