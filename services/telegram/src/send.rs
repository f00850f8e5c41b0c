//! The way out: what a delivery is in Telegram's messages, and sending them.

mod call;
mod content;

use std::time::Duration;

use openclaw_channel::Link;
use openclaw_channel::progress::Progress;
use openclaw_daemon::configuration::now_ms;
use openclaw_proto::outbox::{Delivery, Kind, Outcome};

use crate::bot::Bot;
use crate::shown::Shown;
use content::Part;

pub(crate) use call::{Failure, Spot, Target, delete};

/// When a delivery is tried again that Telegram could not take.
const AGAIN_MS: i64 = 5_000;

/// Delivers what Telegram has not taken yet.
pub(crate) async fn deliver(
    bot: &Bot,
    delivery: &Delivery,
    progress: &mut Progress,
    link: &Link,
) -> Outcome {
    if let Kind::Edit {
        provider_ids, text, ..
    } = &delivery.kind
    {
        return edit(bot, delivery, provider_ids, text).await;
    }
    let mut target = Target::of(bot, delivery);
    let mut shown = shown(bot, delivery, link).await;
    let is_reply = matches!(delivery.kind, Kind::Reply { .. });
    let replaced = shown.as_ref().and_then(|it| it.at(target.spot()));
    if replaced.is_some()
        && !is_reply
        && let Some(shown) = &mut shown
    {
        // Before it is sent: a daemon that is killed after that would put the answer in
        // the place of the question.
        shown.unrecord(&delivery.run_id, link);
    }
    let parts = content::parts(bot, delivery);
    let begin = progress.parts().len();
    let of_text = |part: &Part| matches!(part, Part::Text(_));
    let first_text = parts.iter().position(of_text);
    for (index, part) in parts.iter().enumerate().skip(begin) {
        let is_last = index + 1 == parts.len();
        // The record is of use for the next daemon alone; without it this goes on.
        if let Err(error) = progress.sending() {
            tracing::warn!("cannot record what is being sent: {error}");
        }
        target.set_reply(bot, delivery, index);
        let keyboard = if is_last {
            content::keyboard(bot, delivery)
        } else {
            None
        };
        let sent = match part {
            Part::Text(text) => {
                let replaced = replaced.filter(|_| Some(index) == first_text);
                call::text(bot, &mut target, text, keyboard, replaced).await
            }
            Part::File(index) => call::file(bot, &mut target, delivery, *index, link).await,
            Part::Reaction => call::reaction(bot, delivery).await,
        };
        let recorded = match sent {
            Ok(ids) => progress.sent(ids),
            Err(failure) => {
                progress.refused();
                return outcome(failure);
            }
        };
        if let Err(error) = recorded {
            openclaw_daemon::failure::report("record what was sent", &error);
        }
    }
    if first_text.is_none()
        && let Some(message) = replaced
    {
        call::delete(bot, &target, message).await;
    }
    match &mut shown {
        Some(shown) if is_reply => shown.forget(),
        Some(shown) => shown.message = None,
        None => {}
    }
    Outcome::Delivered(progress.ids())
}

/// What is shown of the run that says `delivery`, if that takes the place of it: an
/// answer ends it, and after a question it goes on.
async fn shown(
    bot: &Bot,
    delivery: &Delivery,
    link: &Link,
) -> Option<tokio::sync::OwnedMutexGuard<Shown>> {
    match delivery.kind {
        Kind::Reply { .. } => Some(bot.lives.end(&delivery.run_id, link).await),
        Kind::Question { .. } => {
            let shown = bot.lives.pause(&delivery.run_id, link).await;
            let is_here = shown.at(Target::of(bot, delivery).spot()).is_some();
            is_here.then_some(shown)
        }
        Kind::Announcement { .. } | Kind::Edit { .. } | Kind::Typing => None,
    }
}

async fn edit(bot: &Bot, delivery: &Delivery, ids: &[String], text: &str) -> Outcome {
    let Some(id) = ids.first().and_then(|id| id.parse().ok()) else {
        return Outcome::Undeliverable("it is not known which message is to be edited".into());
    };
    let rich = openclaw_channel::rich::read(text);
    let limit = bot.reader().options.text_chunk_limit;
    let Some(first) = rich.split(limit).into_iter().next() else {
        return Outcome::Undeliverable("there is nothing to be said in its place".into());
    };
    let mut target = Target::of(bot, delivery);
    match call::text(bot, &mut target, &first, None, Some(id)).await {
        Ok(ids) => Outcome::Delivered(ids),
        Err(failure) => outcome(failure),
    }
}

fn outcome(failure: Failure) -> Outcome {
    match failure {
        Failure::Later { after, reason } => {
            let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX / 2);
            Outcome::TryAgain {
                at_ms: now_ms() + after.max(AGAIN_MS.min(after + 1000)),
                reason,
            }
        }
        Failure::Never(reason) => Outcome::Undeliverable(reason),
    }
}

/// The longest that a delivery waits here before the gateway has it again.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
