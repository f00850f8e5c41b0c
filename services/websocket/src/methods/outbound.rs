//! `wake`, `send` and `channels.status`: what goes to an agent or out of the
//! gateway without being an answer.

use std::collections::BTreeMap;

use crate::refused::refused;
use openclaw_daemon::failure::chain;
use openclaw_doors::channels::Refused;
use openclaw_proto::channel::{AccountName, Connection};
use openclaw_proto::channel_admin::{AccountState, Text};
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
const WITHOUT_EFFECT: [&str; 8] = [
    "agentId",
    "replyToId",
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
    account_id: Option<String>,
    thread_id: Option<Value>,
    idempotency_key: Filled,
}

/// `send`: a message to somebody: on a channel, or in a session, where the clients
/// of this protocol see it.
pub(super) async fn send(mut call: Call) -> Result<Answer, Failure> {
    call.ignore(&WITHOUT_EFFECT);
    let params: Send = call.params()?;
    let channel = params.channel.filter(|it| !it.is_empty());
    let channel = channel.unwrap_or_else(|| CHANNEL.to_owned());
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
    if channel != CHANNEL {
        let text = Text {
            account: AccountName {
                channel,
                account: params.account_id.unwrap_or_default(),
            },
            to: params.to.0,
            thread: params.thread_id.map(|id| match id {
                Value::String(id) => id,
                other => other.to_string(),
            }),
            text,
        };
        return on_channel(&call, text, params.idempotency_key.0).await;
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

/// Has it said by the channel's daemon, when there is one.
async fn on_channel(call: &Call, text: Text, run_id: String) -> Result<Answer, Failure> {
    let (channels, channel) = (&call.context.channels, text.account.channel.clone());
    let states = channels.states();
    if !states
        .iter()
        .any(|it| it.account.channel == channel && it.is_enabled)
    {
        let on = states.iter().filter(|it| it.is_enabled);
        let configured = on.map(|it| it.account.channel.as_str()).chain([CHANNEL]);
        let configured = configured.collect::<Vec<_>>().join(", ");
        return Err(Failure::unavailable(format!(
            "channel {channel} is not configured; configured: {configured}"
        )));
    }
    if !call.context.sends.is_new(&run_id) {
        return Ok(json!({ "runId": run_id, "channel": channel, "duplicate": true }).into());
    }
    let to = text.to.clone();
    match channels.send(text).await {
        Ok(_) => Ok(json!({ "runId": run_id, "channel": channel, "to": to }).into()),
        Err(refused @ Refused::Ledger(_)) => Err(Failure::unavailable(chain(&refused))),
        Err(refused) => Err(Failure::params(call.method, &refused.to_string())),
    }
}

/// `channels.status`: the channels of the configuration, and how each account
/// does.
pub(super) async fn channels(call: Call) -> Result<Answer, Failure> {
    // What all channels share is no channel.
    let mut configured = config::channels(&call).await?;
    configured.remove("defaults");
    let names: Vec<&String> = configured.keys().collect();
    let mut accounts: BTreeMap<String, Vec<AccountState>> = BTreeMap::new();
    for state in call.context.channels.states() {
        let of_channel = accounts.entry(state.account.channel.clone());
        of_channel.or_default().push(state);
    }
    let (mut all, mut each, mut defaults) = (Map::new(), Map::new(), Map::new());
    for name in &names {
        let states = accounts.remove(*name).unwrap_or_default();
        let default = states.iter().find(|state| state.is_default);
        let shown: Vec<Value> = if states.is_empty() {
            vec![unsupported()]
        } else {
            states.iter().map(shown).collect()
        };
        let id = default.map_or("default", |state| state.account.account.as_str());
        defaults.insert((*name).clone(), json!(id));
        let summary = default.map_or_else(unsupported, self::shown);
        all.insert((*name).clone(), summary);
        each.insert((*name).clone(), json!(shown));
    }
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
        "channels": all,
        "channelAccounts": each,
        "channelDefaultAccountId": defaults,
    })
    .into())
}

/// Of a channel that there is no daemon for.
fn unsupported() -> Value {
    json!({
        "accountId": "default",
        "configured": true,
        "running": false,
        "lastError": "not supported yet: there is no daemon for this channel",
    })
}

/// In OpenClaw's fields.
fn shown(state: &AccountState) -> Value {
    let running = state.attended_since_ms.is_some();
    let mut shown = json!({
        "accountId": state.account.account,
        "configured": true,
        "enabled": state.is_enabled,
        "running": running,
        "connected": false,
    });
    if let Some(since) = state.attended_since_ms {
        shown["lastStartAt"] = json!(since);
    }
    match &state.health {
        Some(health) => {
            shown["connected"] = json!(running && health.state == Connection::Connected);
            if !health.last_error.is_empty() {
                shown["lastError"] = json!(health.last_error);
            }
            if !health.identity.is_empty() {
                shown["name"] = json!(health.identity);
            }
        }
        None if state.is_enabled && !running => {
            shown["lastError"] = json!("no daemon attends this account");
        }
        None => {}
    }
    shown
}
