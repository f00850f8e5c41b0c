//! `sessions.compact`: older messages give way to a summary.

use crate::refused::refused;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::SessionKey;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use openclaw_compaction::Made;

use super::super::Context;
use super::super::{Answer, Call};
use crate::session_change::tell_changed;

methods! { "sessions.compact" => ADMIN, compact; }

/// Messages that stay as they are when the client does not say how many.
const KEPT: u32 = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    key: Filled,
    agent_id: Option<Filled>,
    max_lines: Option<u32>,
}

/// `sessions.compact`
async fn compact(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.session_params("key")?;
    let key = call.key(&params.key, params.agent_id.as_deref())?;
    let kept = params.max_lines.unwrap_or(KEPT).max(1);
    let mut answer = json!({ "ok": true, "key": key.as_str(), "compacted": true });
    if !of_session(&call.context, &key, kept).await? {
        answer["compacted"] = json!(false);
        answer["reason"] = json!(too_short(kept));
    }
    Ok(answer.into())
}

/// Why nothing was summarised.
fn too_short(kept: u32) -> String {
    let messages = if kept == 1 { "message" } else { "messages" };
    format!("there is no turn before the last {kept} {messages}, which stay as they are")
}

/// Puts a summary that the agent writes in the place of all but the last `kept`
/// messages; false when there are no more than these.
async fn of_session(context: &Context, key: &SessionKey, kept: u32) -> Result<bool, Failure> {
    if !context.core.lanes.runs(key).is_empty() {
        return Err(Failure::invalid(format!(
            "Session {key} has an active run; retry after it finishes."
        )));
    }
    match context
        .core
        .compactor
        .on_request(key, kept, &CancellationToken::new())
        .await
        .map_err(refused)?
    {
        Made::Summarised => {
            tell_changed(&context.core, &context.hub, key, "compact").await;
            Ok(true)
        }
        Made::Fits => Ok(false),
        Made::Cancelled => Err(Failure::unavailable("the compaction was cancelled")),
        Made::Failed(why) => Err(Failure::unavailable(format!(
            "Session {key} was not compacted: {why}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::too_short;

    #[test]
    fn reason_of_no_compaction_names_what_stays() {
        assert!(too_short(20).contains("the last 20 messages"));
        assert!(too_short(1).contains("the last 1 message,"));
    }
}
