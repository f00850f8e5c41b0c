//! A message that the daemon before was killed over: whether Telegram has it. Telegram
//! answers no such question, but it says of an edit that changes nothing that it does.
//!
//! In private chats alone: the numbers there count up, and a chat's deliveries come one
//! after the other, so that what the bot said behind the last number that was known is
//! the message, or the beginning of an answer, which is nobody's message.

use openclaw_channel::Link;
use openclaw_channel::progress::Progress;
use openclaw_channel::rich::Rich;
use openclaw_proto::outbox::Delivery;
use serde_json::Value;

use super::call::{Target, request};
use crate::bot::Bot;

/// Numbers behind the last one that was known at which it is looked for: those of other
/// chats are among them.
const REACH: i64 = 16;

/// What is noted of a message before it is sent: the last number that is known; empty: it
/// is not looked for.
pub(super) fn note(bot: &Bot, delivery: &Delivery, target: &Target) -> String {
    let answered = delivery.extras.answers_id.parse().unwrap_or_default();
    match bot.last_number().filter(|_| is_numbered(target)) {
        Some(last) => last.max(answered).to_string(),
        None => String::new(),
    }
}

/// Whether numbers of messages say something about `target`.
fn is_numbered(target: &Target) -> bool {
    let is_private = target.chat().parse::<i64>().is_ok_and(|id| id > 0);
    is_private && target.spot().thread.is_none()
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
    let last: i64 = noted.parse().ok().filter(|_| is_numbered(target))?;
    let shown = shown(target, link)?;
    let api = bot.api().ok()?;
    for number in last + 1..=last + REACH {
        if shown.contains(&number) {
            continue;
        }
        let (method, parameters) = request(bot, target, text, keyboard, Some(number), false);
        match api.call(method, &parameters).await {
            Ok(_) => return Some(number),
            Err(error) if error.description().contains("message is not modified") => {
                return Some(number);
            }
            // There is none, or it is somebody else's.
            Err(error) if error.code() == Some(400) => {}
            Err(error) => {
                tracing::debug!("{error}; it is not looked for any further");
                return None;
            }
        }
    }
    None
}

/// The messages that show how runs go on there; None: they are not known.
fn shown(target: &Target, link: &Link) -> Option<Vec<i64>> {
    let runs = link.records.of_runs().ok()?;
    let parts = runs.iter().flat_map(Progress::parts);
    let there = parts.filter(|part| part.get(1).is_some_and(|chat| chat == target.chat()));
    Some(there.filter_map(|part| part[0].parse().ok()).collect())
}
