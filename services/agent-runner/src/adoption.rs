//! The turns that were there before this daemon: those that go on are followed
//! again, those whose process is gone are closed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::settings::Settings;
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::keeper::{self, Held};
use crate::places;
use crate::service::Inner;
use crate::spool::{self, Header, Reader};
use crate::turn;

/// A process that stood ready for the daemon before this one ends at once when
/// that one is gone; what is still there after this has a turn.
const SPARE_DEADLINE: Duration = Duration::from_secs(2);

/// Takes over what the last daemon left.
pub(crate) async fn adopt(inner: &Arc<Inner>, settings: &Arc<Settings>) {
    let runs = match spool::runs(&inner.shop.turns) {
        Ok(runs) => runs,
        Err(error) => {
            tracing::error!(%error, path = %inner.shop.turns.display(), "spools cannot be listed");
            return;
        }
    };
    let mut go_on = Vec::new();
    for run_id in runs {
        let path = spool::path(&inner.shop.turns, &run_id);
        match one(inner, settings, &run_id, &path).await {
            Ok(true) => go_on.push(run_id),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "a spool cannot be read");
            }
        }
    }
    places::sweep(settings, &go_on);
}

/// True when the turn goes on.
async fn one(
    inner: &Arc<Inner>,
    settings: &Arc<Settings>,
    run_id: &str,
    path: &Path,
) -> std::io::Result<bool> {
    let mut reader = Reader::open(path)?;
    let events = reader.news()?;
    let Some(header) = reader.header().cloned() else {
        // It was made the moment everything stopped.
        if !spool::is_written(path) {
            std::fs::remove_file(path)?;
        }
        return Ok(false);
    };
    if events.is_empty() && stood_ready(path).await {
        return Ok(false);
    }
    let entry = inner.table.adopt(run_id);
    for event in events {
        entry.log.take(event);
    }
    if let Ok(held) = Held::adopt(run_id, header.pid, path) {
        let temporary = settings.paths.turn_temporary(&header.agent_id, run_id);
        follow(Arc::clone(inner), held, entry, temporary, header);
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
        keeper::close_spool(&mut reader, path, run_id, keeper::lost(), &entry);
    }
    inner.table.close(run_id);
    Ok(false)
}

/// Whether a process without a word was a spare, which is gone now.
async fn stood_ready(path: &Path) -> bool {
    let spool = path.to_owned();
    let waiting = tokio::task::spawn_blocking(move || spool::wait_unwritten(&spool));
    let _ = timeout(SPARE_DEADLINE, waiting).await;
    if !path.exists() {
        return true;
    }
    // One that was killed leaves its file: no turn was begun.
    !spool::is_written(path) && std::fs::remove_file(path).is_ok()
}

fn follow(
    inner: Arc<Inner>,
    held: Held,
    entry: crate::table::Entry,
    temporary: std::path::PathBuf,
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
            turn::resume(&inner.shop, held, entry, &temporary).await;
            inner.table.close(&header.run_id);
        }
        .instrument(span),
    );
}
