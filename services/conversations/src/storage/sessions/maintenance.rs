//! `session.maintenance`: old sessions are archived, what programs left is
//! removed, and archives of transcripts go when they are old or too much.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use openclaw_daemon::failure;
use openclaw_proto::feed::Change;
use openclaw_retention::{self as retention, Plan, Policy};
use openclaw_sessions::archive::ArchiveName;
use openclaw_sessions::{AgentId, SessionKey, modified_ms, now_ms};
use openclaw_settings::{DiskBudget, Maintenance, MaintenanceMode};

use super::{Leftover, SessionError};
use crate::fault::Fault;
use crate::storage::state_files::{StateFiles, changed};

/// Sessions that are named where something is only said of them.
const NAMED: usize = 3;

/// The result of one look at all sessions.
#[derive(Debug, Default)]
pub(in crate::storage) struct Look {
    /// Actions that are only reported, by agent.
    pub(in crate::storage) findings: Vec<String>,
    /// When the next session is too old, in Unix milliseconds.
    pub(in crate::storage) next_ms: Option<i64>,
}

impl StateFiles {
    /// Does what the settings say about old sessions, or says what that would
    /// be. One agent's failure is told and leaves the others.
    pub(in crate::storage) fn maintain(&mut self) -> Look {
        let settings = self.session_files.settings();
        let mut look = Look::default();
        let Some(maintenance) = &settings.session.maintenance else {
            return look;
        };
        for agent in self.session_files.agents() {
            if let Err(fault) = self.maintain_agent(&agent, maintenance, &mut look) {
                failure::report("look after old sessions, trying again later", &fault);
            }
        }
        look
    }

    fn maintain_agent(
        &mut self,
        agent: &AgentId,
        settings: &Maintenance,
        look: &mut Look,
    ) -> Result<(), Fault> {
        let (now, busy) = (now_ms(), self.busy(agent)?);
        let store = self.session_files.store(agent)?;
        let plan = policy(settings).plan(store, &busy, now);
        let files = Files::of(store.dir());
        let expired = files.expired(settings, now);
        let next = [look.next_ms, plan.next_ms].into_iter().flatten().min();
        look.next_ms = next;
        match settings.mode {
            MaintenanceMode::Warn => {
                look.findings
                    .extend(finding(agent, &plan, &expired, files.excess(settings)));
            }
            MaintenanceMode::Enforce => {
                self.carry_out(agent, &plan, now);
                let removed = expired.iter().filter(|archive| archive.remove()).count();
                if removed > 0 {
                    tracing::info!(openclaw_agent = %agent, removed, "old archives of transcripts were removed");
                }
                if let Some(budget) = settings.disk {
                    self.make_room(agent, budget, &busy)?;
                }
            }
        }
        Ok(())
    }

    /// The sessions of the agent in which a message waits or is answered.
    fn busy(&self, agent: &AgentId) -> Result<BTreeSet<String>, Fault> {
        let open = self.open_runs()?.into_iter();
        let own = open.filter(|run| run.agent_id == agent.as_str());
        Ok(own.map(|run| run.session_key).collect())
    }

    fn carry_out(&mut self, agent: &AgentId, plan: &Plan, now: i64) {
        let (mut archived, mut removed) = (0, 0);
        for (key, reason) in &plan.archive {
            archived += usize::from(self.archive(agent, key, reason.word(), now));
        }
        for key in &plan.remove {
            removed += usize::from(self.evict(agent, key, Leftover::Archived));
        }
        if archived + removed > 0 {
            tracing::info!(openclaw_agent = %agent, archived, removed, "old sessions were archived or removed");
        }
    }

    fn archive(&mut self, agent: &AgentId, key: &str, reason: &str, now: i64) -> bool {
        let Ok(key) = SessionKey::stored(key, agent) else {
            return false;
        };
        let store = self.session_files.store(agent);
        let Some(entry) = store.ok().and_then(|store| store.get_mut(&key)) else {
            return false;
        };
        entry.set("archivedAt", now);
        entry.set("archiveReason", reason);
        entry.clear("archivedBy");
        self.maintained
            .push(changed(&key, Change::Changed, reason, now));
        true
    }

    /// Takes a session out of the index, and its transcript away.
    fn evict(&mut self, agent: &AgentId, key: &str, leftover: Leftover) -> bool {
        let Ok(key) = SessionKey::stored(key, agent) else {
            return false;
        };
        match self.delete(&key, leftover) {
            Ok(_) => {
                let happening = changed(&key, Change::Deleted, "maintenance", now_ms());
                self.maintained.push(happening);
                true
            }
            Err(SessionError::Refused(_)) => false,
            Err(SessionError::Failed(fault)) => {
                failure::report("remove an old session", &fault);
                false
            }
        }
    }

    /// Removes archives, the oldest first, and then sessions that were archived
    /// for their number, until the files take no more than they are to.
    fn make_room(
        &mut self,
        agent: &AgentId,
        budget: DiskBudget,
        busy: &BTreeSet<String>,
    ) -> Result<(), Fault> {
        let mut files = Files::of(self.session_files.store(agent)?.dir());
        if files.bytes <= budget.most {
            return Ok(());
        }
        let before = files.bytes;
        files.archives.sort_by_key(|archive| archive.at_ms);
        for archive in &files.archives {
            if files.bytes > budget.target && archive.remove() {
                files.bytes = files.bytes.saturating_sub(archive.bytes);
            }
        }
        for (key, transcript) in self.evictable(agent, busy)? {
            let bytes = fs::metadata(&transcript).map_or(0, |metadata| metadata.len());
            if files.bytes > budget.target && self.evict(agent, &key, Leftover::Removed) {
                files.bytes = files.bytes.saturating_sub(bytes);
            }
        }
        let (after, most) = (files.bytes, budget.most);
        if after > most {
            tracing::warn!(
                openclaw_agent = %agent,
                before,
                after,
                most,
                "the files of sessions take more than session.maintenance.maxDiskBytes, and nothing \
                 else may be removed; raise it, or delete sessions"
            )
        } else {
            tracing::info!(
                openclaw_agent = %agent,
                before,
                after,
                most,
                "archives of sessions were removed to stay within session.maintenance.maxDiskBytes"
            )
        }
        Ok(())
    }

    /// The sessions that may be removed for want of room, the oldest first, with their transcripts.
    fn evictable(
        &mut self,
        agent: &AgentId,
        busy: &BTreeSet<String>,
    ) -> Result<Vec<(String, PathBuf)>, Fault> {
        let store = self.session_files.store(agent)?;
        let sessions = store.sessions();
        let mut found: Vec<(i64, String, PathBuf)> = sessions
            .filter(|(key, entry)| retention::may_be_evicted(key, entry, busy))
            .map(|(key, entry)| {
                let path = store.transcript_path(entry);
                (retention::activity(entry), key.to_owned(), path)
            })
            .collect();
        found.sort();
        let found = found.into_iter();
        Ok(found.map(|(_, key, path)| (key, path)).collect())
    }
}

fn policy(settings: &Maintenance) -> Policy {
    Policy {
        prune_after: settings.prune_after,
        dashboards_after: settings.dashboards_after,
        runs_after: settings.runs_after,
        max_entries: usize::try_from(settings.max_entries).unwrap_or(usize::MAX),
        preserve_recent: settings.preserve_recent,
    }
}

/// The actions for the agent, in words.
fn finding(
    agent: &AgentId,
    plan: &Plan,
    expired: &[&Archive],
    excess: Option<(u64, u64)>,
) -> Option<String> {
    let mut parts = Vec::new();
    let archive = plan.archive.iter().map(|(key, _)| key.as_str()).collect();
    let remove = plan.remove.iter().map(String::as_str).collect();
    parts.extend(named("archive", archive));
    parts.extend(named("remove", remove));
    if !expired.is_empty() {
        parts.push(format!("remove {} old archives", expired.len()));
    }
    if let Some((bytes, most)) = excess {
        parts.push(format!(
            "remove archives, as the files take {bytes} of {most} bytes"
        ));
    }
    (!parts.is_empty()).then(|| {
        format!(
            "session.maintenance would, for the agent {agent}, {}; its mode is \"warn\", so nothing \
             is done",
            parts.join(", ")
        )
    })
}

fn named(what: &str, keys: Vec<&str>) -> Option<String> {
    let more = keys.len().saturating_sub(NAMED);
    let first: Vec<&str> = keys.iter().take(NAMED).copied().collect();
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!keys.is_empty()).then(|| format!("{what} {}{more}", first.join(", ")))
}

/// An archive of a transcript.
#[derive(Debug)]
struct Archive {
    path: PathBuf,
    bytes: u64,
    /// When it was made, in Unix milliseconds.
    at_ms: i64,
}

impl Archive {
    /// Whether it is gone now.
    fn remove(&self) -> bool {
        match fs::remove_file(&self.path) {
            Ok(()) => true,
            Err(error) => {
                failure::report("remove an archive of a transcript", &error);
                error.kind() == io::ErrorKind::NotFound
            }
        }
    }
}

/// The files beside an index.
#[derive(Debug, Default)]
struct Files {
    bytes: u64,
    archives: Vec<Archive>,
}

impl Files {
    /// The files of `dir`. A file that disappears meanwhile counts for nothing.
    fn of(dir: &Path) -> Self {
        let mut files = Self::default();
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file);
            let Some(metadata) = metadata else {
                continue;
            };
            files.bytes += metadata.len();
            let name = entry.file_name();
            if let Some(archive) = name.to_str().and_then(ArchiveName::parse) {
                let made = Some(archive.at_ms).filter(|at| *at > 0);
                files.archives.push(Archive {
                    path: entry.path(),
                    bytes: metadata.len(),
                    at_ms: made.unwrap_or_else(|| modified_ms(&metadata)),
                });
            }
        }
        files
    }

    /// Archives that are kept no longer.
    fn expired(&self, settings: &Maintenance, now: i64) -> Vec<&Archive> {
        let Some(kept) = settings.archives_for else {
            return Vec::new();
        };
        let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        let archives = self.archives.iter();
        archives
            .filter(|archive| archive.at_ms.saturating_add(kept) < now)
            .collect()
    }

    /// The bytes that they take and the lower limit, if they exceed it.
    fn excess(&self, settings: &Maintenance) -> Option<(u64, u64)> {
        let most = settings.disk?.most;
        (self.bytes > most).then_some((self.bytes, most))
    }
}
