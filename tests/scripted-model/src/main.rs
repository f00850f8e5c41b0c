//! `scripted-model`: the scripted model API as a program, for shells and for tests in other processes.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Parser;
use scripted_model::Server;
use tokio::signal::unix::{SignalKind, signal};

/// A scripted Anthropic (/v1/messages) and OpenAI (/v1/chat/completions) model API.
///
/// Without a script it echoes. A message may choose its answer: "[[scenario:slow 50]]", "[[scenario:429 2]]",
/// "[[scenario:tool read_file {"path":"a"}]]". More scenarios: POST /_script. What it was sent: GET /_requests.
#[derive(Debug, Parser)]
#[command(name = "scripted-model", version)]
struct Arguments {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// JSON file with the scenarios of the first requests: a list of objects or names.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut terminate = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
    let server = Server::start_at(arguments.listen).await?;
    if let Some(path) = &arguments.script {
        let script =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        server
            .push_script(&script)
            .map_err(|error| anyhow!("{}: {error}", path.display()))?;
    }
    // The line tells a waiting script both that the server listens and where.
    writeln!(std::io::stdout(), "{}", server.url()).context("cannot write to stdout")?;
    tokio::select! {
        _ = terminate.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted.context("cannot watch for SIGINT")?,
    }
    Ok(())
}
