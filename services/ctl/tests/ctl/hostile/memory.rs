//! The memory daemon's answers.

use openclaw_proto::wire::memory;
use openclaw_proto::wire::memory::memory_server::Memory;
use tonic::{Request, Status, Streaming};

use super::{Answer, Answers, HOSTILE, Hostile, all, answer, hostile, refusal};

#[tonic::async_trait]
impl Memory for Hostile {
    type ExportStream = Answers<memory::ExportedDocument>;
    type IndexStream = Answers<memory::IndexProgress>;
    type EmbedStream = Answers<memory::EmbedJob>;

    async fn load_bootstrap(
        &self,
        _: Request<memory::LoadBootstrapRequest>,
    ) -> Answer<memory::LoadBootstrapResponse> {
        refusal()
    }

    async fn search(&self, _: Request<memory::SearchRequest>) -> Answer<memory::SearchResponse> {
        let hit = memory::Hit {
            path: hostile(),
            snippet: hostile(),
            source: hostile(),
            message_id: hostile(),
            speaker: hostile(),
            ..memory::Hit::default()
        };
        answer(memory::SearchResponse {
            hits: vec![hit],
            partial: true,
            warnings: vec![hostile()],
            provider: hostile(),
            model: hostile(),
        })
    }

    async fn recall(&self, _: Request<memory::RecallRequest>) -> Answer<memory::RecallResponse> {
        refusal()
    }

    async fn get(&self, _: Request<memory::GetRequest>) -> Answer<memory::GetResponse> {
        answer(memory::GetResponse {
            path: hostile(),
            text: hostile(),
            from: 1,
            lines: 1,
            total_lines: 9,
            found: true,
        })
    }

    async fn remember(
        &self,
        _: Request<memory::RememberRequest>,
    ) -> Answer<memory::RememberResponse> {
        answer(memory::RememberResponse {
            path: hostile(),
            line: 1,
        })
    }

    async fn forget(&self, _: Request<memory::ForgetRequest>) -> Answer<memory::ForgetResponse> {
        Err(Status::not_found(HOSTILE))
    }

    async fn find_notes(
        &self,
        _: Request<memory::FindNotesRequest>,
    ) -> Answer<memory::FindNotesResponse> {
        answer(memory::FindNotesResponse {
            lines: vec![memory::NoteLines {
                path: hostile(),
                from: 1,
                to: 1,
                text: hostile(),
            }],
        })
    }

    async fn export(&self, _: Request<memory::ExportRequest>) -> Answer<Self::ExportStream> {
        all(vec![memory::ExportedDocument {
            path: hostile(),
            source: hostile(),
            text: hostile(),
            number: 1,
            total: 1,
            modified_ms: 1,
        }])
    }

    async fn index(&self, _: Request<memory::IndexRequest>) -> Answer<Self::IndexStream> {
        Err(Status::internal(HOSTILE))
    }

    async fn compact(&self, _: Request<memory::CompactRequest>) -> Answer<memory::CompactResponse> {
        refusal()
    }

    async fn shorten(&self, _: Request<memory::ShortenRequest>) -> Answer<memory::ShortenResponse> {
        refusal()
    }

    async fn embed(&self, _: Request<Streaming<memory::EmbedResult>>) -> Answer<Self::EmbedStream> {
        refusal()
    }

    async fn status(&self, _: Request<memory::StatusRequest>) -> Answer<memory::StatusResponse> {
        let agent = memory::AgentStatus {
            agent_id: hostile(),
            workspace: hostile(),
            store: hostile(),
            provider: hostile(),
            model: hostile(),
            problems: vec![hostile()],
            extra_paths: vec![hostile()],
            ..memory::AgentStatus::default()
        };
        answer(memory::StatusResponse {
            version: hostile(),
            configuration_problem: hostile(),
            agents: vec![agent],
            ..memory::StatusResponse::default()
        })
    }
}
