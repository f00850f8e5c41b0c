//! What ends a conversation before its run has ended.

use std::future;
use std::time::Duration;

use openclaw_connection::{Signals, ended_by};
use openclaw_terminal::Failure;
use tokio::signal::unix::SignalKind;
use tokio::time::{Instant, sleep_until};

/// Why the run is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Ctrl-C, Ctrl-\, `kill`, or a terminal that is closed.
    Signal(SignalKind),
    /// `--timeout`.
    Timeout(Duration),
}

impl Stop {
    /// The reason that the gateway is given and that the transcript keeps.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Signal(kind) if kind == SignalKind::terminate() => "openclawctl was terminated",
            Self::Signal(_) => "interrupted by the user",
            Self::Timeout(_) => "the time given to openclawctl message passed",
        }
    }

    /// Whether the run goes on: whoever closes the terminal asked for an answer, and finds it
    /// in the session.
    pub(super) fn leaves_the_run(self) -> bool {
        self == Self::Signal(SignalKind::hangup())
    }

    /// How the command ends.
    pub(super) fn failure(self) -> Failure {
        match self {
            Self::Signal(kind) => ended_by(kind),
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
    signals: Signals,
    timeout: Option<(Instant, Duration)>,
}

impl Stops {
    /// Takes the signals from now on, and counts the time from now on.
    pub(super) fn install(timeout: Option<Duration>) -> Result<Self, Failure> {
        // A time beyond what the clock can count is no limit.
        let at = timeout.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit)));
        Ok(Self {
            signals: Signals::take()?,
            timeout: at,
        })
    }

    /// The next one; the timeout comes once.
    pub(super) async fn next(&mut self) -> Stop {
        let timeout = self.timeout;
        let stop = tokio::select! {
            kind = self.signals.next() => Stop::Signal(kind),
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
