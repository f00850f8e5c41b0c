//! Taking what is to be said on a channel, and reporting it.

use std::path::PathBuf;

use tokio_stream::{Stream, StreamExt as _};

use super::{Delivery, Report, State, Wanted};
use crate::address::{self, Channel};
use crate::call::CallError;
use crate::invalid::Invalid;
use crate::wire::gateway as wire;
use wire::outbox_client::OutboxClient;

/// A client of the gateway's outbox. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(OutboxClient<Channel>);

impl Client {
    /// A client of the gateway at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        let client = OutboxClient::new(address::channel(socket));
        Self(client.max_decoding_message_size(crate::MESSAGE_LIMIT))
    }

    /// What is to be said, as it comes.
    pub async fn take(
        &self,
        wanted: Wanted,
    ) -> Result<impl Stream<Item = Result<Delivery, CallError>> + Send + use<>, CallError> {
        let request: wire::TakeDeliveriesRequest = wanted.into();
        let stream = self.0.clone().take_deliveries(request).await?.into_inner();
        Ok(stream.map(|delivery| Delivery::try_from(delivery?).map_err(CallError::from)))
    }

    /// Says what became of a delivery; what it is then.
    pub async fn report(&self, report: Report) -> Result<State, CallError> {
        let request: wire::ReportDeliveryRequest = report.into();
        let response = self.0.clone().report_delivery(request).await?.into_inner();
        let unknown = || {
            let problem = format!("is {:?}, unknown", response.state);
            Invalid::because("ReportDeliveryResponse", "state", problem)
        };
        Ok(State::parse(&response.state).ok_or_else(unknown)?)
    }
}
