//! The indexes and the transcripts that are open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_config::Settings;
use openclaw_daemon::Configuration;
use openclaw_sessions::store::{Notice, SessionEntry, Store};
use openclaw_sessions::transcript::{Message, Repair, Transcript};
use openclaw_sessions::{AgentId, Error, SessionKey, now_ms};

/// Transcripts kept open. Opening one again costs a read of its end; each open
/// one costs a file descriptor.
const OPEN_LIMIT: usize = 64;

pub(super) struct Shelf {
    configuration: Configuration,
    stores: BTreeMap<AgentId, Store>,
    /// The last used is the last.
    open: Vec<Transcript>,
}

impl Shelf {
    /// Opens the indexes of all configured agents.
    pub(super) fn open(configuration: Configuration) -> Result<Self, Error> {
        let mut shelf = Self {
            configuration,
            stores: BTreeMap::new(),
            open: Vec::new(),
        };
        let settings = shelf.configuration.settings();
        for agent in settings.agents.keys().filter_map(|id| id.parse().ok()) {
            shelf.store(&agent)?;
        }
        Ok(shelf)
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

    /// The session of `key`. A new one is on disk when this returns: its
    /// transcript is found by it.
    pub(super) fn session(&mut self, key: &SessionKey, now: i64) -> Result<SessionEntry, Error> {
        let store = self.store(key.agent())?;
        let (entry, created) = store.resolve_or_create(key, now);
        if created {
            store.flush()?;
        }
        Ok(entry)
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

    /// Appends to a session's transcript; not synced. Returns the file and the
    /// ids of the entries.
    pub(super) fn append(
        &mut self,
        key: &SessionKey,
        messages: Vec<Message>,
        now: i64,
    ) -> Result<(PathBuf, Vec<String>), Error> {
        let mut transcript = self.take(key, now)?;
        let result = transcript.append(messages, now);
        let path = transcript.path().to_owned();
        self.put(transcript);
        Ok((path, result?))
    }

    /// Makes a transcript durable. After a failure it is opened anew for the
    /// next append.
    pub(super) fn sync(&mut self, path: &Path) -> Result<(), Error> {
        let Some(at) = self.open.iter().position(|open| open.path() == path) else {
            return Ok(());
        };
        let result = self.open[at].sync();
        if result.is_err() {
            self.open.remove(at);
        }
        result
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.stores.values().any(Store::is_dirty)
    }

    /// Writes every index that changed; the first error after trying all.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let results = self.stores.values_mut().map(Store::flush);
        results.fold(Ok(()), Result::and)
    }

    fn take(&mut self, key: &SessionKey, now: i64) -> Result<Transcript, Error> {
        let entry = self.session(key, now)?;
        let workspace = self.workspace(key.agent());
        let store = self.store(key.agent())?;
        let path = store.transcript_path(&entry);
        let origin = store.origin(key, &entry, &workspace);
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
        if self.open.len() > OPEN_LIMIT {
            // One that waits for its sync is among the last.
            self.open.remove(0);
        }
    }

    fn workspace(&self, agent: &AgentId) -> PathBuf {
        let settings = self.settings();
        match settings.agent(agent.as_str()) {
            Some(agent) => agent.workspace.clone(),
            None => settings.paths.default_workspace(agent.as_str()),
        }
    }
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
        Notice::Unusable { entries } => tracing::warn!(
            openclaw_agent = %agent,
            entries,
            "the session index has entries that are not understood; they are kept and not used"
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
