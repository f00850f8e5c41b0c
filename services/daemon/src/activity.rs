//! What is under way in a daemon, and its end when nothing is.
//!
//! A daemon that the service manager starts for whoever connects may leave as soon
//! as nobody needs it. What must not happen is that somebody connects at that very
//! moment and is not served. So it first closes its gate ([`Activity::left`]), which
//! whoever accepts connections looks at before each accept, and only while no
//! connection is open. What comes from then on waits in the queue of the socket,
//! which is the service manager's, and starts the daemon anew.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_config::Environment;
use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// Says that whoever started the daemon starts it again when somebody connects.
/// The units set it.
const ON_DEMAND: &str = "OPENCLAW_ON_DEMAND";
/// Looks during the time after which a daemon leaves.
const LOOKS: u32 = 8;
/// The shortest and the longest time between two looks.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(15);

/// Whether whoever started the daemon starts it again on demand.
pub(crate) fn is_on_demand(environment: &Environment) -> bool {
    environment.get(ON_DEMAND) == Some("yes")
}

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Activity(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    left: CancellationToken,
}

struct State {
    under_way: usize,
    /// When something last began, ended, or was seen to be under way.
    last: Instant,
    is_busy: Vec<Box<dyn Fn() -> bool + Send>>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            under_way: 0,
            last: Instant::now(),
            is_busy: Vec::new(),
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inner").finish_non_exhaustive()
    }
}

/// Something is under way until this is dropped.
#[derive(Debug)]
pub struct UnderWay(Activity);

impl Activity {
    /// Something begins.
    pub fn begin(&self) -> UnderWay {
        let mut state = self.0.lock();
        state.under_way += 1;
        state.last = Instant::now();
        UnderWay(self.clone())
    }

    /// Something is under way, too, whenever `is_busy` says so.
    pub fn busy_while(&self, is_busy: impl Fn() -> bool + Send + 'static) {
        self.0.lock().is_busy.push(Box::new(is_busy));
    }

    /// Waits until the daemon leaves: from then on it accepts no connection. A loop
    /// that accepts them polls this first, each time.
    pub fn left(&self) -> WaitForCancellationFuture<'_> {
        self.0.left.cancelled()
    }

    /// Waits until nothing has been under way for as long as `limit` says, and closes
    /// the gate. A limit of none is never reached.
    pub(crate) async fn rest(&self, limit: impl Fn() -> Option<Duration>) {
        loop {
            let limit = limit();
            if limit.is_some_and(|limit| self.leave(limit)) {
                return;
            }
            let pause = limit.map_or(LONGEST, |limit| (limit / LOOKS).clamp(SHORTEST, LONGEST));
            sleep(pause).await;
        }
    }

    /// Closes the gate, if nothing was under way for `limit`.
    ///
    /// A daemon has one thread, so no accept is between this look and the gate.
    fn leave(&self, limit: Duration) -> bool {
        let mut state = self.0.lock();
        if state.under_way > 0 || state.is_busy.iter().any(|is_busy| is_busy()) {
            state.last = Instant::now();
            return false;
        }
        let is_over = state.last.elapsed() >= limit;
        if is_over {
            self.0.left.cancel();
        }
        is_over
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.under_way -= 1;
        state.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use tokio::time::{advance, timeout};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(8);
    /// A look later than the limit.
    const OVER: Duration = Duration::from_secs(10);

    fn resting(activity: &Activity) -> tokio::task::JoinHandle<()> {
        let activity = activity.clone();
        tokio::spawn(async move { activity.rest(|| Some(LIMIT)).await })
    }

    #[tokio::test(start_paused = true)]
    async fn activity_ends_after_the_limit_and_closes_the_gate() {
        let activity = Activity::default();
        let resting = resting(&activity);
        assert!(timeout(LIMIT / 2, activity.left()).await.is_err());
        timeout(LIMIT, activity.left()).await.unwrap();
        resting.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn activity_does_not_end_while_something_is_under_way() {
        let activity = Activity::default();
        let connection = activity.begin();
        let turn = Arc::new(AtomicBool::new(false));
        let runs = Arc::clone(&turn);
        activity.busy_while(move || runs.load(Ordering::Relaxed));
        let resting = resting(&activity);
        assert!(timeout(10 * LIMIT, activity.left()).await.is_err());
        turn.store(true, Ordering::Relaxed);
        drop(connection);
        assert!(timeout(10 * LIMIT, activity.left()).await.is_err());
        turn.store(false, Ordering::Relaxed);
        timeout(OVER, activity.left()).await.unwrap();
        resting.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn activity_is_counted_from_its_last_end() {
        let activity = Activity::default();
        let resting = resting(&activity);
        advance(LIMIT - Duration::from_secs(1)).await;
        drop(activity.begin());
        assert!(
            timeout(LIMIT - Duration::from_secs(1), activity.left())
                .await
                .is_err()
        );
        timeout(OVER, activity.left()).await.unwrap();
        resting.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn activity_without_a_limit_never_ends() {
        let activity = Activity::default();
        assert!(timeout(100 * LIMIT, activity.rest(|| None)).await.is_err());
    }

    #[test]
    fn activity_only_who_says_so_starts_daemons_on_demand() {
        let said = |word: &str| is_on_demand(&[(ON_DEMAND, word)].into_iter().collect());
        assert!(said("yes"));
        assert!(!said("no"));
        assert!(!is_on_demand(&Environment::default()));
    }
}
