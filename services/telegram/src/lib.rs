//! The channel daemon of Telegram: a bot's messages to the gateway and the
//! gateway's to people, by the Bot API.

mod api;
mod batch;
mod begun;
mod bot;
mod chats;
pub mod check;
mod form;
#[cfg(fuzzing)]
pub mod fuzz;
mod html;
mod live;
mod menu;
mod moved;
mod numbers;
mod offered;
mod pace;
mod poll;
mod provider;
mod read;
mod send;
mod settings;
mod shown;
mod sought;
mod token;
mod types;
mod webhook;

use std::sync::Arc;

use openclaw_channel::account::Folder;
use openclaw_channel::{Post, daemon};
use openclaw_config::Paths;
use openclaw_daemon::client::Client;
use openclaw_proto::channel::AccountName;

use bot::Bot;

/// The channel's name.
const CHANNEL: &str = "telegram";
/// Of the state directory, what all channel daemons have.
const FOLDERS: &str = "channels";

/// Speaks for `account` until shutdown, or until the gateway lets it go.
pub async fn run(client: Client, account: String) -> anyhow::Result<()> {
    let paths = Paths::resolve(&client.environment)?;
    let variable = token::of_environment(&client.environment, &account);
    let account = AccountName {
        channel: CHANNEL.to_owned(),
        account,
    };
    let folder = Folder::take(&paths.state.join("state").join(FOLDERS), &account)?;
    let bot = Bot::new(variable, folder.path().to_owned());
    let post = Post {
        account,
        gateway: paths.gateway_of_channels(),
        folder,
        notifier: client.notifier,
        shutdown: client.shutdown,
    };
    daemon::run(Arc::new(bot), post).await
}
