//! The gateway, as the commands reach it.

use openclaw_proto::call::CallError;
use openclaw_proto::schedule::Client;
use openclaw_terminal::Failure;

/// The gateway, and what its errors are to people.
pub struct ScheduleGateway<'a> {
    /// The way to it.
    pub client: Client,
    /// The failure that an error is.
    pub failure: &'a dyn Fn(&CallError) -> Failure,
}

impl ScheduleGateway<'_> {
    pub(crate) fn said<T>(&self, answer: Result<T, CallError>) -> Result<T, Failure> {
        answer.map_err(|error| (self.failure)(&error))
    }
}
