//! A message that the daemon before was killed over: whether Telegram has it.
//!
//! In private chats alone: the numbers there count up, and a chat's messages come one
//! after the other, so that what the bot said behind the last number that was known is
//! the message.

use openclaw_channel::Link;
use openclaw_channel::progress::Progress;
use openclaw_channel::rich::Rich;
use openclaw_proto::outbox::Delivery;
use serde_json::Value;

use super::call::{Target, request};
use crate::bot::Bot;
use crate::chats::is_numbered;
use crate::sought;

/// What is noted of a message before it is sent: the last number that is known; empty: it
/// is not looked for.
pub(super) fn note(bot: &Bot, delivery: &Delivery, target: &Target) -> String {
    let answered = delivery.extras.answers_id.parse().unwrap_or_default();
    match bot.last_number().filter(|_| is_numbered(target.spot())) {
        Some(last) => last.max(answered).to_string(),
        None => String::new(),
    }
}

/// The number of `text` at `target`, if it stands there by now, for a daemon that noted
/// it as `noted`.
pub(super) async fn found(
    bot: &Bot,
    target: &Target,
    (text, keyboard): (&Rich, &Option<Value>),
    noted: &str,
    link: &Link,
) -> Option<i64> {
    let last: i64 = noted.parse().ok().filter(|_| is_numbered(target.spot()))?;
    let shown = shown(target, link)?;
    let edit = |number| request(bot, target, text, keyboard, Some(number), false);
    match sought::message(bot, last, &shown, edit).await {
        Ok(found) => found,
        Err(error) => {
            tracing::debug!("{error}; it is not looked for any further");
            None
        }
    }
}

/// The messages that show how runs go on there; None: they are not known.
fn shown(target: &Target, link: &Link) -> Option<Vec<i64>> {
    let runs = link.records.of_runs().ok()?;
    let parts = runs.iter().flat_map(Progress::parts);
    let there = parts.filter(|part| part.get(1).is_some_and(|chat| chat == target.chat()));
    Some(there.filter_map(|part| part[0].parse().ok()).collect())
}
