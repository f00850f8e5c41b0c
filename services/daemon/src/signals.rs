//! Signals as values: SIGTERM and SIGINT end the daemon, SIGHUP reloads.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals a daemon listens to.
#[derive(Debug)]
pub(crate) struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// To read the configuration again.
    Reload,
    /// To end.
    End,
}

impl Signals {
    /// Installs the handlers.
    pub(crate) fn install() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> SignalAction {
        tokio::select! {
            Some(()) = self.hangup.recv() => SignalAction::Reload,
            _ = self.interrupt.recv() => SignalAction::End,
            _ = self.terminate.recv() => SignalAction::End,
        }
    }
}
