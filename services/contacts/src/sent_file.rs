//! A file that is sent: read whole, and given to the gateway.

use std::convert::Infallible;
use std::path::Path;

use openclaw_attachments::Content;
use openclaw_config::Environment;
use openclaw_proto::channel::{AccountName, Client, FileHead, PutError};
use openclaw_proto::channel_admin::SentFile;
use openclaw_terminal::Failure;

use crate::gateway::ContactsGateway;

/// Bytes of a file; the gateway takes no more.
const LIMIT: u64 = 20 * 1024 * 1024;

/// The content of the file at `path`.
pub(crate) fn read(path: &Path, environment: &Environment) -> Result<Content, Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    Content::read(&settings.folder(path.to_owned()), LIMIT)
}

/// Gives `content` to the gateway, to be sent by `account`.
pub(crate) async fn put(
    content: Content,
    account: AccountName,
    gateway: &ContactsGateway<'_>,
) -> Result<SentFile, Failure> {
    let Content { name, bytes } = content;
    let head = FileHead {
        account,
        name: name.clone(),
        mime_type: String::new(),
        size: bytes.len() as u64,
    };
    let parts = futures_util::stream::iter([Ok::<_, Infallible>(bytes)]);
    let client = Client::new(gateway.paths.gateway_socket());
    match client.put_file(head, parts).await {
        Ok(stored) => Ok(SentFile {
            file_id: stored.file_id,
            name,
        }),
        Err(PutError::Call(error)) => Err((gateway.failure)(&error)),
        Err(PutError::Content(never)) => match never {},
    }
}
