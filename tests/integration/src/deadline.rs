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

/// Waits for `future`, at most `deadline`.
pub async fn before<T>(deadline: Duration, what: &str, future: impl Future<Output = T>) -> T {
    match timeout(deadline, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: not within {deadline:?}"),
    }
}
