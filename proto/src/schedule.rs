//! The jobs of the schedule, seen by their owner.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use crate::address::{self, Channel};
use crate::call::{CallError, read};
use crate::invalid::Invalid;
use crate::wire::gateway as wire;
use wire::schedule_client::ScheduleClient;

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// For people.
    pub name: String,
    /// Whether it is run when it is due.
    pub is_enabled: bool,
    /// All of it, in OpenClaw's fields.
    pub fields: Value,
    /// When it is due next, in Unix milliseconds.
    pub next_ms: Option<i64>,
    /// Whether a run of it is under way.
    pub is_running: bool,
}

/// A run of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobRun {
    /// Its id.
    pub run_id: String,
    /// The job's.
    pub job_id: String,
    /// The job's name; of one that is removed, as it was then. Empty: nobody knows.
    pub job_name: String,
    /// When it was to be, in Unix milliseconds; None: somebody wanted it.
    pub planned_ms: Option<i64>,
    /// The last of the times that it stands for.
    pub until_ms: Option<i64>,
    /// `schedule`, `catch-up` or `hand`.
    pub cause: String,
    /// `due`, `started`, `ran`, `delivered`, `failed` or `skipped`.
    pub state: String,
    /// When it was begun.
    pub started_ms: Option<i64>,
    /// When it was over.
    pub ended_ms: Option<i64>,
    /// The beginning of what was answered.
    pub summary: String,
    /// Why it failed, was skipped, or was not delivered.
    pub reason: String,
}

/// A call of an agent's tool for jobs.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    /// The agent.
    pub agent_id: &'a str,
    /// The session of its turn.
    pub session_key: &'a str,
    /// `cron` or `remind`.
    pub tool: &'a str,
    /// A JSON object.
    pub arguments: &'a Value,
    /// Whether somebody allowed it.
    pub is_approved: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAnswer {
    /// For the model, a JSON document.
    Done(String),
    /// Somebody is to be asked first, and why.
    Ask(String),
}

/// A client of the gateway, for its owner. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(ScheduleClient<Channel>);

impl Client {
    /// A client of the gateway at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        let client = ScheduleClient::new(address::channel(socket));
        Self(client.max_decoding_message_size(crate::MESSAGE_LIMIT))
    }

    /// All jobs, the one that is due next first; and whether they run by
    /// themselves.
    pub async fn jobs(&self) -> Result<(Vec<Job>, bool), CallError> {
        let request = wire::ListJobsRequest {};
        let response = read(|| async { Ok(self.0.clone().list_jobs(request).await?) })
            .await?
            .into_inner();
        let jobs = response.jobs.into_iter().map(Job::try_from);
        Ok((jobs.collect::<Result<_, _>>()?, response.is_on))
    }

    /// Keeps a new job with these fields.
    pub async fn add(&self, fields: &Value) -> Result<Job, CallError> {
        let request = wire::AddJobRequest {
            fields: fields.to_string(),
        };
        let response = self.0.clone().add_job(request).await?.into_inner();
        one(response.job, "AddJobResponse")
    }

    /// Changes these fields of a job; null takes one away.
    pub async fn change(&self, id: &str, fields: &Value) -> Result<Job, CallError> {
        let request = wire::ChangeJobRequest {
            id: id.to_owned(),
            fields: fields.to_string(),
        };
        let response = self.0.clone().change_job(request).await?.into_inner();
        one(response.job, "ChangeJobResponse")
    }

    /// Removes a job.
    pub async fn remove(&self, id: &str) -> Result<(), CallError> {
        let request = wire::RemoveJobRequest { id: id.to_owned() };
        self.0.clone().remove_job(request).await?;
        Ok(())
    }

    /// Removes the jobs that agents made, of one or of all; how many.
    pub async fn remove_made(&self, agent_id: &str) -> Result<u32, CallError> {
        let request = wire::RemoveMadeJobsRequest {
            agent_id: agent_id.to_owned(),
        };
        let response = self.0.clone().remove_made_jobs(request).await?;
        Ok(response.into_inner().removed)
    }

    /// Does what an agent wants with its jobs.
    pub async fn call_tool(&self, call: ToolCall<'_>) -> Result<ToolAnswer, CallError> {
        let request = wire::CallToolRequest {
            agent_id: call.agent_id.to_owned(),
            session_key: call.session_key.to_owned(),
            tool: call.tool.to_owned(),
            arguments: call.arguments.to_string(),
            is_approved: call.is_approved,
        };
        let answer = self.0.clone().call_tool(request).await?.into_inner();
        Ok(if answer.question.is_empty() {
            ToolAnswer::Done(answer.output)
        } else {
            ToolAnswer::Ask(answer.question)
        })
    }

    /// Begins a run of a job; its id.
    pub async fn run(&self, id: &str) -> Result<String, CallError> {
        let request = wire::RunJobRequest { id: id.to_owned() };
        let response = self.0.clone().run_job(request).await?;
        Ok(response.into_inner().run_id)
    }

    /// The last runs of a job, or of all, the newest first.
    pub async fn runs(&self, job_id: Option<&str>, limit: u32) -> Result<Vec<JobRun>, CallError> {
        let request = wire::ListJobRunsRequest {
            job_id: job_id.unwrap_or_default().to_owned(),
            limit,
        };
        let response =
            read(|| async { Ok(self.0.clone().list_job_runs(request.clone()).await?) }).await?;
        let runs = response.into_inner().runs.into_iter();
        Ok(runs.map(JobRun::from).collect())
    }

    /// Makes the gateway look whether a job is due; when the next one is.
    pub async fn wake(&self) -> Result<Option<i64>, CallError> {
        let request = wire::WakeScheduleRequest {};
        let response = self.0.clone().wake_schedule(request).await?;
        Ok(said(response.into_inner().next_ms))
    }
}

fn one(job: Option<wire::Job>, message: &'static str) -> Result<Job, CallError> {
    let job = job.ok_or_else(|| Invalid::missing(message, "job"))?;
    Ok(Job::try_from(job)?)
}

/// Zero is nothing.
fn said(ms: i64) -> Option<i64> {
    Some(ms).filter(|ms| *ms != 0)
}

impl TryFrom<wire::Job> for Job {
    type Error = Invalid;

    fn try_from(job: wire::Job) -> Result<Self, Invalid> {
        let fields = serde_json::from_str(&job.fields)
            .map_err(|error| Invalid::because("Job", "fields", error.to_string()))?;
        Ok(Self {
            id: job.id,
            name: job.name,
            is_enabled: job.is_enabled,
            fields,
            next_ms: said(job.next_ms),
            is_running: job.is_running,
        })
    }
}

impl From<Job> for wire::Job {
    fn from(job: Job) -> Self {
        Self {
            id: job.id,
            name: job.name,
            is_enabled: job.is_enabled,
            fields: job.fields.to_string(),
            next_ms: job.next_ms.unwrap_or_default(),
            is_running: job.is_running,
        }
    }
}

impl From<wire::JobRun> for JobRun {
    fn from(run: wire::JobRun) -> Self {
        Self {
            run_id: run.run_id,
            job_id: run.job_id,
            job_name: run.job_name,
            planned_ms: said(run.planned_ms),
            until_ms: said(run.until_ms),
            cause: run.cause,
            state: run.state,
            started_ms: said(run.started_ms),
            ended_ms: said(run.ended_ms),
            summary: run.summary,
            reason: run.reason,
        }
    }
}

impl From<JobRun> for wire::JobRun {
    fn from(run: JobRun) -> Self {
        Self {
            run_id: run.run_id,
            job_id: run.job_id,
            job_name: run.job_name,
            planned_ms: run.planned_ms.unwrap_or_default(),
            until_ms: run.until_ms.unwrap_or_default(),
            cause: run.cause,
            state: run.state,
            started_ms: run.started_ms.unwrap_or_default(),
            ended_ms: run.ended_ms.unwrap_or_default(),
            summary: run.summary,
            reason: run.reason,
        }
    }
}
