//! The turns that were there before this daemon: those that go on are followed
//! again, those whose process is gone are closed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use openclaw_backends::places::{self, RunFolders};
use openclaw_handoff::spool::{self, Header, Reader};
use openclaw_sandbox::Process;
use openclaw_settings::RunnerSettings;
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::log::Log;
use crate::removal;
use crate::turn::{self, Runs};
use crate::turn_handle::TurnHandle;

/// A process that stood ready for the daemon before this one ends at once when
/// that one is gone; what is still there after this has a turn.
const SPARE_DEADLINE: Duration = Duration::from_secs(2);

/// Takes over what the last daemon left.
pub(crate) async fn adopt(runs: &Arc<Runs>, settings: &Arc<RunnerSettings>) {
    let spools = match spool::runs(&runs.context.turns) {
        Ok(spools) => spools,
        Err(error) => {
            openclaw_daemon::failure::report_at("list the spools", &runs.context.turns, &error);
            return;
        }
    };
    let mut go_on = Vec::new();
    for run_id in spools {
        let path = spool::path(&runs.context.turns, &run_id);
        match one(runs, settings, &run_id, &path).await {
            Ok(true) => go_on.push(run_id),
            Ok(false) => {}
            Err(error) => {
                openclaw_daemon::failure::report_at("take over a spool", &path, &error);
            }
        }
    }
    let left = places::sweep(settings, &go_on);
    // The first turn waits for nothing of it.
    tokio::spawn(removal::remove(move || left.remove()));
}

/// True when the turn goes on.
async fn one(
    runs: &Arc<Runs>,
    settings: &Arc<RunnerSettings>,
    run_id: &str,
    path: &Path,
) -> std::io::Result<bool> {
    let mut reader = Reader::open(path)?;
    let mut events = reader.news()?;
    if !reader.has_begun() {
        // Without a daemon it ends by itself, unless it has had its turn.
        let left = path.to_owned();
        let waiting = tokio::task::spawn_blocking(move || spool::wait_unwritten(&left));
        let _ = timeout(SPARE_DEADLINE, waiting).await;
        events.extend(reader.news()?);
    }
    let header = match reader.header().cloned() {
        Some(header) if reader.has_begun() => header,
        header => return forget(path, header),
    };
    let entry = runs.table.adopt(run_id);
    for event in events {
        entry.log.take(event);
    }
    if let Ok(held) = TurnHandle::adopt(&runs.context.units, run_id, header.pid, path).await {
        let passing = RunFolders::of(&settings.paths, &header.agent_id, run_id);
        follow(Arc::clone(runs), held, entry, passing, header);
        return Ok(true);
    }
    // It may have said its last word between the two looks.
    for event in reader.news()? {
        entry.log.take(event);
    }
    if !entry.log.ended() {
        tracing::warn!(
            openclaw_run = run_id,
            openclaw_agent = header.agent_id,
            "a turn's process is gone; closing the turn as interrupted"
        );
        turn::close_spool(&mut reader, path, run_id, turn::lost(), &entry);
    }
    turn::account(&runs.context, run_id, &header.agent_id, &entry);
    runs.context.spending.keep();
    runs.table.close(run_id);
    Ok(false)
}

/// Removes the spool of a process that had no turn. One that is still there hangs.
fn forget(path: &Path, header: Option<Header>) -> std::io::Result<bool> {
    let hangs = header.and_then(|header| Process::open(header.pid).ok());
    // Locked after the descriptor was opened: the number still means it.
    if let Some(process) = hangs.filter(|_| spool::is_written(path)) {
        tracing::warn!(path = %path.display(), "a process without a turn does not end and is killed");
        process.signal(Signal::SIGKILL)?;
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(false),
    }
}

/// The events of a turn that ended so long ago that the table has forgotten
/// it, but that nobody closed.
pub(crate) fn recall(path: &Path, run_id: &str) -> Option<Arc<Log>> {
    let mut reader = Reader::open(path).ok()?;
    let events = reader.news().ok()?;
    let log = Log::new(run_id.to_owned());
    events.into_iter().for_each(|event| log.take(event));
    log.ended().then(|| Arc::new(log))
}

fn follow(
    runs: Arc<Runs>,
    held: TurnHandle,
    entry: crate::table::Entry,
    passing: RunFolders,
    header: Header,
) {
    let span = tracing::info_span!(
        "turn",
        openclaw_run = %header.run_id,
        openclaw_agent = %header.agent_id,
    );
    tokio::spawn(
        async move {
            tracing::info!("the turn goes on");
            turn::resume(&runs.context, held, &header.agent_id, entry, passing).await;
            runs.table.close(&header.run_id);
        }
        .instrument(span),
    );
}
