//! Runs jobs when they are due.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_daemon::failure;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::Message;
use openclaw_sessions::{SessionKey, now_ms};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::job::{Ended, Job, Payload};
use super::{Refused, event};
use crate::gateway::Gateway;
use crate::refusal::Refusal;
use crate::submission::{Extra, Started};
use crate::system_event::{self, When};
use crate::ws;

/// The channel of turns that a job asks for.
const CHANNEL: &str = "cron";

/// The longest sleep: the clock may be set, and the machine suspended.
const NAP: Duration = Duration::from_secs(60);

/// Jobs that are started in one go.
const BATCH: usize = 16;

/// Runs what is due until the gateway is gone. Jobs that were due while it was
/// not there are run once.
pub(crate) async fn keep_time(gateway: Weak<Gateway>) {
    if let Some(gateway) = gateway.upgrade() {
        take_up(&gateway).await;
    }
    while let Some(gateway) = gateway.upgrade() {
        let nap = match start_due(&gateway).await {
            Ok(next) => next.map_or(NAP, until).min(NAP),
            Err(fault) => {
                failure::report("look for jobs that are due, trying again later", &fault);
                NAP
            }
        };
        tokio::select! {
            () = gateway.schedule.changed.notified() => {}
            () = sleep(nap) => {}
        }
    }
}

fn until(next_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(next_ms - now_ms()).unwrap_or_default())
}

/// Jobs whose run the last gateway did not see the end of. A turn went on
/// without it, or was begun again; what it is asked again is the same run.
async fn take_up(gateway: &Arc<Gateway>) {
    let Ok(jobs) = gateway.schedule.all().await else {
        return;
    };
    for mut job in jobs {
        if let (Some(started), Payload::AgentTurn { .. }) = (job.running_since(), &job.payload) {
            let run_id = run_id(&job, started);
            gateway.spawn(finish(Arc::clone(gateway), job, run_id, started));
            continue;
        }
        let before = job.clone();
        job.forget_run(now_ms());
        if job != before
            && let Err(fault) = gateway.schedule.update(&job).await
        {
            failure::report("take a job up again", &fault);
        }
    }
}

/// Starts what is due; says when the next one is.
async fn start_due(gateway: &Arc<Gateway>) -> Result<Option<i64>, crate::desk::Fault> {
    let now = now_ms();
    let mut jobs = gateway.schedule.all().await?;
    jobs.retain(|job| !job.is_running());
    let due = jobs
        .iter()
        .filter(|job| job.next_ms().is_some_and(|next| next <= now));
    for job in due.take(BATCH) {
        if let Err(refused) = begin(gateway, job.clone()).await {
            tracing::error!(job = job.id(), "cannot run a scheduled job: {refused}");
        }
    }
    let later = jobs
        .iter()
        .filter_map(Job::next_ms)
        .filter(|next| *next > now);
    Ok(later.min())
}

/// Runs a job now, due or not; its run's id. Returns once it is under way.
pub(crate) async fn run_now(gateway: &Arc<Gateway>, job: Job) -> Result<String, Refused> {
    begin(gateway, job).await
}

async fn begin(gateway: &Arc<Gateway>, mut job: Job) -> Result<String, Refused> {
    let started = now_ms();
    job.begin(started);
    gateway.schedule.update(&job).await?;
    ws::tell_cron(gateway, || event(job.id(), "started", Some(&job)));
    let run_id = run_id(&job, started);
    let work = finish(Arc::clone(gateway), job, run_id.clone(), started);
    gateway.spawn(work);
    Ok(run_id)
}

/// What clients know the run by that began at `started`.
fn run_id(job: &Job, started: i64) -> String {
    format!("cron:{}:{started}", job.id())
}

async fn finish(gateway: Arc<Gateway>, mut job: Job, run_id: String, started: i64) {
    let result = perform(&gateway, &job, &run_id).await;
    let ended = now_ms();
    let (summary, error) = match result {
        Ok(summary) => (Some(summary), None),
        Err(error) => (None, Some(error)),
    };
    // It may have been changed meanwhile.
    if let Ok(Some(current)) = gateway.schedule.find(job.id()).await {
        job = current;
    }
    job.end(&Ended {
        at_ms: started,
        took_ms: ended - started,
        error: error.clone(),
    });
    let entry = entry(&job, &run_id, (started, ended), summary, error);
    let noted = gateway
        .schedule
        .note(job.id(), Some(run_id), entry.clone())
        .await;
    let kept = if job.ends_with_its_run() {
        gateway.schedule.remove(job.id()).await.map(|_| ())
    } else {
        gateway.schedule.update(&job).await
    };
    if let Err(fault) = noted.and(kept) {
        failure::report("note how a job ended", &fault);
    }
    let tell = || {
        let mut told = event(job.id(), "finished", Some(&job));
        merge(&mut told, entry);
        told
    };
    ws::tell_cron(&gateway, tell);
}

/// Does what the job says; a summary, or why it failed.
async fn perform(gateway: &Arc<Gateway>, job: &Job, run_id: &str) -> Result<String, String> {
    let words = |refusal: Refusal| failure::chain(&refusal);
    let key = target(gateway, job).map_err(words)?;
    match &job.payload {
        Payload::SystemEvent { text, .. } => {
            let when = match job.wake_mode.as_str() {
                "now" => When::Now,
                _ => When::NextTurn,
            };
            let woken = system_event::wake(gateway, &key, text, when).await;
            woken.map(|_| "told".to_owned()).map_err(words)
        }
        Payload::AgentTurn { message, rest, .. } => {
            let word = |name: &str| Some(rest.get(name)?.as_str()?.to_owned());
            let extra = Extra {
                model: word("model"),
                thinking_level: word("thinking"),
                ..Extra::default()
            };
            let message = Message {
                text: message.clone(),
                session_key: key.to_string(),
                channel: CHANNEL.to_owned(),
                idempotency_key: run_id.to_owned(),
                ..Message::default()
            };
            let started = gateway.begin(message, extra).await.map_err(words)?;
            let limit = rest.get("timeoutSeconds").and_then(Value::as_u64);
            answer(started, limit.filter(|seconds| *seconds > 0)).await
        }
    }
}

/// What the turn says; it is ended when it takes longer than `limit` seconds.
async fn answer(started: Started, limit: Option<u64>) -> Result<String, String> {
    let Started {
        mut events, run, ..
    } = started;
    let mut told = Box::pin(async move {
        let mut text = String::new();
        while let Some(event) = events.next().await {
            match event.map_err(|status| status.message().to_owned())?.kind {
                Kind::TextDelta { text: more } => text.push_str(&more),
                Kind::Failed(failed) => return Err(failed.message),
                Kind::Aborted { reason, .. } => return Err(format!("aborted: {reason}")),
                _ => {}
            }
        }
        Ok(text.chars().take(SUMMARY_LIMIT).collect())
    });
    let limit = limit.map_or(Duration::MAX, Duration::from_secs);
    match timeout(limit, told.as_mut()).await {
        Ok(result) => result,
        Err(_) => {
            if let Some(run) = run {
                run.end("the job's timeoutSeconds passed");
            }
            told.await
        }
    }
}

/// Characters of a run's summary.
const SUMMARY_LIMIT: usize = 2000;

/// The session a job is run in.
fn target(gateway: &Gateway, job: &Job) -> Result<SessionKey, Refusal> {
    let agent = job.agent_id().unwrap_or_default();
    match job.session_target.as_str() {
        "main" => gateway.key("", agent),
        "isolated" => gateway.key(&format!("cron:{}", job.id()), agent),
        "current" => gateway.key(job.session_key().unwrap_or_default(), agent),
        other => gateway.key(other.strip_prefix("session:").unwrap_or(other), agent),
    }
}

fn entry(
    job: &Job,
    run_id: &str,
    (started, ended): (i64, i64),
    summary: Option<String>,
    error: Option<String>,
) -> Value {
    let mut entry = json!({
        "ts": ended,
        "jobId": job.id(),
        "action": "finished",
        "status": if error.is_some() { "error" } else { "ok" },
        "completionStatus": if error.is_some() { "failed" } else { "succeeded" },
        "runId": run_id,
        "runAtMs": started,
        "durationMs": (ended - started).max(0),
        "deliveryStatus": "not-requested",
        "jobName": job.name,
    });
    if let Some(next) = job.next_ms() {
        entry["nextRunAtMs"] = json!(next);
    }
    if let Some(summary) = summary {
        entry["summary"] = json!(summary);
    }
    if let Some(error) = error {
        entry["error"] = json!(error);
    }
    entry
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        for (name, value) in from {
            into.entry(name).or_insert(value);
        }
    }
}
