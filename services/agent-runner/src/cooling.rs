//! Which keys are left alone for a while: `agents/<id>/auth/usage.json`, which
//! only this daemon writes (seed 003 §5).
//!
//! A key that is left alone is asked after the others, and never not at all:
//! one request that went wrong does not lock anybody out.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use openclaw_config::Paths;
use openclaw_credentials::RenewalRefused;
use openclaw_credentials::usage::{self, Failure, Usage};
use openclaw_handoff::report::{Report, Use};
use openclaw_model_api::route::Stop;

/// Failures longer ago than this do not count any more: a day.
const FORGOTTEN_MS: u64 = 24 * 3600 * 1000;

/// Takes a report into a key's use; false when it was read before.
fn take(usage: &mut Usage, report: &Report) -> bool {
    let last = usage.last_used.max(usage.last_failed);
    if last.is_some_and(|last| last >= report.at_ms) {
        return false;
    }
    if last.is_some_and(|last| report.at_ms - last > FORGOTTEN_MS) {
        usage.failure_count = 0;
    }
    match report.used {
        Use::Answered => usage.succeeded(report.at_ms),
        Use::Refused => usage.failed(Failure::Refused, report.at_ms),
        Use::Busy => {
            usage.failed(Failure::Busy, report.at_ms);
            let wish = report.at_ms.saturating_add(report.retry_after_ms);
            usage.cooldown_until = usage.cooldown_until.max(Some(wish));
        }
    }
    true
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
            let file = usage::file(&self.paths, &report.agent_id);
            let keys = agents
                .entry(report.agent_id.clone())
                .or_insert_with(|| usage::read(&file));
            let used = keys.entry(report.id.clone()).or_default();
            let had_failed = used.failure_count > 0;
            // That a key works as ever is worth no write for each answer.
            let is_news = take(used, report) && (had_failed || report.used != Use::Answered);
            if is_news && let Err(error) = write_keys(&file, keys) {
                openclaw_daemon::failure::report_at("keep a key's failures", &file, &error);
            }
        }
    }

    /// Takes note of a login that its provider did not renew.
    pub(crate) fn renewal_refused(&self, agent_id: &str, id: &str, refused: RenewalRefused) {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let file = usage::file(&self.paths, agent_id);
        let keys = agents
            .entry(agent_id.to_owned())
            .or_insert_with(|| usage::read(&file));
        keys.entry(id.to_owned()).or_default().renewal_refused = Some(refused);
        if let Err(error) = write_keys(&file, keys) {
            openclaw_daemon::failure::report_at("keep why a login is not renewed", &file, &error);
        }
    }

    /// Puts those that are left alone behind the others, the one that is to be
    /// asked again first before the rest. Returns until when the first was to
    /// be left alone, when another model has taken its place.
    pub(crate) fn arrange(&self, route: &mut [Stop]) -> Option<(String, u64)> {
        let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
        let first = route.first()?.clone();
        let end = |stop: &Stop| self.until(stop).filter(|end| *end > now).unwrap_or(0);
        route.sort_by_cached_key(end);
        let changed = !route.first()?.is_same_model(&first);
        changed.then(|| (first.name(), end(&first)))
    }

    fn until(&self, stop: &Stop) -> Option<u64> {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = agents
            .entry(stop.agent_of_key().to_owned())
            .or_insert_with(|| usage::read(&usage::file(&self.paths, stop.agent_of_key())));
        match keys.get(stop.id()) {
            Some(usage) => usage.cooldown_until,
            None => stop.key.as_ref()?.cooldown_until,
        }
    }
}

fn write_keys(file: &Path, keys: &Keys) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        openclaw_backends::places::make_secret(folder).map_err(io::Error::other)?;
    }
    usage::write(file, keys)
}

#[cfg(test)]
mod tests {
    use openclaw_config::Environment;

    use super::*;

    fn report(used: Use, at_ms: u64, retry_after_ms: u64) -> Report {
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
            sees_images: false,
            wanted: Default::default(),
            max_tokens: 1,
            agent_id: "main".to_owned(),
        }
    }

    #[test]
    fn pauses_grow_with_failures_and_end_with_an_answer() {
        let mut usage = Usage::default();
        let mut pauses = Vec::new();
        for at in 1..=4 {
            assert!(take(&mut usage, &report(Use::Busy, at * 1000, 0)));
            pauses.push(usage.cooldown_until.unwrap() - at * 1000);
        }
        assert_eq!(pauses, [30_000, 60_000, 300_000, 300_000]);
        assert!(!take(&mut usage, &report(Use::Busy, 4000, 0)), "read again");
        assert!(take(&mut usage, &report(Use::Answered, 5000, 0)));
        assert_eq!((usage.failure_count, usage.cooldown_until), (0, None));
        take(&mut usage, &report(Use::Busy, 6000, 45_000));
        assert_eq!(
            usage.cooldown_until,
            Some(51_000),
            "the provider's wish is longer"
        );
        take(&mut usage, &report(Use::Refused, 7000, 0));
        assert_eq!(usage.cooldown_until, Some(607_000));
        take(&mut usage, &report(Use::Busy, 7000 + 2 * FORGOTTEN_MS, 0));
        assert_eq!(usage.failure_count, 1, "what was long ago does not count");
    }

    #[test]
    fn refused_renewal_is_kept_until_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let cooling = Cooling::new(&paths);
        let refused = RenewalRefused {
            expires: Some(5),
            why: "no".to_owned(),
        };
        cooling.renewal_refused("main", "a", refused.clone());
        let kept = || {
            usage::read(&usage::file(&paths, "main"))["a"]
                .renewal_refused
                .clone()
        };
        assert_eq!(kept(), Some(refused));
        cooling.take(&[report(Use::Busy, 10, 0)]);
        assert!(kept().is_some(), "the provider was busy, no more");
        cooling.take(&[report(Use::Answered, 20, 0)]);
        assert_eq!(kept(), None);
    }

    #[test]
    fn cooling_who_is_left_alone_comes_last_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap();
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
