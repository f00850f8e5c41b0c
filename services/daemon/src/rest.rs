//! A daemon that waits takes little memory.

use std::time::Duration;

use openclaw_sandbox::text;

/// The first time after READY: work that the start left for later is mostly over then.
const FIRST: Duration = Duration::from_millis(250);
/// The longest time between two, to which the first grows: what a daemon does for
/// each message comes back within a fraction of a millisecond, so once a minute
/// costs nothing that can be noticed.
const LONGEST: Duration = Duration::from_secs(60);
/// How much longer each time between two is than the one before.
const GROWTH: u32 = 4;

/// Gives back what only the start needed, and from then on what was needed but
/// once. Never returns.
pub(crate) async fn rest() {
    let mut pause = FIRST;
    loop {
        if let Err(error) = text::release() {
            tracing::debug!(%error, "the program's pages stay in memory");
        }
        text::release_heap();
        tokio::time::sleep(pause).await;
        pause = (pause * GROWTH).min(LONGEST);
    }
}
