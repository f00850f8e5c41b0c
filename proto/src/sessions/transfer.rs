//! Sessions on their way in and out.

use serde::Serialize;

use crate::invalid::Invalid;
use crate::wire::gateway as wire;

/// What an import is told, in this order: begin, then each file and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Import {
    /// The first.
    Begin {
        /// Nothing is to be written.
        dry_run: bool,
        /// Where the files are from.
        source: String,
    },
    /// A file of an agent's sessions folder.
    File {
        /// The agent's folder name.
        agent: String,
        /// The file's name.
        name: String,
        /// Unix milliseconds.
        modified_at_ms: i64,
    },
    /// The next bytes of the last file.
    Chunk(Vec<u8>),
}

/// What an import did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// Sessions that were new.
    pub sessions: u32,
    /// Transcripts that were taken over.
    pub transcripts: u32,
    /// Messages in them.
    pub messages: u64,
    /// One by one.
    pub imported: Vec<Imported>,
    /// What was not taken over.
    pub skipped: Vec<Skipped>,
    /// Fields of the sessions' entries that were not taken over.
    pub left_out: Vec<LeftOutField>,
}

/// A field of another index that was not taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOutField {
    /// Its name there.
    pub name: String,
    /// How many of the sessions had it.
    pub sessions: u32,
}

/// A session that was taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// The key it has here.
    pub key: String,
    /// Its id.
    pub id: String,
    /// Messages in its transcript.
    pub messages: u64,
    /// `index`, `transcript` or `archive`.
    pub source: String,
}

/// A file or an entry that was not taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// The file, or the key in the index.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// A piece of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exported {
    /// A file begins: its path below the target folder.
    File(String),
    /// The next bytes of it.
    Chunk(Vec<u8>),
}

impl From<Import> for wire::ImportSessionsRequest {
    fn from(import: Import) -> Self {
        use wire::import_sessions_request::Kind as W;
        let kind = match import {
            Import::Begin { dry_run, source } => W::Begin(wire::ImportBegin { dry_run, source }),
            Import::File {
                agent,
                name,
                modified_at_ms,
            } => W::File(wire::ImportFile {
                agent,
                name,
                modified_at_ms,
            }),
            Import::Chunk(bytes) => W::Chunk(bytes),
        };
        Self { kind: Some(kind) }
    }
}

impl TryFrom<wire::ImportSessionsRequest> for Import {
    type Error = Invalid;

    fn try_from(request: wire::ImportSessionsRequest) -> Result<Self, Invalid> {
        use wire::import_sessions_request::Kind as W;
        let kind = request.kind;
        Ok(
            match kind.ok_or(Invalid::missing("ImportSessionsRequest", "kind"))? {
                W::Begin(begin) => Self::Begin {
                    dry_run: begin.dry_run,
                    source: begin.source,
                },
                W::File(file) => Self::File {
                    agent: file.agent,
                    name: file.name,
                    modified_at_ms: file.modified_at_ms,
                },
                W::Chunk(bytes) => Self::Chunk(bytes),
            },
        )
    }
}

impl From<ImportReport> for wire::ImportSessionsResponse {
    fn from(report: ImportReport) -> Self {
        let imported = report.imported.into_iter();
        let skipped = report.skipped.into_iter();
        let left_out = report.left_out.into_iter();
        Self {
            sessions: report.sessions,
            transcripts: report.transcripts,
            messages: report.messages,
            imported: imported
                .map(|session| wire::ImportedSession {
                    key: session.key,
                    id: session.id,
                    messages: session.messages,
                    source: session.source,
                })
                .collect(),
            skipped: skipped
                .map(|skipped| wire::SkippedFile {
                    name: skipped.name,
                    reason: skipped.reason,
                })
                .collect(),
            left_out: left_out
                .map(|field| wire::LeftOutField {
                    name: field.name,
                    sessions: field.sessions,
                })
                .collect(),
        }
    }
}

impl From<wire::ImportSessionsResponse> for ImportReport {
    fn from(response: wire::ImportSessionsResponse) -> Self {
        let imported = response.imported.into_iter();
        let skipped = response.skipped.into_iter();
        let left_out = response.left_out.into_iter();
        Self {
            sessions: response.sessions,
            transcripts: response.transcripts,
            messages: response.messages,
            imported: imported
                .map(|session| Imported {
                    key: session.key,
                    id: session.id,
                    messages: session.messages,
                    source: session.source,
                })
                .collect(),
            skipped: skipped
                .map(|skipped| Skipped {
                    name: skipped.name,
                    reason: skipped.reason,
                })
                .collect(),
            left_out: left_out
                .map(|field| LeftOutField {
                    name: field.name,
                    sessions: field.sessions,
                })
                .collect(),
        }
    }
}

impl From<Exported> for wire::ExportSessionsResponse {
    fn from(part: Exported) -> Self {
        use wire::export_sessions_response::Kind as W;
        Self {
            kind: Some(match part {
                Exported::File(path) => W::File(path),
                Exported::Chunk(bytes) => W::Chunk(bytes),
            }),
        }
    }
}

impl TryFrom<wire::ExportSessionsResponse> for Exported {
    type Error = Invalid;

    fn try_from(response: wire::ExportSessionsResponse) -> Result<Self, Invalid> {
        use wire::export_sessions_response::Kind as W;
        let kind = response.kind;
        Ok(
            match kind.ok_or(Invalid::missing("ExportSessionsResponse", "kind"))? {
                W::File(path) => Self::File(path),
                W::Chunk(bytes) => Self::Chunk(bytes),
            },
        )
    }
}
