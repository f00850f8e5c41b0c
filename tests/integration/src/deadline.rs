//! Deadlines, so that a hang is a failure that says what hung.

use std::future::Future;
use std::time::Duration;

use tokio::time::timeout;

/// For whatever takes a second on an idle machine: here two tests at a time
/// share two cores with unoptimised programs.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Waits for `future`, at most [`DEADLINE`].
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    before(DEADLINE, what, future).await
}

/// Between two looks at what tells nobody when it changes.
const LOOK: Duration = Duration::from_millis(10);

/// Looks until there is something, at most [`DEADLINE`]. For files and processes,
/// which tell nobody; what can be waited for is.
pub async fn seen<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut again = tokio::time::interval(LOOK);
    within(what, async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            again.tick().await;
        }
    })
    .await
}

/// Looks until it is so, likewise.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    seen(what, || is_so().then_some(())).await;
}

/// Waits for `future`, at most `deadline`.
pub async fn before<T>(deadline: Duration, what: &str, future: impl Future<Output = T>) -> T {
    match timeout(deadline, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: not within {deadline:?}"),
    }
}
