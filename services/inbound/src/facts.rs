//! What is known of something that came in.

use openclaw_proto::gateway::ChatKind;

/// What is known of something that came in.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The channel.
    pub channel: &'a str,
    /// The account's name.
    pub account: &'a str,
    /// Whether that is the channel's default account.
    pub is_default_account: bool,
    /// The kind of chat.
    pub chat: ChatKind,
    /// The person, group, channel or room.
    pub chat_id: &'a str,
    /// What it was called before; empty: it never was.
    pub former_chat_id: &'a str,
    /// The thread or topic in it.
    pub thread: Option<&'a str>,
    /// Who says it; empty: nobody is named.
    pub sender: &'a str,
    /// Whether that is a bot.
    pub is_bot: bool,
    /// Whether it is said to the bot.
    pub is_to_bot: bool,
}
