//! The gRPC service of what happens: generated types stop here.

use std::sync::Arc;

use futures_util::StreamExt as _;
use openclaw_conversations::Refusal;
use openclaw_daemon::failure;
use openclaw_proto::feed::{Selector, Subscription};
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::events_server;
use openclaw_runs::feed::Broken;
use openclaw_sessions::AgentId;
use tonic::{Request, Response, Status};

use super::Streaming;
use super::refused::{refused, unkept};
use crate::doors::Doors;

/// The service `openclaw.gateway.v1.Events`.
pub struct EventsService(pub Arc<Doors>);

#[tonic::async_trait]
impl events_server::Events for EventsService {
    type SubscribeStream = Streaming<wire::SubscribeResponse>;

    async fn subscribe(
        &self,
        request: Request<wire::SubscribeRequest>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let mut subscription = Subscription::try_from(request.into_inner())?;
        subscription.selector = self.canonical(subscription.selector).map_err(refused)?;
        let told = self.0.core.feed.subscribe(subscription).map_err(broken)?;
        Ok(Response::new(Box::pin(
            told.map(|told| Ok(told.map_err(broken)?.into())),
        )))
    }
}

impl EventsService {
    /// As events name it. A session that is not there may come.
    fn canonical(&self, selector: Selector) -> Result<Selector, Refusal> {
        Ok(match selector {
            Selector::Everything => Selector::Everything,
            Selector::Agent(agent) => {
                let agent: AgentId = agent.parse()?;
                self.0.core.key("main", agent.as_str())?;
                Selector::Agent(agent.to_string())
            }
            Selector::Session(key) => Selector::Session(self.0.core.key(&key, "")?.to_string()),
        })
    }
}

fn broken(broken: Broken) -> Status {
    let message = failure::chain(&broken);
    match broken {
        Broken::TooMany | Broken::Slow(_) => Status::resource_exhausted(message),
        Broken::Stopping(_) => Status::unavailable(message),
        Broken::Unreadable(fault) => {
            failure::report("read events", &fault);
            unkept(&fault)
        }
    }
}
