//! Taking sessions over: what the client sends is staged, looked at, and moved
//! into place in one step.

use std::collections::{BTreeSet, HashMap};

use futures_util::{Stream, StreamExt as _};
use openclaw_config::room;
use openclaw_proto::sessions::{Import, ImportReport, Imported, LeftOutField, Skipped};
use openclaw_sessions::AgentId;
use openclaw_sessions::transfer::{Existing, Plan, Skip, StagedFile, Takeover};
use tempfile::TempDir;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use super::Sessions;
use super::read::blocking;
use crate::refusal::Refusal;
use crate::storage::Fault;

/// Most files of one import. A household has thousands of sessions.
const FILE_LIMIT: usize = 100_000;

/// After so many bytes it is looked again whether there is room for more: what lies on the
/// disk of whoever sends it as a hole is written out here.
const LOOK_EVERY: u64 = 16 << 20;

/// Most bytes of one file.
const BYTE_LIMIT: u64 = 4 * 1024 * 1024 * 1024;

/// The uploaded files, on the file system of the sessions.
struct Staging {
    folder: TempDir,
    dry_run: bool,
    files: Vec<StagedFile>,
    /// Files whose names or agents cannot be used.
    skipped: Vec<Skip>,
    /// The file that is being received, unless it is one of the skipped.
    open: Option<(File, u64)>,
    /// Bytes that may be written before it is looked whether there is room for more.
    room: u64,
}

impl Sessions {
    /// Takes over the client's sessions; an error of `parts` ends it.
    pub async fn import<E: From<Refusal>>(
        &self,
        mut parts: impl Stream<Item = Result<Import, E>> + Unpin,
    ) -> Result<ImportReport, E> {
        let first = parts.next().await.transpose()?;
        let Some(Import::Begin { dry_run, source }) = first else {
            return Err(Refusal::Import("an import begins with begin").into());
        };
        let mut staging = self.staging(dry_run)?;
        while let Some(part) = parts.next().await {
            staging.take(part?).await?;
        }
        staging.close().await?;
        let report = self.take_over(staging).await?;
        tracing::info!(
            source,
            dry_run,
            sessions = report.sessions,
            messages = report.messages,
            skipped = report.skipped.len(),
            "sessions imported"
        );
        Ok(report)
    }

    fn staging(&self, dry_run: bool) -> Result<Staging, Refusal> {
        let state = self.configuration.settings().paths.state.clone();
        // Private as tempfile makes it; gone with the value.
        let folder = tempfile::Builder::new()
            .prefix(".import-")
            .tempdir_in(&state);
        Ok(Staging {
            folder: folder.map_err(|source| Refusal::NotSaved(Fault::create(&state, source)))?,
            dry_run,
            files: Vec::new(),
            skipped: Vec::new(),
            open: None,
            room: 0,
        })
    }

    async fn take_over(&self, staging: Staging) -> Result<ImportReport, Refusal> {
        let Staging {
            folder,
            dry_run,
            files,
            skipped,
            ..
        } = staging;
        let agents: BTreeSet<AgentId> = files.iter().map(|file| file.agent.clone()).collect();
        let existing = self.existing(agents).await?;
        let place = folder.path().to_owned();
        let planned = blocking(move || {
            let room = || room::beside_reserve(&place);
            openclaw_arrivals::plan(&files, &existing, &room)
        });
        let mut plan = planned.await?;
        plan.skipped.extend(skipped);
        let report = report(&plan);
        if !dry_run {
            let saved = self.storage.take_over(plan.takeovers).await;
            saved.map_err(Refusal::NotSaved)?;
        }
        drop(folder);
        Ok(report)
    }

    async fn existing(
        &self,
        agents: BTreeSet<AgentId>,
    ) -> Result<HashMap<AgentId, Existing>, Refusal> {
        self.storage
            .existing(agents)
            .await
            .map_err(Refusal::Unreadable)
    }
}

impl Staging {
    async fn take(&mut self, part: Import) -> Result<(), Refusal> {
        match part {
            Import::Begin { .. } => Err(Refusal::Import("an import begins once")),
            Import::File {
                agent,
                name,
                modified_at_ms,
            } => self.begin(&agent, name, modified_at_ms).await,
            Import::Chunk(bytes) => self.chunk(&bytes).await,
        }
    }

    async fn begin(&mut self, agent: &str, name: String, modified_ms: i64) -> Result<(), Refusal> {
        self.close().await?;
        if self.files.len() >= FILE_LIMIT {
            return Err(Refusal::ImportTooLarge(format!(
                "more than {FILE_LIMIT} files; import one agent after the other"
            )));
        }
        let agent = match agent.parse::<AgentId>() {
            Ok(agent) => agent,
            Err(invalid) => {
                self.skipped.push(Skip {
                    name: format!("{agent}/{name}"),
                    reason: invalid.to_string(),
                });
                return Ok(());
            }
        };
        // Its own name: one of another machine is no path here.
        let path = self.folder.path().join(self.files.len().to_string());
        let file = File::create(&path).await;
        self.open = Some((file.map_err(|error| unsaved(&path, error))?, 0));
        self.files.push(StagedFile {
            agent,
            name,
            path,
            modified_ms,
        });
        Ok(())
    }

    async fn chunk(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        if self.open.is_none() {
            return Ok(());
        }
        self.take_room(bytes.len() as u64)?;
        let Some((file, length)) = &mut self.open else {
            return Ok(());
        };
        *length += bytes.len() as u64;
        if *length > BYTE_LIMIT {
            let file = self.files.last().map_or("a file", |file| &file.name);
            return Err(Refusal::ImportTooLarge(format!(
                "{file} is longer than {BYTE_LIMIT} bytes; move it out of the folder"
            )));
        }
        let written = file.write_all(bytes).await;
        written.map_err(|error| unsaved(self.folder.path(), error))
    }

    fn take_room(&mut self, bytes: u64) -> Result<(), Refusal> {
        if self.room < bytes {
            let free = room::beside_reserve(self.folder.path());
            if free < LOOK_EVERY.max(bytes) {
                return Err(Refusal::ImportTooLarge(format!(
                    "there is no room for it: {} MiB of the disk that the state is on are left \
                     to everybody else; make room there, or import one agent after the other",
                    room::RESERVE >> 20
                )));
            }
            self.room = LOOK_EVERY.max(bytes);
        }
        self.room -= bytes;
        Ok(())
    }

    /// The upload is durable before any of it is moved into place.
    async fn close(&mut self) -> Result<(), Refusal> {
        let Some((mut file, _)) = self.open.take() else {
            return Ok(());
        };
        let written = async {
            file.flush().await?;
            if !self.dry_run {
                file.sync_all().await?;
            }
            Ok(())
        };
        written
            .await
            .map_err(|error| unsaved(self.folder.path(), error))
    }
}

fn unsaved(path: &std::path::Path, error: std::io::Error) -> Refusal {
    Refusal::NotSaved(Fault::create(path, error))
}

fn report(plan: &Plan) -> ImportReport {
    let imported = plan.takeovers.iter().map(imported);
    let imported: Vec<Imported> = imported.collect();
    let skipped = plan.skipped.iter().map(|skip| Skipped {
        name: skip.name.clone(),
        reason: skip.reason.clone(),
    });
    let left_out = plan.left_out.fields().map(|(name, sessions)| LeftOutField {
        name: name.to_owned(),
        sessions,
    });
    let count = u32::try_from(imported.len()).unwrap_or(u32::MAX);
    ImportReport {
        sessions: count,
        transcripts: count,
        messages: imported.iter().map(|session| session.messages).sum(),
        imported,
        skipped: skipped.collect(),
        left_out: left_out.collect(),
    }
}

fn imported(takeover: &Takeover) -> Imported {
    Imported {
        key: takeover.key.to_string(),
        id: takeover.entry.session_id().to_owned(),
        messages: takeover.entry.counted().messages,
        source: takeover.source.as_str().to_owned(),
    }
}
