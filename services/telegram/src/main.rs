//! The channel daemon of Telegram.

use std::process::ExitCode;

use openclaw_daemon::arguments;
use openclaw_telegram::check::{self, Check};

/// Carries messages between Telegram and the gateway. Started by systemd or by
/// `openclawctl run`.
#[derive(clap::Parser)]
#[command(name = "openclaw-telegram", version)]
struct Arguments {
    /// The account in the configuration (channels.telegram.accounts); without it,
    /// the default one.
    #[arg(long, value_name = "NAME", default_value = "")]
    account: String,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Asks Telegram whether a token is valid and prints the bot's name; exit code
    /// 4: it is not.
    Check(Check),
}

pub(crate) fn main() -> ExitCode {
    let arguments: Arguments = match arguments::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match arguments.command {
        Some(Command::Check(asked)) => check::run(&asked),
        None => openclaw_daemon::client::main("openclaw-telegram", |client| {
            openclaw_telegram::run(client, arguments.account)
        }),
    }
}
