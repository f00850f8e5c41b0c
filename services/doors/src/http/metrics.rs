//! `GET /metrics`, when it is enabled (Prometheus' text format, 0.0.4).

use std::fmt::{Display, Write as _};
use std::fs;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};

use super::answer;
use super::authorized::Authorized;
use super::problem::Problem;
use crate::doors::Doors;

/// What Prometheus sends as `Accept` and expects back.
const TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The figures.
pub(super) async fn metrics(
    State(doors): State<Arc<Doors>>,
    _: Authorized,
) -> Result<Response<Body>, Problem> {
    if !doors.front.settings().gateway.metrics {
        return Err(Problem::not_found("/metrics"));
    }
    Ok(answer::text(StatusCode::OK, TYPE, figures(&doors)))
}

fn figures(doors: &Doors) -> String {
    let mut page = Page::default();
    let (runs, http) = (&doors.core.counters.runs, &doors.answers);
    let (running, waiting) = doors.core.lanes.counts();
    page.family("openclaw_build_info", "gauge", "The gateway's version.");
    let version = concat!("{version=\"", env!("CARGO_PKG_VERSION"), "\"}");
    page.sample("openclaw_build_info", version, 1);
    page.single(
        "openclaw_uptime_seconds",
        "gauge",
        "Time since the gateway started.",
        doors.core.started.elapsed().as_secs(),
    );
    page.single(
        "openclaw_sessions",
        "gauge",
        "Sessions in the indexes.",
        doors.core.storage.session_count(),
    );
    page.single(
        "openclaw_turns_running",
        "gauge",
        "Turns under way.",
        running,
    );
    page.single(
        "openclaw_turns_waiting",
        "gauge",
        "Messages that wait for their turn.",
        waiting,
    );
    page.counters(
        "openclaw_runs_total",
        "Runs that ended, by outcome.",
        "outcome",
        runs.all(),
    );
    page.counters(
        "openclaw_http_responses_total",
        "HTTP answers, by class of status.",
        "class",
        http.all(),
    );
    page.single(
        "openclaw_auth_failures_total",
        "counter",
        "Clients that were refused for a wrong token.",
        doors.front.denied.get(),
    );
    if let Some(bytes) = resident() {
        page.single(
            "process_resident_memory_bytes",
            "gauge",
            "Resident memory of the gateway.",
            bytes,
        );
    }
    page.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, "", value);
    }

    fn counters(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl Iterator<Item = (&'static str, u64)>,
    ) {
        self.family(name, "counter", help);
        for (which, value) in values {
            self.sample(name, &format!("{{{label}=\"{which}\"}}"), value);
        }
    }
}

/// The gateway's resident memory in bytes (proc_pid_status(5)).
pub fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
