//! The way to the gateway.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::channel::{self, AccountName};
use openclaw_proto::event::Event;
use openclaw_proto::{gateway, outbox};
use tokio::time::sleep;

use crate::progress::Records;

/// The wait before the first new attempt; it doubles with each one.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest wait between two attempts at a gateway that is not there.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The wait for a gateway that refuses what it may take later.
const REFUSED_PAUSE: Duration = Duration::from_secs(5);

/// Clients of the gateway. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Link {
    /// The account that is spoken for.
    pub account: AccountName,
    /// What channels say.
    pub channels: channel::Client,
    /// What they are given to say.
    pub outbox: outbox::Client,
    /// What of it the provider has.
    pub records: Records,
    runs: gateway::Client,
}

impl Link {
    /// The way to the gateway at `socket`, for `account`.
    pub fn new(socket: PathBuf, account: AccountName, records: Records) -> Self {
        Self {
            account,
            records,
            channels: channel::Client::new(socket.clone()),
            outbox: outbox::Client::new(socket.clone()),
            runs: gateway::Client::new(socket),
        }
    }

    /// What a run says, from the event `from` on, as long as the connection holds.
    pub async fn follow(
        &self,
        run_id: &str,
        from: u64,
    ) -> Result<impl Stream<Item = Result<Event, CallError>> + Send + use<>, CallError> {
        Ok(self.runs.attach(run_id, from).await?.boxed())
    }
}

/// The waits between attempts at a gateway that may be started again at any time:
/// there is no last one.
#[derive(Debug)]
pub struct Pauses {
    next: Duration,
    was_told: bool,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            next: FIRST_PAUSE,
            was_told: false,
        }
    }
}

impl Pauses {
    /// The gateway answered.
    pub fn renew(&mut self) {
        *self = Self::default();
    }

    /// Waits for the next attempt at `operation`; the first one that waits longer
    /// is told.
    pub async fn wait(&mut self, operation: &str, error: &CallError) {
        let pause = if error.code().is_some() {
            REFUSED_PAUSE
        } else {
            self.next
        };
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        if !self.was_told && pause >= LONGEST_PAUSE {
            self.was_told = true;
            tracing::warn!("cannot {operation}: {error}; trying again until the gateway answers");
        }
        sleep(pause).await;
    }
}

/// Whether the same request will be refused whenever it is made.
pub(crate) fn is_final(error: &CallError) -> bool {
    matches!(
        error.code(),
        Some(RefusalCode::InvalidArgument | RefusalCode::Unimplemented)
    )
}
