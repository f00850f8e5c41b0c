//! A status that is looked at until somebody ends it.

use openclaw_terminal::Failure;
use openclaw_terminal::quiet::Quiet;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a shell adds to the number of the signal that ended a program.
const SIGNALLED: i32 = 128;

/// Until it is dropped, the terminal shows nothing of what is typed.
pub(crate) struct Watched {
    signals: [(SignalKind, Signal); 4],
    _quiet: Quiet,
}

impl Watched {
    /// Takes the signals that would leave the terminal as it is.
    ///
    /// # Errors
    /// When they cannot be taken.
    pub(crate) fn begin() -> Result<Self, Failure> {
        let take = |kind| match signal(kind) {
            Ok(signal) => Ok((kind, signal)),
            Err(error) => Err(Failure::new(format!("cannot take signals: {error}"))),
        };
        Ok(Self {
            signals: [
                take(SignalKind::interrupt())?,
                take(SignalKind::terminate())?,
                take(SignalKind::quit())?,
                take(SignalKind::hangup())?,
            ],
            _quiet: Quiet::begin(),
        })
    }

    /// Waits for the end; how the program ends then.
    pub(crate) async fn ended(&mut self) -> Failure {
        let [interrupt, terminate, quit, hangup] = &mut self.signals;
        let kind = tokio::select! {
            _ = interrupt.1.recv() => interrupt.0,
            _ = terminate.1.recv() => terminate.0,
            _ = quit.1.recv() => quit.0,
            _ = hangup.1.recv() => hangup.0,
        };
        let code = SIGNALLED + kind.as_raw_value();
        Failure::silent(u8::try_from(code).unwrap_or(u8::MAX))
    }
}
