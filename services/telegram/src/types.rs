//! What of Telegram's types is used. Only that: a kind of chat, an entity or a
//! reaction that is newer than this daemon must not make an update unreadable.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Somebody.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct User {
    /// For good.
    pub(crate) id: i64,
    /// A bot.
    pub(crate) is_bot: bool,
    /// What people see.
    pub(crate) first_name: String,
    /// Behind it.
    pub(crate) last_name: String,
    /// Without @.
    pub(crate) username: String,
}

/// A chat.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Chat {
    /// For good, but for groups that become supergroups.
    pub(crate) id: i64,
    /// `private`, `group`, `supergroup` or `channel`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Of groups and channels.
    pub(crate) title: String,
    /// Without @.
    pub(crate) username: String,
    /// Of the person that it is with.
    pub(crate) first_name: String,
    /// Of that person, too.
    pub(crate) last_name: String,
    /// It has topics.
    pub(crate) is_forum: bool,
}

/// A piece of a text with a meaning.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Entity {
    /// `mention`, `bot_command`, …
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// In UTF-16 units.
    pub(crate) offset: usize,
    /// In UTF-16 units.
    pub(crate) length: usize,
    /// Of a `text_mention`.
    pub(crate) user: Option<User>,
    /// Of a `text_link`.
    pub(crate) url: Option<String>,
}

/// Where a message was said first that was forwarded.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Origin {
    /// Who said it.
    pub(crate) sender_user: Option<User>,
    /// What they are called who do not let others be led to them.
    pub(crate) sender_user_name: String,
    /// The group for which it was said.
    pub(crate) sender_chat: Option<Chat>,
    /// The channel that it was said in.
    pub(crate) chat: Option<Chat>,
    /// Who signed it there.
    pub(crate) author_signature: String,
}

/// A part of a message.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Quote {
    /// Its words.
    pub(crate) text: String,
}

/// A file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct File {
    /// For getFile.
    pub(crate) file_id: String,
    /// In bytes.
    pub(crate) file_size: Option<u64>,
    /// As the sender named it.
    pub(crate) file_name: Option<String>,
    /// As the sender says.
    pub(crate) mime_type: Option<String>,
}

/// Something said.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message {
    /// In its chat.
    pub(crate) message_id: i64,
    /// Its topic, or the message that it answers below.
    pub(crate) message_thread_id: Option<i64>,
    /// The former.
    pub(crate) is_topic_message: bool,
    /// Who said it.
    pub(crate) from: Option<User>,
    /// For whom it was said, where that is a chat.
    pub(crate) sender_chat: Option<Chat>,
    /// Where.
    pub(crate) chat: Chat,
    /// In Unix seconds.
    pub(crate) date: i64,
    /// In Unix seconds.
    pub(crate) edit_date: i64,
    /// What.
    pub(crate) text: String,
    /// What, below a file.
    pub(crate) caption: String,
    /// Of the text.
    pub(crate) entities: Vec<Entity>,
    /// Of the caption.
    pub(crate) caption_entities: Vec<Entity>,
    /// Where it was said first, where it was forwarded or is of another chat.
    #[serde(alias = "origin")]
    pub(crate) forward_origin: Option<Origin>,
    /// What it answers.
    pub(crate) reply_to_message: Option<Box<Message>>,
    /// What it answers that is of another chat: its origin, its files, and no text.
    pub(crate) external_reply: Option<Box<Message>>,
    /// The story that it answers.
    pub(crate) reply_to_story: Option<Story>,
    /// The part of what it answers that was chosen.
    pub(crate) quote: Quote,
    /// The album that it is of.
    pub(crate) media_group_id: Option<String>,
    /// The same picture in sizes.
    pub(crate) photo: Vec<File>,
    /// Spoken.
    pub(crate) voice: Option<File>,
    /// Music.
    pub(crate) audio: Option<File>,
    /// A film.
    pub(crate) video: Option<File>,
    /// A round film.
    pub(crate) video_note: Option<File>,
    /// A film without sound; is a document too.
    pub(crate) animation: Option<File>,
    /// Any file.
    pub(crate) document: Option<File>,
    /// A sticker.
    pub(crate) sticker: Option<Sticker>,
    /// A place.
    pub(crate) location: Option<Location>,
    /// Somebody's number.
    pub(crate) contact: Option<Contact>,
    /// A place with a name; has its location too.
    pub(crate) venue: Option<Venue>,
    /// A question with answers to choose from.
    pub(crate) poll: Option<Poll>,
    /// A throw of dice, darts, …
    pub(crate) dice: Option<Dice>,
    /// A game.
    pub(crate) game: Option<Titled>,
    /// Things to do.
    pub(crate) checklist: Option<Checklist>,
    /// Something to be paid.
    pub(crate) invoice: Option<Titled>,
    /// A story that was forwarded.
    pub(crate) story: Option<IgnoredAny>,
    /// Pictures that are to be paid for.
    pub(crate) paid_media: Option<IgnoredAny>,
    /// A giveaway that goes on.
    pub(crate) giveaway: Option<IgnoredAny>,
    /// One that is over.
    pub(crate) giveaway_winners: Option<IgnoredAny>,
    /// Its buttons.
    pub(crate) reply_markup: Markup,
}

/// What is below a message.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Markup {
    /// Rows of buttons.
    pub(crate) inline_keyboard: Vec<Vec<Pressed>>,
}

/// A button below a message.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Pressed {
    /// What it shows.
    pub(crate) text: String,
    /// What it was given.
    pub(crate) callback_data: String,
}

/// A place with a name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Venue {
    /// Where.
    pub(crate) location: Location,
    /// Its name.
    pub(crate) title: String,
    /// Its address.
    pub(crate) address: String,
}

/// A question with answers to choose from.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Poll {
    /// The question.
    pub(crate) question: String,
    /// The answers.
    pub(crate) options: Vec<Line>,
}

/// Things to do.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Checklist {
    /// What they are.
    pub(crate) title: String,
    /// Each.
    pub(crate) tasks: Vec<Line>,
}

/// An answer, or something to do.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Line {
    /// In words.
    pub(crate) text: String,
}

/// A throw.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Dice {
    /// Of what.
    pub(crate) emoji: String,
    /// What came.
    pub(crate) value: i64,
}

/// What has a title.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Titled {
    /// The title.
    pub(crate) title: String,
}

/// A story; bots are not told what is in it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Story {
    /// Whose it is.
    pub(crate) chat: Chat,
}

/// A sticker.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Sticker {
    /// What it stands for.
    pub(crate) emoji: String,
}

/// A place.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Location {
    /// In degrees.
    pub(crate) latitude: f64,
    /// In degrees.
    pub(crate) longitude: f64,
}

/// Somebody's number.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Contact {
    /// The number.
    pub(crate) phone_number: String,
    /// The name.
    pub(crate) first_name: String,
}

/// A button that was pressed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Callback {
    /// For the answer.
    pub(crate) id: String,
    /// Who.
    pub(crate) from: User,
    /// Below what.
    pub(crate) message: Option<Message>,
    /// What the button was given.
    pub(crate) data: String,
}

/// Reactions that changed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Reacted {
    /// Where.
    pub(crate) chat: Chat,
    /// To what.
    pub(crate) message_id: i64,
    /// Who.
    pub(crate) user: Option<User>,
    /// In Unix seconds.
    pub(crate) date: i64,
    /// Those that are there now.
    pub(crate) new_reaction: Vec<ReactionType>,
}

/// A reaction.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReactionType {
    /// Where it is one.
    pub(crate) emoji: String,
}

/// What the bot may in a chat changed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Membership {
    /// Where.
    pub(crate) chat: Chat,
    /// Who did it.
    pub(crate) from: User,
    /// In Unix seconds.
    pub(crate) date: i64,
    /// What it is now.
    pub(crate) new_chat_member: Member,
}

/// What somebody is in a chat.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Member {
    /// `member`, `left`, `kicked`, …
    pub(crate) status: String,
}
