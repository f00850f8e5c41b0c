//! What the service manager is told (sd_notify(3)).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sd_notify::NotifyState;

/// Tells the service manager about this daemon; says nothing where there is
/// none. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Notifier {
    last_status: Arc<Mutex<String>>,
}

impl Notifier {
    /// The daemon can serve.
    pub fn ready(&self) {
        send(&[NotifyState::Ready]);
    }

    /// The daemon reads its configuration again; [`Notifier::ready`] follows.
    pub fn reloading(&self) {
        // Type=notify-reload wants the time with it; Type=notify ignores it.
        match NotifyState::monotonic_usec_now() {
            Ok(now) => send(&[NotifyState::Reloading, now]),
            Err(_) => send(&[NotifyState::Reloading]),
        }
    }

    /// The daemon drains and then ends.
    pub fn stopping(&self) {
        send(&[NotifyState::Stopping]);
    }

    /// The daemon is alive.
    pub fn alive(&self) {
        send(&[NotifyState::Watchdog]);
    }

    /// Sets the status line; the same line again is not sent again.
    pub fn status(&self, line: &str) {
        let mut last = self
            .last_status
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *last != line {
            line.clone_into(&mut last);
            send(&[NotifyState::Status(line)]);
        }
    }

    /// How often the service manager wants to hear that the daemon is alive
    /// (WatchdogSec=), if it does.
    pub fn watchdog_interval(&self) -> Option<Duration> {
        sd_notify::watchdog_enabled()
    }
}

/// A manager that does not listen must not stop the daemon; there is nobody
/// left to tell about it either.
fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager cannot be notified");
    }
}
