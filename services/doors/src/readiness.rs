//! Whether a message would be answered.

mod disk;

use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_proto::call::{CallError, within};
use openclaw_runs::Core;
use serde_json::{Value, json};
use tokio::sync::Mutex;

/// How long another daemon may take to say that it is there. Its unit may have to be started first.
const DEADLINE: Duration = Duration::from_secs(3);
/// Who asks more often gets the same answer: the checks reach other daemons
/// and the disk, and everybody may ask.
const FRESH: Duration = Duration::from_secs(1);

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// What is looked at, for programs.
    pub name: &'static str,
    /// Why it fails, if it does.
    pub problem: Option<String>,
}

/// Everything that a message needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub(crate) checks: Vec<Check>,
}

/// The last report.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Arc<Report>)>>);

impl Report {
    /// Whether a message would be answered.
    pub fn is_ready(&self) -> bool {
        self.failing().next().is_none()
    }

    /// The names of what fails.
    pub(crate) fn failing(&self) -> impl Iterator<Item = &'static str> {
        let failing = self.checks.iter().filter(|check| check.problem.is_some());
        failing.map(|check| check.name)
    }

    /// The checks, for those who may know.
    pub fn details(&self) -> Value {
        let check = |check: &Check| match &check.problem {
            None => json!({"name": check.name, "ok": true}),
            Some(problem) => json!({"name": check.name, "ok": false, "problem": problem}),
        };
        self.checks.iter().map(check).collect()
    }
}

impl Readiness {
    /// How it is now, or was a moment ago.
    pub(crate) async fn report(&self, core: &Core) -> Arc<Report> {
        // Held while the checks run: all who ask meanwhile share them.
        let mut last = self.0.lock().await;
        if let Some((at, report)) = last.as_ref()
            && at.elapsed() < FRESH
        {
            return Arc::clone(report);
        }
        let report = Arc::new(look(core).await);
        *last = Some((Instant::now(), Arc::clone(&report)));
        report
    }
}

async fn look(core: &Core) -> Report {
    let state = core.configuration.settings().paths.state.clone();
    let (runner, memory, disk) = tokio::join!(
        reach(core.runner.status()),
        reach(core.memory.status()),
        disk::check(state),
    );
    let stopping = core.is_stopping().then(|| "the gateway stops".to_owned());
    let all = [
        ("gateway", stopping),
        ("runner", runner),
        ("memory", memory),
        ("disk", disk),
    ];
    Report {
        checks: all.map(|(name, problem)| Check { name, problem }).into(),
    }
}

async fn reach<T>(call: impl Future<Output = Result<T, CallError>>) -> Option<String> {
    let failed = within(DEADLINE, call).await.err();
    failed.map(|error| error.to_string())
}
