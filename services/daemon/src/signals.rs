//! Signals as values: SIGTERM and SIGINT end the daemon, SIGHUP reloads.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals a daemon listens to.
#[derive(Debug)]
pub struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// To read the configuration again.
    Reload,
    /// To end.
    End,
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

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Asked {
        tokio::select! {
            Some(()) = self.hangup.recv() => Asked::Reload,
            _ = self.interrupt.recv() => Asked::End,
            _ = self.terminate.recv() => Asked::End,
        }
    }
}
