//! Sending one message: at Telegram's pace, and again as it will have it.

use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_channel::Link;
use openclaw_channel::rich::Rich;
use openclaw_proto::call::RefusalCode;
use openclaw_proto::gateway::ChatKind;
use openclaw_proto::outbox::Delivery;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::PATIENCE;
use crate::api::{Api, Error};
use crate::bot::{Bot, number};
use crate::form::Form;
use crate::html::html;
use crate::read::GENERAL;
use crate::settings::ReplyTo;
use crate::shown::Spot;

/// Attempts at a message before the gateway has it again.
const ATTEMPTS: u32 = 4;
/// After the first of them; it doubles with each one.
const PAUSE: Duration = Duration::from_millis(300);
/// What Telegram says of a topic in which nothing can be said, in small letters.
const NO_TOPIC: [&str; 3] = ["message thread not found", "topic_deleted", "topic_closed"];
/// The longest that a message which is to be taken back waits for the next attempt.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// What a bot sends, in megabytes, unless the API server is one's own.
const SENT_MB: u64 = 50;

/// Why a message was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It may be after that time.
    Later {
        /// How long.
        after: Duration,
        /// Why.
        reason: String,
    },
    /// It never will be.
    Never(String),
}

impl Failure {
    fn later(reason: impl Into<String>) -> Self {
        Self::Later {
            after: PATIENCE,
            reason: reason.into(),
        }
    }
}

/// Where a message goes.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    spot: Spot,
    /// The topic is gone: the message goes beside it.
    is_outside: bool,
    reply_to: Option<i64>,
}

impl Target {
    /// Where `delivery` goes.
    pub(crate) fn of(bot: &Bot, delivery: &Delivery) -> Self {
        let place = &delivery.place;
        let to = place.to.strip_prefix("telegram:").unwrap_or(&place.to);
        let to = to.strip_prefix("tg:").unwrap_or(to);
        // The general topic is none for messages.
        let thread = place.thread.as_deref().filter(|it| *it != GENERAL);
        let spot = Spot {
            chat: bot.moved.present(to),
            thread: thread.and_then(|it| it.parse().ok()),
        };
        Self {
            spot,
            is_outside: false,
            reply_to: None,
        }
    }

    /// The chat and the topic that were named.
    pub(crate) fn spot(&self) -> &Spot {
        &self.spot
    }

    /// The chat.
    pub(crate) fn chat(&self) -> &str {
        &self.spot.chat
    }

    /// Makes the message of this number name what it answers, where it is to.
    pub(crate) fn set_reply(&mut self, bot: &Bot, delivery: &Delivery, index: usize) {
        let is_group = delivery.place.chat != Some(ChatKind::Direct);
        let is_wanted = match bot.reader().options.reply_to_mode {
            ReplyTo::Off => false,
            ReplyTo::First => index == 0,
            ReplyTo::All => true,
            ReplyTo::Batched => index == 0 && is_group,
        };
        let answered = delivery.extras.answers_id.parse().ok();
        self.reply_to = answered.filter(|_| is_wanted);
    }

    /// Whether `error` says that it is somewhere else, where it is then looked for.
    pub(crate) fn follow(&mut self, bot: &Bot, error: &Error) -> bool {
        if let Error::Refused {
            migrated_to: Some(chat),
            ..
        } = error
        {
            let present = chat.to_string();
            let is_new = present != self.spot.chat;
            bot.moved.note(&self.spot.chat, &present);
            self.spot.chat = present;
            // It has no such message.
            self.reply_to = None;
            return is_new;
        }
        let description = error.description().to_lowercase();
        let is_no_topic = NO_TOPIC.iter().any(|words| description.contains(words));
        if is_no_topic && self.spot.thread.is_some() && !self.is_outside {
            tracing::warn!("{error}; sent outside the topic");
            self.is_outside = true;
            return true;
        }
        false
    }

    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::from_iter([("chat_id".to_owned(), self.chat_id())]);
        if let Some(thread) = self.spot.thread.filter(|_| !self.is_outside) {
            fields.insert("message_thread_id".to_owned(), thread.into());
        }
        if let Some(message) = self.reply_to {
            let reply = json!({"message_id": message, "allow_sending_without_reply": true});
            fields.insert("reply_parameters".to_owned(), reply);
        }
        fields
    }

    /// A message there that is shown while the answer is made.
    pub(crate) fn message(&self, html: &str) -> Value {
        let mut fields = self.fields();
        fields.insert("text".to_owned(), html.into());
        fields.insert("parse_mode".to_owned(), "HTML".into());
        let none = json!({"is_disabled": true});
        fields.insert("link_preview_options".to_owned(), none);
        fields.into()
    }

    pub(crate) fn chat_id(&self) -> Value {
        match number(&self.spot.chat) {
            Value::Null => Value::from(self.spot.chat.as_str()),
            number => number,
        }
    }
}

/// Sends `text`, or puts it in the place of the message `replaced`. What Telegram
/// calls it.
pub(crate) async fn text(
    bot: &Bot,
    target: &mut Target,
    text: &Rich,
    keyboard: Option<Value>,
    replaced: Option<i64>,
) -> Result<Vec<String>, Failure> {
    let mut replaced = replaced;
    let mut is_plain = false;
    let mut attempts = Attempts::default();
    loop {
        let (method, parameters) = request(bot, target, text, &keyboard, replaced, is_plain);
        let error = match attempts.call(bot, target, method, &parameters).await? {
            Ok(sent) => return Ok(ids(&sent, replaced)),
            Err(error) => error,
        };
        let why = error.description().to_lowercase();
        if why.contains("message is not modified") {
            return Ok(ids(&Value::Null, replaced));
        } else if why.contains("can't parse entities") && !is_plain {
            tracing::warn!("{error}; sent as plain text");
            is_plain = true;
        } else if target.follow(bot, &error) {
            replaced = None;
        } else if replaced.is_some() && error.code() == Some(400) {
            // It was deleted, or is too old.
            replaced = None;
        } else {
            return Err(Failure::Never(error.to_string()));
        }
    }
}

pub(super) fn request(
    bot: &Bot,
    target: &Target,
    text: &Rich,
    keyboard: &Option<Value>,
    replaced: Option<i64>,
    is_plain: bool,
) -> (&'static str, Value) {
    let mut fields = target.fields();
    let mut put = |key: &str, value: Value| drop(fields.insert(key.to_owned(), value));
    if is_plain {
        put("text", text.text().into());
    } else {
        put("text", html(text).into());
        put("parse_mode", "HTML".into());
    }
    if !bot.reader().options.link_preview {
        put("link_preview_options", json!({"is_disabled": true}));
    }
    if let Some(keyboard) = keyboard {
        put("reply_markup", keyboard.clone());
    }
    let Some(message) = replaced else {
        return ("sendMessage", fields.into());
    };
    put("message_id", message.into());
    fields.remove("message_thread_id");
    fields.remove("reply_parameters");
    ("editMessageText", fields.into())
}

fn ids(sent: &Value, replaced: Option<i64>) -> Vec<String> {
    let id = sent["message_id"].as_i64().or(replaced);
    id.map(|it| it.to_string()).into_iter().collect()
}

/// Attempts at one message.
#[derive(Debug, Default)]
struct Attempts(u32);

impl Attempts {
    /// Calls until there is an answer that is about the message. The outer error
    /// is one of the account or of the time.
    async fn call(
        &mut self,
        bot: &Bot,
        target: &Target,
        method: &str,
        parameters: &Value,
    ) -> Result<Result<Value, Error>, Failure> {
        loop {
            let api = bot.api().map_err(Failure::later)?;
            wait(bot, target).await?;
            let error = match api.send(method, parameters).await {
                Ok(sent) => {
                    bot.board.answered();
                    return Ok(Ok(sent));
                }
                Err(error) => error,
            };
            match self.judge(bot, target, &error).await? {
                Verdict::Again => {}
                Verdict::OfTheMessage => return Ok(Err(error)),
            }
        }
    }

    async fn judge(
        &mut self,
        bot: &Bot,
        target: &Target,
        error: &Error,
    ) -> Result<Verdict, Failure> {
        if let Some(after) = error.retry_after() {
            bot.pace.block(target.chat(), after);
            return if after <= PATIENCE {
                Ok(Verdict::Again)
            } else {
                let reason = error.to_string();
                Err(Failure::Later { after, reason })
            };
        }
        if error.is_token_refused() {
            bot.judge(error);
            return Err(Failure::Later {
                after: Duration::from_secs(30),
                reason: error.to_string(),
            });
        }
        if !error.is_passing() {
            return Ok(Verdict::OfTheMessage);
        }
        self.0 += 1;
        if self.0 == ATTEMPTS {
            return Err(Failure::later(error.to_string()));
        }
        if let Error::Lost {
            is_unsent: false, ..
        } = error
        {
            tracing::warn!("{error}; sent again, and may be there twice");
        }
        sleep(PAUSE * 2_u32.pow(self.0)).await;
        Ok(Verdict::Again)
    }
}

enum Verdict {
    Again,
    OfTheMessage,
}

async fn wait(bot: &Bot, target: &Target) -> Result<(), Failure> {
    // A group's minute may be longer than the lease; the gateway gives it again.
    let patience = Duration::from_secs(90);
    bot.pace
        .turn(target.chat(), patience)
        .await
        .map_err(|after| Failure::Later {
            after,
            reason: "Telegram wants a pause in this chat".into(),
        })
}

/// Sends a file of `delivery`. Where it never will be taken, that is about the file.
pub(super) async fn file(
    bot: &Bot,
    target: &mut Target,
    delivery: &Delivery,
    index: u32,
    link: &Link,
) -> Result<Vec<String>, Failure> {
    let Some(file) = delivery.extras.files.get(index as usize) else {
        return Err(Failure::Never("the delivery has no such file".into()));
    };
    let options = bot.reader().options.clone();
    let limit = match options.api_root {
        Some(_) => options.media_max_mb,
        None => options.media_max_mb.min(SENT_MB),
    };
    if file.size > limit.saturating_mul(1024 * 1024) {
        let why = format!("it is larger than the {limit} MB that can be sent here");
        return Err(Failure::Never(why));
    }
    let (method, part) = match file.mime_type.as_str() {
        _ if file.is_voice => ("sendVoice", "voice"),
        "image/jpeg" | "image/png" | "image/webp" => ("sendPhoto", "photo"),
        _ => ("sendDocument", "document"),
    };
    let mut attempts = Attempts::default();
    let mut way = (method, part);
    loop {
        let api = bot.api().map_err(Failure::later)?;
        wait(bot, target).await?;
        let error = match upload(&api, target, way, delivery, index, link).await {
            Ok(Ok(sent)) => return Ok(ids(&sent, None)),
            Ok(Err(error)) => error,
            Err(failure) => return Err(failure),
        };
        if let Verdict::Again = attempts.judge(bot, target, &error).await? {
            continue;
        }
        if target.follow(bot, &error) {
            continue;
        }
        if way.1 == "document" {
            return Err(Failure::Never(error.description().to_owned()));
        }
        // A picture that is too large for one, a voice that is none.
        tracing::warn!("{error}; sent as a document");
        way = ("sendDocument", "document");
    }
}

async fn upload(
    api: &Api,
    target: &Target,
    (method, part): (&str, &str),
    delivery: &Delivery,
    index: u32,
    link: &Link,
) -> Result<Result<Value, Error>, Failure> {
    let fetched = link
        .channels
        .fetch_file(link.account.clone(), delivery.id, index)
        .await;
    let content = fetched.map_err(|error| match error.code() {
        Some(RefusalCode::NotFound | RefusalCode::InvalidArgument) => {
            Failure::Never(error.to_string())
        }
        _ => Failure::later(error.to_string()),
    })?;
    let content = content.map(|piece| match piece {
        Ok(piece) => Ok(piece.into()),
        Err(error) => Err(error.to_string()),
    });
    let name = &delivery.extras.files[index as usize].name;
    let form = Form::new(&target.fields(), part, name, content);
    Ok(api.upload(method, form).await)
}

/// Puts the delivery's emoji on what it answers; false: Telegram does not take it.
pub(super) async fn reaction(bot: &Bot, delivery: &Delivery) -> Result<bool, Failure> {
    let target = Target::of(bot, delivery);
    // In a group that moved meanwhile there is no such message.
    let parameters = json!({"chat_id": target.chat_id(),
        "message_id": number(&delivery.extras.answers_id),
        "reaction": crate::bot::reaction(&delivery.extras.reaction)});
    let mut attempts = Attempts::default();
    let called = attempts
        .call(bot, &target, "setMessageReaction", &parameters)
        .await?;
    if let Err(error) = &called {
        // An emoji that is none of Telegram's; beside a text nothing is lost by it.
        tracing::warn!("{error}; no reaction is shown");
    }
    Ok(called.is_ok())
}

/// Takes a message back, also where Telegram wants that later.
pub(crate) async fn delete(bot: &Bot, target: &Target, message: i64) {
    let parameters = json!({"chat_id": target.chat_id(), "message_id": message});
    for attempt in 1..=ATTEMPTS {
        let Ok(api) = bot.api() else { break };
        let error = match api.call("deleteMessage", &parameters).await {
            Ok(_) => return,
            Err(error) => error,
        };
        if !error.is_passing() {
            // It is not there any more, or too old for that.
            tracing::debug!("{error}");
            return;
        }
        let pause = error.retry_after().unwrap_or(PAUSE * 2_u32.pow(attempt));
        sleep(pause.min(LONGEST_PAUSE)).await;
    }
    tracing::warn!("message {message}, which was to be taken back, stays in its chat");
}
