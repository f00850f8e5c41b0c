//! The gRPC service of the sessions: generated types stop here.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt as _};
use openclaw_conversations::Refusal;
use openclaw_conversations::sessions::{NewSession, Wanted};
use openclaw_conversations::storage::Leftover;
use openclaw_proto::sessions::{Import, ListSessionsResponse, Search};
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::sessions_server;
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::Patch;
use tonic::{Request, Response, Status, Streaming};

use super::refused::{Failed, refused};
use crate::auth_profile;
use crate::doors::Doors;

/// Characters of each thing in a preview when nobody says how many.
const PREVIEW_CHARACTERS: usize = 200;

/// The service `openclaw.gateway.v1.Sessions`.
pub struct SessionsService(pub Arc<Doors>);

impl SessionsService {
    async fn key(&self, session: &str, agent_id: &str) -> Result<SessionKey, Refusal> {
        self.0.core.sessions.resolve(session, agent_id).await
    }

    /// Whether an agent of which there is nothing is one at all; empty: of all of them.
    fn known(&self, agent_id: &str) -> Result<(), Refusal> {
        match agent_id {
            "" => Ok(()),
            agent => self.0.core.key("main", agent).map(drop),
        }
    }
}

#[tonic::async_trait]
impl sessions_server::Sessions for SessionsService {
    type ExportSessionsStream =
        Pin<Box<dyn Stream<Item = Result<wire::ExportSessionsResponse, Status>> + Send>>;

    async fn list_sessions(
        &self,
        request: Request<wire::ListSessionsRequest>,
    ) -> Result<Response<ListSessionsResponse>, Status> {
        let request = request.into_inner();
        let agent = request.agent_id.clone();
        let rows = self.0.core.sessions.rows(request.into()).await;
        let answer: ListSessionsResponse = rows.map_err(refused)?.into();
        if answer.sessions.is_empty() {
            self.known(&agent).map_err(refused)?;
        }
        Ok(Response::new(answer))
    }

    async fn get_session(
        &self,
        request: Request<wire::GetSessionRequest>,
    ) -> Result<Response<wire::GetSessionResponse>, Status> {
        let wire::GetSessionRequest { session, agent_id } = request.into_inner();
        let key = self.key(&session, &agent_id).await.map_err(refused)?;
        let shown = self.0.core.sessions.get(&key).await.map_err(refused)?;
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
            key => Some(self.0.core.key(key, &request.agent_id).map_err(refused)?),
        };
        let spawned_by = match request.spawned_by.as_str() {
            "" => None,
            parent => Some(self.key(parent, "").await.map_err(refused)?),
        };
        let new = NewSession {
            key,
            patch: patch(request.fields).map_err(refused)?,
            spawned_by,
        };
        if let Some(key) = &new.key {
            auth_profile::check(&self.0.core.runner, key.agent(), &new.patch)
                .await
                .map_err(refused)?;
        }
        let session = self.0.core.sessions.create(new).await.map_err(refused)?;
        Ok(Response::new(wire::CreateSessionResponse {
            session: Some(session.into()),
        }))
    }

    async fn patch_session(
        &self,
        request: Request<wire::PatchSessionRequest>,
    ) -> Result<Response<wire::PatchSessionResponse>, Status> {
        let request = request.into_inner();
        let key = self
            .key(&request.session, &request.agent_id)
            .await
            .map_err(refused)?;
        let patch = patch(request.fields).map_err(refused)?;
        auth_profile::check(&self.0.core.runner, key.agent(), &patch)
            .await
            .map_err(refused)?;
        let session = self
            .0
            .core
            .sessions
            .patch(&key, patch)
            .await
            .map_err(refused)?;
        Ok(Response::new(wire::PatchSessionResponse {
            session: Some(session.into()),
        }))
    }

    async fn reset_session(
        &self,
        request: Request<wire::ResetSessionRequest>,
    ) -> Result<Response<wire::ResetSessionResponse>, Status> {
        let request = request.into_inner();
        let key = self
            .key(&request.session, &request.agent_id)
            .await
            .map_err(refused)?;
        let reason = match request.reason.as_str() {
            "new" => "new",
            _ => "reset",
        };
        let session = self
            .0
            .core
            .sessions
            .reset(&key, reason)
            .await
            .map_err(refused)?;
        self.0.core.release(&key);
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
            return Err(refused(Refusal::Empty {
                what: "the session to delete",
            }));
        }
        let key = self
            .key(&request.session, &request.agent_id)
            .await
            .map_err(refused)?;
        let leftover = if request.purge {
            Leftover::Removed
        } else {
            Leftover::Archived
        };
        let deleted = self
            .0
            .core
            .sessions
            .delete(&key, leftover)
            .await
            .map_err(refused)?;
        self.0.core.release(&key);
        Ok(Response::new(deleted.into()))
    }

    async fn compact_session(
        &self,
        request: Request<wire::CompactSessionRequest>,
    ) -> Result<Response<wire::CompactSessionResponse>, Status> {
        let request = request.into_inner();
        let key = self
            .key(&request.session, &request.agent_id)
            .await
            .map_err(refused)?;
        let sessions = &self.0.core.sessions;
        let compacting = sessions.begin_compaction(&key).map_err(refused)?;
        let keep = request.keep_messages as usize;
        let session = sessions
            .compact(&compacting, request.summary, keep)
            .await
            .map_err(refused)?;
        Ok(Response::new(wire::CompactSessionResponse {
            session: Some(session.into()),
        }))
    }

    async fn preview_sessions(
        &self,
        request: Request<wire::PreviewSessionsRequest>,
    ) -> Result<Response<wire::PreviewSessionsResponse>, Status> {
        let request = request.into_inner();
        let limit = request.limit.max(1) as usize;
        let characters = match request.max_characters {
            0 => PREVIEW_CHARACTERS,
            characters => characters as usize,
        };
        let keys = request.keys.iter().map(|key| self.0.core.key(key, ""));
        let keys = keys.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        let previews = self
            .0
            .core
            .sessions
            .preview(&keys, limit, characters)
            .await
            .map_err(refused)?;
        Ok(Response::new(wire::PreviewSessionsResponse {
            previews: previews.into_iter().map(Into::into).collect(),
        }))
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
        let (session, agent) = (&request.session, &request.agent_id);
        let sessions = &self.0.core.sessions;
        let mut reading = sessions
            .read_named(session, agent, wanted)
            .await
            .map_err(refused)?;
        if request.raw {
            let key = self.key(session, agent).await.map_err(refused)?;
            let history = sessions.history(&key, wanted).await.map_err(refused)?;
            let entries = history.entries.iter().map(serde_json::to_value);
            reading.entries = entries
                .collect::<Result<_, _>>()
                .map_err(|error| Status::internal(error.to_string()))?;
            reading.total_messages = Some(history.total);
        }
        Ok(Response::new(reading.into()))
    }

    async fn find_sessions(
        &self,
        request: Request<wire::FindSessionsRequest>,
    ) -> Result<Response<wire::FindSessionsResponse>, Status> {
        let request = request.into_inner();
        let moment = |at_ms: i64| (at_ms != 0).then_some(at_ms);
        let agent = request.agent_id.clone();
        let search = Search {
            since_ms: moment(request.since_ms),
            until_ms: moment(request.until_ms),
            project: request.project,
            agent_id: request.agent_id,
            limit: request.limit,
        };
        let findings = self.0.core.sessions.search(search).await.map_err(refused)?;
        if findings.sessions.is_empty() {
            self.known(&agent).map_err(refused)?;
        }
        Ok(Response::new(findings.into()))
    }

    async fn find_words(
        &self,
        request: Request<wire::FindWordsRequest>,
    ) -> Result<Response<wire::FindWordsResponse>, Status> {
        let request = request.into_inner();
        let mentions = self
            .0
            .core
            .mentions(&request.words, &request.agent_id, request.forget)
            .await
            .map_err(refused)?;
        Ok(Response::new(mentions.into()))
    }

    async fn import_sessions(
        &self,
        request: Request<Streaming<wire::ImportSessionsRequest>>,
    ) -> Result<Response<wire::ImportSessionsResponse>, Status> {
        let part = |part: Result<_, Status>| Ok::<_, Status>(Import::try_from(part?)?);
        let parts = request.into_inner().map(move |it| part(it).map_err(Failed));
        let report = self.0.core.sessions.import(parts).await;
        let report = report.map_err(|Failed(status)| status)?;
        Ok(Response::new(report.into()))
    }

    async fn export_sessions(
        &self,
        request: Request<wire::ExportSessionsRequest>,
    ) -> Result<Response<Self::ExportSessionsStream>, Status> {
        let request = request.into_inner();
        let parts = self
            .0
            .core
            .sessions
            .export(&request.session, &request.agent_id)
            .await
            .map_err(refused)?;
        Ok(Response::new(Box::pin(
            parts.map(|part| Ok(part.map_err(refused)?.into())),
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
