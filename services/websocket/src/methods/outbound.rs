//! `wake`, `send` and `channels.status`: what goes to an agent or out of the
//! gateway without being an answer.

use crate::refused::refused;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::now_ms;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use openclaw_runs::When;
use openclaw_runs::injected::say;

use super::{Answer, Call, config};
use crate::client::CHANNEL;
use crate::refused::stored;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wake {
    mode: Mode,
    text: Filled,
    session_key: Option<Filled>,
    agent_id: Option<Filled>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Now,
    NextHeartbeat,
}

/// `wake`: an agent is told something, at once or with its next turn.
pub(super) async fn wake(mut call: Call) -> Result<Answer, Failure> {
    let params: Wake = call.params()?;
    let agent = params.agent_id.as_deref().unwrap_or_default();
    let session = params.session_key.as_deref().unwrap_or_default();
    let key = call.context.core.key(session, agent).map_err(refused)?;
    let when = match params.mode {
        Mode::Now => When::Now,
        Mode::NextHeartbeat => When::NextTurn,
    };
    call.context
        .core
        .waker
        .wake(&key, &params.text, when, "wake")
        .await
        .map_err(refused)?;
    Ok(json!({ "ok": true }).into())
}

/// Parameters that are about channels that can do more than text.
const WITHOUT_EFFECT: [&str; 10] = [
    "accountId",
    "agentId",
    "replyToId",
    "threadId",
    "forceDocument",
    "silent",
    "parseMode",
    "gifPlayback",
    "asVoice",
    "contentType",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Send {
    to: Filled,
    message: Option<String>,
    media_url: Option<String>,
    #[serde(default)]
    media_urls: Vec<Value>,
    buffer: Option<String>,
    #[serde(rename = "filename")]
    _filename: Option<String>,
    channel: Option<String>,
    session_key: Option<String>,
    idempotency_key: Filled,
}

/// `send`: a message to somebody. The only place that is always there is a
/// session, where the clients of this protocol see it.
pub(super) async fn send(mut call: Call) -> Result<Answer, Failure> {
    call.ignore(&WITHOUT_EFFECT);
    let params: Send = call.params()?;
    let channel = params.channel.filter(|it| !it.is_empty());
    let channel = channel.unwrap_or_else(|| CHANNEL.to_owned());
    if channel != CHANNEL {
        return Err(Failure::unavailable(format!(
            "channel {channel} is not configured; configured: {CHANNEL}"
        )));
    }
    let has_media =
        params.media_url.is_some() || !params.media_urls.is_empty() || params.buffer.is_some();
    let Some(text) = params.message.filter(|text| !text.trim().is_empty()) else {
        let what = if has_media {
            "media are not sent"
        } else {
            "message is empty"
        };
        return Err(Failure::params(call.method, what));
    };
    if has_media {
        return Err(Failure::params(call.method, "media are not sent"));
    }
    let session = params.session_key.filter(|key| !key.is_empty());
    let key = call
        .context
        .core
        .key(session.as_deref().unwrap_or(&params.to), "")
        .map_err(refused)?;
    let run_id = params.idempotency_key.0;
    if !call.context.sends.is_new(&run_id) {
        return Ok(json!({ "runId": run_id, "channel": channel, "duplicate": true }).into());
    }
    let said = say(
        &call.context.core.storage,
        &call.context.core.bus,
        &key,
        &text,
    )
    .await;
    let id = said.map_err(|fault| stored(&fault))?;
    Ok(json!({ "runId": run_id, "messageId": id, "channel": channel }).into())
}

/// `channels.status`: the channels of the configuration, none of which runs: a
/// channel is a daemon of its own, and there is none yet.
pub(super) async fn channels(call: Call) -> Result<Answer, Failure> {
    // What all channels share is no channel.
    let mut configured = config::channels(&call).await?;
    configured.remove("defaults");
    let names: Vec<&String> = configured.keys().collect();
    let each = |value: Value| -> Map<String, Value> {
        let each = names.iter().map(|name| (name.to_string(), value.clone()));
        each.collect()
    };
    let account = json!({
        "accountId": "default",
        "configured": true,
        "running": false,
        "lastError": "not supported yet: there is no daemon for this channel",
    });
    let labels: Map<String, Value> = names
        .iter()
        .map(|name| (name.to_string(), json!(name)))
        .collect();
    Ok(json!({
        "ts": now_ms(),
        "channelOrder": names,
        "channelLabels": labels,
        "channelDetailLabels": labels,
        "channelSystemImages": {},
        "channelMeta": [],
        "channels": each(account.clone()),
        "channelAccounts": each(json!([account])),
        "channelDefaultAccountId": each(json!("default")),
    })
    .into())
}
