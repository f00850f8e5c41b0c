//! The gRPC service: generated types stop here.

#![expect(clippy::disallowed_types, reason = "it serves gRPC")]

mod approvals;
mod attachments;
mod channel_admin;
mod channels;
mod classes;
mod events;
mod outbox;
mod refused;
mod schedule;
mod sessions;
mod status;
mod token;
mod turns;

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt as _, stream as streams};
use openclaw_conversations::Refusal;
use openclaw_proto::gateway::{Message, Reply};
use openclaw_proto::shown::Shown;
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::gateway_server;
use openclaw_proto::wire::run::Event as WireEvent;
use openclaw_runs::queue::QueueRequest;
use openclaw_runs::stream;
use openclaw_runs::{Extra, Sender};
use tonic::{Request, Response, Status};

use crate::channels::Speaker;
use crate::doors::Doors;
use crate::shown;
use refused::refused;

pub use channel_admin::ChannelAdminService;
pub use channels::ChannelsService;
pub use classes::Classes;
pub use events::EventsService;
pub use outbox::OutboxService;
pub use schedule::ScheduleService;
pub use sessions::SessionsService;

type Streaming<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The service `openclaw.gateway.v1.Gateway`.
pub struct GatewayService(pub Arc<Doors>);

#[tonic::async_trait]
impl gateway_server::Gateway for GatewayService {
    type SendMessageStream = Streaming<wire::SendMessageResponse>;
    type AttachStream = Streaming<WireEvent>;

    async fn send_message(
        &self,
        request: Request<wire::SendMessageRequest>,
    ) -> Result<Response<Self::SendMessageStream>, Status> {
        let extra = Extra {
            // Nobody else may call it (`Classes`).
            sender: Sender::default().following_levels(),
            queue: Some(QueueRequest {
                waits: true,
                ..QueueRequest::default()
            }),
            ..Extra::default()
        };
        let message = Message::try_from(request.into_inner())?;
        let submitted = self.0.core.submitter.submit(message, extra, None);
        let started = submitted.map_err(refused)?.started().await;
        let started = started.map_err(refused)?;
        let seen = self.0.core.configuration.seen();
        let shown = match &started.run {
            Some(run) => shown::of(&self.0.core, run).await,
            None => Shown::default(),
        };
        let first = Ok(Reply::Accepted(started.accepted, seen, shown).into());
        let rest = started
            .events
            .map(|event| Ok(Reply::Event(event.map_err(refused)?).into()));
        Ok(Response::new(Box::pin(streams::iter([first]).chain(rest))))
    }

    async fn put_attachment(
        &self,
        request: Request<wire::PutAttachmentRequest>,
    ) -> Result<Response<wire::PutAttachmentResponse>, Status> {
        let put = attachments::put(&self.0, request.into_inner()).await?;
        Ok(Response::new(put))
    }

    async fn attach(
        &self,
        request: Request<wire::AttachRequest>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        let speaker = Speaker::of(request.extensions());
        let wire::AttachRequest { run_id, from_seq } = request.into_inner();
        let may = self.0.channels.must_follow(speaker, &run_id).await;
        may.map_err(channels::refused)?;
        let events = match self.0.core.runs.find(&run_id) {
            Some(run) => stream::live(run, from_seq),
            None => stream::stored(&self.0.core.storage, &run_id, from_seq)
                .await
                .map_err(refused)?,
        };
        Ok(Response::new(Box::pin(events.map(|event| {
            Ok(WireEvent::from(event.map_err(refused)?))
        }))))
    }

    async fn cancel_run(
        &self,
        request: Request<wire::CancelRunRequest>,
    ) -> Result<Response<wire::CancelRunResponse>, Status> {
        let wire::CancelRunRequest { run_id, reason } = request.into_inner();
        let reason = if reason.is_empty() {
            "user".to_owned()
        } else {
            reason
        };
        let cancelled = match self.0.core.runs.find(&run_id) {
            Some(run) => run.end(&reason),
            None => {
                let known = self
                    .0
                    .core
                    .storage
                    .find(&run_id)
                    .await
                    .map_err(|fault| refused(Refusal::Unreadable(fault)))?;
                known.ok_or_else(|| refused(Refusal::UnknownRun(run_id)))?;
                false
            }
        };
        Ok(Response::new(wire::CancelRunResponse { cancelled }))
    }

    async fn access_token(
        &self,
        request: Request<wire::AccessTokenRequest>,
    ) -> Result<Response<wire::AccessTokenResponse>, Status> {
        Ok(Response::new(token::answer(&self.0, request.into_inner())?))
    }

    async fn list_turns(
        &self,
        request: Request<wire::ListTurnsRequest>,
    ) -> Result<Response<wire::ListTurnsResponse>, Status> {
        let turns = turns::list(&self.0, request.into_inner().limit)
            .await
            .map_err(refused)?;
        Ok(Response::new(wire::ListTurnsResponse {
            turns: turns.into_iter().map(Into::into).collect(),
        }))
    }

    async fn list_approvals(
        &self,
        request: Request<wire::ListApprovalsRequest>,
    ) -> Result<Response<wire::ListApprovalsResponse>, Status> {
        let approvals = approvals::list(&self.0, request.into_inner().decided).await?;
        Ok(Response::new(approvals.into()))
    }

    async fn decide_approval(
        &self,
        request: Request<wire::DecideApprovalRequest>,
    ) -> Result<Response<wire::DecideApprovalResponse>, Status> {
        let approval = approvals::decide(&self.0, request.into_inner()).await?;
        Ok(Response::new(wire::DecideApprovalResponse {
            approval: Some(approval.into()),
        }))
    }

    async fn revoke_grant(
        &self,
        request: Request<wire::RevokeGrantRequest>,
    ) -> Result<Response<wire::RevokeGrantResponse>, Status> {
        approvals::revoke(&self.0, request.into_inner()).await?;
        Ok(Response::new(wire::RevokeGrantResponse {}))
    }

    async fn status(
        &self,
        request: Request<wire::StatusRequest>,
    ) -> Result<Response<wire::StatusResponse>, Status> {
        let alone = request.into_inner().alone;
        Ok(Response::new(status::of(&self.0, alone).await))
    }
}
