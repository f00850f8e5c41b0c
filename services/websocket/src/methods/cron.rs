//! `cron.*`: scheduled jobs.

use crate::refused::unrecorded;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::now_ms;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use openclaw_schedule::Refused;
use openclaw_schedule::job::{self, Job};

use super::{Answer, Call};

methods! {
    "cron.add" => ADMIN, add;
    "cron.get" => READ, get;
    "cron.list" => READ, list;
    "cron.remove" => ADMIN, remove;
    "cron.run" => ADMIN, run;
    "cron.runs" => READ, runs;
    "cron.status" => READ, status;
    "cron.update" => ADMIN, update;
}

/// Entries of a page when the client does not say how many.
const DEFAULT_LIMIT: usize = 50;

/// The most it may ask for.
const LIMIT: usize = 200;

fn refused(method: &str, refused: Refused) -> Failure {
    match refused {
        Refused::Invalid(invalid) => Failure::params(method, &invalid.to_string()),
        Refused::Fault(fault) => unrecorded(fault),
        Refused::Unknown(id) => unknown(&id),
        Refused::Changed
        | Refused::Running
        | Refused::OverBudget
        | Refused::Heartbeat
        | Refused::Agent(_) => Failure::invalid(refused.to_string()),
        Refused::TooMany => Failure::unavailable(refused.to_string()),
    }
}

fn unknown(id: &str) -> Failure {
    Failure::invalid(format!("cron job not found: {id}"))
        .with_details(json!({ "code": "CRON_JOB_NOT_FOUND", "jobId": id }))
}

/// Jobs are named by `id` or by `jobId`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    id: Option<Filled>,
    job_id: Option<Filled>,
    mode: Option<String>,
}

impl Named {
    fn id(self, method: &str) -> Result<String, Failure> {
        let id = self.id.or(self.job_id);
        id.map(|id| id.0)
            .ok_or_else(|| Failure::params(method, "must have required property 'id'"))
    }
}

async fn find(call: &Call, id: &str) -> Result<Job, Failure> {
    let found = call
        .context
        .schedule
        .jobs
        .find(id)
        .await
        .map_err(unrecorded)?;
    found.ok_or_else(|| unknown(id))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    limit: Option<usize>,
    offset: Option<usize>,
    include_disabled: Option<bool>,
    query: Option<String>,
    enabled: Option<String>,
    schedule_kind: Option<String>,
    last_run_status: Option<String>,
    agent_id: Option<Filled>,
    sort_by: Option<String>,
    sort_dir: Option<String>,
}

/// `cron.list`
async fn list(mut call: Call) -> Result<Answer, Failure> {
    let params: List = call.params()?;
    let mut jobs = call.context.schedule.jobs.all().await.map_err(unrecorded)?;
    jobs.retain(|job| params.wants(job));
    match params.sort_by.as_deref() {
        Some("name") => jobs.sort_by(|a, b| a.name.cmp(&b.name)),
        Some("updatedAtMs") => jobs.sort_by_key(|job| job.updated_at_ms),
        _ => jobs.sort_by_key(|job| job.next_ms().unwrap_or(i64::MAX)),
    }
    if params.sort_dir.as_deref() == Some("desc") {
        jobs.reverse();
    }
    let total = jobs.len();
    let revision = job::revision(&jobs);
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, LIMIT);
    let offset = params.offset.unwrap_or(0).min(total);
    let shown = jobs.iter().skip(offset).take(limit);
    let previews: Map<String, Value> = shown
        .clone()
        .map(|job| (job.id().to_owned(), job.delivery_preview()))
        .collect();
    let mut page = Vec::new();
    for job in shown {
        page.push(call.context.schedule.shown(job).await);
    }
    let next = offset + page.len();
    Ok(json!({
        "jobs": page,
        "snapshotRevision": revision,
        "deliveryPreviews": previews,
        "total": total,
        "offset": offset,
        "limit": limit,
        "hasMore": next < total,
        "nextOffset": (next < total).then_some(next),
    })
    .into())
}

impl List {
    fn wants(&self, job: &Job) -> bool {
        let enabled = match self.enabled.as_deref() {
            Some("enabled") => job.enabled,
            Some("disabled") => !job.enabled,
            Some(_) => true,
            None => job.enabled || self.include_disabled != Some(false),
        };
        let kind = self.schedule_kind.as_deref().filter(|kind| *kind != "all");
        let status = self.last_run_status.as_deref().filter(|it| *it != "all");
        let query = self.query.as_deref().map(str::to_lowercase);
        enabled
            && kind.is_none_or(|kind| job.schedule.kind() == kind)
            && status.is_none_or(|status| job.last_status().unwrap_or("unknown") == status)
            && query.is_none_or(|query| job.searched().contains(&query))
            && self
                .agent_id
                .as_deref()
                .is_none_or(|id| job.agent_id() == Some(id))
    }
}

/// `cron.status`
async fn status(call: Call) -> Result<Answer, Failure> {
    let jobs = call.context.schedule.jobs.all().await.map_err(unrecorded)?;
    let settings = call.context.core.configuration.settings();
    let is_on = settings.cron_enabled && !call.context.core.is_stopping();
    let next = jobs.iter().filter_map(Job::next_ms).min();
    let path = settings.paths.ledger();
    Ok(json!({
        "enabled": is_on,
        "storePath": path.display().to_string(),
        "jobs": jobs.len(),
        "nextWakeAtMs": next.filter(|_| is_on),
    })
    .into())
}

/// `cron.get`
async fn get(mut call: Call) -> Result<Answer, Failure> {
    let id = call.params::<Named>()?.id(call.method)?;
    let job = find(&call, &id).await?;
    Ok(call.context.schedule.shown(&job).await.into())
}

/// `cron.add`
async fn add(mut call: Call) -> Result<Answer, Failure> {
    let params: Map<String, Value> = call.params()?;
    let agent = params.get("agentId").and_then(Value::as_str);
    if let Some(agent) = agent {
        super::agents::known(&call.context.core.configuration.settings(), agent)?;
    }
    let added = call.context.schedule.add(Value::Object(params)).await;
    let job = added.map_err(|error| refused(call.method, error))?;
    Ok(job.to_json().into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Update {
    id: Option<Filled>,
    job_id: Option<Filled>,
    patch: Map<String, Value>,
    expected_config_revision: Option<Filled>,
}

/// `cron.update`
async fn update(mut call: Call) -> Result<Answer, Failure> {
    let params: Update = call.params()?;
    let id = params.id.or(params.job_id);
    let id = id.ok_or_else(|| Failure::params(call.method, "must have required property 'id'"))?;
    let expected = params.expected_config_revision.map(|expected| expected.0);
    let schedule = &call.context.schedule;
    let changed = schedule.change(&id, params.patch, expected).await;
    let job = changed.map_err(|error| refused(call.method, error))?;
    Ok(job.to_json().into())
}

/// `cron.remove`
async fn remove(mut call: Call) -> Result<Answer, Failure> {
    let id = call.params::<Named>()?.id(call.method)?;
    let removed = call.context.schedule.remove(&id).await;
    if !removed.map_err(|error| refused(call.method, error))? {
        return Err(unknown(&id));
    }
    Ok(json!({ "ok": true, "removed": true }).into())
}

/// `cron.run`: now, or only when it is due.
async fn run(mut call: Call) -> Result<Answer, Failure> {
    let params: Named = call.params()?;
    let mode = params.mode.clone();
    let id = params.id(call.method)?;
    let job = find(&call, &id).await?;
    let due = job.next_ms().is_some_and(|next| next <= now_ms());
    let reason = match mode.as_deref() {
        Some("due") if !due => Some("not-due"),
        Some("if-enabled") if !job.enabled => Some("disabled"),
        _ => None,
    };
    if let Some(reason) = reason {
        return Ok(json!({ "ok": true, "ran": false, "reason": reason }).into());
    }
    let started = match call.context.schedule.run_now(job.id()).await {
        Err(Refused::Running) => {
            let reason = "already-running";
            return Ok(json!({ "ok": true, "ran": false, "reason": reason }).into());
        }
        started => started,
    };
    let run_id = started.map_err(|error| refused(call.method, error))?;
    Ok(json!({ "ok": true, "enqueued": true, "runId": run_id }).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Runs {
    id: Option<Filled>,
    job_id: Option<Filled>,
    run_id: Option<Filled>,
    limit: Option<usize>,
    offset: Option<usize>,
    status: Option<String>,
}

/// `cron.runs`: how runs ended, the newest first.
async fn runs(mut call: Call) -> Result<Answer, Failure> {
    let params: Runs = call.params()?;
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, LIMIT);
    let offset = params.offset.unwrap_or(0);
    let status = params.status.filter(|status| status != "all");
    let run_id = params.run_id.map(|id| id.0);
    let keep = move |entry: &Value| {
        let is = |field: &str, wanted: &Option<String>| {
            wanted
                .as_deref()
                .is_none_or(|wanted| entry[field] == wanted)
        };
        is("status", &status) && is("runId", &run_id)
    };
    let job_id = params.id.or(params.job_id).map(|id| id.0);
    let runs = call
        .context
        .schedule
        .jobs
        .runs(job_id, keep, offset, limit)
        .await
        .map_err(unrecorded)?;
    let next = offset + runs.entries.len();
    Ok(json!({
        "entries": runs.entries,
        "total": runs.total,
        "offset": offset,
        "limit": limit,
        "hasMore": next < runs.total,
        "nextOffset": (next < runs.total).then_some(next),
    })
    .into())
}
