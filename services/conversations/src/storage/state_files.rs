//! Indexes, transcripts and ledger together: what a command does to them.
//! Nothing here waits for the disk; that is done for a whole batch.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_daemon::{Configuration, failure};
use openclaw_proto::feed;
use openclaw_proto::shown::Shown;
use openclaw_sessions::forgetting::Words;
use openclaw_sessions::store::{SessionEntry, Store};
use openclaw_sessions::transcript::Draft;
use openclaw_sessions::{AgentId, SessionKey, now_ms};

use crate::auth_profile;
use crate::feed::{Happening, Series};

use super::command::{BackendSessions, Overrides, QueueFields, SERVER_TOOL_TOKENS, StoredRun};
use super::home::Home;
use super::ledger::{self, Change, Ledger, Record, Spent};
use super::orphans;
use super::restored;
use super::session_files::{Appended, SessionFiles, Written};
use crate::fault::Fault;

/// The ledger says who said what when.
const PRIVATE_DIR: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

pub(super) struct StateFiles {
    pub(super) session_files: SessionFiles,
    pub(super) home: Home,
    pub(super) ledger: Ledger,
    ledger_path: PathBuf,
    /// The last number of an event of the gateway before.
    first_number: u64,
    /// Changes of old sessions that are still to be announced.
    pub(super) maintained: Vec<Happening>,
}

impl StateFiles {
    pub(super) fn open(configuration: Configuration) -> Result<Self, Fault> {
        let paths = configuration.settings().paths.clone();
        let ledger_path = paths.ledger();
        create_private(&ledger_path)?;
        let settled_ms = orphans::settled_until(&ledger_path);
        let mut ledger =
            Ledger::open(&ledger_path, now_ms()).map_err(Fault::ledger(&ledger_path))?;
        let copy = restored::take_note(&paths, &mut ledger)?;
        let notes = ledger.notes().map_err(Fault::ledger(&ledger_path))?;
        let mut session_files = SessionFiles::open(configuration, &notes)?;
        let mut state_files = Self {
            home: Home::open(&mut session_files)?,
            session_files,
            first_number: ledger.last_number(),
            maintained: Vec::new(),
            ledger,
            ledger_path,
        };
        state_files.adopt(settled_ms)?;
        if let Some(copy) = copy {
            restored::settle(copy, &paths, &state_files.ledger)?;
        }
        Ok(state_files)
    }

    /// Enters the messages that are durable but not in the ledger: the last
    /// gateway died between the two. Nobody was told that they are accepted, so
    /// they may come again, and are then found by their key.
    fn adopt(&mut self, since_ms: i64) -> Result<(), Fault> {
        let mut changes = Vec::new();
        for (record, options) in orphans::find(&mut self.session_files, since_ms)? {
            let known = self.ledger.by_run_id(&record.run_id);
            if known.map_err(self.of_ledger())?.is_none() {
                tracing::info!(
                    openclaw_run = record.run_id,
                    openclaw_session = record.session_key,
                    "a message that was written but not entered is taken up"
                );
                changes.extend(Change::entering(record, options.as_ref()));
            }
        }
        if changes.is_empty() {
            Ok(())
        } else {
            // Nobody listens yet; it is told to whoever asks for it.
            let told = self.ledger.apply(&changes);
            told.map(drop).map_err(self.of_ledger())
        }
    }

    /// The first and the current number of events.
    pub(super) fn series(&self) -> Result<Series, Fault> {
        self.ledger
            .series(self.first_number)
            .map_err(self.of_ledger())
    }

    /// Leaves the ledger as a gateway that is stopped does.
    pub(super) fn close_ledger(&mut self) {
        if let Err(error) = self.ledger.close() {
            failure::report("leave the ledger, so some numbers stay unused", &error);
        }
    }

    pub(super) fn open_runs(&self) -> Result<Vec<Record>, Fault> {
        self.ledger.open_runs().map_err(self.of_ledger())
    }

    /// Puts on disk what the ledger was told.
    pub(super) fn sync_ledger(&self) -> io::Result<()> {
        ledger::sync(&self.ledger_path)
    }

    /// Makes what changed in the indexes durable: the files that are to be
    /// written, and the ledger for the others. The ledger is not synced.
    pub(super) fn save_indexes(&mut self) -> Result<(), Fault> {
        let written = self.write_indexes(Store::wants_file);
        let notes = self.session_files.notes()?;
        if !notes.is_empty() {
            self.ledger.note(&notes).map_err(self.of_ledger())?;
            self.session_files.noted(&notes);
        }
        written
    }

    /// Writes the index files that `which` says.
    pub(super) fn write_indexes(&mut self, which: impl Fn(&Store) -> bool) -> Result<(), Fault> {
        let (noted, written) = self.session_files.flush(which);
        for agent in noted {
            // What stays is older than the file, and is passed over.
            if let Err(error) = self.ledger.forget_notes(agent.as_str()) {
                failure::report("forget what the session index has by now", &error);
            }
        }
        Ok(written?)
    }

    /// Brings the home session's view up to date with what is durable.
    pub(super) fn update_home(&mut self) {
        self.home.update(&mut self.session_files);
    }

    /// Makes the home session's view from what the transcript says now.
    pub(super) fn make_home_anew(&mut self) {
        self.home.make_anew();
        self.update_home();
    }

    /// How often the words are in the ledger.
    pub(super) fn count_in_ledger(&self, words: &Words) -> Result<u64, Fault> {
        self.ledger.count(words).map_err(self.of_ledger())
    }

    /// The jobs that have the words.
    pub(super) fn jobs_with(&self, words: &Words) -> Result<Vec<String>, Fault> {
        self.ledger.jobs_with(words).map_err(self.of_ledger())
    }

    /// Covers the words in the ledger and returns how often they occurred.
    pub(super) fn forget_in_ledger(&mut self, words: &Words) -> Result<u64, Fault> {
        self.ledger.forget(words).map_err(self.of_ledger())
    }

    /// The conversation of `key` begins anew.
    pub(super) fn begin_home_anew(&mut self, key: &SessionKey) {
        self.home.begin_anew(key);
    }

    /// Takes back what was appended for a command that is refused.
    pub(super) fn retract(&mut self, written: &Written) {
        if let Err(error) = self.session_files.retract(written) {
            failure::report("take a refused message out of its transcript", &error);
        }
    }

    /// Makes the memory of a session what the disk is.
    pub(super) fn put_back(&mut self, key: &SessionKey, before: Option<SessionEntry>) {
        let Ok(store) = self.session_files.store(key.agent()) else {
            return;
        };
        match before {
            Some(entry) => store.insert(key, entry),
            None => store.remove(key),
        };
    }

    pub(super) fn begin(&mut self, key: &SessionKey) -> Result<BackendSessions, Fault> {
        let now = now_ms();
        let (entry, _) = self.session_files.session(key, now)?;
        entry.set("status", "running");
        entry.set("startedAt", now);
        Ok(entry.backend_sessions())
    }

    pub(super) fn append(
        &mut self,
        key: &SessionKey,
        drafts: Vec<Draft>,
    ) -> Result<Appended, Fault> {
        self.home.said(&drafts);
        Ok(self.session_files.append(key, drafts, now_ms())?)
    }

    /// The last runs and what they cost, the newest first.
    pub(super) fn last(&self, limit: u32) -> Result<Vec<(Record, Option<Spent>)>, Fault> {
        self.ledger.last(limit).map_err(self.of_ledger())
    }

    pub(super) fn find(&mut self, run_id: &str) -> Result<Option<StoredRun>, Fault> {
        let mut record = self.ledger.by_run_id(run_id).map_err(self.of_ledger())?;
        if record.is_none() {
            // Clients of the WebSocket protocol know a run by its key.
            let by_key = self.ledger.by_idempotency_key(run_id);
            record = by_key.map_err(self.of_ledger())?;
        }
        let Some(record) = record else {
            return Ok(None);
        };
        let transcript = self
            .session_files
            .transcript_of(&record.agent_id, &record.session_id)?;
        let Some(transcript) = transcript else {
            return Ok(None);
        };
        let overrides = self.overrides(&record)?;
        let options = self.ledger.options(&record.run_id);
        let options = options.map_err(self.of_ledger())?;
        Ok(Some(StoredRun {
            record,
            transcript,
            overrides,
            options,
        }))
    }

    fn overrides(&mut self, record: &Record) -> Result<Overrides, Fault> {
        let Ok(agent) = record.agent_id.parse::<AgentId>() else {
            return Ok(Overrides::default());
        };
        let Ok(key) = SessionKey::stored(&record.session_key, &agent) else {
            return Ok(Overrides::default());
        };
        let entry = self.session_files.store(&agent)?.get(&key);
        Ok(entry.map(overrides_of).unwrap_or_default())
    }

    pub(super) fn of_ledger(&self) -> impl Fn(crate::fault::LedgerError) -> Fault + use<> {
        let path = self.ledger_path.clone();
        move |error| Fault::ledger(&path)(error)
    }
}

/// The event of a session that changed.
pub(super) fn changed(key: &SessionKey, change: feed::Change, reason: &str, now: i64) -> Happening {
    Happening {
        agent_id: key.agent().to_string(),
        session_key: key.to_string(),
        run_id: String::new(),
        at_ms: now,
        kinds: vec![feed::Kind::SessionChanged {
            change,
            reason: reason.to_owned(),
        }],
    }
}

/// The overrides in a session's entry.
pub(super) fn overrides_of(entry: &SessionEntry) -> Overrides {
    Overrides {
        model: entry.model_override(),
        thinking_level: entry.text("thinkingLevel").map(str::to_owned),
        queue: QueueFields {
            mode: entry.get("queueMode"),
            debounce_ms: entry.get("queueDebounceMs"),
            cap: entry.get("queueCap"),
            drop: entry.get("queueDrop"),
        },
        auth_profile: auth_profile::chosen(|name| entry.get(name)),
        server_tool_tokens: entry.get(SERVER_TOOL_TOKENS).unwrap_or_default(),
        limits: entry
            .get::<serde_json::Value>("limits")
            .map(|limits| limits.to_string())
            .unwrap_or_default(),
        shown: shown_by(|name| entry.text(name)),
    }
}

/// How much of a session's turns is shown, by the words of its entry in the index.
pub fn shown_by<'a>(word: impl Fn(&str) -> Option<&'a str>) -> Shown {
    Shown::of(
        word("verboseLevel"),
        word("reasoningLevel"),
        word("responseUsage"),
    )
}

/// SQLite gives the files beside a database the database's mode.
fn create_private(file: &Path) -> Result<(), Fault> {
    let create = || -> io::Result<()> {
        if let Some(dir) = file.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(PRIVATE_DIR)
                .create(dir)?;
        }
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(PRIVATE_FILE)
            .open(file)
            .map(|_| ())
    };
    create().map_err(|source| Fault::Create {
        path: file.to_owned(),
        source: Arc::new(source),
    })
}
