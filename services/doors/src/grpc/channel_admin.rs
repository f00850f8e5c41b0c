//! The gRPC service of what the owner asks of channels: generated types stop here.

use std::sync::Arc;

use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::{SentFile, Text};
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::channel_admin_server;
use tonic::{Request, Response, Status};

use super::channels::refused;
use crate::doors::Doors;

/// The service `openclaw.gateway.v1.ChannelAdmin`.
pub struct ChannelAdminService(pub Arc<Doors>);

#[tonic::async_trait]
impl channel_admin_server::ChannelAdmin for ChannelAdminService {
    async fn list_channels(
        &self,
        _request: Request<wire::ListChannelsRequest>,
    ) -> Result<Response<wire::ListChannelsResponse>, Status> {
        let states = self.0.channels.states().into_iter();
        Ok(Response::new(wire::ListChannelsResponse {
            accounts: states.map(Into::into).collect(),
        }))
    }

    async fn list_pairings(
        &self,
        _request: Request<wire::ListPairingsRequest>,
    ) -> Result<Response<wire::ListPairingsResponse>, Status> {
        let pairings = self.0.channels.pairings().await.map_err(refused)?;
        Ok(Response::new(wire::ListPairingsResponse {
            requests: pairings.requests.into_iter().map(Into::into).collect(),
            peers: pairings.peers.into_iter().map(Into::into).collect(),
        }))
    }

    async fn decide_pairing(
        &self,
        request: Request<wire::DecidePairingRequest>,
    ) -> Result<Response<wire::DecidePairingResponse>, Status> {
        let wire::DecidePairingRequest { code, is_approved } = request.into_inner();
        let channels = &self.0.channels;
        let decided = channels.decide_pairing(code.clone(), is_approved).await;
        let unknown = || {
            let remedy = "`openclawctl pairing list` shows those that hold; a code holds an hour. \
                          `openclawctl pairing revoke CHANNEL ID` sends away who was let in";
            let message = format!("no pairing code {code:?} holds");
            openclaw_proto::call::refused(tonic::Code::NotFound, message, remedy)
        };
        let (request, is_owner) = decided.map_err(refused)?.ok_or_else(unknown)?;
        Ok(Response::new(wire::DecidePairingResponse {
            request: Some(request.into()),
            is_owner,
        }))
    }

    async fn revoke_pairing(
        &self,
        request: Request<wire::RevokePairingRequest>,
    ) -> Result<Response<wire::RevokePairingResponse>, Status> {
        let wire::RevokePairingRequest {
            channel,
            account,
            peer,
        } = request.into_inner();
        let unknown = |channel: &str| {
            let remedy = "`openclawctl pairing list` shows with their ids who was let in, and the \
                          accounts; whoever a list of the configuration names is taken out there";
            let message = format!("nobody let {peer:?} in on {channel}");
            openclaw_proto::call::refused(tonic::Code::NotFound, message, remedy)
        };
        let account = AccountName { channel, account };
        let revoked = self.0.channels.revoke_pairing(&account, &peer).await;
        let revoked = revoked.map_err(refused)?;
        let revoked = revoked.ok_or_else(|| unknown(&account.channel))?;
        Ok(Response::new(wire::RevokePairingResponse {
            peer: Some(revoked.peer.into()),
            keys: revoked.keys,
        }))
    }

    async fn send_text(
        &self,
        request: Request<wire::SendTextRequest>,
    ) -> Result<Response<wire::SendTextResponse>, Status> {
        let request = request.into_inner();
        let text = Text {
            account: AccountName {
                channel: request.channel,
                account: request.account,
            },
            to: request.to,
            thread: Some(request.thread).filter(|thread| !thread.is_empty()),
            text: request.text,
            file: request.file.map(|file| SentFile {
                file_id: file.file_id,
                name: file.name,
            }),
        };
        let sent = self.0.channels.send(text).await.map_err(refused)?;
        Ok(Response::new(sent.into()))
    }
}
