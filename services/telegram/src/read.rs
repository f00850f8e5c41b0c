//! What an update means.

mod media;
mod words;

use openclaw_channel::provider::{Incoming, IncomingFile};
use openclaw_proto::channel::{Message as Said, Person, Place, Press, Quoted, Reaction, What};
use openclaw_proto::gateway::ChatKind;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::settings::Options;
use crate::types::{Callback, Chat, Membership, Message, Quote, Reacted, User};

/// The kinds of updates that are read, which Telegram is asked for.
pub(crate) const KINDS: [&str; 7] = [
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "message_reaction",
    "my_chat_member",
];
/// What the data of a button begins with that says what it shows.
pub(crate) const LABEL: &str = "label:";
/// The topic that is there without one.
pub(crate) const GENERAL: &str = "1";

/// Who reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reader {
    /// The bot's id.
    pub(crate) bot_id: i64,
    /// Its name, without @.
    pub(crate) bot_name: String,
    /// What holds for its account.
    pub(crate) options: Options,
}

impl Reader {
    /// What `raw` means; nothing, where it is of no kind that is handed in.
    pub(crate) fn read(&self, raw: &str) -> Result<Option<Incoming>, String> {
        let update: Value = serde_json::from_str(raw).map_err(|error| error.to_string())?;
        let Value::Object(update) = update else {
            return Err("it is no object".into());
        };
        for (kind, value) in update {
            match kind.as_str() {
                "update_id" => {}
                "message" | "channel_post" => return Ok(self.message(typed(value)?, false)),
                "edited_message" | "edited_channel_post" => {
                    return Ok(self.message(typed(value)?, true));
                }
                "callback_query" => return Ok(press(typed(value)?)),
                "message_reaction" => return Ok(reaction(typed(value)?)),
                "my_chat_member" => return Ok(Some(membership(typed(value)?))),
                other => return Err(format!("it is of the kind {other}, which is not known")),
            }
        }
        Err("there is nothing in it".into())
    }

    fn message(&self, message: Message, is_edit: bool) -> Option<Incoming> {
        let is_direct = message.chat.kind == "private";
        let sender = sender(&message);
        if sender.id == self.bot_id.to_string() {
            return None;
        }
        let mut files = media::files(&message, &self.options);
        let mut words = self.words(&message);
        if words.text.is_empty() && files.is_empty() {
            // Somebody joined, a title changed, …
            return None;
        }
        if let Some(origin) = &message.forward_origin {
            words.text = words::forwarded(origin, &words.text);
        }
        let reply_to = self.quoted(&message);
        let answers_bot = reply_to.as_ref().is_some_and(|quoted| quoted.is_own);
        let is_to_bot = is_direct || answers_bot || words.is_to_bot;
        if is_to_bot && !is_edit {
            files.extend(self.files_answered(&message));
        }
        let is_stop = !is_edit && openclaw_stop::is_stop(&words.text);
        let is_command = words.text.starts_with('/');
        let burst = match &message.media_group_id {
            Some(album) => Some(format!("album {album}")),
            None => Some(format!("from {}", sender.id)),
        };
        Some(Incoming {
            place: place(&message.chat, message.thread()),
            sender,
            sent_ms: message.date.max(message.edit_date).saturating_mul(1000),
            what: What::Message(Said {
                text: words.text,
                provider_ids: vec![message.message_id.to_string()],
                is_to_bot,
                is_edit,
                reply_to,
                ..Said::default()
            }),
            files,
            is_urgent: is_stop,
            burst: burst.filter(|_| !is_edit && !is_command && !is_stop),
            reference: String::new(),
        })
    }

    /// The files of what `message` answers to that nobody was given: those of other
    /// chats, and in groups those of messages that did not call the bot. As in OpenClaw
    /// they are fetched when somebody asks about them.
    fn files_answered(&self, message: &Message) -> Vec<IncomingFile> {
        let is_direct = message.chat.kind == "private";
        let of_group = message.reply_to_message.as_deref().filter(|quoted| {
            let is_own = quoted.from.as_ref().is_some_and(|by| by.id == self.bot_id);
            !is_direct && !is_own
        });
        let answered = of_group.or(message.external_reply.as_deref());
        answered.map_or_else(Vec::new, |it| media::files(it, &self.options))
    }

    fn quoted(&self, message: &Message) -> Option<Quoted> {
        let Some(quoted) = message.reply_to_message.as_deref() else {
            if let Some(story) = &message.reply_to_story {
                return Some(Quoted {
                    text: words::STORY.to_owned(),
                    sender: words::called(&story.chat),
                    ..Quoted::default()
                });
            }
            let quoted = message.external_reply.as_deref()?;
            let origin = quoted.forward_origin.as_ref();
            return Some(Quoted {
                // A number of another chat, which means another message here.
                provider_id: String::new(),
                text: self.quoted_text(quoted, &message.quote),
                sender: origin.map_or_else(String::new, words::author),
                is_own: false,
            });
        };
        // Every message of a topic answers to the one that opened it.
        if message.is_topic_message && Some(quoted.message_id) == message.message_thread_id {
            return None;
        }
        let by = quoted.from.clone().unwrap_or_default();
        let sender = match &quoted.forward_origin {
            Some(origin) => format!("{}, forwarded from {}", name(&by), words::author(origin)),
            None => name(&by),
        };
        Some(Quoted {
            provider_id: quoted.message_id.to_string(),
            text: self.quoted_text(quoted, &message.quote),
            sender,
            is_own: by.id == self.bot_id && self.bot_id != 0,
        })
    }

    /// The part of `quoted` that was chosen, or all of it; what is no words is named.
    fn quoted_text(&self, quoted: &Message, chosen: &Quote) -> String {
        if !chosen.text.trim().is_empty() {
            return chosen.text.clone();
        }
        let mut parts = vec![words::with_links(quoted), words::beside_text(quoted)];
        let files = media::files(quoted, &self.options);
        parts.extend(files.iter().map(|file| words::file(&file.attachment)));
        parts.retain(|part| !part.trim().is_empty());
        if parts.is_empty() {
            return "[a message the content of which cannot be had]".to_owned();
        }
        parts.join("\n")
    }
}

impl Message {
    /// The topic it is in.
    fn thread(&self) -> Option<String> {
        match self.message_thread_id.filter(|_| self.is_topic_message) {
            Some(thread) => Some(thread.to_string()),
            None => self.chat.is_forum.then(|| GENERAL.to_owned()),
        }
    }
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| error.to_string())
}

fn place(chat: &Chat, thread: Option<String>) -> Place {
    let kind = match chat.kind.as_str() {
        "private" => ChatKind::Direct,
        "channel" => ChatKind::Channel,
        _ => ChatKind::Group,
    };
    let title = [&chat.title, &chat.first_name, &chat.username];
    Place {
        chat: kind,
        id: chat.id.to_string(),
        former_id: String::new(),
        thread,
        title: title
            .into_iter()
            .find(|it| !it.is_empty())
            .cloned()
            .unwrap_or_default(),
    }
}

fn sender(message: &Message) -> Person {
    match (&message.sender_chat, &message.from) {
        (Some(chat), _) => Person {
            id: chat.id.to_string(),
            user_name: chat.username.clone(),
            display_name: chat.title.clone(),
            is_bot: false,
        },
        (None, Some(user)) => person(user),
        (None, None) => Person::default(),
    }
}

fn person(user: &User) -> Person {
    Person {
        id: user.id.to_string(),
        user_name: user.username.clone(),
        display_name: name(user),
        is_bot: user.is_bot,
    }
}

fn name(user: &User) -> String {
    format!("{} {}", user.first_name, user.last_name)
        .trim()
        .to_owned()
}

fn other(place: Place, sender: Person, seconds: i64, what: What) -> Incoming {
    Incoming {
        place,
        sender,
        sent_ms: seconds.saturating_mul(1000),
        what,
        files: Vec::new(),
        is_urgent: false,
        burst: None,
        reference: String::new(),
    }
}

/// The gateway's data of a button that says `text` (`inbound/src/decision.rs`).
pub(crate) fn said_by_label(text: &str) -> String {
    format!("say:{text}")
}

fn press(callback: Callback) -> Option<Incoming> {
    // Below a message that is too old to be named.
    let message = callback.message?;
    let place = place(&message.chat, message.thread());
    let data = if callback.data.starts_with(LABEL) {
        let buttons = message.reply_markup.inline_keyboard.iter().flatten();
        let mut pressed = buttons.filter(|it| it.callback_data == callback.data);
        pressed.next().map(|it| said_by_label(&it.text))
    } else {
        None
    };
    let what = What::Press(Press {
        data: data.unwrap_or(callback.data),
        provider_id: message.message_id.to_string(),
    });
    Some(Incoming {
        reference: callback.id,
        // Whoever pressed waits for it.
        is_urgent: true,
        ..other(place, person(&callback.from), 0, what)
    })
}

fn reaction(reacted: Reacted) -> Option<Incoming> {
    let user = reacted.user?;
    let emoji = reacted.new_reaction.into_iter().map(|it| it.emoji);
    let what = What::Reaction(Reaction {
        provider_id: reacted.message_id.to_string(),
        emoji: emoji.filter(|it| !it.is_empty()).collect(),
        // Telegram does not say whose message it is; the gateway knows what it said.
        is_to_own: false,
    });
    let thread = reacted.chat.is_forum.then(|| GENERAL.to_owned());
    Some(other(
        place(&reacted.chat, thread),
        person(&user),
        reacted.date,
        what,
    ))
}

fn membership(change: Membership) -> Incoming {
    let is_member = !matches!(change.new_chat_member.status.as_str(), "left" | "kicked");
    let place = place(&change.chat, None);
    other(
        place,
        person(&change.from),
        change.date,
        What::Membership(is_member),
    )
}

#[cfg(test)]
mod tests;
