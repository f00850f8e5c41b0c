//! A status that is looked at until somebody ends it.

use openclaw_connection::{Signals, ended_by};
use openclaw_terminal::Failure;
use openclaw_terminal::quiet::Quiet;

/// Until it is dropped, the terminal shows nothing of what is typed.
pub(crate) struct Watched {
    signals: Signals,
    _quiet: Quiet,
}

impl Watched {
    /// Takes the signals that would leave the terminal as it is.
    ///
    /// # Errors
    /// When they cannot be taken.
    pub(crate) fn begin() -> Result<Self, Failure> {
        Ok(Self {
            signals: Signals::take()?,
            _quiet: Quiet::begin(),
        })
    }

    /// Waits for the end; how the program ends then.
    pub(crate) async fn ended(&mut self) -> Failure {
        ended_by(self.signals.next().await)
    }
}
