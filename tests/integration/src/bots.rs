//! Bots of Telegram that others' libraries make: they judge the double.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use telegram_double::Double;
use tokio::process::Command;

use crate::installed::folder;
use crate::talk::Talk;

/// The programs.
const SCRIPTS: &str = "tests/telegram";

/// A bot with aiogram (Python) at `double`; `None` where the tests were told to do
/// without.
pub fn aiogram(double: &Double) -> Option<Talk> {
    let python = "bin/python";
    let folder = folder("aiogram", "OPENCLAW_TEST_AIOGRAM", "aiogram", python)?;
    let mut command = Command::new(folder.join(python));
    command.arg(script("bot.py"));
    Some(start("bot.py", command, double))
}

/// The same with grammY (Node).
pub fn grammy(double: &Double) -> Option<Talk> {
    let modules = "node_modules/grammy";
    let folder = folder("grammY", "OPENCLAW_TEST_GRAMMY", "grammy", modules)?;
    let mut command = Command::new("node");
    command
        .arg(script("bot.mjs"))
        .arg(folder.join("node_modules"));
    Some(start("bot.mjs", command, double))
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(SCRIPTS)
        .join(name)
}

fn start(what: &str, mut command: Command, double: &Double) -> Talk {
    command
        .args([&double.url(), double.token()])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    Talk::start(what, command)
}

/// What a bot that was told to stop says of itself.
pub async fn ended(bot: Talk) -> Value {
    bot.end().await.document()
}
