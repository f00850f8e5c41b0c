//! The indexes and the transcripts that are open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_daemon::Configuration;
use openclaw_sessions::journal::Journal;
use openclaw_sessions::store::{Note, Notice, SessionEntry, Store};
use openclaw_sessions::transcript::{self, CutBack, Draft, Repair, Transcript};
use openclaw_sessions::{AgentId, Error, SessionKey, now_ms};
use openclaw_settings::Settings;

use crate::fault::Fault;

/// Transcripts kept open. Opening one again costs a read of its end; each open
/// one costs a file descriptor.
const OPEN_LIMIT: usize = 64;

pub(super) struct SessionFiles {
    configuration: Configuration,
    stores: BTreeMap<AgentId, Store>,
    /// The last used is the last.
    open: Vec<Transcript>,
    /// The journal, in which entries of many sessions become durable together.
    journal: Journal,
    /// Whether a session came in that no index on the disk has.
    is_new: bool,
}

/// Entries that were appended and are not durable yet.
pub(super) struct Appended {
    pub(super) written: Written,
    pub(super) ids: Vec<String>,
}

/// The place in a transcript at which entries were appended.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) file: PathBuf,
    /// Its length before, in bytes.
    pub(super) before: u64,
    /// Its length with them.
    pub(super) after: u64,
}

impl SessionFiles {
    /// Opens the indexes of all agents that are configured, and of those that
    /// have one.
    /// `notes` are the changes that the files of the indexes do not have yet.
    pub(super) fn open(configuration: Configuration, notes: &[Note]) -> Result<Self, Error> {
        let settings = configuration.settings();
        // Before anything is read: transcripts may be behind it.
        let paths = &settings.paths;
        let (journal, recovered) = Journal::open(&paths.transcript_journal(), &paths.state)?;
        if !recovered.transcripts.is_empty() {
            tracing::warn!(
                transcripts = recovered.transcripts.len(),
                bytes = recovered.bytes,
                "the machine went down before transcripts were on the disk; they were brought up to date"
            );
        }
        let mut session_files = Self {
            configuration,
            stores: BTreeMap::new(),
            open: Vec::new(),
            journal,
            is_new: false,
        };
        for agent in settings.agents.keys().filter_map(|id| id.parse().ok()) {
            session_files.store(&agent)?;
        }
        for agent in agents_on_disk(&settings.paths.agents()) {
            session_files.store(&agent)?;
        }
        session_files.bring_up_to_date(notes);
        Ok(session_files)
    }

    fn bring_up_to_date(&mut self, notes: &[Note]) {
        for (agent, store) in &mut self.stores {
            let own = notes.iter().filter(|note| note.agent == agent.as_str());
            let own: Vec<Note> = own.cloned().collect();
            let sessions = store.bring_up_to_date(&own);
            if sessions > 0 {
                tracing::info!(
                    openclaw_agent = %agent,
                    sessions,
                    "the session index was brought up to date from the ledger"
                );
            }
        }
    }

    pub(super) fn settings(&self) -> Arc<Settings> {
        self.configuration.settings()
    }

    pub(super) fn store(&mut self, agent: &AgentId) -> Result<&mut Store, Error> {
        // Not the entry API: opening can fail, and the key is only cloned then.
        if !self.stores.contains_key(agent) {
            let dir = self.settings().paths.sessions(agent.as_str());
            let (store, notices) = Store::open(&dir, agent.clone(), now_ms())?;
            notices.iter().for_each(|notice| tell(agent, notice));
            self.stores.insert(agent.clone(), store);
        }
        self.stores
            .get_mut(agent)
            .ok_or_else(|| unreachable_store(agent))
    }

    pub(super) fn agents(&self) -> Vec<AgentId> {
        self.stores.keys().cloned().collect()
    }

    pub(super) fn session_count(&self) -> u64 {
        self.stores.values().map(|store| store.len() as u64).sum()
    }

    /// The store of an agent that has one.
    pub(super) fn known_store(&self, agent: &AgentId) -> Option<&Store> {
        self.stores.get(agent)
    }

    /// The session of `key`, created when there is none; true when it was. The
    /// index tells of it soon, and its transcript from the first entry on.
    pub(super) fn session(
        &mut self,
        key: &SessionKey,
        now: i64,
    ) -> Result<(&mut SessionEntry, bool), Error> {
        let store = self.store(key.agent())?;
        let created = store.get(key).is_none();
        if created {
            key.check_new()?;
            store.resolve_or_create(key, now);
            self.is_new = true;
        }
        let store = self.store(key.agent())?;
        let entry = store.get_mut(key);
        Ok((
            entry.ok_or_else(|| unreachable_store(key.agent()))?,
            created,
        ))
    }

    /// Whether a session came in since this was asked.
    pub(super) fn take_is_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// The transcript of the session `id`, also when its key has a newer one.
    /// None when the agent's id is not valid.
    pub(super) fn transcript_of(
        &mut self,
        agent: &str,
        id: &str,
    ) -> Result<Option<PathBuf>, Error> {
        let Ok(agent) = agent.parse() else {
            return Ok(None);
        };
        let store = self.store(&agent)?;
        let entry = store.sessions().find(|(_, entry)| entry.session_id() == id);
        let path = match entry {
            Some((_, entry)) => store.transcript_path(entry),
            None => store.transcript_path_of(id),
        };
        Ok(Some(path))
    }

    /// Appends to a session's transcript; not synced. The session is created
    /// when there is none, but not when this fails.
    pub(super) fn append(
        &mut self,
        key: &SessionKey,
        drafts: Vec<Draft>,
        now: i64,
    ) -> Result<Appended, Error> {
        let (_, created) = self.session(key, now)?;
        let appended = self.append_to(key, drafts, now);
        if created && appended.is_err() {
            self.store(key.agent())?.remove(key);
        }
        appended
    }

    fn append_to(
        &mut self,
        key: &SessionKey,
        drafts: Vec<Draft>,
        now: i64,
    ) -> Result<Appended, Error> {
        let messages = drafts
            .iter()
            .filter(|draft| matches!(draft, Draft::Message(_)))
            .count() as u64;
        let mut transcript = self.take(key)?;
        let before = transcript.length();
        let result = transcript.append(drafts, now);
        let written = Written {
            file: transcript.path().to_owned(),
            before,
            after: transcript.length(),
        };
        self.put(transcript);
        let ids = result?;
        let store = self.store(key.agent())?;
        store.count_appended(key, before, written.after, messages);
        Ok(Appended { written, ids })
    }

    /// Takes back what was appended for a command that is refused: nobody may
    /// find it at the next start.
    pub(super) fn retract(&mut self, written: &Written) -> Result<(), Error> {
        self.close(&written.file)?;
        let left = transcript::cut_back(&written.file, written.before, written.after)?;
        if left == CutBack::Followed {
            tracing::warn!(
                path = %written.file.display(),
                "entries of a refused message stay in the transcript: others follow them"
            );
        }
        Ok(())
    }

    /// Makes transcripts durable, each with what became of it. One that failed
    /// is opened anew for the next append.
    pub(super) fn sync(&mut self, files: BTreeSet<PathBuf>) -> BTreeMap<PathBuf, Option<Fault>> {
        let wanted: Vec<&mut Transcript> = self
            .open
            .iter_mut()
            .filter(|open| open.is_unsynced() && files.contains(open.path()))
            .collect();
        let paths: Vec<PathBuf> = wanted.iter().map(|open| open.path().to_owned()).collect();
        let results = self.journal.commit(wanted).into_iter();
        let faults = results.map(|result| result.err().map(Fault::from));
        let mut outcomes: BTreeMap<PathBuf, Option<Fault>> =
            paths.into_iter().zip(faults).collect();
        self.open
            .retain(|open| !matches!(outcomes.get(open.path()), Some(Some(_))));
        for file in files {
            let unsynced = self
                .open
                .iter()
                .any(|open| open.path() == file && open.is_unsynced());
            let missing = unsynced.then_some(Fault::Stopped);
            outcomes.entry(file).or_insert(missing);
        }
        outcomes
    }

    /// Forgets a transcript that is open: its file is about to go.
    pub(super) fn close(&mut self, path: &Path) -> Result<(), Error> {
        self.open.retain(|open| open.path() != path);
        if self.journal.has(path) {
            self.journal.settle()
        } else {
            Ok(())
        }
    }

    /// Lets the transcripts follow their journal, in the background.
    pub(super) fn follow_journal(&mut self) -> Result<(), Error> {
        self.journal.follow()
    }

    /// Makes the transcripts complete without their journal.
    pub(super) fn close_journal(&mut self) -> Result<(), Error> {
        self.journal.close()
    }

    /// Whether transcripts are behind their journal.
    pub(super) fn has_journal(&self) -> bool {
        !self.journal.is_empty()
    }

    /// Whether that should not wait any longer.
    pub(super) fn is_journal_full(&self) -> bool {
        self.journal.is_full()
    }

    /// Whether an index changed and neither its file nor the ledger has it.
    pub(super) fn is_unnoted(&self) -> bool {
        self.stores.values().any(Store::is_unnoted)
    }

    /// Whether an index's file is behind.
    pub(super) fn is_behind(&self) -> bool {
        self.stores.values().any(Store::is_dirty)
    }

    /// What changed, of the indexes whose files are not to be written yet.
    pub(super) fn notes(&self) -> Result<Vec<Note>, Error> {
        let stores = self.stores.values().filter(|store| !store.wants_file());
        let notes: Result<Vec<Vec<Note>>, Error> = stores.map(Store::notes).collect();
        Ok(notes?.concat())
    }

    /// The ledger has `notes`.
    pub(super) fn noted(&mut self, notes: &[Note]) {
        for (agent, store) in &mut self.stores {
            if notes.iter().any(|note| note.agent == agent.as_str()) {
                store.noted();
            }
        }
    }

    /// Writes the files of indexes that changed: those `which` says. Returns the agents of which
    /// the ledger had notes; the first error after trying all.
    pub(super) fn flush(
        &mut self,
        which: impl Fn(&Store) -> bool,
    ) -> (Vec<AgentId>, Result<(), Error>) {
        let (mut noted, mut result) = (Vec::new(), Ok(()));
        for (agent, store) in self.stores.iter_mut().filter(|(_, store)| which(store)) {
            let had_notes = store.has_notes();
            match store.flush() {
                Ok(notice) => {
                    notice.iter().for_each(|notice| tell(agent, notice));
                    noted.extend(had_notes.then(|| agent.clone()));
                }
                Err(error) => result = result.and(Err(error)),
            }
        }
        (noted, result)
    }

    fn take(&mut self, key: &SessionKey) -> Result<Transcript, Error> {
        let workspace = self.workspace(key.agent());
        let store = self.store(key.agent())?;
        let entry = store
            .get(key)
            .ok_or_else(|| unreachable_store(key.agent()))?;
        let path = store.transcript_path(entry);
        let origin = store.origin(key, entry, &workspace);
        if let Some(at) = self.open.iter().position(|open| open.path() == path) {
            return Ok(self.open.remove(at));
        }
        let opened = Transcript::open(&path, origin)?;
        if let Some(repair) = opened.repair {
            tell_repair(key, &path, repair);
        }
        Ok(opened.transcript)
    }

    fn put(&mut self, transcript: Transcript) {
        self.open.push(transcript);
        while self.open.len() > OPEN_LIMIT {
            // One that waits for its sync must not be closed before it.
            let Some(at) = self.open.iter().position(|open| !open.is_unsynced()) else {
                return;
            };
            self.open.remove(at);
        }
    }

    pub(super) fn workspace(&self, agent: &AgentId) -> PathBuf {
        let settings = self.settings();
        match settings.agent(agent.as_str()) {
            Some(agent) => agent.workspace.to_path_buf(),
            None => settings.paths.workspace_of(agent.as_str()),
        }
    }
}

/// The agents that have a sessions folder.
fn agents_on_disk(agents: &Path) -> Vec<AgentId> {
    let folders = std::fs::read_dir(agents).into_iter().flatten().flatten();
    folders
        .filter(|folder| folder.path().join("sessions").is_dir())
        .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
        .collect()
}

/// The store was put there a line before; an error is better than a panic.
fn unreachable_store(agent: &AgentId) -> Error {
    Error::Io {
        operation: "find the index of agent",
        path: PathBuf::from(agent.as_str()),
        source: std::io::ErrorKind::NotFound.into(),
    }
}

fn tell(agent: &AgentId, notice: &Notice) {
    match notice {
        Notice::SetAside { path, reason } => tracing::warn!(
            openclaw_agent = %agent,
            path = %path.display(),
            "the session index was broken ({reason}) and set aside; it is rebuilt from the transcripts"
        ),
        Notice::Rebuilt { sessions, guessed } => tracing::warn!(
            openclaw_agent = %agent,
            sessions,
            guessed,
            "the session index was rebuilt from the transcripts"
        ),
        Notice::Adopted { sessions } => tracing::info!(
            openclaw_agent = %agent,
            sessions,
            "the session index was not written before the last end; it was brought up to date"
        ),
        Notice::Edited { path } => tracing::warn!(
            openclaw_agent = %agent,
            path = %path.display(),
            "the session index was changed by somebody else while the gateway held it; their version was \
             kept aside and is not used (stop the gateway before editing)"
        ),
        Notice::Twice { keys, path } => tracing::warn!(
            openclaw_agent = %agent,
            path = %path.display(),
            "the session index has {} more than once; the last entry counts, and the index as it was is kept",
            keys.join(" and ")
        ),
        Notice::Unusable { entries } => tracing::warn!(
            openclaw_agent = %agent,
            entries,
            "the session index has entries that are not understood; they are kept and not used"
        ),
        Notice::Shared(shared) => tracing::warn!(
            openclaw_agent = %agent,
            "{shared}: what is said in one of them is said in all (`openclawctl doctor` says how to end \
             that)"
        ),
    }
}

fn tell_repair(key: &SessionKey, path: &Path, repair: Repair) {
    let path = path.display();
    match repair {
        Repair::TornLine { bytes } => tracing::warn!(
            openclaw_session = %key,
            %path,
            bytes,
            "the transcript ended in a torn line, which nobody was told of; it was cut off"
        ),
        Repair::LineEnd => tracing::warn!(
            openclaw_session = %key,
            %path,
            "the transcript's last line had no end; it was added"
        ),
    }
}
