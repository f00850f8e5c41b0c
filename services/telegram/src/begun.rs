//! Beginnings of answers that are shown and of which it is not known whether Telegram has
//! them, as a daemon was killed or a connection broke over one: looked for in private
//! chats, before anything else is said there, so that the answer takes their place.

use std::time::Duration;

use openclaw_channel::Link;
use serde_json::{Value, json};

use crate::api::Error;
use crate::bot::{Bot, number};
use crate::chats::{Beginning, Left, is_numbered};
use crate::shown::{Preview, Spot};
use crate::sought;

/// Attempts at looking for a beginning; after the last one it is left where it may be.
const ATTEMPTS: u32 = 5;
/// Between two of them, unless Telegram names a time.
const PAUSE: Duration = Duration::from_secs(2);

/// What is noted of a beginning that says `html` at `spot` before it is shown as the
/// answer to `answered`; None: it is not looked for.
pub(crate) fn note(bot: &Bot, spot: &Spot, answered: i64, html: &str) -> Option<Beginning> {
    let last = bot.last_number().filter(|_| is_numbered(spot))?;
    Some(Beginning {
        after: last.max(answered),
        chat: spot.chat.clone(),
        html: html.to_owned(),
    })
}

/// Looks for what the daemon before may have left in the private chat of `spot`, which is
/// held. Error: after that time once more, and nothing may be said there before.
pub(crate) async fn settle(bot: &Bot, spot: &Spot, link: &Link) -> Result<(), Duration> {
    if !is_numbered(spot) {
        return Ok(());
    }
    let mut wait = None;
    for left in bot.chats.take_left(&spot.chat, &link.records) {
        if let Err((left, after)) = look_for(bot, left).await {
            bot.chats.put_left(left);
            wait = wait.max(Some(after));
        }
    }
    wait.map_or(Ok(()), Err)
}

async fn look_for(bot: &Bot, mut left: Left) -> Result<(), (Left, Duration)> {
    let settled = match find(bot, &left.beginning).await {
        Ok(Some(shown)) => {
            tracing::info!(
                "the message {} is the beginning of an answer that was being shown: the answer \
                 takes its place",
                shown.id
            );
            left.record.sent(shown.record())
        }
        // Of a run that is answered in private chats the record has nothing else.
        Ok(None) => left.record.forget(),
        Err(error) => {
            left.attempts += 1;
            if left.attempts == ATTEMPTS {
                // It is told where the run's record is opened.
                tracing::warn!("{error}; the beginning of an answer is looked for no more");
                return Ok(());
            }
            let after = error.retry_after().unwrap_or(PAUSE);
            return Err((left, after));
        }
    };
    if let Err(error) = settled {
        openclaw_daemon::failure::report("record what became of a beginning", &error);
    }
    Ok(())
}

/// The message that shows `beginning`, if it stands there.
pub(crate) async fn find(bot: &Bot, beginning: &Beginning) -> Result<Option<Preview>, Error> {
    let Beginning { after, chat, html } = beginning;
    let edit = |message| ("editMessageText", edit(chat, html, message));
    let found = sought::message(bot, *after, &[], edit).await?;
    let spot = Spot {
        chat: chat.clone(),
        thread: None,
    };
    let preview = found.map(|id| Preview { id, spot });
    if let Some(shown) = &preview {
        bot.said(chat, &[shown.id.to_string()]);
    }
    Ok(preview)
}

fn edit(chat: &str, html: &str, message: i64) -> Value {
    json!({"chat_id": number(chat), "message_id": message, "text": html, "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": true}})
}
