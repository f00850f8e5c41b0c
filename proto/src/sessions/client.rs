//! A client of the gateway's sessions.

use std::path::PathBuf;

use tokio_stream::{Stream, StreamExt as _};

use super::{
    Change, Deleted, Exported, Findings, Import, ImportReport, Mentions, Named, Page, Part,
    Preview, Query, Reading, Rows, Search, Session,
};
use crate::address::{self, Channel};
use crate::call::{CallError, read};
use crate::invalid::Invalid;
use crate::wire::gateway as wire;
use wire::sessions_client::SessionsClient;

/// A client of the gateway's sessions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(SessionsClient<Channel>);

impl Client {
    /// A client of the gateway at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        Self(
            SessionsClient::new(address::channel(socket))
                .max_decoding_message_size(crate::MESSAGE_LIMIT)
                .max_encoding_message_size(crate::MESSAGE_LIMIT),
        )
    }

    /// The sessions that `query` wants, the latest first.
    pub async fn list(&self, query: Query) -> Result<Page, CallError> {
        let request: wire::ListSessionsRequest = query.into();
        let response =
            read(|| async { Ok(self.0.clone().list_sessions(request.clone()).await?) }).await?;
        Ok(Rows::from(response.into_inner()).page()?)
    }

    /// A session, and its index entry as JSON.
    pub async fn get(&self, named: Named<'_>) -> Result<(Session, String), CallError> {
        let request = wire::GetSessionRequest {
            session: named.session.to_owned(),
            agent_id: named.agent_id.to_owned(),
        };
        let response = read(|| async { Ok(self.0.clone().get_session(request.clone()).await?) })
            .await?
            .into_inner();
        let session = required(response.session, "GetSessionResponse")?;
        Ok((session, response.entry_json))
    }

    /// Enters a session; an empty key makes one of its own.
    pub async fn create(
        &self,
        named: Named<'_>,
        changes: Vec<Change>,
        spawned_by: &str,
    ) -> Result<Session, CallError> {
        let request = wire::CreateSessionRequest {
            key: named.session.to_owned(),
            agent_id: named.agent_id.to_owned(),
            fields: changes.into_iter().map(Into::into).collect(),
            spawned_by: spawned_by.to_owned(),
        };
        let response = self.0.clone().create_session(request).await?.into_inner();
        required(response.session, "CreateSessionResponse")
    }

    /// Changes fields of a session.
    pub async fn patch(
        &self,
        named: Named<'_>,
        changes: Vec<Change>,
    ) -> Result<Session, CallError> {
        let request = wire::PatchSessionRequest {
            session: named.session.to_owned(),
            agent_id: named.agent_id.to_owned(),
            fields: changes.into_iter().map(Into::into).collect(),
        };
        let response = self.0.clone().patch_session(request).await?.into_inner();
        required(response.session, "PatchSessionResponse")
    }

    /// Begins a conversation anew.
    pub async fn reset(&self, named: Named<'_>, reason: &str) -> Result<Session, CallError> {
        let request = wire::ResetSessionRequest {
            session: named.session.to_owned(),
            agent_id: named.agent_id.to_owned(),
            reason: reason.to_owned(),
        };
        let response = self.0.clone().reset_session(request).await?.into_inner();
        required(response.session, "ResetSessionResponse")
    }

    /// Deletes a session; with `purge` its transcript too.
    pub async fn delete(&self, named: Named<'_>, purge: bool) -> Result<Deleted, CallError> {
        let request = wire::DeleteSessionRequest {
            session: named.session.to_owned(),
            agent_id: named.agent_id.to_owned(),
            purge,
        };
        let response = self.0.clone().delete_session(request).await?;
        Ok(response.into_inner().into())
    }

    /// Puts `summary` in the place of all but the newest `keep` messages.
    pub async fn compact(
        &self,
        named: Named<'_>,
        summary: &str,
        keep: u32,
    ) -> Result<Session, CallError> {
        let request = wire::CompactSessionRequest {
            session: named.session.to_owned(),
            agent_id: named.agent_id.to_owned(),
            summary: summary.to_owned(),
            keep_messages: keep,
        };
        let response = self.0.clone().compact_session(request).await?.into_inner();
        required(response.session, "CompactSessionResponse")
    }

    /// The last `limit` things said in each of the sessions `keys`.
    pub async fn preview(
        &self,
        keys: Vec<String>,
        limit: u32,
        max_characters: u32,
    ) -> Result<Vec<Preview>, CallError> {
        let request = wire::PreviewSessionsRequest {
            keys,
            limit,
            max_characters,
        };
        let response =
            read(|| async { Ok(self.0.clone().preview_sessions(request.clone()).await?) }).await?;
        let previews = response.into_inner().previews.into_iter();
        Ok(previews.map(Into::into).collect())
    }

    /// What was said.
    pub async fn read(&self, named: Named<'_>, part: Part) -> Result<Reading, CallError> {
        let request = wire::ReadSessionRequest {
            session: named.session.to_owned(),
            agent_id: named.agent_id.to_owned(),
            limit: part.limit,
            skip: part.skip,
            all: part.all,
            raw: part.raw,
        };
        let response = read(|| async { Ok(self.0.clone().read_session(request.clone()).await?) })
            .await?
            .into_inner();
        Ok(response.try_into()?)
    }

    /// The transcripts that are looked for.
    pub async fn find(&self, search: Search) -> Result<Findings, CallError> {
        let request = wire::FindSessionsRequest {
            project: search.project,
            agent_id: search.agent_id,
            limit: search.limit,
            since_ms: search.since_ms.unwrap_or_default(),
            until_ms: search.until_ms.unwrap_or_default(),
        };
        let response =
            read(|| async { Ok(self.0.clone().find_sessions(request.clone()).await?) }).await?;
        Ok(response.into_inner().into())
    }

    /// Where words are in what was said, of one agent or, when it is empty, of
    /// all; with `forget`, they are taken out for good.
    pub async fn mentions(
        &self,
        words: &str,
        agent_id: &str,
        forget: bool,
    ) -> Result<Mentions, CallError> {
        let request = wire::FindWordsRequest {
            words: words.to_owned(),
            agent_id: agent_id.to_owned(),
            forget,
        };
        let response = self.0.clone().find_words(request).await?;
        Ok(response.into_inner().into())
    }

    /// Takes sessions over.
    pub async fn import(
        &self,
        parts: impl Stream<Item = Import> + Send + 'static,
    ) -> Result<ImportReport, CallError> {
        let parts = parts.map(wire::ImportSessionsRequest::from);
        let response = self.0.clone().import_sessions(parts).await?;
        Ok(response.into_inner().into())
    }

    /// Everything of an agent's sessions, or of one session; empty: of all.
    pub async fn export(
        &self,
        named: Named<'_>,
    ) -> Result<impl Stream<Item = Result<Exported, CallError>> + Send + use<>, CallError> {
        let request = wire::ExportSessionsRequest {
            agent_id: named.agent_id.to_owned(),
            session: named.session.to_owned(),
        };
        let stream = self.0.clone().export_sessions(request).await?.into_inner();
        Ok(stream.map(|part| Exported::try_from(part?).map_err(CallError::from)))
    }
}

fn required(session: Option<wire::Session>, message: &'static str) -> Result<Session, CallError> {
    let session = session.ok_or(Invalid::missing(message, "session"))?;
    Ok(session.into())
}
