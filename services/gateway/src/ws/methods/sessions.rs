//! `sessions.*`: the index, and who follows what.

mod list;

use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Call};

pub(super) use list::list;

/// `sessions.subscribe`: changes of the index are told from now on.
pub(super) async fn subscribe(call: Call) -> Result<Answer, Failure> {
    call.client.follow_index(true);
    Ok(json!({ "subscribed": true }).into())
}

/// `sessions.unsubscribe`
pub(super) async fn unsubscribe(call: Call) -> Result<Answer, Failure> {
    call.client.follow_index(false);
    Ok(json!({ "subscribed": false }).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Follow {
    key: Filled,
    agent_id: Option<Filled>,
    #[serde(rename = "includeApprovals")]
    _include_approvals: Option<bool>,
}

/// `sessions.messages.subscribe`: the messages of a session are told.
pub(super) async fn follow(mut call: Call) -> Result<Answer, Failure> {
    let key = key(&mut call)?;
    call.client.follow(&key)?;
    Ok(json!({ "subscribed": true, "key": key }).into())
}

/// `sessions.messages.unsubscribe`
pub(super) async fn unfollow(mut call: Call) -> Result<Answer, Failure> {
    let key = key(&mut call)?;
    call.client.unfollow(&key);
    Ok(json!({ "subscribed": false, "key": key }).into())
}

fn key(call: &mut Call) -> Result<String, Failure> {
    let params: Follow = call.params()?;
    let agent = params.agent_id.as_deref().unwrap_or_default();
    Ok(call.gateway.key(&params.key, agent)?.to_string())
}
