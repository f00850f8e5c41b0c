//! The way in by asking: long polls, each batch on disk before the next one tells
//! Telegram that it came.

use std::sync::Arc;
use std::time::Duration;

use openclaw_channel::spool::Spool;
use openclaw_daemon::configuration::now_ms;
use openclaw_proto::channel::Connection;
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::api::Api;
use crate::batch::{Problem, connecting, keep, problem, update};
use crate::bot::Bot;
use crate::read::KINDS;
use crate::{menu, webhook};

/// Updates of one answer; one that has so many is hardly all that there is.
const BATCH: usize = 100;
/// Seconds that Telegram waits for something to come.
const POLL_SECONDS: u64 = 30;
/// The same after somebody else received, who would end a poll within that time.
const CONFLICT_SECONDS: u64 = 5;
/// A poll without an answer for so long is broken, whatever the connection says.
const WATCHDOG: Duration = Duration::from_secs(120);
/// Between attempts, which grows.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// After a week without any update the next one has a random number. From this
/// long a silence on, all that was not confirmed is asked for, whatever its number.
const SILENCE_MS: i64 = 6 * 24 * 60 * 60 * 1000;

/// How far a bot's updates were read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    bot: String,
    offset: i64,
    at_ms: i64,
}

impl Position {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split(':');
        Some(Self {
            bot: parts.next()?.to_owned(),
            offset: parts.next()?.parse().ok()?,
            at_ms: parts.next()?.parse().ok()?,
        })
    }

    fn write(&self) -> String {
        format!("{}:{}:{}", self.bot, self.offset, self.at_ms)
    }
}

/// Receives until it is dropped.
pub(crate) async fn receive(bot: &Bot, spool: &Arc<Spool>) {
    let mut pause = FIRST_PAUSE;
    loop {
        spool.set_has_more(false);
        match connected(bot, spool, &mut pause).await {
            Ok(()) => pause = FIRST_PAUSE,
            Err(Problem { told, after }) => {
                let wait = pause.max(after.unwrap_or_default());
                match told {
                    Some((Connection::Waiting, words)) => bot.board.waits(wait, &words),
                    Some((state, words)) => bot.board.problem(state, &words),
                    None => {}
                }
                spool.set_has_more(false);
                sleep(wait).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Learns who the bot is and receives with that token, until it is another one.
/// `pause` is the next one after a failure: each poll that is answered makes it the
/// first one again.
async fn connected(bot: &Bot, spool: &Arc<Spool>, pause: &mut Duration) -> Result<(), Problem> {
    let api = bot
        .api()
        .map_err(|why| Problem::of(Connection::Refused, why))?;
    bot.becomes(&api);
    let me = api
        .call("getMe", &json!({}))
        .await
        .map_err(|error| problem(bot, &error))?;
    bot.is(&me);
    bot.board.contact();
    let received = async {
        if bot.reader().options.webhook_url.is_some() {
            return webhook::receive(bot, &api, spool).await;
        }
        webhook::leave(bot, &api).await?;
        poll(bot, &api, spool, pause).await
    };
    tokio::select! {
        received = received => received,
        // What comes in does not wait for the menu.
        never = menu::offer(bot, &api) => match never {},
    }
}

async fn poll(
    bot: &Bot,
    api: &Api,
    spool: &Arc<Spool>,
    pause: &mut Duration,
) -> Result<(), Problem> {
    let own = |text: String| Position::parse(&text).filter(|it| it.bot == api.bot_id());
    let mut position = spool.position().and_then(own);
    // Telegram knows how far we are.
    let mut is_confirmed = false;
    let mut has_more = false;
    loop {
        spool.room().await;
        // Whether it may be asked again is known soon, however long nothing comes.
        let seconds = match bot.board.health().state {
            Connection::Waiting => 0,
            _ if has_more => 0,
            Connection::Conflict => CONFLICT_SECONDS,
            _ => POLL_SECONDS,
        };
        let mut asked = json!({"timeout": seconds, "limit": BATCH, "allowed_updates": KINDS});
        if let Some(position) = &position {
            let is_silent = now_ms().saturating_sub(position.at_ms) > SILENCE_MS;
            if !(is_confirmed && is_silent) {
                asked["offset"] = position.offset.into();
            }
        }
        let answer = timeout(WATCHDOG, api.call("getUpdates", &asked)).await;
        let answer = answer.map_err(|_| connecting("Telegram said nothing for two minutes"))?;
        let updates = answer.map_err(|error| problem(bot, &error))?;
        bot.board.receives();
        *pause = FIRST_PAUSE;
        is_confirmed = true;
        let updates = updates.as_array().map_or(&[][..], Vec::as_slice);
        has_more = updates.len() >= BATCH;
        if !updates.is_empty() {
            let last = updates.iter().rev().find_map(|it| it["update_id"].as_i64());
            let next = Position {
                bot: api.bot_id().to_owned(),
                offset: last.unwrap_or_default().saturating_add(1),
                at_ms: now_ms(),
            };
            let batch = updates.iter().filter_map(|it| update(api, it)).collect();
            if has_more {
                // Before anybody takes up what came.
                spool.set_has_more(true);
            }
            keep(spool, batch, Some(next.write())).await?;
            position = Some(next);
            is_confirmed = false;
        }
        spool.set_has_more(has_more);
        if bot.api().is_ok_and(|now| now.bot_id() != api.bot_id()) {
            return Ok(());
        }
    }
}
