//! Why a turn failed.

use std::io;
use std::time::Duration;

use openclaw_turn::{Code, Event};

use crate::socket::SocketError;

/// A failure the user is told about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    /// What happened and what to do.
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry_after: None,
        }
    }

    pub(crate) fn event(&self) -> Event<'_> {
        let millis = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Event::Error {
            code: self.code,
            message: self.message.as_str().into(),
            retry_after_ms: self.retry_after.map(millis),
        }
    }
}

/// What ends a turn early.
#[derive(Debug)]
pub(crate) enum TurnError {
    /// Told to the user as the turn's last event.
    Failed(Failure),
    /// The events have no reader any more; there is nobody to tell.
    Output(io::Error),
}

impl From<Failure> for TurnError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<io::Error> for TurnError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// What a failure of ours means for the turn.
pub(crate) fn internal(error: impl std::error::Error) -> Failure {
    Failure::new(Code::Internal, chain(&error))
}

/// What a failed request to the runner means for the turn.
pub(crate) fn socket_failure(error: &SocketError) -> Failure {
    Failure::new(Code::Network, chain(error))
}

/// An error with everything behind it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}
