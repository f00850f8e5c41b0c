//! The process of the servers of one session: told them over its standard
//! input, over which connections to turns come too. It outlives its daemon as
//! long as one of its turns does.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::ExitCode;

use futures_util::StreamExt as _;
use openclaw_daemon::telemetry::Telemetry;
use openclaw_handoff::child;
use openclaw_handoff::order::{Hello, LINE_LIMIT};
use openclaw_handoff::passed::{Passed, Reader};
use openclaw_handoff::servers::{Pace, Paces, ServersOrder};
use openclaw_settings::LogLevel;
use serde::Serialize;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::codec::{FramedRead, LinesCodec};

use super::pool::Pool;

/// Runs the servers that standard input tells of.
pub fn main() -> ExitCode {
    let telemetry = Telemetry::install("openclaw-servers", LogLevel::Info);
    openclaw_daemon::panics::install();
    child::run_to_end(run(&telemetry), "run servers of tools")
}

async fn run(telemetry: &Telemetry) -> anyhow::Result<()> {
    let terminate = signal(SignalKind::terminate())?;
    if !child::follow_spawner()? {
        return Ok(());
    }
    let descriptor: OwnedFd = std::io::stdin().as_fd().try_clone_to_owned()?;
    let stream = std::os::unix::net::UnixStream::from(descriptor);
    stream.set_nonblocking(true)?;
    let (reader, mut writer) = UnixStream::from_std(stream)?.into_split();
    let passed = Passed::default();
    let reader = Reader::new(reader, passed.clone());
    let mut lines = FramedRead::new(reader, LinesCodec::new_with_max_length(LINE_LIMIT));
    // A daemon that is gone wants nothing any more.
    let Some(Ok(line)) = lines.next().await else {
        return Ok(());
    };
    let order: ServersOrder = serde_json::from_str(&line)?;
    telemetry.set_level(order.log_level);
    let pool = Pool::start(order.servers, order.helper, &order.paces);
    let told = pool.paces();
    let pid = i32::try_from(std::process::id())?;
    say(&mut writer, &Hello { pid }).await;
    let telling = tokio::spawn(tell(writer, pool.clone(), told));
    attend(&pool, lines, &passed, terminate).await;
    telling.abort();
    Ok(())
}

/// Serves the connections that come, until the line has ended and they have.
async fn attend(
    pool: &Pool,
    mut lines: FramedRead<Reader, LinesCodec>,
    passed: &Passed,
    mut terminate: Signal,
) {
    let mut connections = JoinSet::new();
    let mut is_open = true;
    while is_open || !connections.is_empty() {
        tokio::select! {
            line = lines.next(), if is_open => is_open = matches!(line, Some(Ok(_))),
            Some(_) = connections.join_next() => if connections.is_empty() {
                pool.leave();
            },
            _ = terminate.recv() => return,
        }
        while let Some(connection) = passed.take().and_then(connected) {
            connections.spawn(pool.serve(connection));
        }
    }
}

fn connected(descriptor: OwnedFd) -> Option<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(descriptor);
    stream.set_nonblocking(true).ok()?;
    UnixStream::from_std(stream).ok()
}

/// Tells the daemon how long servers take, whenever that is otherwise.
async fn tell(mut writer: OwnedWriteHalf, pool: Pool, mut told: BTreeMap<String, Pace>) {
    let mut changes = pool.changes();
    loop {
        let paces = pool.paces();
        if paces != told {
            told.clone_from(&paces);
            say(&mut writer, &Paces { paces }).await;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// A daemon that is gone needs to know nothing.
async fn say(writer: &mut OwnedWriteHalf, what: &impl Serialize) {
    if let Ok(mut line) = serde_json::to_vec(what) {
        line.push(b'\n');
        let _ = writer.write_all(&line).await;
    }
}
