//! What ends a conversation before its run has ended.

use std::future;
use std::time::Duration;

use anyhow::Context as _;
use openclaw_terminal::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// Why the run is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// `--timeout`.
    Timeout(Duration),
}

impl Stop {
    /// The reason that the gateway is given and that the transcript keeps.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupted by the user",
            Self::Terminate => "openclawctl was terminated",
            Self::Timeout(_) => "the time given to openclawctl message passed",
        }
    }

    /// How the command ends: 128 and the signal's number, as a shell has it.
    pub(super) fn failure(self) -> Failure {
        match self {
            Self::Interrupt => Failure::silent(130),
            Self::Terminate => Failure::silent(143),
            Self::Timeout(limit) => Failure::new(format!(
                "the reply was not whole after {} s; the run was cancelled",
                limit.as_secs_f64()
            )),
        }
    }
}

/// Waits for the next [`Stop`].
#[derive(Debug)]
pub(super) struct Stops {
    interrupt: Signal,
    terminate: Signal,
    timeout: Option<(Instant, Duration)>,
}

impl Stops {
    /// Takes the signals from now on, and counts the time from now on.
    pub(super) fn install(timeout: Option<Duration>) -> Result<Self, Failure> {
        let take = |kind| signal(kind).context("cannot take signals");
        // A time beyond what the clock can count is no limit.
        let at = timeout.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit)));
        Ok(Self {
            interrupt: take(SignalKind::interrupt())?,
            terminate: take(SignalKind::terminate())?,
            timeout: at,
        })
    }

    /// The next one; the timeout comes once.
    pub(super) async fn next(&mut self) -> Stop {
        let timeout = self.timeout;
        let stop = tokio::select! {
            Some(()) = self.interrupt.recv() => Stop::Interrupt,
            Some(()) = self.terminate.recv() => Stop::Terminate,
            limit = passed(timeout) => Stop::Timeout(limit),
        };
        if matches!(stop, Stop::Timeout(_)) {
            self.timeout = None;
        }
        stop
    }
}

async fn passed(timeout: Option<(Instant, Duration)>) -> Duration {
    match timeout {
        Some((at, limit)) => {
            sleep_until(at).await;
            limit
        }
        None => future::pending().await,
    }
}
