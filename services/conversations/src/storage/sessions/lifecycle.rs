//! Creating, changing, resetting and deleting sessions.

use std::path::PathBuf;

use openclaw_proto::feed::Change;
use openclaw_proto::sessions::Session;
use openclaw_sessions::archive::{self, Why};
use openclaw_sessions::store::Patch;
use openclaw_sessions::transcript::{Compaction, Draft, Marker};
use openclaw_sessions::{SessionKey, now_ms};

use super::{Leftover, SessionError};
use crate::fault::Fault;
use crate::refusal::Refusal;
use crate::route;
use crate::storage::state_files::{StateFiles, changed};
use crate::storage::work::Done;

type Worked<T> = Result<Done<T>, SessionError>;

impl StateFiles {
    pub(super) fn create(
        &mut self,
        key: &SessionKey,
        patch: &Patch,
        spawned_by: Option<&SessionKey>,
    ) -> Worked<Session> {
        if self.session_files.store(key.agent())?.get(key).is_some() {
            return Err(Refusal::Exists(key.clone()).into());
        }
        if let Err(invalid) = key.check_new() {
            return Err(Refusal::Key(invalid).into());
        }
        let depth = match spawned_by {
            None => None,
            Some(parent) => match self.session_files.store(parent.agent())?.get(parent) {
                None => return Err(Refusal::unknown(parent).into()),
                Some(entry) => Some(entry.get::<u32>("spawnDepth").unwrap_or_default() + 1),
            },
        };
        self.check_label(key, patch)?;
        let now = now_ms();
        let (entry, _) = self.session_files.session(key, now)?;
        entry.set("createdAt", now);
        if let (Some(parent), Some(depth)) = (spawned_by, depth) {
            entry.set("spawnedBy", parent.as_str());
            entry.set("spawnDepth", depth);
        }
        patch.apply(entry, now);
        let key = key.clone();
        let session = self.shown_session(&key)?;
        let happening = changed(&key, Change::Created, "", now);
        let done = Done::changing(session, move |state_files| {
            state_files.put_back(&key, None);
        });
        Ok(done.telling(happening))
    }

    pub(super) fn begin_as(&mut self, key: &SessionKey, id: String) -> Result<Done<()>, Fault> {
        let store = self.session_files.store(key.agent())?;
        if store.get(key).is_some() {
            return Ok(Done::looking(()));
        }
        key.check_new().map_err(Fault::Key)?;
        let now = now_ms();
        store.create(key, id, now);
        if let Some(entry) = store.get_mut(key) {
            entry.set("createdAt", now);
        }
        let key = key.clone();
        let happening = changed(&key, Change::Created, "", now);
        let done = Done::changing((), move |state_files| state_files.put_back(&key, None));
        Ok(done.telling(happening))
    }

    pub(super) fn patch(&mut self, key: &SessionKey, patch: &Patch) -> Worked<Session> {
        self.check_label(key, patch)?;
        let telling = (Change::Changed, "");
        self.change(key, patch.markers(), telling, |entry, now| {
            patch.apply(entry, now)
        })
    }

    pub(super) fn set(&mut self, key: &SessionKey, patch: &Patch) -> Worked<Session> {
        match self.session_files.store(key.agent())?.get(key) {
            Some(_) => self.patch(key, patch),
            None => self.create(key, patch, None),
        }
    }

    pub(super) fn reset(&mut self, key: &SessionKey, reason: &str) -> Worked<Session> {
        let marker = Marker::Reset {
            reason: reason.to_owned(),
        };
        let telling = (Change::Reset, reason);
        let done = self.change(key, vec![marker], telling, |entry, now| entry.reset(now))?;
        self.begin_home_anew(key);
        Ok(done)
    }

    pub(super) fn compact(&mut self, key: &SessionKey, compaction: Compaction) -> Worked<Session> {
        let marker = Marker::Compaction(compaction);
        let telling = (Change::Compacted, "");
        self.change(key, vec![marker], telling, |entry, now| {
            entry.compacted(now)
        })
    }

    pub(super) fn delete(
        &mut self,
        key: &SessionKey,
        leftover: Leftover,
    ) -> Worked<Option<PathBuf>> {
        let main = route::main(key.agent(), &self.session_files.settings().session);
        if key.is_main() || *key == main {
            return Err(Refusal::Main(key.clone()).into());
        }
        let store = self.session_files.store(key.agent())?;
        let Some(entry) = store.get(key).cloned() else {
            return Err(Refusal::unknown(key).into());
        };
        let transcript = store.transcript_path(&entry);
        let is_shared = store.shares_transcript(key);
        self.session_files.close(&transcript)?;
        // The transcript first: were it the index, a crash in between would
        // bring the session back when the index is made from transcripts.
        let archive = match leftover {
            // Another session goes on in it.
            _ if is_shared => None,
            Leftover::Archived => archive::put_away(&transcript, Why::Deleted, now_ms())?,
            Leftover::Removed => {
                archive::remove(&transcript)?;
                None
            }
        };
        self.session_files.store(key.agent())?.remove(key);
        let key = key.clone();
        let happening = changed(&key, Change::Deleted, "", now_ms());
        let done = Done::changing(archive, move |state_files| {
            state_files.put_back(&key, Some(entry));
        });
        Ok(done.telling(happening))
    }

    /// Changes the entry of a session, tells its transcript with `markers` when
    /// it has one, and whoever listens what it is.
    fn change(
        &mut self,
        key: &SessionKey,
        markers: Vec<Marker>,
        (what, reason): (Change, &str),
        change: impl FnOnce(&mut openclaw_sessions::store::SessionEntry, i64),
    ) -> Worked<Session> {
        let store = self.session_files.store(key.agent())?;
        let Some(before) = store.get(key).cloned() else {
            return Err(Refusal::unknown(key).into());
        };
        let has_transcript = store.transcript_path(&before).exists();
        let written = if has_transcript && !markers.is_empty() {
            let drafts = markers.into_iter().map(Draft::from).collect();
            Some(self.append(key, drafts)?.written)
        } else {
            None
        };
        let now = now_ms();
        if let Some(entry) = self.session_files.store(key.agent())?.get_mut(key) {
            change(entry, now);
        }
        let session = self.shown_session(key)?;
        let happening = changed(key, what, reason, now);
        let key = key.clone();
        let file = written.as_ref().map(|written| written.file.clone());
        let done = Done::changing(session, move |state_files| {
            if let Some(written) = written {
                state_files.retract(&written);
            }
            state_files.put_back(&key, Some(before));
        });
        Ok(done.appending(file).telling(happening))
    }

    /// Whether no other session has the label.
    fn check_label(&mut self, key: &SessionKey, patch: &Patch) -> Result<(), SessionError> {
        let Some(label) = patch.label() else {
            return Ok(());
        };
        let store = self.session_files.store(key.agent())?;
        match store.has_label(label, key) {
            None => Ok(()),
            Some(taken) => Err(SessionError::Refused(Refusal::LabelTaken {
                label: label.to_owned(),
                key: taken.to_owned(),
            })),
        }
    }
}
