//! Messages that the gateway itself says in a session.

use openclaw_protocol::Failure;
use openclaw_sessions::transcript::{AssistantMessage, Block, Content, Message};
use openclaw_sessions::{SessionKey, now_ms};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::gateway::Gateway;
use crate::ws::audience::Audience;
use crate::ws::refused::stored;

/// Who says it, as OpenClaw writes it.
const API: &str = "openai-responses";
const PROVIDER: &str = "openclaw";
const MODEL: &str = "gateway-injected";

/// Puts `text` into the transcript as the assistant's and tells the clients;
/// durable when this returns. Returns the message's id.
pub(crate) async fn inject(
    gateway: &Gateway,
    key: &SessionKey,
    text: &str,
) -> Result<String, Failure> {
    let id = Uuid::new_v4().to_string();
    let message = Message::Assistant(AssistantMessage {
        content: Content::Blocks(vec![Block::text(text)]),
        api: API.to_owned(),
        provider: PROVIDER.to_owned(),
        model: MODEL.to_owned(),
        timestamp: now_ms(),
        rest: Map::from_iter([("messageId".to_owned(), json!(id))]),
        ..AssistantMessage::default()
    });
    let appended = gateway.storage.append(key, vec![message]).await;
    let appended = appended.map_err(|fault| stored(&fault))?;
    appended.answer().await.map_err(|fault| stored(&fault))?;
    tell(gateway, key, &format!("inject-{id}"), 0, said(text, None));
    Ok(id)
}

/// The only event of a run that no model takes part in.
pub(in crate::ws) fn tell(
    gateway: &Gateway,
    key: &SessionKey,
    run_id: &str,
    seq: u64,
    message: Value,
) {
    let payload = || {
        json!({
            "runId": run_id,
            "sessionKey": key.as_str(),
            "agentId": key.agent().as_str(),
            "seq": seq,
            "state": "final",
            "message": message,
        })
    };
    let audience = Audience::Run(key.as_str());
    gateway.hub.tell(audience, "chat", payload);
}

/// What the gateway says, as a message.
pub(in crate::ws) fn said(text: &str, idempotency_key: Option<&str>) -> Value {
    let mut message = json!({
        "role": "assistant",
        "content": [{ "type": "text", "text": text }],
        "timestamp": now_ms(),
        "stopReason": "stop",
        "usage": {
            "input": 0, "output": 0, "totalTokens": 0, "cacheRead": 0, "cacheWrite": 0,
            "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
        },
        "api": API,
        "provider": PROVIDER,
        "model": MODEL,
    });
    if let Some(key) = idempotency_key {
        message["idempotencyKey"] = json!(key);
    }
    message
}
