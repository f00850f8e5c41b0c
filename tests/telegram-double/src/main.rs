//! `telegram-double`: the double as a program, for clients in other languages.

use std::io::Write as _;
use std::net::SocketAddr;

use anyhow::Context as _;
use clap::Parser;
use telegram_double::Double;
use tokio::signal::unix::{SignalKind, signal};

/// A strict double of Telegram's Bot API. Updates: POST /_update. What the bot said: GET
/// /_sent; all its calls: /_calls, its menu: /_commands, its webhook: /_webhook. POST
/// /_file/ID keeps a file, /_fault/METHOD lets the next call be refused, /_revoke (and
/// /_revoke/no) the token.
#[derive(Debug, Parser)]
#[command(name = "telegram-double", version)]
struct Arguments {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut terminate = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
    let double = Double::start_at(arguments.listen).await?;
    // The line tells a waiting script both that the double listens and where.
    writeln!(std::io::stdout(), "{} {}", double.url(), double.token())
        .context("cannot write to stdout")?;
    terminate.recv().await;
    Ok(())
}
