//! Removing what agents left, without keeping anybody waiting: how much there is they say, and a
//! disk may take milliseconds for each folder.

use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// How long the end of a turn waits for it. Mostly there is next to nothing.
const WAIT: Duration = Duration::from_secs(2);
/// The most removals at a time. Each holds a thread.
const AT_A_TIME: usize = 8;

static PERMITS: Semaphore = Semaphore::const_new(AT_A_TIME);

/// Does the `work` of removing something, and returns when that is done or has taken long: then it
/// goes on by itself. What a daemon that ends leaves of it, the next one removes.
pub(crate) async fn remove(work: impl FnOnce() + Send + 'static) {
    let removal = tokio::spawn(async move {
        let _permit = PERMITS.acquire().await;
        if let Err(error) = spawn_blocking(work).await {
            openclaw_daemon::failure::report("remove what an agent left", &error);
        }
    });
    if timeout(WAIT, removal).await.is_err() {
        tracing::debug!("what an agent left is still being removed");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn removal_that_takes_long_is_waited_for_no_longer() {
        let (say, said) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let long = remove(move || {
            let _ = said.recv();
            let _ = tell.send("gone");
        });
        timeout(WAIT * 5, long).await.unwrap();
        assert!(told.try_recv().is_err());
        say.send(()).unwrap();
        let gone = spawn_blocking(move || told.recv()).await.unwrap();
        assert_eq!(gone, Ok("gone"));
        // One that is short is over by then.
        let (tell, told) = mpsc::channel();
        remove(move || tell.send(()).unwrap()).await;
        told.try_recv().unwrap();
    }
}
