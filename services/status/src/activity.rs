//! What is under way, what is next, and what failed lately.

use std::time::Duration;

use openclaw_config::Paths;
use openclaw_proto::call::{CallError, within};
use openclaw_proto::gateway::Turn;
use openclaw_proto::{gateway, schedule};
use serde::Serialize;

/// Turns that are looked at for failures.
const TURNS: u32 = 20;
/// How long a failure is news, in milliseconds: a day.
const NEWS_MS: i64 = 24 * 60 * 60 * 1000;
/// Failures that are shown.
const SHOWN: usize = 3;
/// The longest the gateway may take: it may be started for it.
const DEADLINE: Duration = Duration::from_secs(20);

/// Nothing where the gateway does not answer, which is said elsewhere.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Activity {
    /// Jobs that are on.
    pub(crate) jobs: u64,
    /// The job that is due next.
    pub(crate) next_job: Option<NextJob>,
    /// Turns that failed within a day, the newest first.
    pub(crate) failures: Vec<TurnFailure>,
}

/// A job that is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NextJob {
    pub(crate) name: String,
    /// Unix milliseconds.
    pub(crate) at_ms: i64,
}

/// A turn that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnFailure {
    pub(crate) run_id: String,
    pub(crate) session_key: String,
    pub(crate) ended_ms: i64,
    pub(crate) reason: String,
}

pub(crate) async fn ask(paths: &Paths) -> Activity {
    let socket = paths.gateway_socket();
    let schedule = schedule::Client::new(socket.clone());
    let client = gateway::Client::new(socket);
    let (jobs, turns) = tokio::join!(
        within(DEADLINE, schedule.jobs()),
        within(DEADLINE, client.list_turns(TURNS)),
    );
    told(jobs, turns, now_ms())
}

fn told(
    jobs: Result<(Vec<schedule::Job>, bool), CallError>,
    turns: Result<Vec<Turn>, CallError>,
    now_ms: i64,
) -> Activity {
    let (jobs, is_on) = jobs.unwrap_or_default();
    let mut on = jobs.into_iter().filter(|job| job.is_enabled).peekable();
    let next = on.peek().filter(|_| is_on).and_then(|job| {
        let at_ms = job.next_ms?;
        let name = job.name.clone();
        Some(NextJob { name, at_ms })
    });
    let failed = turns.unwrap_or_default().into_iter().filter_map(|turn| {
        let ended_ms = turn.ended_ms?;
        let is_news = turn.state == "failed" && now_ms - ended_ms < NEWS_MS;
        is_news.then_some(TurnFailure {
            run_id: turn.run_id,
            session_key: turn.session_key,
            ended_ms,
            reason: turn.reason,
        })
    });
    Activity {
        next_job: next,
        jobs: on.count() as u64,
        failures: failed.take(SHOWN).collect(),
    }
}

pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, is_enabled: bool, next_ms: Option<i64>) -> schedule::Job {
        schedule::Job {
            id: name.to_owned(),
            name: name.to_owned(),
            is_enabled,
            fields: serde_json::Value::Null,
            next_ms,
            is_running: false,
        }
    }

    #[test]
    fn next_job_is_one_that_runs_and_old_failures_are_no_news() {
        let jobs = || vec![job("off", false, Some(1)), job("mail", true, Some(2))];
        let turn = |state: &str, ended_ms| Turn {
            state: state.to_owned(),
            ended_ms: Some(ended_ms),
            ..Turn::default()
        };
        let now = 2 * NEWS_MS;
        let turns = vec![
            turn("done", now),
            turn("failed", now - 1),
            turn("failed", 1),
        ];
        let activity = told(Ok((jobs(), true)), Ok(turns), now);
        assert_eq!(activity.jobs, 1);
        assert_eq!(activity.next_job.unwrap().name, "mail");
        assert_eq!(activity.failures.len(), 1);
        let off = told(Ok((jobs(), false)), Ok(Vec::new()), now);
        assert_eq!(off.next_job, None);
    }
}
