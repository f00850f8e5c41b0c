//! Files that the owner's messages have.

use openclaw_daemon::failure;
use openclaw_inbound::{attachment_at, mime_type};
use openclaw_proto::gateway::ATTACHMENT_LIMIT;
use openclaw_proto::wire::gateway::{PutAttachmentRequest, PutAttachmentResponse};
use tonic::{Code, Status};

use super::channels::refused as refused_file;
use super::refused::refused;
use crate::channels::{FileFault, put_inbound};
use crate::doors::Doors;

/// Puts the file into the workspace of the agent that answers the session.
pub(super) async fn put(
    doors: &Doors,
    request: PutAttachmentRequest,
) -> Result<PutAttachmentResponse, Status> {
    let PutAttachmentRequest {
        session_key,
        agent_id,
        name,
        content,
    } = request;
    if content.is_empty() {
        return Err(Status::invalid_argument(format!("{name} is empty")));
    }
    if content.len() > ATTACHMENT_LIMIT {
        let most = ATTACHMENT_LIMIT >> 20;
        return Err(openclaw_proto::call::refused(
            Code::ResourceExhausted,
            format!("{name} is larger than the {most} MiB that one message takes"),
            "put it into the agent's workspace and name it",
        ));
    }
    let key = doors.core.key(&session_key, &agent_id).map_err(refused)?;
    let settings = doors.core.configuration.settings();
    let agent = settings.agent(key.agent().as_str());
    let workspace = agent.map(|agent| agent.workspace.clone());
    let workspace = workspace.ok_or_else(|| {
        Status::invalid_argument(format!("agent {} is not configured", key.agent()))
    })?;
    let mime_type = mime_type(&name);
    let put = move || put_inbound(&workspace, &name, &mut content.as_slice());
    let put = tokio::task::spawn_blocking(put).await;
    let path = match put.map_err(|_| Status::unavailable("the gateway stops"))? {
        // An agent left something there that is in the way.
        Err(FileFault::Place(error)) if error.kind() != std::io::ErrorKind::StorageFull => {
            return Err(Status::failed_precondition(failure::chain(&error)));
        }
        put => put.map_err(|fault| refused_file(fault.into()))?,
    };
    let words = attachment_at(&path, mime_type);
    Ok(PutAttachmentResponse { path, words })
}
