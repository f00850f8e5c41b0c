//! The ledger of runs: who owns which message, and what became of it.

mod change;
mod forgetting;
mod record;
mod write;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_proto::feed::Event;
use openclaw_sessions::store::Note;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension as _};

use super::turn_options::TurnOptions;
use crate::fault::LedgerError;
use crate::feed::{self, Numbers, Series};
use crate::outbox;
use crate::schema;

pub(crate) use change::{Change, Close};
use record::{COLUMNS, record, spent};
pub use record::{Record, Spent};
use write::write;

/// Ended runs are remembered this long: far longer than a client repeats a
/// message, short enough that the file stays small.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// KiB of page cache. A row is a few hundred bytes and each is looked up by an
/// index; the default of 2 MB would be most of the daemon's memory.
const CACHE_KIB: i64 = 128;

/// Why what was open is not gone on with.
const RESTORED: &str = "it was restored from a backup";

pub(crate) struct Ledger {
    connection: Connection,
    numbers: Numbers,
}

/// Puts on disk what was written to the ledger at `path`: its log holds that
/// until SQLite moves it, with waits of its own.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    match File::open(log_of(path)).and_then(|log| log.sync_data()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        synced => synced,
    }
}

/// The write-ahead log of the ledger at `path`.
pub(super) fn log_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

impl Ledger {
    /// Opens or creates the ledger and forgets runs that ended long ago.
    pub(crate) fn open(path: &Path, now_ms: i64) -> Result<Self, LedgerError> {
        let connection = schema::open(path)?;
        configure(&connection)?;
        // No event is to be told of a run that is not there any more.
        feed::prune(&connection, now_ms).map_err(failed("prune"))?;
        let horizon = now_ms - KEPT.as_millis() as i64;
        connection
            .execute("DELETE FROM runs WHERE ended_ms < ?1", [horizon])
            .map_err(failed("prune"))?;
        let numbers = Numbers::open(&connection).map_err(failed("write to"))?;
        sync(path).map_err(|source| LedgerError::Sync { source })?;
        Ok(Self {
            connection,
            numbers,
        })
    }

    /// Leaves to the suite that was backed up what it has gone on with: what was
    /// to be said on channels, runs of jobs, and the numbers of what happens.
    pub(crate) fn part_from_original(&mut self, now_ms: i64) -> Result<(), LedgerError> {
        let transaction = self.connection.transaction().map_err(failed("write to"))?;
        outbox::withdraw(&transaction, RESTORED, now_ms)
            .and_then(|_| leave_job_runs(&transaction, now_ms))
            .and_then(|()| feed::begin_anew(&transaction))
            .map_err(failed("write to"))?;
        transaction.commit().map_err(failed("write to"))
    }

    /// Has no open run be newer than `latest_ms`.
    pub(crate) fn date_open_runs(&self, latest_ms: i64) -> Result<(), LedgerError> {
        let sql = "UPDATE runs SET created_ms = ?1 WHERE ended_ms IS NULL AND created_ms > ?1";
        let dated = self.connection.execute(sql, [latest_ms]);
        dated.map(drop).map_err(failed("write to"))
    }

    /// Applies `changes` in one transaction. They are on disk after the next
    /// [`sync`]; all of them can be seen in the transcripts too, so that losing
    /// power before that loses nothing, and nobody waits for the disk twice.
    ///
    /// Returns what happened by them, with its numbers.
    pub(crate) fn apply(&mut self, changes: &[Change]) -> Result<Vec<Event>, LedgerError> {
        let applied = self.try_apply(changes).map_err(failed("write to"));
        if applied.is_err() {
            self.numbers.doubt();
        }
        applied
    }

    fn try_apply(&mut self, changes: &[Change]) -> rusqlite::Result<Vec<Event>> {
        let transaction = self.connection.transaction()?;
        let mut events = Vec::new();
        for change in changes {
            let happening = change.happening();
            let last = self.numbers.give(&transaction, happening.kinds.len())?;
            if write(&transaction, change, &happening, last)? {
                events.extend(happening.numbered(last));
            }
        }
        transaction.commit()?;
        Ok(events)
    }

    /// The current number of its events.
    pub(crate) fn series(&self, start: u64) -> Result<Series, LedgerError> {
        let epoch = feed::epoch(&self.connection).map_err(failed("read"))?;
        Ok(Series {
            epoch,
            start,
            last: self.numbers.last(),
        })
    }

    /// The last number that was given.
    pub(crate) fn last_number(&self) -> u64 {
        self.numbers.last()
    }

    /// Leaves no number unused: nothing is applied after that.
    pub(crate) fn close(&mut self) -> Result<(), LedgerError> {
        let given_back = self.numbers.give_back(&self.connection);
        given_back.map_err(failed("write to"))
    }

    /// Keeps what changed in an index until its file is written.
    pub(crate) fn note(&mut self, notes: &[Note]) -> Result<(), LedgerError> {
        let transaction = self.connection.transaction().map_err(failed("write to"))?;
        for note in notes {
            transaction
                .prepare_cached(
                    "INSERT INTO session_notes (agent_id, session_key, entry, base) \
                     VALUES (?1, ?2, ?3, ?4) ON CONFLICT (agent_id, session_key) \
                     DO UPDATE SET entry = excluded.entry, base = excluded.base",
                )
                .and_then(|mut insert| {
                    insert.execute([&note.agent, &note.key, &note.entry, &note.base])
                })
                .map_err(failed("write to"))?;
        }
        transaction.commit().map_err(failed("write to"))
    }

    /// The state of the index file of `agent`.
    pub(crate) fn forget_notes(&mut self, agent: &str) -> Result<(), LedgerError> {
        self.connection
            .execute("DELETE FROM session_notes WHERE agent_id = ?1", [agent])
            .map(|_| ())
            .map_err(failed("write to"))
    }

    /// The notes that the last gateway did not write to the index files.
    pub(crate) fn notes(&self) -> Result<Vec<Note>, LedgerError> {
        let mut statement = self
            .connection
            .prepare("SELECT agent_id, session_key, entry, base FROM session_notes")
            .map_err(failed("read"))?;
        let notes = statement.query_map([], |row| {
            Ok(Note {
                agent: row.get(0)?,
                key: row.get(1)?,
                entry: row.get(2)?,
                base: row.get(3)?,
            })
        });
        notes
            .map_err(failed("read"))?
            .collect::<Result<_, _>>()
            .map_err(failed("read"))
    }

    pub(crate) fn by_idempotency_key(&self, key: &str) -> Result<Option<Record>, LedgerError> {
        self.one("idempotency_key = ?1", key)
    }

    pub(crate) fn by_run_id(&self, run_id: &str) -> Result<Option<Record>, LedgerError> {
        self.one("run_id = ?1", run_id)
    }

    /// What the message of a run that has not ended wants for its turn; None: it cannot
    /// be read.
    pub(crate) fn options(&self, run_id: &str) -> Result<Option<TurnOptions>, LedgerError> {
        let kept: Option<String> = self
            .connection
            .prepare_cached(
                "SELECT options FROM turn_options JOIN runs USING (accepted_seq) \
                 WHERE run_id = ?1",
            )
            .and_then(|mut statement| statement.query_row([run_id], |row| row.get(0)).optional())
            .map_err(failed("read"))?;
        Ok(match kept {
            None => Some(TurnOptions::default()),
            Some(kept) => serde_json::from_str(&kept).ok(),
        })
    }

    /// The runs that nobody ended, oldest first.
    pub(crate) fn open_runs(&self) -> Result<Vec<Record>, LedgerError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE ended_ms IS NULL ORDER BY created_ms");
        let mut statement = self.connection.prepare(&sql).map_err(failed("read"))?;
        let records = statement.query_map([], record).map_err(failed("read"))?;
        records.collect::<Result<_, _>>().map_err(failed("read"))
    }

    /// The last `limit` runs and what their turns cost, the newest first.
    pub(crate) fn last(&self, limit: u32) -> Result<Vec<(Record, Option<Spent>)>, LedgerError> {
        let sql = format!(
            "SELECT {COLUMNS}, unit, cpu_ms, memory_peak_bytes, tasks_peak, input_tokens, \
             output_tokens, cost_usd FROM runs LEFT JOIN turns USING (accepted_seq) \
             ORDER BY accepted_seq DESC LIMIT ?1"
        );
        let mut statement = self
            .connection
            .prepare_cached(&sql)
            .map_err(failed("read"))?;
        let rows = statement
            .query_map([limit], |row| Ok((record(row)?, spent(row)?)))
            .map_err(failed("read"))?;
        rows.collect::<Result<_, _>>().map_err(failed("read"))
    }

    fn one(&self, condition: &str, value: &str) -> Result<Option<Record>, LedgerError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE {condition}");
        self.connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row([value], record).optional())
            .map_err(failed("read"))
    }
}

/// Ends the runs of jobs that the suite before goes on with.
fn leave_job_runs(connection: &Connection, now_ms: i64) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE job_runs SET state = 'failed', ended_ms = ?1, entry = json_object('ts', ?1,
            'jobId', job_id, 'runId', run_id, 'action', 'finished', 'status', 'error', 'error', ?2)
         WHERE ended_ms IS NULL",
        rusqlite::params![now_ms, RESTORED],
    )?;
    Ok(())
}

fn configure(connection: &Connection) -> Result<(), LedgerError> {
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .map_err(failed("configure"))?;
    if mode != "wal" {
        return Err(LedgerError::NoWal(mode));
    }
    connection
        .pragma_update(None, "cache_size", -CACHE_KIB)
        .map_err(failed("configure"))?;
    // Without it SQLite plans a statement anew for each value it is given.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(failed("configure"))?;
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .map_err(failed("configure"))
}

fn failed(operation: &'static str) -> impl FnOnce(rusqlite::Error) -> LedgerError {
    move |source| LedgerError::Sqlite { operation, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_proto::event::{Done, Kind, Resources};
    use openclaw_sessions::SessionKey;

    const NOW: i64 = 1_795_219_200_000;

    fn accepted(run_id: &str, key: Option<&str>) -> Record {
        Record {
            run_id: run_id.to_owned(),
            idempotency_key: key.map(str::to_owned),
            session_key: "agent:main:main".to_owned(),
            agent_id: "main".to_owned(),
            session_id: "s".to_owned(),
            channel: "cli".to_owned(),
            state: "accepted".to_owned(),
            user_entry_id: "89f78814".to_owned(),
            created_ms: NOW,
            ended_ms: None,
            outcome: None,
            route: None,
        }
    }

    fn main() -> SessionKey {
        SessionKey::main(&openclaw_sessions::AgentId::main())
    }

    fn done() -> Kind {
        Kind::Done(Done {
            stop_reason: "stop".to_owned(),
            ..Done::default()
        })
    }

    fn insert(record: Record) -> Change {
        Change::Insert(Box::new(record))
    }

    #[test]
    fn run_is_found_by_its_keys_until_it_ended_long_ago() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.sqlite");
        let mut ledger = Ledger::open(&path, NOW).unwrap();
        let record = accepted("r1", Some("k1"));
        ledger.apply(&[insert(record.clone())]).unwrap();
        assert_eq!(
            ledger.by_idempotency_key("k1").unwrap(),
            Some(record.clone())
        );
        assert_eq!(ledger.open_runs().unwrap(), [record]);
        let spent = Spent {
            resources: Resources {
                unit: "openclaw-turn-r1.service".to_owned(),
                cpu_ms: 12,
                memory_peak_bytes: 1 << 20,
                tasks_peak: 4,
                cost_usd: None,
                server_tool_tokens: None,
            },
            input_tokens: 10,
            output_tokens: 2,
            cost_usd: Some(0.25),
        };
        ledger
            .apply(&[
                Change::Running {
                    run_id: "r1".to_owned(),
                    key: main(),
                    at_ms: NOW,
                },
                Change::Close(Box::new(Close {
                    run_id: "r1".to_owned(),
                    key: main(),
                    state: "done",
                    at_ms: NOW + 1,
                    outcome: done(),
                    spent: Some(spent.clone()),
                    entries: Vec::new(),
                    delivery: None,
                })),
            ])
            .unwrap();
        let listed = ledger.last(10).unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].1, Some(spent));
        drop(ledger);

        let ledger = Ledger::open(&path, NOW).unwrap();
        let closed = ledger.by_run_id("r1").unwrap().unwrap();
        assert_eq!(
            (closed.state.as_str(), closed.ended_ms),
            ("done", Some(NOW + 1))
        );
        assert_eq!(closed.outcome, Some(done()));
        assert!(ledger.open_runs().unwrap().is_empty());
        drop(ledger);

        let later = NOW + KEPT.as_millis() as i64 + 2;
        let ledger = Ledger::open(&path, later).unwrap();
        assert_eq!(ledger.by_run_id("r1").unwrap(), None);
    }

    #[test]
    fn idempotency_key_names_one_run_and_none_names_none() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&dir.path().join("l"), NOW).unwrap();
        let both = [insert(accepted("r1", None)), insert(accepted("r2", None))];
        ledger.apply(&both).unwrap();
        let twice = [
            insert(accepted("r3", Some("k"))),
            insert(accepted("r4", Some("k"))),
        ];
        assert!(ledger.apply(&twice).is_err());
        assert_eq!(ledger.by_run_id("r3").unwrap(), None, "half a batch stayed");
    }

    #[test]
    fn notes_are_replaced_and_forgotten_by_agent() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&dir.path().join("l"), NOW).unwrap();
        let note = |agent: &str, key: &str, entry: &str| Note {
            agent: agent.to_owned(),
            key: key.to_owned(),
            entry: entry.to_owned(),
            base: String::new(),
        };
        ledger
            .note(&[note("a", "k", "1"), note("b", "k", "2")])
            .unwrap();
        ledger.note(&[note("a", "k", "3")]).unwrap();
        assert_eq!(
            ledger.notes().unwrap(),
            [note("a", "k", "3"), note("b", "k", "2")]
        );
        ledger.forget_notes("a").unwrap();
        assert_eq!(ledger.notes().unwrap(), [note("b", "k", "2")]);
    }

    #[test]
    fn newer_file_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let ledger = Ledger::open(&path, NOW).unwrap();
        ledger
            .connection
            .pragma_update(None, "user_version", crate::schema::VERSION + 1)
            .unwrap();
        drop(ledger);
        let error = Ledger::open(&path, NOW).err().unwrap();
        let newer = format!("version {}", crate::schema::VERSION + 1);
        assert!(error.to_string().contains(&newer), "{error}");
    }
}
