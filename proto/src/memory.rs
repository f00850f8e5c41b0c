//! The memory daemon, seen from its clients.

use std::path::PathBuf;

use serde::Serialize;
use tonic::Status;
use tonic::transport::Channel;

use crate::address;
use crate::origin::Origin;
use crate::wire::memory as wire;
use wire::memory_client::MemoryClient;

/// A bootstrap file, cut to its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapFile {
    /// The file's name within the workspace.
    pub name: String,
    /// Its text.
    pub content: String,
    /// Whether the text was cut.
    pub truncated: bool,
}

/// A passage that a search found (seed 002, `SearchResult`).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Relative to the workspace.
    pub path: String,
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// What the results are ordered by, best first.
    pub score: f64,
    /// The keyword part of the score.
    pub text_score: f64,
    /// The vector part of the score.
    pub vector_score: f64,
    /// The passage.
    pub snippet: String,
    /// Unix milliseconds.
    pub timestamp_ms: i64,
}

/// Where a note went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Relative to the workspace.
    pub path: String,
    /// The note's line.
    pub line: u32,
}

/// A client of the memory daemon. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(MemoryClient<Channel>);

impl Client {
    /// A client of the daemon at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        Self(
            MemoryClient::new(address::channel(socket))
                .max_decoding_message_size(crate::MESSAGE_LIMIT),
        )
    }

    /// The bootstrap files of an agent, in their order.
    pub async fn load_bootstrap(
        &self,
        origin: &Origin,
        agent_id: &str,
    ) -> Result<Vec<BootstrapFile>, Status> {
        let request = wire::LoadBootstrapRequest {
            agent_id: agent_id.to_owned(),
        };
        let response = self
            .0
            .clone()
            .load_bootstrap(origin.request(request))
            .await?
            .into_inner();
        Ok(response.files.into_iter().map(Into::into).collect())
    }

    /// The best passages, best first, at most `limit` (0: the daemon's default).
    pub async fn search(
        &self,
        origin: &Origin,
        agent_id: &str,
        query: &str,
        limit: u32,
    ) -> Result<Vec<Hit>, Status> {
        let request = wire::SearchRequest {
            agent_id: agent_id.to_owned(),
            query: query.to_owned(),
            limit,
        };
        let response = self
            .0
            .clone()
            .search(origin.request(request))
            .await?
            .into_inner();
        Ok(response.hits.into_iter().map(Into::into).collect())
    }

    /// Appends a note to today's memory file.
    pub async fn remember(
        &self,
        origin: &Origin,
        agent_id: &str,
        text: &str,
    ) -> Result<Remembered, Status> {
        let request = wire::RememberRequest {
            agent_id: agent_id.to_owned(),
            text: text.to_owned(),
        };
        let response = self
            .0
            .clone()
            .remember(origin.request(request))
            .await?
            .into_inner();
        Ok(Remembered {
            path: response.path,
            line: response.line,
        })
    }

    /// What the daemon says of itself.
    pub async fn status(&self) -> Result<wire::StatusResponse, Status> {
        let response = self.0.clone().status(wire::StatusRequest {}).await?;
        Ok(response.into_inner())
    }
}

impl From<wire::BootstrapFile> for BootstrapFile {
    fn from(file: wire::BootstrapFile) -> Self {
        Self {
            name: file.name,
            content: file.content,
            truncated: file.truncated,
        }
    }
}

impl From<BootstrapFile> for wire::BootstrapFile {
    fn from(file: BootstrapFile) -> Self {
        Self {
            name: file.name,
            content: file.content,
            truncated: file.truncated,
        }
    }
}

impl From<wire::Hit> for Hit {
    fn from(hit: wire::Hit) -> Self {
        Self {
            path: hit.path,
            start_line: hit.start_line,
            end_line: hit.end_line,
            score: hit.score,
            text_score: hit.text_score,
            vector_score: hit.vector_score,
            snippet: hit.snippet,
            timestamp_ms: hit.timestamp_ms,
        }
    }
}

impl From<Hit> for wire::Hit {
    fn from(hit: Hit) -> Self {
        Self {
            path: hit.path,
            start_line: hit.start_line,
            end_line: hit.end_line,
            score: hit.score,
            text_score: hit.text_score,
            vector_score: hit.vector_score,
            snippet: hit.snippet,
            timestamp_ms: hit.timestamp_ms,
        }
    }
}
