//! The daemon's door: gRPC in, domain types on the way to the stores.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use jiff::Zoned;
use openclaw_proto::origin::Origin;
use openclaw_proto::wire::memory as wire;
use tonic::{Request, Response, Status};
use tracing::{Instrument as _, Span};

use crate::agents::Agents;
use crate::search::{DEFAULT_LIMIT, LIMIT, Question};
use crate::worker::Worker;

/// Answers the calls of openclaw.memory.v1.Memory.
#[derive(Debug)]
pub(crate) struct Service {
    agents: Arc<Agents>,
    worker: Worker,
    started: Instant,
}

impl Service {
    /// Answers for `agents`.
    pub(crate) fn new(agents: Arc<Agents>, worker: Worker) -> Self {
        Self {
            agents,
            worker,
            started: Instant::now(),
        }
    }

    async fn load_bootstrap(&self, agent: &str) -> Result<wire::LoadBootstrapResponse, Status> {
        let begin = Instant::now();
        let store = self.agents.store(agent)?;
        let load = self
            .worker
            .run(&store, |store| store.bootstrap(&Zoned::now()));
        let files = load.await?;
        tracing::info!(
            files = files.len(),
            milliseconds = milliseconds(begin),
            "loaded the bootstrap files"
        );
        let files = files.into_iter().map(Into::into).collect();
        Ok(wire::LoadBootstrapResponse { files })
    }

    async fn search(&self, request: wire::SearchRequest) -> Result<wire::SearchResponse, Status> {
        let begin = Instant::now();
        let store = self.agents.store(&request.agent_id)?;
        let half_life_days = self
            .agents
            .configuration()
            .settings()
            .memory
            .decay_half_life_days;
        let limit = match request.limit as usize {
            0 => DEFAULT_LIMIT,
            limit => limit.min(LIMIT),
        };
        let search = self.worker.run(&store, move |store| {
            store.search(&Question {
                text: &request.query,
                limit,
                now_ms: jiff::Timestamp::now().as_millisecond(),
                half_life_days,
            })
        });
        let found = search.await?;
        tracing::info!(
            hits = found.hits.len(),
            complete = found.complete,
            milliseconds = milliseconds(begin),
            "searched memory"
        );
        if !found.complete {
            self.worker.catch_up(store);
        }
        let hits = found.hits.into_iter().map(Into::into).collect();
        Ok(wire::SearchResponse { hits })
    }

    async fn remember(
        &self,
        request: wire::RememberRequest,
    ) -> Result<wire::RememberResponse, Status> {
        let store = self.agents.store(&request.agent_id)?;
        let remember = self.worker.run(&store, move |store| {
            store.remember(&request.text, &Zoned::now())
        });
        let remembered = remember.await?;
        tracing::info!(path = remembered.path, line = remembered.line, "noted");
        Ok(wire::RememberResponse {
            path: remembered.path,
            line: remembered.line,
        })
    }

    fn status(&self) -> wire::StatusResponse {
        let (files, passages) = self.agents.size();
        wire::StatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            files: files as u64,
            chunks: passages as u64,
            configuration_problem: self.agents.configuration().problem(),
        }
    }
}

#[tonic::async_trait]
impl wire::memory_server::Memory for Service {
    async fn load_bootstrap(
        &self,
        request: Request<wire::LoadBootstrapRequest>,
    ) -> Result<Response<wire::LoadBootstrapResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let agent = request.into_inner().agent_id;
        answer(span(&origin, &agent), self.load_bootstrap(&agent)).await
    }

    async fn search(
        &self,
        request: Request<wire::SearchRequest>,
    ) -> Result<Response<wire::SearchResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        answer(span(&origin, &request.agent_id), self.search(request)).await
    }

    async fn remember(
        &self,
        request: Request<wire::RememberRequest>,
    ) -> Result<Response<wire::RememberResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        answer(span(&origin, &request.agent_id), self.remember(request)).await
    }

    async fn status(
        &self,
        _request: Request<wire::StatusRequest>,
    ) -> Result<Response<wire::StatusResponse>, Status> {
        Ok(Response::new(self.status()))
    }
}

/// Every log record of a call carries what it is made for.
fn span(origin: &Origin, agent: &str) -> Span {
    let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    tracing::info_span!(
        "call",
        openclaw_agent = said(agent),
        openclaw_run = said(&origin.run_id),
        openclaw_session = said(&origin.session_key),
    )
}

async fn answer<T>(
    span: Span,
    call: impl Future<Output = Result<T, Status>>,
) -> Result<Response<T>, Status> {
    call.instrument(span).await.map(Response::new)
}

fn milliseconds(begin: Instant) -> f64 {
    // To the microsecond: more is noise in a log.
    (begin.elapsed().as_secs_f64() * 1e6).round() / 1e3
}
