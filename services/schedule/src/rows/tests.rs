use std::collections::HashMap;

use openclaw_conversations::database::Database;
use rusqlite::Connection;
use serde_json::json;

use super::*;

/// 2026-11-21 09:00 UTC, a Saturday.
const NOW: i64 = 1_795_251_600_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// A ledger with its tables.
async fn ledger() -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    let database = Database::at(path.clone());
    database.call("make the tables", |_| Ok(())).await.unwrap();
    let connection = Connection::open(path).unwrap();
    // Thousands of transactions, and none of them outlives the test.
    connection
        .pragma_update(None, "synchronous", "OFF")
        .unwrap();
    (folder, connection)
}

/// Where the configuration says nothing of times that were missed.
fn look(connection: &Connection, now: i64) -> rusqlite::Result<Look> {
    super::look(connection, CatchUp::Once, now)
}

fn fall_due(connection: &Connection, job: &mut Job, now: i64) -> rusqlite::Result<()> {
    super::fall_due(connection, job, CatchUp::Once, now)
}

fn job(id: &str, fields: Value) -> Job {
    let mut params = json!({
        "name": id, "schedule": {"kind": "every", "everyMs": HOUR},
        "sessionTarget": "main", "wakeMode": "now",
        "payload": {"kind": "systemEvent", "text": "t"},
    });
    if let (Value::Object(params), Value::Object(fields)) = (&mut params, fields) {
        params.extend(fields);
    }
    Job::new(id.to_owned(), params, NOW).unwrap()
}

/// All rows: job, planned time in minutes after [`NOW`], state, whether it is over.
fn rows(connection: &Connection) -> Vec<(String, Option<i64>, String, bool)> {
    let sql = "SELECT job_id, planned_ms, state, ended_ms IS NOT NULL FROM job_runs
               ORDER BY job_id, number";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        let planned: Option<i64> = row.get(1)?;
        Ok((
            row.get(0)?,
            planned.map(|at| (at - NOW) / MINUTE),
            row.get(2)?,
            row.get(3)?,
        ))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn close(connection: &Connection, begun: &Begun, now: i64) -> bool {
    end(connection, &begun.run_id, State::Ran, &json!({}), now).unwrap()
}

#[tokio::test]
async fn look_begins_what_is_due_together_once() {
    let (_folder, connection) = ledger().await;
    for number in 0..6 {
        let at = json!({"schedule": {"kind": "at", "at": "2026-11-21T09:01:00Z"}});
        write(&connection, &job(&number.to_string(), at), NOW).unwrap();
    }
    let early = look(&connection, NOW).unwrap();
    assert_eq!((early.begun.len(), early.next_ms), (0, Some(NOW + MINUTE)));
    let due = look(&connection, NOW + MINUTE).unwrap();
    assert_eq!((due.begun.len(), due.next_ms), (6, None));
    assert!(due.begun.iter().all(|run| run.job.is_running()));
    assert_eq!(look(&connection, NOW + MINUTE).unwrap(), Look::default());
    for begun in &due.begun {
        assert!(close(&connection, begun, NOW + MINUTE));
        assert!(!close(&connection, begun, NOW + MINUTE), "noted twice");
    }
    assert_eq!(look(&connection, NOW + HOUR).unwrap(), Look::default());
    assert_eq!(rows(&connection).len(), 6);
}

#[tokio::test]
async fn look_begins_one_run_of_a_job_at_a_time() {
    let (_folder, connection) = ledger().await;
    let all = job("j", json!({"catchUp": "all"}));
    write(&connection, &all, NOW).unwrap();
    let late = NOW + 3 * HOUR + 5 * MINUTE;
    let mut planned = Vec::new();
    for _ in 0..3 {
        let look = look(&connection, late).unwrap();
        let [begun] = look.begun.as_slice() else {
            panic!("{look:?}");
        };
        planned.push(begun.run_id.clone());
        assert!(self::look(&connection, late).unwrap().begun.is_empty());
        close(&connection, begun, late);
    }
    assert!(look(&connection, late).unwrap().begun.is_empty());
    let expected = [1, 2, 3].map(|hour| format!("cron:j:{}", NOW + hour * HOUR));
    assert_eq!(planned, expected);
}

#[tokio::test]
async fn look_leaves_out_what_was_switched_off_or_removed() {
    let (_folder, connection) = ledger().await;
    for id in ["off", "gone"] {
        let mut job = job(id, json!({"catchUp": "all"}));
        write(&connection, &job, NOW).unwrap();
        fall_due(&connection, &mut job, NOW + HOUR).unwrap();
        job.enabled = false;
        write(&connection, &job, NOW).unwrap();
    }
    connection
        .execute("DELETE FROM jobs WHERE job_id = 'gone'", [])
        .unwrap();
    assert!(look(&connection, NOW + HOUR).unwrap().begun.is_empty());
    let states: Vec<_> = rows(&connection).into_iter().map(|row| row.2).collect();
    assert_eq!(states, ["skipped", "skipped"]);
}

#[tokio::test]
async fn look_gives_no_time_twice_when_the_clock_goes_back() {
    let (_folder, connection) = ledger().await;
    write(&connection, &job("j", json!({})), NOW).unwrap();
    let first = look(&connection, NOW + HOUR).unwrap();
    close(&connection, &first.begun[0], NOW + HOUR);
    // The clock is set back, and somebody edits the job, which plans it anew.
    let job = read(&connection, "j").unwrap().unwrap();
    let edited = json!({"name": "other"}).as_object().unwrap().clone();
    let edited = job.patched(edited, NOW + MINUTE).unwrap();
    assert_eq!(edited.next_ms(), Some(NOW + HOUR));
    write(&connection, &edited, NOW + MINUTE).unwrap();
    assert!(look(&connection, NOW + HOUR).unwrap().begun.is_empty());
    assert_eq!(rows(&connection).len(), 1);
    assert_eq!(look(&connection, NOW + 2 * HOUR).unwrap().begun.len(), 1);
}

#[tokio::test]
async fn left_runs_are_those_that_nobody_saw_the_end_of() {
    let (_folder, connection) = ledger().await;
    for id in ["ran", "started", "removed", "forgotten"] {
        write(&connection, &job(id, json!({})), NOW).unwrap();
    }
    let begun = look(&connection, NOW + HOUR).unwrap().begun;
    assert_eq!(begun.len(), 4);
    ran(&connection, &format!("cron:ran:{}", NOW + HOUR)).unwrap();
    for sql in [
        "DELETE FROM jobs WHERE job_id = 'removed'",
        "DELETE FROM job_runs WHERE job_id = 'forgotten'",
    ] {
        connection.execute(sql, []).unwrap();
    }
    let left = left(&connection, NOW + HOUR).unwrap();
    let of = |id: &str| left.iter().find(|run| run.job.id() == id);
    assert_eq!(left.len(), 2);
    assert!(of("ran").unwrap().has_run && !of("started").unwrap().has_run);
    let forgotten = read(&connection, "forgotten").unwrap().unwrap();
    assert!(!forgotten.is_running());
}

fn begun_by_hand(connection: &Connection, job: &mut Job, now: i64) -> Begun {
    match begin_by_hand(connection, job, now).unwrap() {
        ByHand::Begun(begun) => *begun,
        other => panic!("not begun: {other:?}"),
    }
}

#[tokio::test]
async fn begin_by_hand_waits_for_the_run_under_way() {
    let (_folder, connection) = ledger().await;
    let mut job = job("j", json!({}));
    write(&connection, &job, NOW).unwrap();
    let begun = begun_by_hand(&connection, &mut job, NOW);
    let again = begin_by_hand(&connection, &mut job, NOW + 1).unwrap();
    assert!(matches!(again, ByHand::Running), "{again:?}");
    assert!(look(&connection, NOW + HOUR).unwrap().begun.is_empty());
    close(&connection, &begun, NOW + HOUR);
    let after = look(&connection, NOW + HOUR).unwrap();
    assert_eq!(after.begun.len(), 1, "what was due meanwhile");
    let kept = read(&connection, "j").unwrap().unwrap();
    assert_eq!(kept.next_ms(), Some(NOW + 2 * HOUR));
}

/// Numbers that look random and are the same in each test.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.0 >> 33) % limit).cast_signed()
    }
}

/// Jobs of all kinds over a month in which the clock is set, runs take their time,
/// and each look may be the last of its process: each planned time has exactly one
/// row that covers it, and at most one run was begun for it.
#[tokio::test]
async fn look_over_a_month_of_jumps_misses_and_doubles_nothing() {
    for seed in 0..6 {
        let (_folder, connection) = ledger().await;
        let mut dice = Dice(seed);
        let minutes = [7, 60, 1440, 333];
        for (number, every) in minutes.iter().enumerate() {
            let catch_up = ["once", "all", "skip"][number % 3];
            let fields = json!({"catchUp": catch_up,
                "schedule": {"kind": "every", "everyMs": every * MINUTE}});
            write(&connection, &job(&number.to_string(), fields), NOW).unwrap();
        }
        let (mut now, mut latest) = (NOW, NOW);
        let mut begun: HashMap<String, u32> = HashMap::new();
        let mut open = Vec::new();
        while latest < NOW + 30 * 24 * HOUR {
            now += match dice.below(40) {
                0 => HOUR,
                1 => -HOUR,
                2 => 24 * HOUR,
                3 => -24 * HOUR,
                _ => dice.below(20) * MINUTE,
            };
            latest = latest.max(now);
            // A process that is killed here has begun what it begins.
            let look = look(&connection, now).unwrap();
            for run in look.begun {
                *begun.entry(run.run_id.clone()).or_default() += 1;
                open.push(run);
            }
            open.retain(|run| dice.below(3) > 0 || !close(&connection, run, now));
        }
        assert!(begun.values().all(|times| *times == 1), "{begun:?}");
        let sql = "SELECT count(*) FROM job_runs
                   WHERE job_id = ?1 AND planned_ms <= ?2 AND until_ms >= ?2";
        let mut covering = connection.prepare(sql).unwrap();
        for (number, every) in minutes.iter().enumerate() {
            let mut at = NOW + every * MINUTE;
            let oldest = "SELECT min(planned_ms) FROM job_runs WHERE job_id = ?1";
            let oldest: Option<i64> = connection
                .query_row(oldest, [number.to_string()], |row| row.get(0))
                .unwrap();
            // What is remembered of runs has a limit.
            let oldest = oldest.unwrap_or(i64::MAX);
            while at <= latest {
                let rows: i64 = covering
                    .query_row(params![number.to_string(), at], |row| row.get(0))
                    .unwrap();
                assert!(rows == 1 || at < oldest, "seed {seed}, job {number}, {at}");
                at += every * MINUTE;
            }
        }
    }
}

#[tokio::test]
async fn look_begins_nothing_over_the_budget_of_the_day() {
    let (_folder, connection) = ledger().await;
    let budget = json!({"budget": {"perRunUsd": 0.5, "perDayUsd": 0.75}});
    write(&connection, &job("j", budget), NOW).unwrap();
    let mut begun = Vec::new();
    for hour in 1..=3 {
        let now = NOW + hour * HOUR;
        for run in look(&connection, now).unwrap().begun {
            begun.push(run.limit_usd);
            let run_id = format!("r{hour}");
            connection
                .execute(
                    "INSERT INTO runs (run_id, idempotency_key, session_key, agent_id, session_id,
                        channel, state, user_entry_id, created_ms)
                     VALUES (?1, ?2, 's', 'main', 'i', 'cron', 'done', 'e', ?3)",
                    params![run_id, run.run_id, now],
                )
                .unwrap();
            connection
                .execute(
                    "INSERT INTO turns SELECT accepted_seq, '', 0, 0, 0, 0, 0, 0.4
                     FROM runs WHERE run_id = ?1",
                    [run_id],
                )
                .unwrap();
            close(&connection, &run, now);
        }
    }
    assert_eq!(begun.len(), 2, "{begun:?}");
    assert_eq!(begun[0], Some(0.5));
    assert!(
        begun[1].is_some_and(|left| (left - 0.35).abs() < 1e-9),
        "{begun:?}"
    );
    assert_eq!(rows(&connection)[2].2, "skipped");
    let (spent, asked) = spent_since(&connection, "j", day_begin(NOW)).unwrap();
    assert!((spent - 0.8).abs() < 1e-9 && asked == 2);
}

#[tokio::test]
async fn run_over_its_budget_is_known_by_what_its_turn_cost() {
    let (_folder, connection) = ledger().await;
    let known = |budget: Value| {
        let job = job("j", json!({"budget": budget}));
        over_budget(&connection, &job, ("cron:j:1", NOW)).unwrap()
    };
    assert_eq!(known(json!({"perRunUsd": 0.1})), None);
    connection
        .execute_batch(&format!(
            "INSERT INTO job_runs (job_id, run_id, cause, state, started_ms)
                VALUES ('j', 'cron:j:1', 'hand', 'started', {NOW});
             INSERT INTO runs (run_id, idempotency_key, session_key, agent_id, session_id,
                channel, state, user_entry_id, created_ms)
                VALUES ('r', 'cron:j:1', 's', 'main', 'i', 'cron', 'done', 'e', {NOW});
             INSERT INTO turns SELECT accepted_seq, '', 0, 0, 0, 0, 0, 0.4 FROM runs;"
        ))
        .unwrap();
    let over = known(json!({"perRunUsd": 0.1})).unwrap();
    assert_eq!(over, "the run cost $0.40, and its budget is $0.10");
    assert_eq!(known(json!({"perRunUsd": 0.4})), None);
    let over = known(json!({"perDayUsd": 0.3})).unwrap();
    assert!(over.contains("the runs of the day cost $0.40"), "{over}");
    let free = job("j", json!({}));
    assert_eq!(
        over_budget(&connection, &free, ("cron:j:1", NOW)).unwrap(),
        None
    );
}

#[tokio::test]
async fn look_skips_all_that_waits_of_what_was_switched_off() {
    let (_folder, connection) = ledger().await;
    let mut job = job("j", json!({"catchUp": "all"}));
    write(&connection, &job, NOW).unwrap();
    fall_due(&connection, &mut job, NOW + 3 * HOUR).unwrap();
    job.enabled = false;
    write(&connection, &job, NOW).unwrap();
    let mut looks = 0;
    while look(&connection, NOW + 3 * HOUR).unwrap().has_more {
        looks += 1;
        assert!(looks < 9, "it never ends");
    }
    assert!(rows(&connection).iter().all(|row| row.2 == "skipped"));
}

#[tokio::test]
async fn history_names_jobs_also_those_that_are_removed() {
    let (_folder, connection) = ledger().await;
    let mut there = job("there", json!({"name": "tea"}));
    let mut gone = job("gone", json!({"name": "news"}));
    for job in [&mut there, &mut gone] {
        write(&connection, job, NOW).unwrap();
        let begun = begun_by_hand(&connection, job, NOW + 1);
        let entry = skipped_now(job, &begun.run_id, "x", NOW + 2);
        assert!(end(&connection, &begun.run_id, State::Skipped, &entry, NOW + 2).unwrap());
    }
    assert!(remove(&connection, "gone").unwrap());
    let renamed = there.patched(
        serde_json::Map::from_iter([("name".to_owned(), json!("green tea"))]),
        NOW,
    );
    write(&connection, &renamed.unwrap(), NOW).unwrap();
    let named = |id: Option<&str>| -> Vec<String> {
        let runs = history(&connection, id, 9).unwrap().into_iter();
        runs.map(|run| run.job_name).collect()
    };
    assert_eq!(named(None), ["news", "green tea"]);
    assert_eq!(named(Some("gone")), ["news"]);
}
