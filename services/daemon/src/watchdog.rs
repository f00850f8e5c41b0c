//! The watchdog is fed by a real answer of the daemon's own health service.

use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_proto::call::CallError;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::notifier::Notifier;

/// The longest a daemon may take to answer its own health check.
const DEADLINE: Duration = Duration::from_secs(5);

/// Why the daemon does not count as alive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The health service says no, or cannot be called.
    #[error("the daemon's own health check failed")]
    Call(#[from] CallError),
    /// No answer in time.
    #[error("the daemon's own health check was not answered within {DEADLINE:?}")]
    Timeout,
    /// It answers, but does not serve.
    #[error("the daemon's own health check says {0:?}")]
    NotServing(ServingStatus),
}

/// Asks the daemon at `socket` whether it serves, the way any client would:
/// through the socket, the accept loop and the gRPC stack.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    client: HealthClient<Channel>,
}

impl Probe {
    /// A probe of the daemon at `socket`.
    pub(crate) fn new(socket: &Path) -> Self {
        let channel = openclaw_proto::address::lasting(PathBuf::from(socket));
        Self {
            client: HealthClient::new(channel),
        }
    }

    /// One health check.
    pub(crate) async fn check(&mut self) -> Result<(), Error> {
        let request = HealthCheckRequest::default();
        let response = tokio::time::timeout(DEADLINE, self.client.check(request))
            .await
            .map_err(|_| Error::Timeout)?
            .map_err(CallError::from)?;
        match response.into_inner().status() {
            ServingStatus::Serving => Ok(()),
            other => Err(Error::NotServing(other)),
        }
    }
}

/// Feeds the watchdog as long as the health checks succeed. Never returns when
/// the manager wants to hear from us; returns at once when it does not.
pub(crate) async fn feed(notifier: Notifier, mut probe: Probe) {
    let Some(interval) = notifier.watchdog_interval() else {
        return;
    };
    // sd_watchdog_enabled(3): notify at half the interval.
    let mut ticks = tokio::time::interval(interval / 2);
    loop {
        ticks.tick().await;
        match probe.check().await {
            Ok(()) => notifier.alive(),
            Err(error) => crate::failure::report("feed the watchdog", &error),
        }
    }
}
