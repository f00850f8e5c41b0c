//! Which keys are left alone for a while: `agents/<id>/auth/usage.json`, which
//! only this daemon writes (seed 003 §5).
//!
//! A key that is left alone is asked after the others, and never not at all:
//! one request that went wrong does not lock anybody out.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use openclaw_config::{Paths, write};
use serde::{Deserialize, Serialize};

use crate::report::{Report, Use};
use crate::route::Stop;

/// OpenClaw's times after the first, second and further failures.
const BUSY_MS: [i64; 3] = [30_000, 60_000, 300_000];
/// OpenClaw's time for a key that is not accepted, or not paid for.
const REFUSED_MS: i64 = 600_000;
/// Failures longer ago than this do not count any more.
const FORGOTTEN_MS: i64 = 24 * 3600 * 1000;

/// A key's use. Times are Unix times in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Usage {
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_failed: Option<i64>,
    failure_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    cooldown_until: Option<i64>,
}

impl Usage {
    /// False when the report is no news: it was read before.
    fn take(&mut self, report: &Report) -> bool {
        let last = self.last_used.max(self.last_failed);
        if last.is_some_and(|last| last >= report.at_ms) {
            return false;
        }
        let pause = match report.used {
            Use::Answered => {
                *self = Self {
                    last_used: Some(report.at_ms),
                    last_failed: self.last_failed,
                    ..Self::default()
                };
                return true;
            }
            Use::Refused => REFUSED_MS,
            Use::Busy => {
                if last.is_some_and(|last| report.at_ms - last > FORGOTTEN_MS) {
                    self.failure_count = 0;
                }
                let index = usize::try_from(self.failure_count).unwrap_or(usize::MAX);
                let wish = i64::try_from(report.retry_after_ms).unwrap_or(i64::MAX);
                BUSY_MS[index.min(BUSY_MS.len() - 1)].max(wish)
            }
        };
        self.last_failed = Some(report.at_ms);
        self.failure_count = self.failure_count.saturating_add(1);
        self.cooldown_until = Some(report.at_ms.saturating_add(pause));
        true
    }
}

type Keys = BTreeMap<String, Usage>;

/// The keys of all agents.
#[derive(Debug)]
pub(crate) struct Cooling {
    paths: Paths,
    agents: Mutex<HashMap<String, Keys>>,
}

impl Cooling {
    pub(crate) fn new(paths: &Paths) -> Self {
        Self {
            paths: paths.clone(),
            agents: Mutex::default(),
        }
    }

    /// Takes note of what turns learned.
    pub(crate) fn take(&self, reports: &[Report]) {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        for report in reports {
            let file = self.file(&report.agent_id);
            let keys = agents
                .entry(report.agent_id.clone())
                .or_insert_with(|| read(&file));
            let usage = keys.entry(report.id.clone()).or_default();
            let had_failed = usage.failure_count > 0;
            // That a key works as ever is worth no write for each answer.
            let is_news = usage.take(report) && (had_failed || report.used != Use::Answered);
            if is_news && let Err(error) = write_keys(&file, keys) {
                tracing::warn!(%error, path = %file.display(), "a key's failures are not kept");
            }
        }
    }

    /// Puts those that are left alone behind the others, the one that is to be
    /// asked again first before the rest. Returns until when the first was to
    /// be left alone, when another model has taken its place.
    pub(crate) fn arrange(&self, route: &mut [Stop]) -> Option<(String, i64)> {
        let now = jiff::Timestamp::now().as_millisecond();
        let first = route.first()?.clone();
        let mut until: HashMap<(String, String), i64> = HashMap::new();
        for stop in route.iter() {
            let end = self.until(&stop.agent_id, stop.id());
            until.insert((stop.agent_id.clone(), stop.id().to_owned()), end);
        }
        let end = |stop: &Stop| {
            let key = (stop.agent_id.clone(), stop.id().to_owned());
            until
                .get(&key)
                .copied()
                .filter(|end| *end > now)
                .unwrap_or(0)
        };
        route.sort_by_key(end);
        let changed = !route.first()?.is_same_model(&first);
        changed.then(|| (first.name(), end(&first)))
    }

    fn until(&self, agent_id: &str, id: &str) -> i64 {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = agents
            .entry(agent_id.to_owned())
            .or_insert_with(|| read(&self.file(agent_id)));
        keys.get(id)
            .and_then(|usage| usage.cooldown_until)
            .unwrap_or(0)
    }

    fn file(&self, agent_id: &str) -> PathBuf {
        self.paths.agent(agent_id).join("auth").join("usage.json")
    }
}

/// A file that cannot be read is an empty one: nothing but a pause is lost.
fn read(file: &Path) -> Keys {
    let text = std::fs::read(file).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn write_keys(file: &Path, keys: &Keys) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        crate::places::make(folder).map_err(io::Error::other)?;
    }
    let mut text = serde_json::to_vec_pretty(keys)?;
    text.push(b'\n');
    write::atomic(file, &text)
}

#[cfg(test)]
mod tests {
    use openclaw_config::Environment;

    use super::*;

    fn report(used: Use, at_ms: i64, retry_after_ms: u64) -> Report {
        Report {
            agent_id: "main".to_owned(),
            id: "a".to_owned(),
            used,
            at_ms,
            retry_after_ms,
        }
    }

    fn stop(id: &str, model: &str) -> Stop {
        Stop {
            provider: id.to_owned(),
            base_url: String::new(),
            anthropic: true,
            model: model.to_owned(),
            key: None,
            price: None,
            agent_id: "main".to_owned(),
        }
    }

    #[test]
    fn pauses_grow_with_failures_and_end_with_an_answer() {
        let mut usage = Usage::default();
        let mut pauses = Vec::new();
        for at in 1..=4 {
            assert!(usage.take(&report(Use::Busy, at * 1000, 0)));
            pauses.push(usage.cooldown_until.unwrap() - at * 1000);
        }
        assert_eq!(pauses, [30_000, 60_000, 300_000, 300_000]);
        assert!(!usage.take(&report(Use::Busy, 4000, 0)), "read again");
        assert!(usage.take(&report(Use::Answered, 5000, 0)));
        assert_eq!((usage.failure_count, usage.cooldown_until), (0, None));
        usage.take(&report(Use::Busy, 6000, 45_000));
        assert_eq!(
            usage.cooldown_until,
            Some(51_000),
            "the provider's wish is longer"
        );
        usage.take(&report(Use::Refused, 7000, 0));
        assert_eq!(usage.cooldown_until, Some(607_000));
        usage.take(&report(Use::Busy, 7000 + 2 * FORGOTTEN_MS, 0));
        assert_eq!(usage.failure_count, 1, "what was long ago does not count");
    }

    #[test]
    fn who_is_left_alone_comes_last_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let now = jiff::Timestamp::now().as_millisecond();
        Cooling::new(&paths).take(&[report(Use::Busy, now, 0)]);
        let mut route = [stop("a", "x"), stop("b", "y")];
        let again = Cooling::new(&paths);
        let (name, until) = again.arrange(&mut route).unwrap();
        assert_eq!((name.as_str(), until), ("a/x", now + 30_000));
        assert_eq!(route[0].provider, "b");
        let mut alone = [stop("a", "x")];
        assert_eq!(again.arrange(&mut alone), None, "nobody is locked out");
    }
}
