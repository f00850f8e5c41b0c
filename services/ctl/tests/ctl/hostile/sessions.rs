//! The gateway's answers about sessions.

use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::sessions_server::Sessions;
use tonic::{Request, Streaming};

use super::{Answer, Answers, HOSTILE, Hostile, all, answer, hostile, refusal};

fn session() -> wire::Session {
    wire::Session {
        key: hostile(),
        id: hostile(),
        agent_id: hostile(),
        transcript_path: hostile(),
        label: hostile(),
        last_channel: hostile(),
        model_provider: hostile(),
        model: hostile(),
        model_override: hostile(),
        thinking_level: hostile(),
        spawned_by: hostile(),
        last_status: hostile(),
        message_count: 1,
        ..wire::Session::default()
    }
}

#[tonic::async_trait]
impl Sessions for Hostile {
    type ExportSessionsStream = Answers<wire::ExportSessionsResponse>;

    async fn list_sessions(
        &self,
        _: Request<wire::ListSessionsRequest>,
    ) -> Answer<openclaw_proto::sessions::ListSessionsResponse> {
        let rows = vec![openclaw_proto::sessions::Row::new(session().into())];
        answer(openclaw_proto::sessions::Rows { rows, total: 2 }.into())
    }

    async fn get_session(
        &self,
        _: Request<wire::GetSessionRequest>,
    ) -> Answer<wire::GetSessionResponse> {
        answer(wire::GetSessionResponse {
            session: Some(session()),
            entry_json: serde_json::json!({ "label": HOSTILE }).to_string(),
        })
    }

    async fn create_session(
        &self,
        _: Request<wire::CreateSessionRequest>,
    ) -> Answer<wire::CreateSessionResponse> {
        refusal()
    }

    async fn patch_session(
        &self,
        _: Request<wire::PatchSessionRequest>,
    ) -> Answer<wire::PatchSessionResponse> {
        refusal()
    }

    async fn reset_session(
        &self,
        _: Request<wire::ResetSessionRequest>,
    ) -> Answer<wire::ResetSessionResponse> {
        answer(wire::ResetSessionResponse {
            session: Some(session()),
        })
    }

    async fn delete_session(
        &self,
        _: Request<wire::DeleteSessionRequest>,
    ) -> Answer<wire::DeleteSessionResponse> {
        answer(wire::DeleteSessionResponse {
            key: hostile(),
            archive_path: hostile(),
        })
    }

    async fn compact_session(
        &self,
        _: Request<wire::CompactSessionRequest>,
    ) -> Answer<wire::CompactSessionResponse> {
        answer(wire::CompactSessionResponse {
            session: Some(session()),
        })
    }

    async fn preview_sessions(
        &self,
        _: Request<wire::PreviewSessionsRequest>,
    ) -> Answer<wire::PreviewSessionsResponse> {
        let item = wire::PreviewItem {
            role: hostile(),
            text: hostile(),
        };
        let preview = wire::Preview {
            key: hostile(),
            found: true,
            items: vec![item],
        };
        answer(wire::PreviewSessionsResponse {
            previews: vec![preview],
        })
    }

    async fn read_session(
        &self,
        _: Request<wire::ReadSessionRequest>,
    ) -> Answer<wire::ReadSessionResponse> {
        use wire::read_item::Kind;
        let kinds = [
            Kind::User(hostile()),
            Kind::Assistant(hostile()),
            Kind::Tool(wire::ToolUse {
                name: hostile(),
                argument: hostile(),
            }),
            Kind::Result(wire::ToolOutcome {
                name: hostile(),
                is_error: true,
            }),
            Kind::Compaction(hostile()),
        ];
        let item = |kind| wire::ReadItem {
            at_ms: 1,
            kind: Some(kind),
        };
        answer(wire::ReadSessionResponse {
            key: hostile(),
            id: hostile(),
            items: kinds.map(item).into(),
            corrupt_lines: 1,
            corrupt_copy: hostile(),
            ..wire::ReadSessionResponse::default()
        })
    }

    async fn find_sessions(
        &self,
        _: Request<wire::FindSessionsRequest>,
    ) -> Answer<wire::FindSessionsResponse> {
        let found = wire::FoundSession {
            agent_id: hostile(),
            id: hostile(),
            key: hostile(),
            transcript_path: hostile(),
            cwd: hostile(),
            first_user_message: hostile(),
            last_user_messages: vec![hostile()],
            matched: hostile(),
            ..wire::FoundSession::default()
        };
        answer(wire::FindSessionsResponse {
            sessions: vec![found],
            searched: 1,
            problems: vec![hostile()],
        })
    }

    async fn find_words(
        &self,
        _: Request<wire::FindWordsRequest>,
    ) -> Answer<wire::FindWordsResponse> {
        let excerpt = wire::Excerpt {
            entry_id: hostile(),
            role: hostile(),
            at_ms: 1,
            text: hostile(),
        };
        let mention = |session_key: String| wire::Mention {
            agent_id: hostile(),
            session_key,
            path: hostile(),
            matches: 1,
            excerpts: vec![excerpt.clone()],
        };
        answer(wire::FindWordsResponse {
            mentions: vec![mention(hostile()), mention(String::new())],
            in_tables: 1,
            forgotten: 0,
            jobs: vec![hostile()],
        })
    }

    async fn import_sessions(
        &self,
        _: Request<Streaming<wire::ImportSessionsRequest>>,
    ) -> Answer<wire::ImportSessionsResponse> {
        answer(wire::ImportSessionsResponse {
            imported: vec![wire::ImportedSession {
                key: hostile(),
                id: hostile(),
                source: hostile(),
                messages: 1,
            }],
            skipped: vec![wire::SkippedFile {
                name: hostile(),
                reason: hostile(),
            }],
            ..wire::ImportSessionsResponse::default()
        })
    }

    async fn export_sessions(
        &self,
        _: Request<wire::ExportSessionsRequest>,
    ) -> Answer<Self::ExportSessionsStream> {
        use wire::export_sessions_response::Kind;
        let file = Kind::File(format!("../{HOSTILE}"));
        all(vec![wire::ExportSessionsResponse { kind: Some(file) }])
    }
}
