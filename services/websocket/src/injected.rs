//! Messages that the gateway itself says in a session, as the clients know them.

use openclaw_runs::injected::{API, MODEL, PROVIDER};
use openclaw_sessions::{SessionKey, now_ms};
use serde_json::{Value, json};

use crate::audience::Audience;
use crate::hub::Hub;

/// The only event of a run that no model takes part in.
pub(crate) fn tell(hub: &Hub, key: &SessionKey, run_id: &str, seq: u64, message: Value) {
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
    hub.tell(audience, "chat", payload);
}

/// The gateway's own words as a message.
pub(crate) fn said(text: &str, idempotency_key: Option<&str>) -> Value {
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
