//! `sessions.compact`: older messages give way to a summary.

use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::SessionKey;
use openclaw_sessions::transcript::{Entry, Message};
use serde::Deserialize;
use serde_json::json;

use super::super::{Answer, Call};
use super::tell_changed;
use crate::gateway::Gateway;
use crate::sessions::Wanted;

/// Messages that stay as they are when the client does not say how many.
const KEPT: usize = 20;

/// Messages that are looked at: as many as one page has.
const READ_LIMIT: usize = 1000;

/// Characters of each message in the summary.
const LINE_LIMIT: usize = 160;

/// Characters of the summary; the oldest lines go first.
const SUMMARY_LIMIT: usize = 8000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    key: Filled,
    agent_id: Option<Filled>,
    max_lines: Option<usize>,
}

/// `sessions.compact`
pub(in super::super) async fn compact(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.session_params("key")?;
    let agent = params.agent_id.as_deref().unwrap_or_default();
    let key = call.gateway.key(&params.key, agent)?;
    let kept = params.max_lines.unwrap_or(KEPT).max(1);
    let compacted = of_session(&call.gateway, &key, kept).await?;
    Ok(json!({ "ok": true, "key": key.as_str(), "compacted": compacted }).into())
}

/// Puts a summary in the place of all but the last `kept` messages; false when
/// there are no more than these. The summary is made of the messages' own first
/// words: no model is asked.
pub(in super::super) async fn of_session(
    gateway: &Gateway,
    key: &SessionKey,
    kept: usize,
) -> Result<bool, Failure> {
    if !gateway.lanes.runs(key).is_empty() {
        return Err(Failure::invalid(format!(
            "Session {key} has an active run; retry after it finishes."
        )));
    }
    let compacting = gateway.sessions.begin_compaction(key)?;
    let wanted = Wanted {
        skip: 0,
        limit: READ_LIMIT,
        all: false,
    };
    let history = gateway.sessions.history(key, wanted).await?;
    let Some(cut) = history
        .entries
        .len()
        .checked_sub(kept)
        .filter(|cut| *cut > 0)
    else {
        return Ok(false);
    };
    // A turn is not cut in two: what stays begins with what the user said.
    let begins = |entry: &Entry| matches!(entry.message, Message::User(_));
    let Some(cut) = (cut..history.entries.len()).find(|at| begins(&history.entries[*at])) else {
        return Ok(false);
    };
    let keep = history.entries.len() - cut;
    let summary = summary(&history.entries[..cut]);
    gateway.sessions.compact(&compacting, summary, keep).await?;
    tell_changed(gateway, key, "compact").await;
    Ok(true)
}

fn summary(entries: &[Entry]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut left = SUMMARY_LIMIT;
    for entry in entries.iter().rev() {
        let who = match &entry.message {
            Message::User(_) => "User",
            Message::Assistant(_) => "Assistant",
            Message::ToolResult(_) => continue,
        };
        let text = entry.message.content().to_text();
        let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            continue;
        }
        let line = format!(
            "{who}: {}",
            words.chars().take(LINE_LIMIT).collect::<String>()
        );
        let Some(rest) = left.checked_sub(line.chars().count() + 1) else {
            break;
        };
        left = rest;
        lines.push(line);
    }
    lines.reverse();
    format!(
        "The conversation so far, shortened to its first words ({} messages):\n{}",
        entries.len(),
        lines.join("\n")
    )
}
