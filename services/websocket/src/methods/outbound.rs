//! `wake` and `send`: what goes to an agent or out of the gateway without being
//! an answer.

use crate::refused::refused;
use openclaw_daemon::failure::chain;
use openclaw_doors::channels::Refused;
use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::Text;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use serde::Deserialize;
use serde_json::{Value, json};

use openclaw_runs::When;

use super::sessions::exists;
use super::{Answer, Call};
use crate::client::CHANNEL;

methods! {
    "send" => WRITE, send;
    "wake" => WRITE, wake;
}

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
async fn wake(mut call: Call) -> Result<Answer, Failure> {
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
async fn send(mut call: Call) -> Result<Answer, Failure> {
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
            file: None,
        };
        return on_channel(&call, text, params.idempotency_key.0).await;
    }
    let session = params.session_key.filter(|key| !key.is_empty());
    let key = call
        .context
        .core
        .key(session.as_deref().unwrap_or(&params.to), "")
        .map_err(refused)?;
    if !exists(&call, &key).await? {
        return Err(Failure::invalid(format!(
            "there is no session {:?}, and no channel is given; {}",
            key.as_str(),
            configured(&call)
        )));
    }
    let run_id = params.idempotency_key.0;
    if !call.context.sends.is_new(&run_id) {
        return Ok(json!({ "runId": run_id, "channel": channel, "duplicate": true }).into());
    }
    let id = call.say(&key, &text).await?;
    Ok(json!({ "runId": run_id, "messageId": id, "channel": channel }).into())
}

/// The channels that there are, in words.
fn configured(call: &Call) -> String {
    let states = call.context.channels.states();
    let mut all = crate::channels::on(&states);
    all.push(CHANNEL);
    format!("configured: {}", all.join(", "))
}

/// Sends it by the channel's daemon, when there is one.
async fn on_channel(call: &Call, text: Text, run_id: String) -> Result<Answer, Failure> {
    let (channels, channel) = (&call.context.channels, text.account.channel.clone());
    let states = channels.states();
    if !states
        .iter()
        .any(|it| it.account.channel == channel && it.is_enabled)
    {
        return Err(Failure::unavailable(format!(
            "channel {channel} is not configured; {}",
            configured(call)
        )));
    }
    if !call.context.sends.is_new(&run_id) {
        return Ok(json!({ "runId": run_id, "channel": channel, "duplicate": true }).into());
    }
    let to = text.to.clone();
    match channels.send_or_fail(text).await {
        Ok(()) => Ok(json!({ "runId": run_id, "channel": channel, "to": to }).into()),
        Err(refused @ (Refused::Ledger(_) | Refused::Undelivered(_))) => {
            Err(Failure::unavailable(chain(&refused)))
        }
        Err(refused) => Err(Failure::params(call.method, &refused.to_string())),
    }
}
