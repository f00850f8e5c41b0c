//! Updates on their way to disk, whichever way they came, and why none come.

use std::sync::Arc;
use std::time::Duration;

use openclaw_channel::spool::{Spool, Update};
use openclaw_proto::channel::Connection;
use serde_json::Value;

use crate::api::{Api, Error};
use crate::bot::Bot;

/// Why nothing is received.
#[derive(Debug, Default)]
pub(crate) struct Problem {
    /// What is said of it, unless that was said already.
    pub(crate) told: Option<(Connection, String)>,
    /// How long Telegram wants not to be asked.
    pub(crate) after: Option<Duration>,
}

impl Problem {
    pub(crate) fn of(state: Connection, words: String) -> Self {
        Self {
            told: Some((state, words)),
            after: None,
        }
    }
}

pub(crate) fn connecting(words: impl Into<String>) -> Problem {
    Problem::of(Connection::Connecting, words.into())
}

/// What `error` of a call that receiving needs means.
pub(crate) fn problem(bot: &Bot, error: &Error) -> Problem {
    if error.is_token_refused() {
        bot.judge(error);
        return Problem::default();
    }
    match error.code() {
        Some(409) => Problem::of(
            Connection::Conflict,
            format!(
                "somebody else receives this bot's messages ({}): stop the other program, or give \
                 it a bot of its own",
                error.description()
            ),
        ),
        Some(429) => Problem {
            after: error.retry_after(),
            ..Problem::of(
                Connection::Waiting,
                format!("Telegram wants fewer requests: {error}"),
            )
        },
        _ => connecting(format!("Telegram cannot be reached: {error}")),
    }
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
