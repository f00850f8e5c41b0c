//! The gRPC service of the schedule: generated types stop here.

use std::sync::Arc;

use openclaw_daemon::failure;
use openclaw_proto::call::refused as refusal;
use openclaw_proto::schedule::Job;
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::schedule_server;
use openclaw_schedule::{Answer, Call, Maker, Refused, Schedule, job};
use serde_json::{Map, Value};
use tonic::{Code, Request, Response, Status};

use super::refused::unkept;
use crate::doors::Doors;

/// Runs of one answer.
const RUNS: u32 = 1000;

/// The service `openclaw.gateway.v1.Schedule`.
pub struct ScheduleService(pub Arc<Doors>);

#[tonic::async_trait]
impl schedule_server::Schedule for ScheduleService {
    async fn list_jobs(
        &self,
        _request: Request<wire::ListJobsRequest>,
    ) -> Result<Response<wire::ListJobsResponse>, Status> {
        let jobs = self.schedule().jobs.all().await;
        let mut jobs = jobs.map_err(|fault| refused(fault.into()))?;
        jobs.sort_by_key(|job| job.next_ms().unwrap_or(i64::MAX));
        let mut told = Vec::new();
        for job in &jobs {
            told.push(self.told(job).await.into());
        }
        Ok(Response::new(wire::ListJobsResponse {
            jobs: told,
            is_on: self.0.core.configuration.settings().cron_enabled,
        }))
    }

    async fn add_job(
        &self,
        request: Request<wire::AddJobRequest>,
    ) -> Result<Response<wire::AddJobResponse>, Status> {
        let fields = fields(&request.into_inner().fields)?;
        self.check_agent(&fields)?;
        let added = self.schedule().add(Value::Object(fields)).await;
        let job = added.map_err(refused)?;
        Ok(Response::new(wire::AddJobResponse {
            job: Some(self.told(&job).await.into()),
        }))
    }

    async fn change_job(
        &self,
        request: Request<wire::ChangeJobRequest>,
    ) -> Result<Response<wire::ChangeJobResponse>, Status> {
        let request = request.into_inner();
        let fields = fields(&request.fields)?;
        self.check_agent(&fields)?;
        let changed = self.schedule().change(&request.id, fields, None).await;
        let job = changed.map_err(refused)?;
        Ok(Response::new(wire::ChangeJobResponse {
            job: Some(self.told(&job).await.into()),
        }))
    }

    async fn remove_job(
        &self,
        request: Request<wire::RemoveJobRequest>,
    ) -> Result<Response<wire::RemoveJobResponse>, Status> {
        let id = request.into_inner().id;
        let removed = self.schedule().remove(&id).await;
        if removed.map_err(refused)? {
            Ok(Response::new(wire::RemoveJobResponse {}))
        } else {
            Err(refused(Refused::Unknown(id)))
        }
    }

    async fn run_job(
        &self,
        request: Request<wire::RunJobRequest>,
    ) -> Result<Response<wire::RunJobResponse>, Status> {
        let begun = self.schedule().run_now(&request.into_inner().id).await;
        Ok(Response::new(wire::RunJobResponse {
            run_id: begun.map_err(refused)?,
        }))
    }

    async fn list_job_runs(
        &self,
        request: Request<wire::ListJobRunsRequest>,
    ) -> Result<Response<wire::ListJobRunsResponse>, Status> {
        let wire::ListJobRunsRequest { job_id, limit } = request.into_inner();
        let job_id = Some(job_id).filter(|id| !id.is_empty());
        let history = self.schedule().jobs.history(job_id, limit.min(RUNS)).await;
        let runs = history.map_err(|fault| refused(fault.into()))?;
        Ok(Response::new(wire::ListJobRunsResponse {
            runs: runs.into_iter().map(Into::into).collect(),
        }))
    }

    async fn remove_made_jobs(
        &self,
        request: Request<wire::RemoveMadeJobsRequest>,
    ) -> Result<Response<wire::RemoveMadeJobsResponse>, Status> {
        let agent = Some(request.into_inner().agent_id).filter(|agent| !agent.is_empty());
        let removed = self.schedule().remove_made(agent).await;
        let removed = removed.map_err(|fault| refused(fault.into()))?;
        Ok(Response::new(wire::RemoveMadeJobsResponse {
            removed: u32::try_from(removed).unwrap_or(u32::MAX),
        }))
    }

    async fn call_tool(
        &self,
        request: Request<wire::CallToolRequest>,
    ) -> Result<Response<wire::CallToolResponse>, Status> {
        let request = request.into_inner();
        let call = Call {
            caller: Maker {
                agent_id: request.agent_id,
                session_key: request.session_key,
            },
            tool: request.tool,
            arguments: Value::Object(fields(&request.arguments)?),
            is_approved: request.is_approved,
        };
        let answer = self.schedule().call(call).await.map_err(refused)?;
        Ok(Response::new(match answer {
            Answer::Done(output) => wire::CallToolResponse {
                output: output.to_string(),
                question: String::new(),
            },
            Answer::Ask(question) => wire::CallToolResponse {
                output: String::new(),
                question,
            },
        }))
    }

    async fn wake_schedule(
        &self,
        _request: Request<wire::WakeScheduleRequest>,
    ) -> Result<Response<wire::WakeScheduleResponse>, Status> {
        let next = self.schedule().wake().await;
        let next = next.map_err(|fault| refused(fault.into()))?;
        Ok(Response::new(wire::WakeScheduleResponse {
            next_ms: next.unwrap_or_default(),
        }))
    }
}

impl ScheduleService {
    fn schedule(&self) -> &Arc<Schedule> {
        &self.0.schedule
    }

    async fn told(&self, job: &job::Job) -> Job {
        Job {
            id: job.id().to_owned(),
            name: job.name.clone(),
            is_enabled: job.enabled,
            fields: self.schedule().shown(job).await,
            next_ms: job.next_ms(),
            is_running: job.is_running(),
        }
    }

    /// A job of an agent that is not there would never run.
    fn check_agent(&self, fields: &Map<String, Value>) -> Result<(), Status> {
        let Some(agent) = fields.get("agentId").and_then(Value::as_str) else {
            return Ok(());
        };
        let known = self.0.core.key("", agent);
        known.map(drop).map_err(super::refused::refused)
    }
}

fn fields(text: &str) -> Result<Map<String, Value>, Status> {
    serde_json::from_str(text).map_err(|error| {
        Status::invalid_argument(format!("the fields are no JSON object: {error}"))
    })
}

fn refused(refused: Refused) -> Status {
    let message = failure::chain(&refused);
    let list = "`openclawctl cron list` shows the jobs";
    match refused {
        Refused::Unknown(id) => refusal(Code::NotFound, format!("there is no job {id:?}"), list),
        Refused::Running => refusal(
            Code::FailedPrecondition,
            message,
            "`openclawctl turns` shows it, `openclawctl cancel` ends it",
        ),
        Refused::TooMany => refusal(
            Code::ResourceExhausted,
            message,
            "`openclawctl cron remove` makes room",
        ),
        Refused::Changed => Status::aborted(message),
        Refused::OverBudget => refusal(
            Code::FailedPrecondition,
            message,
            "`openclawctl cron edit NAME --budget-per-day` raises it",
        ),
        Refused::Invalid(_) | Refused::Agent(_) | Refused::Heartbeat => {
            Status::invalid_argument(message)
        }
        Refused::Fault(fault) => unkept(&fault),
    }
}
