//! What agents' turns of a day cost, over restarts: `state/usage.json`, which
//! the daemon writes and turns' processes read. A day is one of the local time.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::tz::Offset;
use openclaw_config::write;
use openclaw_proto::event::{Event, Kind};
use serde::{Deserialize, Serialize};

/// More US dollars than a turn costs: who says more does not know, or lies.
const MOST_COST: f64 = 1e6;
/// Days that are kept: a month and a bit, to look back at.
const DAYS: usize = 40;
/// Ended turns that are remembered, so that none is counted twice after a
/// restart: as many as can be open at once.
const COUNTED: usize = 256;

/// An amount that somebody claims, where it can be one.
pub fn as_cost(cost: f64) -> Option<f64> {
    (cost.is_finite() && (0.0..=MOST_COST).contains(&cost)).then_some(cost)
}

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpendingFile {
    /// By day (`2026-11-21`), then by agent.
    days: BTreeMap<String, BTreeMap<String, Spent>>,
    /// The runs that were counted last.
    counted: VecDeque<String>,
}

/// What an agent's turns of a day used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spent {
    cost_usd: f64,
    turns: u64,
    /// How many of them have a cost that nobody knows.
    turns_of_unknown_cost: u64,
    input_tokens: u64,
    output_tokens: u64,
}

impl Spent {
    fn add_tokens(&mut self, more: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
    }

    /// A sum that none can be is none: a limit is not to be lifted by it.
    fn repair(&mut self) {
        if !self.cost_usd.is_finite() || self.cost_usd < 0.0 {
            self.cost_usd = 0.0;
        }
    }
}

/// What agents spend. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Spending(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    books: Mutex<SpendingFile>,
    /// Whether the file lags the books. Held while it is written.
    lags: Mutex<bool>,
    /// Models whose price is not known, and it was said.
    told: Mutex<HashSet<String>>,
}

impl Spending {
    /// Reads the file. One that cannot be read is an empty one: a day's count
    /// is lost, no turn is.
    pub fn open(path: &Path) -> Self {
        Self(Arc::new(Inner {
            path: path.to_owned(),
            books: Mutex::new(read(path)),
            lags: Mutex::default(),
            told: Mutex::default(),
        }))
    }

    /// US dollars that the agent's turns of today cost.
    pub fn today(&self, agent_id: &str) -> f64 {
        lock(&self.0.books).of(&day(), agent_id)
    }

    /// Adds a turn that ended. One that was added before changes nothing.
    pub fn add(&self, run_id: &str, agent_id: &str, events: &[Event]) {
        let added = lock(&self.0.books).add(&day(), run_id, agent_id, events);
        if added {
            *lock(&self.0.lags) = true;
        }
    }

    /// Writes what was added since the last time: it waits for the disk.
    pub fn keep(&self) {
        let mut lags = lock(&self.0.lags);
        if !std::mem::take(&mut *lags) {
            return;
        }
        let books = lock(&self.0.books).clone();
        if let Err(error) = write_books(&self.0.path, &books) {
            openclaw_daemon::failure::report_at("keep what turns cost", &self.0.path, &error);
        }
    }

    /// Whether it is news that this model's price is not known.
    pub fn is_news(&self, model: &str) -> bool {
        lock(&self.0.told).insert(model.to_owned())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SpendingFile {
    fn of(&self, day: &str, agent_id: &str) -> f64 {
        let agents = self.days.get(day);
        agents
            .and_then(|agents| agents.get(agent_id))
            .map_or(0.0, |spent| spent.cost_usd)
    }

    /// False when there is nothing to add.
    fn add(&mut self, day: &str, run_id: &str, agent_id: &str, events: &[Event]) -> bool {
        if self.counted.iter().any(|counted| counted == run_id) {
            return false;
        }
        let mut turn = Spent::default();
        for event in events {
            match &event.kind {
                Kind::Usage(usage) => turn.add_tokens(&Spent {
                    input_tokens: usage
                        .input
                        .saturating_add(usage.cache_read)
                        .saturating_add(usage.cache_write),
                    output_tokens: usage.output,
                    ..Spent::default()
                }),
                Kind::Resources(resources) => match resources.cost_usd.and_then(as_cost) {
                    Some(cost) => turn.cost_usd = cost,
                    None => turn.turns_of_unknown_cost = 1,
                },
                _ => {}
            }
        }
        // Without a model a search of memory can have cost something.
        if turn.input_tokens == 0 && turn.output_tokens == 0 && turn.cost_usd <= 0.0 {
            return false;
        }
        self.counted.push_back(run_id.to_owned());
        if self.counted.len() > COUNTED {
            self.counted.pop_front();
        }
        let spent = self.days.entry(day.to_owned()).or_default();
        let spent = spent.entry(agent_id.to_owned()).or_default();
        spent.cost_usd += turn.cost_usd;
        spent.turns = spent.turns.saturating_add(1);
        spent.turns_of_unknown_cost = spent
            .turns_of_unknown_cost
            .saturating_add(turn.turns_of_unknown_cost);
        spent.add_tokens(&turn);
        while self.days.len() > DAYS {
            self.days.pop_first();
        }
        true
    }
}

/// US dollars that the agent's ended turns of today cost, for another process,
/// which is told how far from UTC this machine is ([`utc_offset`]).
pub(crate) fn today(path: &Path, agent_id: &str, utc_offset: i32) -> f64 {
    let offset = Offset::from_seconds(utc_offset).unwrap_or(Offset::UTC);
    let day = offset.to_datetime(jiff::Timestamp::now()).date();
    read(path).of(&day.to_string(), agent_id)
}

fn read(path: &Path) -> SpendingFile {
    let text = std::fs::read(path).unwrap_or_default();
    let mut books: SpendingFile = serde_json::from_slice(&text).unwrap_or_default();
    let agents = books.days.values_mut().flat_map(BTreeMap::values_mut);
    agents.for_each(Spent::repair);
    books
}

fn write_books(path: &Path, books: &SpendingFile) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(books)?;
    text.push(b'\n');
    write::atomic(path, &text)
}

/// Seconds between UTC and the local time. A process that asks reads every
/// folder of time zones, so those of turns do not.
pub fn utc_offset() -> i32 {
    jiff::Zoned::now().offset().seconds()
}

fn day() -> String {
    jiff::Zoned::now().date().to_string()
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::{Resources, Usage};

    use super::*;

    fn turn(cost_usd: Option<f64>) -> Vec<Event> {
        let usage = Usage {
            input: 10,
            output: 5,
            ..Usage::default()
        };
        let resources = Resources {
            cost_usd,
            ..Resources::default()
        };
        [Kind::Usage(usage), Kind::Resources(resources)]
            .map(|kind| Event {
                run_id: "r".to_owned(),
                seq: 1,
                at_ms: 0,
                kind,
            })
            .into()
    }

    #[test]
    fn turns_are_counted_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage.json");
        let spending = Spending::open(&path);
        spending.add("a", "main", &turn(Some(0.5)));
        spending.add("a", "main", &turn(Some(0.5)));
        spending.add("b", "main", &turn(Some(0.25)));
        spending.add("c", "other", &turn(None));
        spending.keep();
        let again = Spending::open(&path);
        again.add("b", "main", &turn(Some(0.25)));
        assert!((again.today("main") - 0.75).abs() < 1e-9);
        assert!((today(&path, "main", utc_offset()) - 0.75).abs() < 1e-9);
        let books = read(&path);
        let other = &books.days[&day()]["other"];
        assert_eq!(
            (other.turns, other.turns_of_unknown_cost, other.input_tokens),
            (1, 1, 10)
        );
    }

    #[test]
    fn spending_another_day_begins_at_nothing_and_old_ones_go() {
        let mut books = SpendingFile::default();
        for number in 0..60 {
            let day = format!("2026-01-{number:02}");
            assert!(books.add(&day, &day, "main", &turn(Some(1.0))));
        }
        assert_eq!(books.days.len(), DAYS);
        assert!((books.of("2026-01-59", "main") - 1.0).abs() < 1e-9);
        assert!(books.of("2026-01-60", "main").abs() < 1e-9);
    }

    #[test]
    fn cost_that_can_be_none_lifts_no_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage.json");
        let spending = Spending::open(&path);
        let costs = [0.5, -1e6, f64::NAN, f64::INFINITY, 1e308, 0.25];
        for (number, cost) in costs.into_iter().enumerate() {
            spending.add(&number.to_string(), "main", &turn(Some(cost)));
        }
        assert!((spending.today("main") - 0.75).abs() < 1e-9);
        spending.keep();
        let day = day();
        assert_eq!(read(&path).days[&day]["main"].turns_of_unknown_cost, 4);
        let text = format!(
            r#"{{"days":{{"{day}":{{"main":{{"costUsd":-1000000.0,"turns":1}},"other":{{"costUsd":2.0}}}}}}}}"#
        );
        std::fs::write(&path, text).unwrap();
        assert!(today(&path, "main", utc_offset()).abs() < 1e-9);
        assert!((Spending::open(&path).today("other") - 2.0).abs() < 1e-9);
    }

    #[test]
    fn tokens_are_added_up_without_an_overflow() {
        let mut books = SpendingFile::default();
        let usage = Usage {
            input: u64::MAX,
            cache_read: u64::MAX,
            output: u64::MAX,
            ..Usage::default()
        };
        let mut events = turn(Some(1.0));
        events[0].kind = Kind::Usage(usage);
        for run in ["a", "b"] {
            assert!(books.add("2026-01-01", run, "main", &events));
        }
        assert_eq!(books.days["2026-01-01"]["main"].input_tokens, u64::MAX);
    }

    #[test]
    fn broken_file_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage.json");
        std::fs::write(&path, "rubbish").unwrap();
        assert!(Spending::open(&path).today("main").abs() < 1e-9);
        assert!(Spending::open(&path).is_news("x/y"));
    }
}
