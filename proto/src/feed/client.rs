//! Subscribing to the gateway's events.

use std::path::PathBuf;

use tokio_stream::{Stream, StreamExt as _};

use super::{FeedItem, Subscription};
use crate::address::{self, Channel};
use crate::call::CallError;
use crate::wire::gateway as wire;
use wire::events_client::EventsClient;

/// A client of the gateway's events. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(EventsClient<Channel>);

impl Client {
    /// A client of the gateway at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        let client = EventsClient::new(address::channel(socket));
        Self(client.max_decoding_message_size(crate::MESSAGE_LIMIT))
    }

    /// What happens, from where `subscription` says on.
    pub async fn subscribe(
        &self,
        subscription: Subscription,
    ) -> Result<impl Stream<Item = Result<FeedItem, CallError>> + Send + use<>, CallError> {
        let request: wire::SubscribeRequest = subscription.into();
        let stream = self.0.clone().subscribe(request).await?.into_inner();
        Ok(stream.map(|told| FeedItem::try_from(told?).map_err(CallError::from)))
    }
}
