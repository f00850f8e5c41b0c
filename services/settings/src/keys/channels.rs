//! `channels`, `bindings` and `commands` of the file, typed but optional, as
//! written.
//!
//! The names and defaults are OpenClaw's (reference: the keys of Telegram).

use std::collections::BTreeMap;

use openclaw_config::secret::Secret;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::section::{sections, words};

sections! {
    /// `channels`.
    pub struct Channels {
        /// `channels.telegram`.
        telegram: Option<Channel>,
        /// Channels that are not supported yet.
        #[serde(flatten)]
        others: BTreeMap<String, Value>,
    }

    /// A channel, with what holds for its accounts that do not say otherwise.
    pub struct Channel {
        /// The account that is meant where none is named.
        default_account: Option<String>,
        /// Accounts by name; without any there is one, `default`.
        accounts: BTreeMap<String, Account>,
        /// What holds for all of them.
        #[serde(flatten)]
        account: Account,
    }

    /// An account of a channel.
    pub struct Account {
        /// Whether it is spoken for.
        enabled: bool = true,
        /// What people call it.
        name: Option<String>,
        /// The file with its token.
        token_file: Option<String>,
        /// Its token itself, where there is no such file.
        #[serde(skip_serializing)]
        bot_token: Option<Secret>,
        /// Who may talk to it: `pairing`, `allowlist`, `open` (with `*` in
        /// `allowFrom`) or `disabled`.
        dm_policy: DmPolicy = DmPolicy::Pairing,
        /// Those who may, by their ids; `*`: everybody.
        allow_from: Vec<PeerId>,
        /// In which groups it answers: `allowlist`, `open` or `disabled`.
        group_policy: GroupPolicy = GroupPolicy::Allowlist,
        /// Who may talk to it in groups; those of `allowFrom` where nobody is
        /// named.
        group_allow_from: Vec<PeerId>,
        /// Groups by id; `*`: all others.
        groups: BTreeMap<String, Group>,
        /// What is shown while it answers: `off`, `partial`, `block` or
        /// `progress`.
        streaming: Streaming = Streaming::Mode(StreamingMode::Partial),
        /// Characters of one message.
        #[cfg_attr(test, schemars(range(min = 1, max = 4096)))]
        text_chunk_limit: u32 = 4000,
        /// Whether answers name what they answer: `off`, `first`, `all` or
        /// `batched`.
        reply_to_mode: ReplyToMode = ReplyToMode::Off,
        /// Whether links have a preview.
        link_preview: bool = true,
        /// The emoji that says that a message came; empty: none.
        ack_reaction: String,
        /// Messages of a group that nobody answered, and that the next answer
        /// knows of.
        #[cfg_attr(test, schemars(range(max = 200)))]
        history_limit: usize = 50,
        /// Messages of somebody in a direct chat with a conversation of its own
        /// (`session.dmScope`) that a model is given with what answered them, the
        /// newest; 0: as many as fit.
        #[cfg_attr(test, schemars(range(max = 10_000)))]
        dm_history_limit: usize = 10,
        /// Direct chats by the id of whoever is there.
        dms: BTreeMap<String, DirectChat>,
        /// Megabytes of one file that is sent or taken.
        #[cfg_attr(test, schemars(range(min = 1, max = 2000)))]
        media_max_mb: u64 = 100,
        /// What is offered beside text.
        capabilities: Capabilities,
        /// Who is asked whether a command may run.
        exec_approvals: ExecApprovals,
        /// Commands that are offered in the channel's own menu.
        commands: OwnCommands,
        /// Commands that are offered beside them.
        custom_commands: Vec<CustomCommand>,
        /// Reactions that the agent hears of: `off`, `own` (to its own messages)
        /// or `all`.
        reaction_notifications: ReactionNotifications = ReactionNotifications::Own,
        /// Which failures are told: `always`, `once` or `silent`.
        error_policy: ErrorPolicy = ErrorPolicy::Always,
        /// The provider's API; another one for a server of one's own.
        api_root: Option<String>,
        /// A proxy, as a URL.
        proxy: Option<String>,
        /// Where the provider calls; without it, it is asked.
        webhook_url: Option<String>,
        /// What those calls are known by; one that is made by the daemon unless set.
        #[serde(skip_serializing)]
        webhook_secret: Option<Secret>,
        /// The path of those calls.
        webhook_path: String = "/telegram-webhook".to_owned(),
        /// The address that takes them.
        webhook_host: String = "127.0.0.1".to_owned(),
        /// Its port.
        webhook_port: u16 = 8787,
    }

    /// A direct chat.
    pub struct DirectChat {
        /// Instead of `dmHistoryLimit`.
        #[cfg_attr(test, schemars(range(max = 10_000)))]
        history_limit: Option<usize>,
    }

    /// A group.
    pub struct Group {
        /// Whether anything that is said there is looked at.
        enabled: Option<bool>,
        /// Whether it must be called to answer.
        require_mention: Option<bool>,
        /// Who may talk to it there.
        allow_from: Option<Vec<PeerId>>,
        /// `allowlist`, `open` or `disabled`.
        group_policy: Option<GroupPolicy>,
        /// What the agent is told beside everything else.
        system_prompt: Option<String>,
        /// Its topics by id; `*`: all others.
        topics: BTreeMap<String, Topic>,
    }

    /// A topic of a group.
    pub struct Topic {
        /// Whether anything that is said there is looked at.
        enabled: Option<bool>,
        /// Whether it must be called to answer.
        require_mention: Option<bool>,
        /// Who may talk to it there.
        allow_from: Option<Vec<PeerId>>,
        /// `allowlist`, `open` or `disabled`.
        group_policy: Option<GroupPolicy>,
        /// What the agent is told beside everything else.
        system_prompt: Option<String>,
        /// The agent that answers.
        agent_id: Option<String>,
    }

    /// `execApprovals`.
    pub struct ExecApprovals {
        /// Whether anybody is asked on the channel: `auto` is where there are
        /// approvers.
        enabled: ApprovalsEnabled = ApprovalsEnabled::Word(Auto::Auto),
        /// Those who decide, by their ids; the owner where nobody is named.
        approvers: Vec<PeerId>,
        /// Where they are asked: `dm`, `channel` (where the message came from) or
        /// `both`.
        target: ApprovalTarget = ApprovalTarget::Dm,
    }

    /// `commands` of a channel.
    pub struct OwnCommands {
        /// Whether commands are offered in the channel's menu.
        native: NativeCommands = NativeCommands::Word(Auto::Auto),
    }

    /// A command of one's own.
    pub struct CustomCommand {
        /// Without slash.
        command: String,
        /// One line.
        description: String,
    }

    /// `commands`.
    pub struct Commands {
        /// Who else than whoever runs this is the owner: `channel:id`, or an id.
        owner_allow_from: Vec<PeerId>,
    }

    /// Which agent answers messages that fit.
    pub struct Binding {
        /// The agent.
        agent_id: String,
        /// Which messages.
        #[serde(rename = "match")]
        matches: BindingMatch,
    }

    /// Everything that is said must fit.
    pub struct BindingMatch {
        /// The channel.
        channel: Option<String>,
        /// The account; `*`: any; none: the default one.
        account_id: Option<String>,
        /// Where it was said.
        peer: Option<BindingPeer>,
    }

    /// A chat.
    pub struct BindingPeer {
        /// `direct` (also `dm`), `group` or `channel`.
        kind: Option<String>,
        /// Its id; of a topic, `ID:topic:TOPIC`; `*`: any.
        id: PeerId = PeerId::Text("*".to_owned()),
    }
}

words! {
    /// `dmPolicy`.
    pub enum DmPolicy {
        /// Strangers are given a code, which the owner approves.
        Pairing = "pairing",
        /// Those of `allowFrom` alone.
        Allowlist = "allowlist",
        /// Everybody, where `allowFrom` has `*`.
        Open = "open",
        /// Nobody.
        Disabled = "disabled",
    }
}

words! {
    /// `groupPolicy`.
    pub enum GroupPolicy {
        /// Listed groups, listed people.
        Allowlist = "allowlist",
        /// All groups and everybody in them.
        Open = "open",
        /// None.
        Disabled = "disabled",
    }
}

words! {
    /// `streaming`.
    pub enum StreamingMode {
        /// Nothing before the answer.
        Off = "off",
        /// What was said so far, edited.
        Partial = "partial",
        /// In pieces.
        Block = "block",
        /// What is done, in one line.
        Progress = "progress",
    }
}

words! {
    /// `replyToMode`.
    pub enum ReplyToMode {
        /// Never.
        Off = "off",
        /// The first message of an answer.
        First = "first",
        /// All of them.
        All = "all",
        /// Where several were answered together.
        Batched = "batched",
    }
}

words! {
    /// `capabilities.inlineButtons`.
    pub enum InlineButtons {
        /// Nowhere.
        Off = "off",
        /// In direct chats.
        Dm = "dm",
        /// In groups.
        Group = "group",
        /// Everywhere.
        All = "all",
        /// Everywhere, for those who may talk.
        Allowlist = "allowlist",
    }
}

words! {
    /// `execApprovals.target`.
    pub enum ApprovalTarget {
        /// The approvers' direct chats.
        Dm = "dm",
        /// Where the message came from.
        Channel = "channel",
        /// Both.
        Both = "both",
    }
}

words! {
    /// `reactionNotifications`.
    pub enum ReactionNotifications {
        /// None.
        Off = "off",
        /// To messages of the bot.
        Own = "own",
        /// To all messages.
        All = "all",
    }
}

words! {
    /// `errorPolicy`.
    pub enum ErrorPolicy {
        /// Each failure is told.
        Always = "always",
        /// The same one is told once.
        Once = "once",
        /// None is.
        Silent = "silent",
    }
}

words! {
    /// The word for what decides by itself.
    pub enum Auto {
        /// By what is there.
        Auto = "auto",
    }
}

/// `streaming`: the mode, or OpenClaw's object.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Streaming {
    /// The mode.
    Mode(StreamingMode),
    /// The older form: `true` is `partial`.
    Enabled(bool),
    /// With the mode in it.
    Options {
        /// The mode.
        mode: Option<StreamingMode>,
    },
}

impl Streaming {
    /// What is shown.
    pub fn mode(&self) -> StreamingMode {
        match self {
            Self::Mode(mode) => *mode,
            Self::Enabled(true) | Self::Options { mode: None } => StreamingMode::Partial,
            Self::Enabled(false) => StreamingMode::Off,
            Self::Options { mode: Some(mode) } => *mode,
        }
    }
}

/// `capabilities`: OpenClaw's older list, or the object.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Capabilities {
    /// `inlineButtons` is in it, or buttons are off.
    List(Vec<String>),
    /// Each by its name.
    #[serde(rename_all = "camelCase")]
    Options {
        /// Where buttons are shown: `off`, `dm`, `group`, `all` or `allowlist`.
        inline_buttons: Option<InlineButtons>,
    },
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::Options {
            inline_buttons: None,
        }
    }
}

impl Capabilities {
    /// Where buttons are shown.
    pub fn buttons(&self) -> InlineButtons {
        match self {
            Self::List(list) if list.iter().any(|it| it == "inlineButtons") => InlineButtons::All,
            Self::List(_) => InlineButtons::Off,
            Self::Options { inline_buttons } => inline_buttons.unwrap_or(InlineButtons::Allowlist),
        }
    }
}

/// `execApprovals.enabled`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ApprovalsEnabled {
    /// On or off.
    Set(bool),
    /// `auto`.
    Word(Auto),
}

/// `commands.native`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum NativeCommands {
    /// On or off.
    Set(bool),
    /// `auto`.
    Word(Auto),
}

/// Somebody, as a channel names them: a number, or a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PeerId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for PeerId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
        }
    }
}
