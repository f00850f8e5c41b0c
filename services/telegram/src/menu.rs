//! The menu of commands that people see below their keyboard.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use crate::api::Api;
use crate::bot::Bot;

/// Commands that Telegram takes.
const COMMANDS: usize = 100;
/// UTF-16 units of what each says of itself.
const DESCRIPTION: usize = 256;
/// Attempts at a menu that Telegram cannot take now.
const ATTEMPTS: u32 = 5;
/// Between them, where Telegram names no time; it doubles with each one.
const PAUSE: Duration = Duration::from_secs(2);

/// Offers the menu that the settings have, unless it was. Never returns: what Telegram
/// refuses now is offered later.
pub(crate) async fn offer(bot: &Bot, api: &Api) -> Infallible {
    let menu = (api.bot_id().to_owned(), commands(bot));
    let parameters = json!({"commands": menu.1});
    let mut offered = bot.menu.lock().await;
    let mut pause = PAUSE;
    for attempt in 1..=ATTEMPTS {
        if offered.last.as_ref() == Some(&menu) {
            break;
        }
        if let Some(next) = offered.next {
            sleep_until(next).await;
        }
        let error = match api.call("setMyCommands", &parameters).await {
            Ok(_) => {
                offered.last = Some(menu);
                break;
            }
            Err(error) => error,
        };
        if !error.is_passing() || attempt == ATTEMPTS {
            tracing::warn!("the bot's menu stays as it was: {error}");
            break;
        }
        tracing::debug!("{error}; the bot's menu is offered again");
        match error.retry_after() {
            Some(after) => offered.next = Some(Instant::now() + after),
            None => sleep(pause).await,
        }
        pause *= 2;
    }
    drop(offered);
    pending().await
}

fn commands(bot: &Bot) -> Value {
    bot.reader()
        .options
        .menu
        .iter()
        .map(|it| (it.name.replace('-', "_").to_lowercase(), &it.description))
        .filter(|(name, _)| is_command(name))
        .map(|(name, words)| {
            let words = openclaw_channel::rich::beginning(words, DESCRIPTION);
            json!({"command": name, "description": if words.is_empty() { &name } else { words }})
        })
        .take(COMMANDS)
        .collect()
}

fn is_command(name: &str) -> bool {
    let is_fine = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    (1..=32).contains(&name.len()) && name.chars().all(is_fine)
}
