//! What is told of the ledger's changes, when they are made and afterwards.

use openclaw_proto::event::{Code, Done, Failed, Kind as Outcome, Resources};
use openclaw_proto::feed::{Entry, Event, Kind, Role, Selector};
use openclaw_proto::gateway::{ChatKind, Route};
use openclaw_sessions::{AgentId, SessionKey};
use proptest::prelude::*;

use super::ledger::{Change, Close, Ledger, Record, Spent};
use crate::feed::{self, Happening};

const NOW: i64 = 1_795_219_200_000;

#[derive(Debug, Clone)]
enum Step {
    Accept(usize, bool),
    Run(usize),
    Close(usize, usize),
    Other(usize),
    /// The gateway is started again, after a stop or a kill.
    Restart(bool),
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let step = prop_oneof![
        4 => (0..6usize, any::<bool>()).prop_map(|(session, routed)| Step::Accept(session, routed)),
        3 => (0..8usize).prop_map(Step::Run),
        3 => (0..8usize, 0..3usize).prop_map(|(run, entries)| Step::Close(run, entries)),
        3 => (0..6usize).prop_map(Step::Other),
        1 => any::<bool>().prop_map(Step::Restart),
    ];
    prop::collection::vec(prop::collection::vec(step, 1..5), 1..25)
}

fn key(session: usize) -> SessionKey {
    let agent: AgentId = if session < 3 { "main" } else { "work" }.parse().unwrap();
    SessionKey::parse(&format!("s{session}"), &agent).unwrap()
}

fn entry(number: usize, role: Role) -> Entry {
    Entry {
        entry_id: format!("e{number}"),
        role,
        answers: None,
    }
}

/// What the ledger is told, as the storage would.
#[derive(Default)]
struct Story {
    runs: Vec<(String, SessionKey)>,
    closed: Vec<String>,
}

impl Story {
    fn change(&mut self, step: &Step) -> Option<Change> {
        match step {
            Step::Accept(session, routed) => {
                let (run_id, key) = (format!("r{}", self.runs.len()), key(*session));
                self.runs.push((run_id.clone(), key.clone()));
                Some(Change::Insert(Box::new(record(run_id, &key, *routed))))
            }
            Step::Run(at) => {
                let (run_id, key) = self.open(*at)?;
                Some(Change::Running {
                    run_id,
                    key,
                    at_ms: NOW + 1,
                })
            }
            Step::Close(at, entries) => {
                let (run_id, key) = self.open(*at)?;
                self.closed.push(run_id.clone());
                Some(close(run_id, key, *entries))
            }
            Step::Other(session) => Some(Change::Happened(Happening {
                agent_id: key(*session).agent().to_string(),
                session_key: key(*session).to_string(),
                run_id: String::new(),
                at_ms: NOW,
                // None for 0, as when a run that is resumed says what is known.
                kinds: (0..*session)
                    .map(|number| Kind::EntryAppended(entry(number, Role::Tool)))
                    .collect(),
            })),
            Step::Restart(_) => None,
        }
    }

    fn open(&self, at: usize) -> Option<(String, SessionKey)> {
        let open = self.runs.iter().rev();
        let mut open = open.filter(|(run_id, _)| !self.closed.contains(run_id));
        open.nth(at).cloned()
    }
}

fn record(run_id: String, key: &SessionKey, routed: bool) -> Record {
    Record {
        run_id,
        idempotency_key: None,
        session_key: key.to_string(),
        agent_id: key.agent().to_string(),
        session_id: "s".to_owned(),
        channel: "telegram".to_owned(),
        state: "accepted".to_owned(),
        user_entry_id: "u".to_owned(),
        created_ms: NOW,
        ended_ms: None,
        outcome: None,
        route: routed.then(|| Route {
            account: String::new(),
            chat: ChatKind::Group,
            id: "-1".to_owned(),
            thread: Some("7".to_owned()),
            sender: Some("anna".to_owned()),
            present_id: None,
            message: None,
            sender_name: None,
            title: None,
        }),
    }
}

fn close(run_id: String, key: SessionKey, entries: usize) -> Change {
    let whole = entries > 0;
    let spent = Spent {
        resources: Resources {
            cpu_ms: 3,
            ..Resources::default()
        },
        input_tokens: 5,
        output_tokens: 7,
        cost_usd: Some(0.5),
    };
    let failed = Failed {
        code: Code::Interrupted,
        message: "no".to_owned(),
        retry_after_ms: None,
        backend_session: None,
        backend: "native".to_owned(),
    };
    Change::Close(Box::new(Close {
        run_id,
        key,
        state: if whole { "done" } else { "interrupted" },
        at_ms: NOW + 2,
        outcome: if whole {
            Outcome::Done(Done::default())
        } else {
            Outcome::Failed(failed)
        },
        spent: whole.then_some(spent),
        entries: (0..entries)
            .map(|number| entry(number, Role::Assistant))
            .collect(),
        delivery: None,
    }))
}

/// All that is kept after a number, read in pages of `rows`.
fn replay(
    connection: &rusqlite::Connection,
    selector: &Selector,
    mut after: u64,
    rows: usize,
) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let page = feed::page(connection, selector, after, rows).unwrap();
        after = page.events.last().map_or(after, |event| event.sequence);
        events.extend(page.events);
        if page.is_last {
            return events;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// From every number on, what is replayed is what was told: nothing is
    /// missing, nothing comes twice, in the same order, whoever asks.
    #[test]
    fn feed_replays_what_was_told(batches in steps(), rows in 1..9usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        let mut ledger = Ledger::open(&path, NOW).unwrap();
        let (mut story, mut told) = (Story::default(), Vec::<Event>::new());
        for batch in &batches {
            let changes: Vec<_> = batch.iter().filter_map(|step| story.change(step)).collect();
            told.extend(ledger.apply(&changes).unwrap());
            if let Some(Step::Restart(stopped)) = batch.last() {
                if *stopped {
                    ledger.close().unwrap();
                }
                drop(ledger);
                ledger = Ledger::open(&path, NOW).unwrap();
            }
        }
        prop_assert!(told.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
        let connection = rusqlite::Connection::open(&path).unwrap();
        let selectors = [
            Selector::Everything,
            Selector::Agent("work".to_owned()),
            Selector::Session(key(1).to_string()),
        ];
        let numbers = told.iter().map(|event| event.sequence);
        for after in numbers.chain([0]) {
            for selector in &selectors {
                let wanted: Vec<Event> = told
                    .iter()
                    .filter(|event| event.sequence > after)
                    .filter(|event| selector.includes(&event.agent_id, &event.session_key))
                    .cloned()
                    .collect();
                let found = replay(&connection, selector, after, rows);
                prop_assert_eq!(&found, &wanted, "after {}", after);
            }
            let series = ledger.series(ledger.last_number()).unwrap();
            let missing = feed::missing(&connection, &series, after, Some(series.last)).unwrap();
            prop_assert_eq!(missing, None, "after {}", after);
        }
    }
}

#[test]
fn ledger_that_is_refused_a_change_tells_nothing_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let mut ledger = Ledger::open(&path, NOW).unwrap();
    let insert = || Change::Insert(Box::new(record("r".to_owned(), &key(1), false)));
    let first = ledger.apply(&[insert()]).unwrap();
    assert_eq!(first.len(), 2);
    let restart = Step::Other(2);
    let other = Story::default().change(&restart).unwrap();
    ledger.apply(&[other, insert()]).unwrap_err();
    let running = Change::Running {
        run_id: "r".to_owned(),
        key: key(1),
        at_ms: NOW,
    };
    let started = ledger.apply(std::slice::from_ref(&running)).unwrap();
    assert!(started[0].sequence > first[1].sequence);
    // Once, however often it is started.
    assert_eq!(ledger.apply(&[running]).unwrap(), []);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let found = replay(&connection, &Selector::Everything, 0, 10);
    assert_eq!(found, [first, started].concat());
}

#[test]
fn ledger_takes_what_nothing_happened_by_as_often_as_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let mut ledger = Ledger::open(&path, NOW).unwrap();
    let insert = Change::Insert(Box::new(record("r".to_owned(), &key(1), false)));
    let first = ledger.apply(&[insert]).unwrap();
    let empty = || Story::default().change(&Step::Other(0)).unwrap();
    assert_eq!(ledger.apply(&[empty(), empty()]).unwrap(), []);
    assert_eq!(ledger.apply(&[empty()]).unwrap(), []);
    let other = Story::default().change(&Step::Other(2)).unwrap();
    let second = ledger.apply(&[other, empty()]).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let found = replay(&connection, &Selector::Everything, 0, 10);
    assert_eq!(found, [first, second].concat());
}

#[test]
fn feed_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let mut ledger = Ledger::open(&path, NOW).unwrap();
    let mut story = Story::default();
    let changes = [
        Step::Accept(1, false),
        Step::Run(0),
        Step::Close(0, 1),
        Step::Other(1),
    ];
    let changes: Vec<_> = changes
        .iter()
        .filter_map(|step| story.change(step))
        .collect();
    let told = ledger.apply(&changes).unwrap();
    let last = told.last().unwrap().sequence;
    drop(ledger);
    // What was told is gone with the power, and the rest of a block unused.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("DELETE FROM events", []).unwrap();
    let ledger = Ledger::open(&path, NOW).unwrap();
    let series = ledger.series(ledger.last_number()).unwrap();
    let missing = |after| feed::missing(&connection, &series, after, Some(series.last)).unwrap();
    assert!(missing(last).unwrap().reason.contains("lost power"));
    assert_eq!(missing(last - 1), None);
    assert!(
        missing(series.last + 1)
            .unwrap()
            .reason
            .contains("no event")
    );
    drop(ledger);

    // A week later there is nothing left of it.
    let later = NOW + 8 * 24 * 3600 * 1000;
    let ledger = Ledger::open(&path, later).unwrap();
    let series = ledger.series(ledger.last_number()).unwrap();
    let missing = |after| feed::missing(&connection, &series, after, Some(series.last)).unwrap();
    assert_eq!(missing(0).unwrap().through, last - 1);
    assert_eq!(missing(last - 1), None);
    assert_eq!(replay(&connection, &Selector::Everything, 0, 10), []);
}

#[test]
fn feed_keeps_a_run_that_goes_on_however_old() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let mut ledger = Ledger::open(&path, NOW).unwrap();
    let mut story = Story::default();
    let open = story.change(&Step::Accept(1, false)).unwrap();
    let told = ledger.apply(&[open]).unwrap();
    drop(ledger);
    let later = NOW + 8 * 24 * 3600 * 1000;
    let mut ledger = Ledger::open(&path, later).unwrap();
    let end = story.change(&Step::Close(0, 1)).unwrap();
    let end = ledger.apply(&[end]).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let found = replay(&connection, &Selector::Everything, 0, 10);
    assert_eq!(found, [told, end].concat());
}
