//! Signals as values: SIGTERM and SIGINT end the daemon, SIGHUP reloads.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The signals a daemon listens to.
#[derive(Debug)]
pub struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Installs the handlers.
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Calls `reload` for every SIGHUP until a signal ends the daemon, then
    /// cancels `shutdown`.
    pub async fn watch(mut self, shutdown: CancellationToken, mut reload: impl FnMut()) {
        loop {
            tokio::select! {
                Some(()) = self.hangup.recv() => reload(),
                _ = self.interrupt.recv() => break,
                _ = self.terminate.recv() => break,
            }
        }
        shutdown.cancel();
    }
}
