//! The clock on the wall, which people set and which goes on while the machine
//! sleeps.

use std::io;
use std::os::fd::OwnedFd;

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::net::unix::pipe;

/// Waits until the clock shows `at_ms`, in Unix milliseconds, or is set: whoever
/// waits looks at it again.
///
/// # Errors
/// The kernel gives no timer.
pub async fn reached(at_ms: i64) -> io::Result<()> {
    let timer = TimerFd::new(
        ClockId::CLOCK_REALTIME,
        TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC,
    )?;
    // Zero would mean never.
    let at_ms = at_ms.max(1);
    let at = TimeSpec::new(at_ms / 1000, (at_ms % 1000) * 1_000_000);
    let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME | TimerSetTimeFlags::TFD_TIMER_CANCEL_ON_SET;
    timer.set(Expiration::OneShot(at), flags)?;
    // It is not a pipe, and becomes readable as one does.
    let timer = pipe::Receiver::from_owned_fd_unchecked(OwnedFd::from(timer))?;
    timer.readable().await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn reached_waits_for_the_time_and_not_for_one_that_is_past() {
        let now = || Timestamp::now().as_millisecond();
        for past in [i64::MIN, 0, now() - 5] {
            reached(past).await.unwrap();
        }
        let at = now() + 50;
        reached(at).await.unwrap();
        assert!(now() >= at);
        let far = timeout(Duration::from_millis(20), reached(i64::MAX));
        far.await.unwrap_err();
    }
}
