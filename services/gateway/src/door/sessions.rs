//! The gRPC service of the sessions: generated types stop here.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt as _};
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::sessions_server;
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::Patch;
use tonic::{Request, Response, Status, Streaming};

use crate::gateway::Gateway;
use crate::refusal::Refusal;
use crate::sessions::{NewSession, Wanted};
use crate::storage::Leftover;

/// The service `openclaw.gateway.v1.Sessions`.
pub(crate) struct SessionsDoor(pub(crate) Arc<Gateway>);

impl SessionsDoor {
    async fn key(&self, session: &str, agent_id: &str) -> Result<SessionKey, Refusal> {
        self.0.sessions.resolve(session, agent_id).await
    }
}

#[tonic::async_trait]
impl sessions_server::Sessions for SessionsDoor {
    type ExportSessionsStream =
        Pin<Box<dyn Stream<Item = Result<wire::ExportSessionsResponse, Status>> + Send>>;

    async fn list_sessions(
        &self,
        request: Request<wire::ListSessionsRequest>,
    ) -> Result<Response<wire::ListSessionsResponse>, Status> {
        let page = self.0.sessions.list(request.into_inner().into()).await?;
        Ok(Response::new(page.into()))
    }

    async fn get_session(
        &self,
        request: Request<wire::GetSessionRequest>,
    ) -> Result<Response<wire::GetSessionResponse>, Status> {
        let wire::GetSessionRequest { session, agent_id } = request.into_inner();
        let key = self.key(&session, &agent_id).await?;
        let shown = self.0.sessions.get(&key).await?;
        Ok(Response::new(wire::GetSessionResponse {
            session: Some(shown.session.into()),
            entry_json: serde_json::Value::Object(shown.entry).to_string(),
        }))
    }

    async fn create_session(
        &self,
        request: Request<wire::CreateSessionRequest>,
    ) -> Result<Response<wire::CreateSessionResponse>, Status> {
        let request = request.into_inner();
        let key = match request.key.as_str() {
            "" => None,
            key => Some(self.0.key(key, &request.agent_id)?),
        };
        let spawned_by = match request.spawned_by.as_str() {
            "" => None,
            parent => Some(self.key(parent, "").await?),
        };
        let new = NewSession {
            key,
            patch: patch(request.fields)?,
            spawned_by,
        };
        let session = self.0.sessions.create(new).await?;
        Ok(Response::new(wire::CreateSessionResponse {
            session: Some(session.into()),
        }))
    }

    async fn patch_session(
        &self,
        request: Request<wire::PatchSessionRequest>,
    ) -> Result<Response<wire::PatchSessionResponse>, Status> {
        let request = request.into_inner();
        let key = self.key(&request.session, &request.agent_id).await?;
        let patch = patch(request.fields)?;
        let session = self.0.sessions.patch(&key, patch).await?;
        Ok(Response::new(wire::PatchSessionResponse {
            session: Some(session.into()),
        }))
    }

    async fn reset_session(
        &self,
        request: Request<wire::ResetSessionRequest>,
    ) -> Result<Response<wire::ResetSessionResponse>, Status> {
        let request = request.into_inner();
        let key = self.key(&request.session, &request.agent_id).await?;
        let reason = match request.reason.as_str() {
            "new" => "new",
            _ => "reset",
        };
        let session = self.0.sessions.reset(&key, reason).await?;
        Ok(Response::new(wire::ResetSessionResponse {
            session: Some(session.into()),
        }))
    }

    async fn delete_session(
        &self,
        request: Request<wire::DeleteSessionRequest>,
    ) -> Result<Response<wire::DeleteSessionResponse>, Status> {
        let request = request.into_inner();
        if request.session.trim().is_empty() {
            return Err(Refusal::Empty {
                what: "the session to delete",
            }
            .into());
        }
        let key = self.key(&request.session, &request.agent_id).await?;
        let leftover = if request.purge {
            Leftover::Removed
        } else {
            Leftover::Archived
        };
        let deleted = self.0.sessions.delete(&key, leftover).await?;
        Ok(Response::new(deleted.into()))
    }

    async fn read_session(
        &self,
        request: Request<wire::ReadSessionRequest>,
    ) -> Result<Response<wire::ReadSessionResponse>, Status> {
        let request = request.into_inner();
        let wanted = Wanted {
            skip: request.skip as usize,
            limit: request.limit as usize,
            all: request.all,
        };
        let reading = self
            .0
            .sessions
            .read_named(&request.session, &request.agent_id, wanted)
            .await?;
        Ok(Response::new(reading.into()))
    }

    async fn find_sessions(
        &self,
        request: Request<wire::FindSessionsRequest>,
    ) -> Result<Response<wire::FindSessionsResponse>, Status> {
        let request = request.into_inner();
        let findings = self
            .0
            .sessions
            .find_project(&request.project, &request.agent_id, request.limit)
            .await?;
        Ok(Response::new(findings.into()))
    }

    async fn import_sessions(
        &self,
        request: Request<Streaming<wire::ImportSessionsRequest>>,
    ) -> Result<Response<wire::ImportSessionsResponse>, Status> {
        let report = self.0.sessions.import(request.into_inner()).await?;
        Ok(Response::new(report.into()))
    }

    async fn export_sessions(
        &self,
        request: Request<wire::ExportSessionsRequest>,
    ) -> Result<Response<Self::ExportSessionsStream>, Status> {
        let request = request.into_inner();
        let parts = self
            .0
            .sessions
            .export(&request.session, &request.agent_id)
            .await?;
        Ok(Response::new(Box::pin(
            parts.map(|part| part.map(Into::into)),
        )))
    }
}

fn patch(fields: Vec<wire::FieldChange>) -> Result<Patch, Refusal> {
    let mut patch = Patch::default();
    for field in fields {
        patch.change_text(&field.name, &field.value)?;
    }
    Ok(patch)
}
