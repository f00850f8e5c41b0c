//! Indexes, transcripts and ledger together: what a command does to them.
//! Nothing here waits for the disk; that is done for a whole batch.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_daemon::{Configuration, failure};
use openclaw_proto::event::{Code, Failed, Kind};
use openclaw_proto::feed::{self, Entry, Event};
use openclaw_proto::gateway::Accepted;
use openclaw_sessions::forgetting::Words;
use openclaw_sessions::store::{BackendSession, SessionEntry, Store};
use openclaw_sessions::transcript::{Draft, Marker, Message, Usage, UserMessage};
use openclaw_sessions::{AgentId, SessionKey, now_ms};
use openclaw_settings::{SendTarget, SessionSettings};

use serde_json::{Value, json};

use crate::auth_profile;
use crate::feed::{Happening, Series};

use super::command::{
    Acceptance, Admitted, BackendSessions, Closing, Found, Incoming, Overrides, QueueFields, Reply,
    Said, backend_session_of, state_of,
};
use super::delivery::{self, Answers};
use super::entries::Described;
use super::home::Home;
use super::ledger::{self, Change, Ledger, Record, Spent};
use super::orphans;
use super::policy::{self, Anew};
use super::restored;
use super::session_files::{Appended, SessionFiles, Written};
use super::staged::Staged;
use super::work::Undo;
use crate::fault::Fault;

/// What the transcript calls a message that only begins anew.
pub const RESET_COMMAND: &str = "reset";

/// The ledger says who said what when.
const PRIVATE_DIR: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

pub(super) struct StateFiles {
    pub(super) session_files: SessionFiles,
    home: Home,
    ledger: Ledger,
    ledger_path: PathBuf,
    /// The last number of an event of the gateway before.
    first_number: u64,
    /// What became of old sessions and is still to be told.
    pub(super) maintained: Vec<Happening>,
}

impl StateFiles {
    pub(super) fn open(configuration: Configuration) -> Result<Self, Fault> {
        let ledger_path = configuration.settings().paths.ledger();
        create_private(&ledger_path)?;
        let settled_ms = orphans::settled_until(&ledger_path);
        let mut ledger =
            Ledger::open(&ledger_path, now_ms()).map_err(Fault::ledger(&ledger_path))?;
        restored::take_note(&configuration.settings().paths, &mut ledger)?;
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
        Ok(state_files)
    }

    /// Enters the messages that are durable but not in the ledger: the last
    /// gateway died between the two. Nobody was told that they are accepted, so
    /// they may come again, and are then found by their key.
    fn adopt(&mut self, since_ms: i64) -> Result<(), Fault> {
        let mut changes = Vec::new();
        for record in orphans::find(&mut self.session_files, since_ms)? {
            let known = self.ledger.by_run_id(&record.run_id);
            if known.map_err(self.of_ledger())?.is_none() {
                tracing::info!(
                    openclaw_run = record.run_id,
                    openclaw_session = record.session_key,
                    "a message that was written but not entered is taken up"
                );
                changes.push(Change::Insert(Box::new(record)));
            }
        }
        if changes.is_empty() {
            Ok(())
        } else {
            // Nobody listens yet; it is told to whoever asks for it.
            self.tell(&changes).map(drop)
        }
    }

    /// Where the numbers of events begin, and where they are by now.
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

    /// Tells the ledger what is durable now; what happened by that.
    pub(super) fn tell(&mut self, changes: &[Change]) -> Result<Vec<Event>, Fault> {
        self.ledger.apply(changes).map_err(self.of_ledger())
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

    pub(super) fn accept(&mut self, incoming: Incoming, reply: Reply<Acceptance>) -> Staged {
        match self.try_accept(incoming) {
            Ok(admission) => {
                let staged = Staged::new(reply, Ok(admission.acceptance)).undone_by(admission.undo);
                match admission.written {
                    None => staged,
                    Some((written, record)) => admission
                        .anew
                        .into_iter()
                        .fold(staged.touching(written.file), |staged, anew| {
                            staged.changing(Change::Happened(anew))
                        })
                        .changing(Change::Insert(Box::new(record))),
                }
            }
            Err(fault) => Staged::new(reply, Err(fault)),
        }
    }

    /// Brings the home session's view up to date with what is durable.
    pub(super) fn update_home(&mut self) {
        self.home.update(&mut self.session_files);
    }

    /// Has the home session's view made from what the transcript says now.
    pub(super) fn make_home_anew(&mut self) {
        self.home.make_anew();
        self.update_home();
    }

    /// How often the words are in the ledger.
    pub(super) fn count_in_ledger(&self, words: &Words) -> Result<u64, Fault> {
        self.ledger.count(words).map_err(self.of_ledger())
    }

    /// Covers the words in the ledger; how often they were there.
    pub(super) fn forget_in_ledger(&mut self, words: &Words) -> Result<u64, Fault> {
        self.ledger.forget(words).map_err(self.of_ledger())
    }

    /// The conversation of `key` begins anew.
    pub(super) fn begin_home_anew(&mut self, key: &SessionKey) {
        self.home.begin_anew(key);
    }

    /// Whether nothing may be sent to the session: as it says itself, else as
    /// the configuration does.
    fn is_blocked(&mut self, incoming: &Incoming) -> Result<bool, Fault> {
        let key = &incoming.key;
        let entry = self.session_files.store(key.agent())?.get(key);
        let own = entry.and_then(|entry| entry.text("sendPolicy").map(str::to_owned));
        let settings = self.session_files.settings();
        let policy = &settings.session.send_policy;
        Ok(match own.as_deref() {
            Some("deny") => true,
            Some("allow") => false,
            _ => policy.denies(&SendTarget {
                key: key.as_str(),
                channels: [Some(&incoming.channel), key.channel()],
                chat_type: key.chat_type(),
            }),
        })
    }

    fn try_accept(&mut self, incoming: Incoming) -> Result<Admission, Fault> {
        if let Some(key) = &incoming.idempotency_key {
            let mut known = self.ledger.by_idempotency_key(key);
            if matches!(known, Ok(None)) && *key == incoming.run_id {
                known = self.ledger.by_run_id(key);
            }
            if let Some(record) = known.map_err(self.of_ledger())? {
                return Ok(Admission::existing(record));
            }
        }
        // A command is no message to anybody.
        if incoming.command.is_none() && self.is_blocked(&incoming)? {
            return Err(Fault::Blocked);
        }
        let now = now_ms();
        let settings = self.session_files.settings();
        let anew = self.anew(&settings.session, &incoming, now)?;
        let said = match &anew {
            None if incoming.command.is_some() => Said::Command,
            None => Said::Text(incoming.text.clone()),
            Some(anew) => anew.text.clone().map_or(Said::Reset, Said::Text),
        };
        let drafts = drafts(&incoming, anew.as_ref(), &said, now);
        let before = self
            .session_files
            .store(incoming.key.agent())?
            .get(&incoming.key);
        let before = before.cloned();
        let appended = self.append(&incoming.key, drafts)?;
        let (entry, _) = self.session_files.session(&incoming.key, now)?;
        if anew.is_some() {
            entry.reset(now);
        }
        entry.touch(now);
        if said != Said::Command {
            for field in ["archivedAt", "archivedBy", "archiveReason"] {
                entry.clear(field);
            }
            entry.set("lastInteractionAt", now);
        }
        note_channel(entry, &incoming.channel, incoming.key.chat_type());
        if let Some(route) = &incoming.route {
            delivery::note_route(entry, &incoming.channel, route);
        }
        let overrides = overrides_of(entry);
        self.home.asked(&incoming, &said, anew.is_some(), now);
        let user_entry_id = appended.ids.last().cloned().unwrap_or_default();
        let session_id = entry.session_id().to_owned();
        let (key, run_id) = (incoming.key.clone(), incoming.run_id.clone());
        let anew = anew.map(|anew| changed(&key, feed::Change::Reset, anew.reason, now));
        let record = record(incoming, session_id, user_entry_id, now);
        let admitted = Admitted {
            accepted: accepted(&record),
            transcript: appended.written.file.clone(),
            said,
            overrides,
        };
        Ok(Admission {
            acceptance: Acceptance::New(Box::new(admitted)),
            written: Some((appended.written.clone(), record)),
            anew,
            undo: Some(Box::new(move |state_files| {
                state_files.retract(&appended.written);
                state_files.home.withdrawn(&run_id);
                state_files.put_back(&key, before);
            })),
        })
    }

    /// Whether the message begins its conversation anew, by what it says or by
    /// when it comes.
    fn anew(
        &mut self,
        settings: &SessionSettings,
        incoming: &Incoming,
        now: i64,
    ) -> Result<Option<Anew>, Fault> {
        if incoming.command.is_some() {
            return Ok(None);
        }
        let asked = policy::asked(settings, &incoming.text);
        if let Some(asked) = asked.filter(|_| incoming.may_begin_anew) {
            return Ok(Some(asked));
        }
        let store = self.session_files.store(incoming.key.agent())?;
        let Some(entry) = store.get(&incoming.key) else {
            return Ok(None);
        };
        let due = policy::is_due(settings, &incoming.key, &incoming.channel, entry, now);
        Ok(due.map(|reason| Anew {
            reason,
            text: Some(incoming.text.clone()),
        }))
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

    /// Appends messages; their transcript, and what the ledger is told of them.
    pub(super) fn say(
        &mut self,
        key: &SessionKey,
        messages: Vec<Message>,
        announced: Option<&str>,
    ) -> Result<(PathBuf, Vec<Change>), Fault> {
        let (described, now) = (Described::of(&messages), now_ms());
        let drafts = messages.into_iter().map(Draft::from).collect();
        let Appended { written, ids } = self.append(key, drafts)?;
        let mut happening = described.happening(key, &ids, now);
        let mut changes = Vec::new();
        if let (Some(text), Some(entry_id)) = (announced, ids.last()) {
            let entry = self.session_files.store(key.agent())?.get(key);
            let place = entry.and_then(delivery::place_of_session);
            let new = place.map(|place| delivery::announcement(key, entry_id, place, text));
            changes.extend(new.map(|new| Change::Deliver(Box::new(new), now)));
            let entry_id = entry_id.clone();
            happening.kinds.push(feed::Kind::Announcement { entry_id });
        }
        changes.insert(0, Change::Happened(happening));
        Ok((written.file, changes))
    }

    pub(super) fn close(&mut self, closing: Closing, reply: Reply<()>) -> Staged {
        let now = now_ms();
        let cost = self.cost(&closing.outcome, &closing.usage);
        let spent = closing.resources.clone().map(|resources| {
            Box::new(Spent {
                cost_usd: resources.cost_usd.or(cost),
                resources,
                input_tokens: sent(&closing.usage),
                output_tokens: closing.usage.output,
            })
        });
        let answers = match self.answers(&closing) {
            Ok(answers) => answers,
            Err(fault) => return Staged::new(reply, Err(fault)),
        };
        let change = |outcome: Kind, entries: Vec<Entry>| Change::Close {
            delivery: answers.as_ref().map(|it| Box::new(it.with(&outcome))),
            run_id: closing.run_id.clone(),
            key: closing.key.clone(),
            state: state_of(&outcome),
            at_ms: now,
            outcome,
            spent: spent.clone(),
            entries,
        };
        if closing.messages.is_empty() {
            self.home.answered(&closing.run_id, &closing.key, true, now);
            return Staged::new(reply, Ok(())).changing(change(closing.outcome, Vec::new()));
        }
        let described = Described::of(&closing.messages);
        let drafts = closing.messages.into_iter().map(Draft::from).collect();
        match self.append(&closing.key, drafts) {
            Ok(Appended { written, ids }) => {
                if closing.of_command {
                    return Staged::new(reply, Ok(()))
                        .touching(written.file)
                        .changing(change(closing.outcome, described.entries(&ids)))
                        .or_else(change(unsaved(), Vec::new()));
                }
                let whole = matches!(closing.outcome, Kind::Done(_));
                self.home
                    .answered(&closing.run_id, &closing.key, whole, now);
                let through = self.seen_through(&closing.run_id, &closing.outcome, ids.last());
                let noted = self.note(&closing.key, &closing.outcome, through, now, |entry| {
                    entry.add_usage(&closing.usage, closing.context_tokens);
                    if let Some(dollars) = cost {
                        entry.add_cost(dollars);
                    }
                });
                Staged::new(reply, noted)
                    .touching(written.file)
                    .changing(change(closing.outcome, described.entries(&ids)))
                    .or_else(change(unsaved(), Vec::new()))
            }
            Err(fault) => Staged::new(reply, Err(fault)).or_else(change(unsaved(), Vec::new())),
        }
    }

    /// The reply on the message's channel, if it has a place there.
    fn answers(&mut self, closing: &Closing) -> Result<Option<Answers>, Fault> {
        let Some(reply) = &closing.reply else {
            return Ok(None);
        };
        let entry = self.session_files.store(closing.key.agent())?;
        let entry = entry.get(&closing.key);
        Ok(Answers::of(&closing.run_id, &closing.key, reply, entry))
    }

    /// The last entry that a backend's own session holds after a run. A reply
    /// that broke off is not in it as the user saw it, so it is told again.
    fn seen_through(&self, run_id: &str, outcome: &Kind, last: Option<&String>) -> Option<String> {
        match outcome {
            Kind::Done(_) => last.cloned(),
            _ => {
                let record = self.ledger.by_run_id(run_id).ok().flatten();
                record.map(|record| record.user_entry_id)
            }
        }
    }

    /// Brings the index up to date with the end of a run.
    fn note(
        &mut self,
        key: &SessionKey,
        outcome: &Kind,
        seen_through: Option<String>,
        now: i64,
        count: impl FnOnce(&mut SessionEntry),
    ) -> Result<(), Fault> {
        let Some(entry) = self.session_files.store(key.agent())?.get_mut(key) else {
            return Ok(());
        };
        entry.touch(now);
        entry.set("endedAt", now);
        entry.set("status", index_status(outcome));
        entry.set("abortedLastRun", matches!(outcome, Kind::Aborted { .. }));
        count(entry);
        if let Kind::Done(done) = outcome {
            entry.set("modelProvider", done.provider.clone());
            entry.set("model", done.model.clone());
        }
        if let (Some((backend, id)), Some(through)) = (backend_session_of(outcome), seen_through) {
            let session = BackendSession {
                id: id.to_owned(),
                through_entry_id: through,
            };
            entry.set_backend_session(backend, &session);
        }
        Ok(())
    }

    /// The last runs and what they cost, the newest first.
    pub(super) fn last(&self, limit: u32) -> Result<Vec<(Record, Option<Spent>)>, Fault> {
        self.ledger.last(limit).map_err(self.of_ledger())
    }

    pub(super) fn find(&mut self, run_id: &str) -> Result<Option<Found>, Fault> {
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
        Ok(Some(Found {
            record,
            transcript,
            overrides,
        }))
    }

    fn overrides(&mut self, record: &Record) -> Result<Overrides, Fault> {
        let Ok(agent) = record.agent_id.parse::<AgentId>() else {
            return Ok(Overrides::default());
        };
        let Ok(key) = SessionKey::parse(&record.session_key, &agent) else {
            return Ok(Overrides::default());
        };
        let entry = self.session_files.store(&agent)?.get(&key);
        Ok(entry.map(overrides_of).unwrap_or_default())
    }

    /// What a turn cost in US dollars, when the configuration has the price.
    fn cost(&self, outcome: &Kind, usage: &Usage) -> Option<f64> {
        let Kind::Done(done) = outcome else {
            return None;
        };
        let settings = self.session_files.settings();
        let model = format!("{}/{}", done.provider, done.model);
        let price = settings.session.prices.get(&model)?;
        Some(
            price.input * usage.input as f64
                + price.output * usage.output as f64
                + price.cache_read * usage.cache_read as f64
                + price.cache_write * usage.cache_write as f64,
        )
    }

    fn of_ledger(&self) -> impl Fn(crate::fault::LedgerError) -> Fault + use<> {
        let path = self.ledger_path.clone();
        move |error| Fault::ledger(&path)(error)
    }
}

/// A message that is accepted once it is on disk.
struct Admission {
    acceptance: Acceptance,
    written: Option<(Written, Record)>,
    /// The conversation begins anew with it.
    anew: Option<Happening>,
    undo: Option<Undo>,
}

impl Admission {
    fn existing(record: Record) -> Self {
        Self {
            acceptance: Acceptance::Existing(Box::new(record)),
            written: None,
            anew: None,
            undo: None,
        }
    }
}

/// Where a session's answers go, and where it came from (OpenClaw's fields).
fn note_channel(entry: &mut SessionEntry, channel: &str, chat_type: &str) {
    entry.set("lastChannel", channel);
    let delivery: Option<Value> = entry.get("deliveryContext");
    // With the same channel it may say more: an account, a thread.
    if delivery.is_none_or(|delivery| delivery["channel"] != channel) {
        entry.set("deliveryContext", json!({ "channel": channel }));
    }
    if entry.get::<Value>("origin").is_none() {
        let origin = json!({
            "provider": channel,
            "surface": channel,
            "chatType": chat_type,
        });
        entry.set("origin", origin);
    }
}

/// The entries of a message; the user's is the last.
fn drafts(incoming: &Incoming, anew: Option<&Anew>, said: &Said, now: i64) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if let Some(anew) = anew {
        drafts.push(Draft::from(Marker::Reset {
            reason: anew.reason.to_owned(),
        }));
    }
    let text = match said {
        Said::Text(text) => text,
        Said::Reset | Said::Command => &incoming.text,
    };
    let user = UserMessage::of_run(&incoming.run_id, text.as_str(), now);
    let mut message = Message::User(user);
    message.set_arrival(&incoming.channel, incoming.idempotency_key.as_deref());
    let route = incoming.route.as_ref();
    if let Some(route) = route.and_then(|route| serde_json::to_value(route).ok()) {
        message.set_route(route);
    }
    if *said == Said::Reset {
        message.set_command(RESET_COMMAND);
    } else if let Some(command) = incoming.command {
        message.set_command(command);
    }
    drafts.push(message.into());
    drafts
}

fn record(incoming: Incoming, session_id: String, user_entry_id: String, now: i64) -> Record {
    Record {
        run_id: incoming.run_id,
        idempotency_key: incoming.idempotency_key,
        session_key: incoming.key.to_string(),
        agent_id: incoming.key.agent().to_string(),
        session_id,
        channel: incoming.channel,
        state: "accepted".to_owned(),
        user_entry_id,
        created_ms: now,
        ended_ms: None,
        outcome: None,
        route: incoming.route,
    }
}

/// What is told of a session that changed.
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

fn overrides_of(entry: &SessionEntry) -> Overrides {
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
        limits: entry
            .get::<serde_json::Value>("limits")
            .map(|limits| limits.to_string())
            .unwrap_or_default(),
    }
}

fn accepted(record: &Record) -> Accepted {
    Accepted {
        run_id: record.run_id.clone(),
        session_key: record.session_key.clone(),
        session_id: record.session_id.clone(),
        agent_id: record.agent_id.clone(),
        existing: false,
    }
}

/// The outcome of a run whose reply could not be written.
fn unsaved() -> Kind {
    Kind::Failed(Failed {
        code: Code::Internal,
        message: "the reply could not be saved".to_owned(),
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    })
}

/// All tokens that were sent, those of a cache too: they are what is paid for.
fn sent(usage: &Usage) -> u64 {
    usage
        .input
        .saturating_add(usage.cache_read)
        .saturating_add(usage.cache_write)
}

/// OpenClaw's word for an outcome.
fn index_status(outcome: &Kind) -> &'static str {
    match outcome {
        Kind::Done(_) => "done",
        Kind::Aborted { .. } => "killed",
        Kind::Failed(failed) if failed.code == Code::Timeout => "timeout",
        _ => "failed",
    }
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
