//! Updates on their way to disk, whichever way they came.

use std::sync::Arc;

use openclaw_channel::spool::{Spool, Update};
use openclaw_proto::channel::Connection;
use serde_json::Value;

use crate::api::Api;

pub(crate) type Problem = Option<(Connection, String)>;

pub(crate) fn connecting(words: impl Into<String>) -> Problem {
    Some((Connection::Connecting, words.into()))
}

/// An update as the spool has it: its key is unique over bots.
pub(crate) fn update(api: &Api, raw: &Value) -> Option<Update> {
    let id = raw["update_id"].as_i64()?;
    Some(Update {
        key: format!("{}:{id}", api.bot_id()),
        raw: raw.to_string(),
    })
}

/// Puts a batch on disk.
pub(crate) async fn keep(
    spool: &Arc<Spool>,
    batch: Vec<Update>,
    position: Option<String>,
) -> Result<(), Problem> {
    let spool = Arc::clone(spool);
    let kept = tokio::task::spawn_blocking(move || spool.append(batch, position)).await;
    match kept {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(connecting(format!(
            "what came cannot be kept, so Telegram keeps it: {error}"
        ))),
        Err(error) => Err(connecting(error.to_string())),
    }
}
