//! The signals that end a program at a terminal, which it has to leave as it found it.

use std::future::poll_fn;
use std::task::Poll;

use openclaw_terminal::{Failure, signals};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for one of them.
#[derive(Debug)]
pub struct Signals(Vec<(SignalKind, Signal)>);

impl Signals {
    /// Takes those of Ctrl-C, Ctrl-\, `kill` and of a terminal that is closed from now on.
    ///
    /// # Errors
    /// When they cannot be taken.
    pub fn take() -> Result<Self, Failure> {
        Self::of(&[
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::quit(),
            SignalKind::hangup(),
        ])
    }

    /// As [`Self::take`], where Ctrl-C means something else.
    ///
    /// # Errors
    /// When they cannot be taken.
    pub fn take_but_interrupt() -> Result<Self, Failure> {
        Self::of(&[
            SignalKind::terminate(),
            SignalKind::quit(),
            SignalKind::hangup(),
        ])
    }

    fn of(kinds: &[SignalKind]) -> Result<Self, Failure> {
        let mut taken = Vec::new();
        for kind in kinds {
            // nohup(1) has the program go on when its terminal is closed.
            if *kind == SignalKind::hangup() && signals::is_ignored(kind.as_raw_value()) {
                continue;
            }
            let signal = signal(*kind);
            let signal =
                signal.map_err(|error| Failure::new(format!("cannot take signals: {error}")))?;
            taken.push((*kind, signal));
        }
        Ok(Self(taken))
    }

    /// The next one.
    pub async fn next(&mut self) -> SignalKind {
        poll_fn(|context| {
            for (kind, signal) in &mut self.0 {
                if let Poll::Ready(Some(())) = signal.poll_recv(context) {
                    return Poll::Ready(*kind);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// How a program ends that `kind` ended, as a shell has it: 128 and the signal's number.
#[must_use]
pub fn ended_by(kind: SignalKind) -> Failure {
    signals::ended_by(kind.as_raw_value())
}
