//! What the methods do.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::entities;
use crate::state::{Sent, Shared, State};

/// The emoji that there are as reactions.
const REACTIONS: &str = include_str!("../../../services/effect/src/values/reactions.txt");

/// A refusal: the code and Telegram's words.
pub(crate) type Refusal = (u16, String);

/// Carries out a call.
pub(crate) async fn call(shared: &Shared, method: &str, asked: &Value) -> Result<Value, Refusal> {
    if method.eq_ignore_ascii_case("getUpdates") {
        return updates(shared, asked).await;
    }
    let mut state = shared.state();
    let state = &mut *state;
    match method {
        "getMe" => Ok(
            json!({"id": state.bot, "is_bot": true, "first_name": "Double",
            "username": crate::NAME, "can_join_groups": true,
            "can_read_all_group_messages": false, "supports_inline_queries": false}),
        ),
        "setWebhook" => set_webhook(state, asked),
        "deleteWebhook" => {
            state.webhook = Value::Null;
            Ok(true.into())
        }
        "getWebhookInfo" => Ok(state.info()),
        "sendMessage" => message(state, asked),
        "editMessageText" => edit(state, asked),
        "deleteMessage" => delete(state, asked),
        "sendChatAction" => {
            chat(state, asked)?;
            Ok(true.into())
        }
        "sendPhoto" => file(state, asked, "photo"),
        "sendDocument" => file(state, asked, "document"),
        "sendVoice" => file(state, asked, "voice"),
        "getFile" => get_file(state, asked),
        "answerCallbackQuery" => answer(state, asked),
        "sendMessageDraft" => draft(state, asked),
        "setMyCommands" => set_commands(state, asked),
        "setMessageReaction" => {
            chat(state, asked)?;
            let reactions = asked["reaction"].as_array();
            let mut reactions = reactions.into_iter().flatten();
            if !reactions.all(is_reaction) {
                return Err(bad("REACTION_INVALID"));
            }
            Ok(true.into())
        }
        _ => Err((404, "Not Found".into())),
    }
}

/// Whether a bot may put it on a message: one of the emoji that there are, as they are
/// written there.
fn is_reaction(reaction: &Value) -> bool {
    let emoji = reaction["emoji"].as_str().unwrap_or_default();
    reaction["type"] == "emoji" && REACTIONS.split_whitespace().any(|it| it == emoji)
}

fn bad(words: &str) -> Refusal {
    (400, format!("Bad Request: {words}"))
}

async fn updates(shared: &Shared, asked: &Value) -> Result<Value, Refusal> {
    let poll = {
        let mut state = shared.state();
        if !state.webhook_url().is_empty() {
            let words = "Conflict: can't use getUpdates method while webhook is active; use \
                         deleteWebhook to delete the webhook first";
            return Err((409, words.into()));
        }
        state.poll += 1;
        state.poll
    };
    shared.changed.notify_waiters();
    let seconds = asked["timeout"].as_u64().unwrap_or_default().min(50);
    let until = Instant::now() + Duration::from_secs(seconds);
    loop {
        let changed = shared.changed.notified();
        {
            let mut state = shared.state();
            if state.poll != poll {
                let words = "Conflict: terminated by other getUpdates request; make sure that \
                             only one bot instance is running";
                return Err((409, words.into()));
            }
            let updates = state.polled(asked);
            if !updates.is_empty() || Instant::now() >= until {
                return Ok(updates.into());
            }
        }
        // The end of the time is looked at above.
        let _ = timeout_at(until, changed).await;
    }
}

fn set_webhook(state: &mut State, asked: &Value) -> Result<Value, Refusal> {
    let secret = asked["secret_token"].as_str().unwrap_or_default();
    let is_fine = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if secret.len() > 256 || !secret.chars().all(is_fine) {
        return Err(bad("secret token contains unallowed characters"));
    }
    state.webhook = asked.clone();
    Ok(true.into())
}

fn chat(state: &State, asked: &Value) -> Result<String, Refusal> {
    let id = match &asked["chat_id"] {
        Value::Number(id) => id.to_string(),
        Value::String(id) => id.clone(),
        _ => return Err(bad("chat_id is empty")),
    };
    if state.moved.contains_key(&id) {
        Err(bad("group chat was upgraded to a supergroup chat"))
    } else if state.chats.contains(&id) {
        Ok(id)
    } else {
        Err(bad("chat not found"))
    }
}

fn text(asked: &Value) -> Result<String, Refusal> {
    let raw = asked["text"].as_str().unwrap_or_default();
    let text = match asked["parse_mode"].as_str() {
        Some("HTML") => entities::parse(raw).map_err(|words| bad(&words))?,
        None => raw.to_owned(),
        Some(_) => return Err(bad("unsupported parse_mode")),
    };
    if text.trim().is_empty() {
        return Err(bad("message text is empty"));
    }
    if text.encode_utf16().count() > 4096 {
        return Err(bad("message is too long"));
    }
    Ok(text)
}

fn markup(asked: &Value) -> Result<(), Refusal> {
    let rows = asked["reply_markup"]["inline_keyboard"].as_array();
    for button in rows
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .flatten()
    {
        if button["text"].as_str().is_none_or(str::is_empty) {
            return Err(bad("inline keyboard button text is empty"));
        }
        let is_data = button["callback_data"]
            .as_str()
            .is_some_and(|it| (1..=64).contains(&it.len()));
        let is_link = button["url"]
            .as_str()
            .is_some_and(|it| it.starts_with("http"));
        if !is_data && !is_link {
            return Err(bad("BUTTON_DATA_INVALID"));
        }
    }
    Ok(())
}

fn thread(asked: &Value) -> Result<(), Refusal> {
    if asked["message_thread_id"] == 1 {
        return Err(bad("message thread not found"));
    }
    Ok(())
}

fn message(state: &mut State, asked: &Value) -> Result<Value, Refusal> {
    let chat = chat(state, asked)?;
    thread(asked)?;
    let text = text(asked)?;
    markup(asked)?;
    Ok(add(state, chat, text, asked))
}

fn add(state: &mut State, chat: String, text: String, asked: &Value) -> Value {
    let id = state.message_id();
    let message = json!({"message_id": id, "date": 1, "text": text,
        "chat": chat_of(&chat), "from": bot(state)});
    state.say(Sent {
        chat,
        id,
        text,
        parameters: asked.clone(),
        edits: 0,
        is_deleted: false,
    });
    message
}

fn chat_of(chat: &str) -> Value {
    let number: i64 = chat.parse().unwrap_or_default();
    if number < 0 {
        json!({"id": number, "type": "supergroup", "title": "Group"})
    } else {
        json!({"id": number, "type": "private", "first_name": format!("P{number}")})
    }
}

fn bot(state: &State) -> Value {
    json!({"id": state.bot, "is_bot": true, "first_name": "Double"})
}

fn own<'a>(state: &'a mut State, asked: &Value, words: &str) -> Result<&'a mut Sent, Refusal> {
    let chat = chat(state, asked)?;
    let id = asked["message_id"].as_i64().unwrap_or_default();
    state.own(&chat, id).ok_or_else(|| bad(words))
}

fn edit(state: &mut State, asked: &Value) -> Result<Value, Refusal> {
    let text = text(asked)?;
    markup(asked)?;
    let from = bot(state);
    let sent = own(state, asked, "message to edit not found")?;
    if sent.text == text && sent.parameters["reply_markup"] == asked["reply_markup"] {
        return Err(bad(
            "message is not modified: specified new message content and reply markup are exactly \
             the same as a current content and reply markup of the message",
        ));
    }
    sent.text.clone_from(&text);
    sent.parameters = asked.clone();
    sent.edits += 1;
    Ok(
        json!({"message_id": sent.id, "date": 1, "edit_date": 2, "text": text,
        "chat": chat_of(&sent.chat), "from": from}),
    )
}

/// A press is answered once, within the time that a person waits.
fn answer(state: &mut State, asked: &Value) -> Result<Value, Refusal> {
    // Its number may have been read as one.
    let id = &asked["callback_query_id"];
    let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    if !state.presses.remove(&id) {
        return Err(bad(
            "query is too old and response timeout expired or query ID is invalid",
        ));
    }
    if asked["text"]
        .as_str()
        .unwrap_or_default()
        .encode_utf16()
        .count()
        > 200
    {
        return Err(bad("MESSAGE_TOO_LONG"));
    }
    Ok(true.into())
}

/// What is shown in a private chat while it is written, and is no message.
fn draft(state: &State, asked: &Value) -> Result<Value, Refusal> {
    if chat(state, asked)?.starts_with('-') {
        return Err(bad("TEXTDRAFT_PEER_INVALID"));
    }
    if asked["draft_id"].as_i64().unwrap_or_default() == 0 {
        return Err(bad("draft_id must be non-zero"));
    }
    text(asked)?;
    Ok(true.into())
}

fn delete(state: &mut State, asked: &Value) -> Result<Value, Refusal> {
    own(state, asked, "message to delete not found")?.is_deleted = true;
    Ok(true.into())
}

fn file(state: &mut State, asked: &Value, part: &str) -> Result<Value, Refusal> {
    let chat = chat(state, asked)?;
    thread(asked)?;
    if asked[part]["size"].as_u64().unwrap_or_default() == 0 {
        return Err(bad("file must be non-empty"));
    }
    let caption = asked["caption"].as_str().unwrap_or_default();
    if caption.encode_utf16().count() > 1024 {
        return Err(bad("message caption is too long"));
    }
    Ok(add(state, chat, caption.to_owned(), asked))
}

fn get_file(state: &State, asked: &Value) -> Result<Value, Refusal> {
    let id = asked["file_id"].as_str().unwrap_or_default();
    let file = state.files.get(id).ok_or_else(|| bad("invalid file_id"))?;
    if file.len() > 20 * 1024 * 1024 {
        return Err(bad("file is too big"));
    }
    let folder = &state.local_folder;
    Ok(
        json!({"file_id": id, "file_unique_id": id, "file_size": file.len(),
        "file_path": format!("{folder}files/{id}")}),
    )
}

fn set_commands(state: &mut State, asked: &Value) -> Result<Value, Refusal> {
    let commands = asked["commands"].as_array().cloned().unwrap_or_default();
    let is_fine = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    for command in &commands {
        let name = command["command"].as_str().unwrap_or_default();
        if !(1..=32).contains(&name.len()) || !name.chars().all(is_fine) {
            return Err(bad("BOT_COMMAND_INVALID"));
        }
        if command["description"].as_str().is_none_or(str::is_empty) {
            return Err(bad("BOT_COMMAND_DESCRIPTION_INVALID"));
        }
    }
    state.commands = commands.into();
    Ok(true.into())
}
