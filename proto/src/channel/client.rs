//! Speaking for an account of a channel.

use std::path::PathBuf;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};

use super::AccountName;
use super::{Answer, Attend, FileHead, HandIn, Health, Instruction, PART_LIMIT, Stored};
use crate::address::{self, Channel};
use crate::call::CallError;
use crate::wire::channel as wire;
use wire::channels_client::ChannelsClient;

/// A client of the gateway, as channel daemons are. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(ChannelsClient<Channel>);

impl Client {
    /// A client of the gateway at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        let client = ChannelsClient::new(address::channel(socket));
        Self(client.max_decoding_message_size(crate::MESSAGE_LIMIT))
    }

    /// Speaks for an account; what the gateway says of it, as it comes.
    pub async fn attend(
        &self,
        attend: Attend,
    ) -> Result<impl Stream<Item = Result<Instruction, CallError>> + Send + use<>, CallError> {
        let request: wire::AttendRequest = attend.into();
        let stream = self.0.clone().attend(request).await?.into_inner();
        Ok(stream.map(|said| Instruction::try_from(said?).map_err(CallError::from)))
    }

    /// Hands in what came. It is durable when this returns, unless its files are wanted.
    pub async fn hand_in(&self, hand_in: HandIn) -> Result<Answer, CallError> {
        let request: wire::HandInRequest = hand_in.into();
        let response = self.0.clone().hand_in(request).await?.into_inner();
        Ok(Answer::try_from(response)?)
    }

    /// Gives a file to the gateway: its content comes in parts of any size.
    ///
    /// # Errors
    /// The gateway's; or that of a part that could not be had, and then the
    /// gateway keeps nothing of the file.
    pub async fn put_file<C: AsRef<[u8]>, E>(
        &self,
        head: FileHead,
        content: impl Stream<Item = Result<C, E>> + Send,
    ) -> Result<Stored, PutError<E>> {
        let (parts, stream) = mpsc::channel(PARTS_AHEAD);
        let mut client = self.0.clone();
        let call = client.put_file(ReceiverStream::new(stream));
        let mut call = std::pin::pin!(call);
        let answer = tokio::select! {
            answer = &mut call => answer,
            sent = send(parts, head, content) => {
                sent.map_err(PutError::Content)?;
                call.await
            }
        };
        let wire::PutFileResponse { file_id, size } = answer.map_err(CallError::from)?.into_inner();
        Ok(Stored { file_id, size })
    }

    /// The content of a file that a delivery has, in its order.
    pub async fn fetch_file(
        &self,
        account: AccountName,
        delivery_id: u64,
        index: u32,
    ) -> Result<impl Stream<Item = Result<Vec<u8>, CallError>> + Send + use<>, CallError> {
        let request = wire::FetchFileRequest {
            delivery_id,
            index,
            channel: account.channel,
            account: account.account,
        };
        let stream = self.0.clone().fetch_file(request).await?.into_inner();
        Ok(stream.map(|part| Ok(part?.content)))
    }

    /// Says how the account's connection does.
    pub async fn report_health(
        &self,
        account: AccountName,
        health: Health,
    ) -> Result<(), CallError> {
        let request: wire::ReportHealthRequest = (account, health).into();
        self.0.clone().report_health(request).await?;
        Ok(())
    }
}

/// Parts of a file that may wait to be sent.
const PARTS_AHEAD: usize = 2;

/// Sends a file's parts as long as somebody takes them: a call that ended says
/// why by itself.
async fn send<C: AsRef<[u8]>, E>(
    parts: mpsc::Sender<wire::PutFileRequest>,
    head: FileHead,
    content: impl Stream<Item = Result<C, E>>,
) -> Result<(), E> {
    use wire::put_file_request::Part;
    let put = async |part| {
        let request = wire::PutFileRequest { part: Some(part) };
        parts.send(request).await.is_ok()
    };
    let mut is_taken = put(Part::Head(head.into())).await;
    let mut content = std::pin::pin!(content);
    while is_taken && let Some(part) = content.next().await {
        for part in part?.as_ref().chunks(PART_LIMIT) {
            is_taken = is_taken && put(Part::Content(part.to_vec())).await;
        }
    }
    put(Part::End(wire::FileEnd {})).await;
    Ok(())
}

/// Why a file could not be given to the gateway.
#[derive(Debug, thiserror::Error)]
pub enum PutError<E> {
    /// Its content could not be had.
    #[error("cannot read the file that is handed in")]
    Content(#[source] E),
    /// The gateway does not take it.
    #[error(transparent)]
    Call(#[from] CallError),
}
