//! The gRPC service of channel daemons: generated types stop here.

use std::sync::Arc;

use futures_util::StreamExt as _;
use openclaw_config::nearest;
use openclaw_daemon::failure;
use openclaw_proto::channel::{AccountName, Attend, FileHead, HandIn, Health};
use openclaw_proto::wire::channel as wire;
use openclaw_proto::wire::channel::channels_server;
use openclaw_settings::channels::CHANNELS;
use tonic::{Code, Request, Response, Status};

use super::Streaming;
use super::refused::{refused as refused_message, unkept};
use crate::channels::{FileFault, Refused, Speaker};
use crate::doors::Doors;

/// The service `openclaw.channel.v1.Channels`.
pub struct ChannelsService(pub Arc<Doors>);

impl ChannelsService {
    fn must_speak_for(&self, speaker: Speaker, named: &AccountName) -> Result<(), Status> {
        let may = self.0.channels.must_speak_for(speaker, named);
        may.map_err(refused)
    }
}

#[tonic::async_trait]
impl channels_server::Channels for ChannelsService {
    type AttendStream = Streaming<wire::AttendResponse>;
    type FetchFileStream = Streaming<wire::FetchFileResponse>;

    async fn attend(
        &self,
        request: Request<wire::AttendRequest>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let speaker = Speaker::of(request.extensions());
        let attend = Attend::from(request.into_inner());
        let told = self.0.channels.attend(attend, speaker).map_err(refused)?;
        Ok(Response::new(Box::pin(
            told.map(|told| Ok(told.map_err(refused)?.into())),
        )))
    }

    async fn hand_in(
        &self,
        request: Request<wire::HandInRequest>,
    ) -> Result<Response<wire::HandInResponse>, Status> {
        let speaker = Speaker::of(request.extensions());
        let hand_in = HandIn::try_from(request.into_inner())?;
        self.must_speak_for(speaker, &hand_in.account)?;
        let handed_in = self.0.channels.hand_in(hand_in).await.map_err(refused)?;
        Ok(Response::new(handed_in.into()))
    }

    async fn put_file(
        &self,
        request: Request<tonic::Streaming<wire::PutFileRequest>>,
    ) -> Result<Response<wire::PutFileResponse>, Status> {
        use wire::put_file_request::Part;
        let speaker = Speaker::of(request.extensions());
        let mut parts = request.into_inner();
        let head = match parts.message().await?.and_then(|first| first.part) {
            Some(Part::Head(head)) => FileHead::from(head),
            _ => return Err(Status::invalid_argument("the first part is the head")),
        };
        self.must_speak_for(speaker, &head.account)?;
        let mut file = self.0.channels.new_file(&head).await.map_err(refused)?;
        while let Some(part) = parts.message().await? {
            match part.part {
                Some(Part::Content(content)) => file.add(&content).await.map_err(put)?,
                Some(Part::End(wire::FileEnd {})) => {
                    let stored = file.keep().await.map_err(put)?;
                    return Ok(Response::new(stored.into()));
                }
                _ => return Err(Status::invalid_argument("the head comes once")),
            }
        }
        Err(Status::invalid_argument(
            "the file broke off before its end",
        ))
    }

    async fn fetch_file(
        &self,
        request: Request<wire::FetchFileRequest>,
    ) -> Result<Response<Self::FetchFileStream>, Status> {
        let speaker = Speaker::of(request.extensions());
        let request = request.into_inner();
        let account = AccountName {
            channel: request.channel,
            account: request.account,
        };
        self.must_speak_for(speaker, &account)?;
        let index = usize::try_from(request.index).unwrap_or(usize::MAX);
        let parts = self
            .0
            .channels
            .fetch_file(account, request.delivery_id, index)
            .await
            .map_err(refused)?;
        Ok(Response::new(Box::pin(parts.map(|part| {
            let content = part.map_err(put)?;
            Ok(wire::FetchFileResponse { content })
        }))))
    }

    async fn report_health(
        &self,
        request: Request<wire::ReportHealthRequest>,
    ) -> Result<Response<wire::ReportHealthResponse>, Status> {
        let speaker = Speaker::of(request.extensions());
        let (account, health): (AccountName, Health) = request.into_inner().try_into()?;
        self.must_speak_for(speaker, &account)?;
        let channels = &self.0.channels;
        channels.report_health(&account, health).map_err(refused)?;
        Ok(Response::new(wire::ReportHealthResponse {}))
    }
}

fn put(fault: FileFault) -> Status {
    refused(fault.into())
}

pub(super) fn refused(refused: Refused) -> Status {
    let message = failure::chain(&refused);
    if let Refused::Channel(name) = &refused
        && let Some(remedy) = nearest::question(name, CHANNELS.iter().copied())
    {
        return openclaw_proto::call::refused(Code::InvalidArgument, message, &remedy);
    }
    match refused {
        Refused::Channel(_) | Refused::Invalid(_) => Status::invalid_argument(message),
        Refused::Account(_) | Refused::Off(_) | Refused::Undelivered(_) => {
            Status::failed_precondition(message)
        }
        Refused::Foreign(_) => Status::permission_denied(message),
        Refused::Unknown => Status::not_found(message),
        Refused::Superseded => Status::aborted(message),
        Refused::Stopping => Status::unavailable(message),
        Refused::Message(refusal) => refused_message(refusal),
        Refused::File(FileFault::Missing(_) | FileFault::Gone) => Status::not_found(message),
        Refused::File(
            FileFault::TooLarge { .. } | FileFault::TooLargeToSend(_) | FileFault::TooMuch(_),
        ) => Status::resource_exhausted(message),
        Refused::File(FileFault::Place(ref error)) => {
            failure::report("keep a channel's file", error);
            unkept(&refused)
        }
        Refused::File(FileFault::Io { .. }) => {
            failure::report("keep a channel's file", &refused);
            unkept(&refused)
        }
        Refused::Ledger(ref fault) => {
            failure::report("keep what a channel handed in", fault);
            unkept(&refused)
        }
    }
}
