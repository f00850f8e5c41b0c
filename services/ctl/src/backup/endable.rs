//! Work that a signal ends without anything of it left behind.

use std::time::Duration;

use openclaw_backup::{Error, Unfinished};
use openclaw_connection::{self as connection, Signals};
use openclaw_terminal::Failure;
use tokio::time::timeout;

/// How long work that was ended has to see so, before what it made meanwhile is removed.
const LAST: Duration = Duration::from_millis(500);

/// What `work` gives, which is told by what somebody ends it.
pub(super) fn run<T: Send + 'static>(
    work: impl FnOnce(&Unfinished) -> Result<T, Error> + Send + 'static,
) -> Result<T, Failure> {
    let runtime = connection::runtime()?;
    let done = runtime.block_on(until_ended(work));
    // Work that was ended is not waited for.
    runtime.shutdown_background();
    done
}

async fn until_ended<T: Send + 'static>(
    work: impl FnOnce(&Unfinished) -> Result<T, Error> + Send + 'static,
) -> Result<T, Failure> {
    let mut signals = Signals::take()?;
    let unfinished = Unfinished::default();
    let own = unfinished.clone();
    let mut working = tokio::task::spawn_blocking(move || work(&own));
    let done = tokio::select! {
        done = &mut working => done,
        kind = signals.next() => if unfinished.end() {
            // Whether it came to its end is all the same.
            let _ = timeout(LAST, working).await;
            unfinished.end();
            return Err(connection::ended_by(kind));
        } else {
            working.await
        },
    };
    match done {
        Ok(done) => done.map_err(super::failure),
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}
