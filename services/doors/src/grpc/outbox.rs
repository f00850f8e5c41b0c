//! The gRPC service of what is said on channels: generated types stop here.

use std::sync::Arc;

use futures_util::StreamExt as _;
use openclaw_daemon::failure;
use openclaw_proto::channel::AccountName;
use openclaw_proto::outbox::{Report, Wanted};
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::outbox_server;
use openclaw_runs::outbox::Refused;
use tonic::{Request, Response, Status};

use super::refused::unkept;
use super::{Streaming, channels};
use crate::channels::Speaker;
use crate::doors::Doors;

/// The service `openclaw.gateway.v1.Outbox`.
pub struct OutboxService(pub Arc<Doors>);

#[tonic::async_trait]
impl outbox_server::Outbox for OutboxService {
    type TakeDeliveriesStream = Streaming<wire::Delivery>;

    async fn take_deliveries(
        &self,
        request: Request<wire::TakeDeliveriesRequest>,
    ) -> Result<Response<Self::TakeDeliveriesStream>, Status> {
        let speaker = Speaker::of(request.extensions());
        let mut wanted = Wanted::from(request.into_inner());
        wanted.account = self.0.channels.canonical(&wanted.channel, &wanted.account);
        let account = AccountName {
            channel: wanted.channel.clone(),
            account: wanted.account.clone(),
        };
        let may = self.0.channels.must_speak(speaker, &account);
        may.map_err(channels::refused)?;
        let deliveries = self.0.core.outbox.take(wanted);
        let deliveries = deliveries.map_err(refused)?;
        Ok(Response::new(Box::pin(
            deliveries.map(|delivery| Ok(delivery.map_err(refused)?.into())),
        )))
    }

    async fn report_delivery(
        &self,
        request: Request<wire::ReportDeliveryRequest>,
    ) -> Result<Response<wire::ReportDeliveryResponse>, Status> {
        let speaker = Speaker::of(request.extensions());
        let report = Report::try_from(request.into_inner())?;
        let may = self.0.channels.must_report(speaker, report.id).await;
        may.map_err(channels::refused)?;
        let state = self.0.core.outbox.report(report).await.map_err(refused)?;
        Ok(Response::new(wire::ReportDeliveryResponse {
            state: state.as_str().to_owned(),
        }))
    }
}

fn refused(refused: Refused) -> Status {
    let message = failure::chain(&refused);
    match refused {
        Refused::Lease | Refused::Name => Status::invalid_argument(message),
        Refused::TooMany => Status::resource_exhausted(message),
        Refused::Superseded => Status::aborted(message),
        Refused::Stopping => Status::unavailable(message),
        Refused::Unknown(_) => Status::not_found(message),
        Refused::Unusable(fault) => {
            failure::report("use the outbox", &fault);
            unkept(&fault)
        }
    }
}
