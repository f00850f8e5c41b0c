//! `/healthz` says that the process lives, `/readyz` that a message would be
//! answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use openclaw_daemon::failure;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{answer, authorized, disk};
use crate::doors::Doors;

/// How long another daemon may take to say that it is there. Its unit may have
/// to be started first.
const DEADLINE: Duration = Duration::from_secs(3);
/// Who asks more often gets the same answer: the checks reach other daemons
/// and the disk, and everybody may ask.
const FRESH: Duration = Duration::from_secs(1);

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    /// Why it fails, if it does.
    pub(crate) problem: Option<String>,
}

/// Everything that a message needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) checks: Vec<Check>,
}

/// The last report.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<Option<(Instant, Arc<Report>)>>);

impl Report {
    /// Whether a message would be answered.
    pub(crate) fn is_ready(&self) -> bool {
        self.failing().next().is_none()
    }

    /// The names of what fails.
    pub(crate) fn failing(&self) -> impl Iterator<Item = &'static str> {
        let failing = self.checks.iter().filter(|check| check.problem.is_some());
        failing.map(|check| check.name)
    }

    fn details(&self) -> Value {
        let check = |check: &Check| match &check.problem {
            None => json!({"name": check.name, "ok": true}),
            Some(problem) => json!({"name": check.name, "ok": false, "problem": problem}),
        };
        self.checks.iter().map(check).collect()
    }
}

impl Health {
    /// How it is now, or was a moment ago.
    pub(crate) async fn report(&self, doors: &Doors) -> Arc<Report> {
        // Held while the checks run: all who ask meanwhile share them.
        let mut last = self.0.lock().await;
        if let Some((at, report)) = last.as_ref()
            && at.elapsed() < FRESH
        {
            return Arc::clone(report);
        }
        let report = Arc::new(look(doors).await);
        *last = Some((Instant::now(), Arc::clone(&report)));
        report
    }
}

async fn look(doors: &Doors) -> Report {
    let state = doors.front.settings().paths.state.clone();
    let (runner, memory, disk) = tokio::join!(
        reach(doors.core.runner.status()),
        reach(doors.core.memory.status()),
        disk::check(state),
    );
    let stopping = doors
        .core
        .is_stopping()
        .then(|| "the gateway stops".to_owned());
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

async fn reach<T>(call: impl Future<Output = Result<T, tonic::Status>>) -> Option<String> {
    match tokio::time::timeout(DEADLINE, call).await {
        Ok(Ok(_)) => None,
        Ok(Err(status)) => {
            let cause = std::error::Error::source(&status).map(failure::chain);
            Some(cause.unwrap_or_else(|| status.message().to_owned()))
        }
        Err(_) => Some(format!("no answer within {DEADLINE:?}")),
    }
}

/// `/healthz`.
pub(super) async fn live() -> Response<Body> {
    answer::json(StatusCode::OK, &json!({"ok": true, "status": "live"}))
}

/// `/readyz`. Why something fails is told to those who have the token: it
/// names paths.
pub(super) async fn ready(State(doors): State<Arc<Doors>>, request: Request) -> Response<Body> {
    let report = doors.health.report(&doors).await;
    let status = if report.is_ready() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let failing: Vec<&str> = report.failing().collect();
    let uptime = u64::try_from(doors.core.started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut document = json!({
        "ready": report.is_ready(),
        "failing": failing,
        "uptimeMs": uptime,
    });
    let (parts, _) = request.into_parts();
    if authorized::is_authorized(&doors, &parts) {
        document["checks"] = report.details();
    }
    answer::json(status, &document)
}
