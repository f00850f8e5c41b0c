//! Messages that the gateway itself says in a session.

use openclaw_conversations::storage::{Fault, Storage};
use openclaw_sessions::transcript::{AssistantMessage, Block, Content, Message};
use openclaw_sessions::{SessionKey, now_ms};
use serde_json::{Map, json};
use uuid::Uuid;

use crate::bus::{Bus, DomainEvent};

/// The author, as OpenClaw writes it.
pub const API: &str = "openai-responses";
/// Likewise.
pub const PROVIDER: &str = "openclaw";
/// Likewise.
pub const MODEL: &str = "gateway-injected";

/// The field with a message's id.
const ID: &str = "messageId";

/// Puts `text` into the transcript as the assistant's and tells whoever listens;
/// durable when this returns. Returns the message's id.
pub async fn say(
    storage: &Storage,
    bus: &Bus,
    key: &SessionKey,
    text: &str,
) -> Result<String, Fault> {
    let id = Uuid::new_v4().to_string();
    let delivery = format!("announcement {id}");
    say_as(storage, bus, key, (&id, &delivery, text)).await?;
    Ok(id)
}

/// As [`say`], as the message `id`; where the session is on a channel, there as the
/// delivery of that name.
pub async fn say_as(
    storage: &Storage,
    bus: &Bus,
    key: &SessionKey,
    (id, delivery, text): (&str, &str, &str),
) -> Result<(), Fault> {
    let message = Message::Assistant(AssistantMessage {
        content: Content::Blocks(vec![Block::text(text)]),
        api: API.to_owned(),
        provider: PROVIDER.to_owned(),
        model: MODEL.to_owned(),
        timestamp: now_ms(),
        rest: Map::from_iter([(ID.to_owned(), json!(id))]),
        ..AssistantMessage::default()
    });
    storage.announce(key, message, (delivery, text)).await?;
    bus.publish(&DomainEvent::Said {
        key,
        message_id: id,
        text,
    });
    Ok(())
}

/// Whether `message` was said as `id`.
pub fn is(message: &Message, id: &str) -> bool {
    matches!(message, Message::Assistant(said) if said.rest.get(ID).is_some_and(|it| it == id))
}
