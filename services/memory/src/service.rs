//! The daemon's door: gRPC in, domain types on the way to the stores.

#![expect(clippy::disallowed_types, reason = "it serves gRPC")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Zoned;
use openclaw_proto::memory::{Conversation, Lines, Question, SearchResults};
use openclaw_proto::origin::Origin;
use openclaw_proto::wire::memory as wire;
use openclaw_sessions::forgetting::Words;
use openclaw_words as words;
use tokio_stream::Stream;
use tonic::{Code, Request, Response, Status, Streaming};
use tracing::{Instrument as _, Span};

use crate::agents::Agents;
use crate::compact::Table;
use crate::error::Error;
use crate::question::Asked;
use crate::recall;
use crate::store::{MESSAGE_WAITS, QUESTION_WAITS, Reader, Store};

mod compaction;
mod export;
mod indexing;
mod status;

pub(crate) use status::size;

/// MESSAGE_ID: what memory has on a message was looked for.
const MEMORY_SEARCHED: &str = "3f9c2c8e0d5b4a60b1d2a8c47f6e9d15";

/// Answers the calls of openclaw.memory.v1.Memory.
#[derive(Debug)]
pub(crate) struct Service {
    agents: Arc<Agents>,
    table: Arc<Table>,
    started: Instant,
}

type Out<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl Service {
    /// Answers for `agents`.
    pub(crate) fn new(agents: Arc<Agents>) -> Self {
        Self {
            agents,
            table: Arc::default(),
            started: Instant::now(),
        }
    }

    /// Runs `work` on the memory of `agent`, off this thread.
    async fn on<T: Send + 'static>(
        &self,
        agent: &str,
        work: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Status> {
        let store = self.agents.store(agent)?;
        Ok(self.agents.worker().run(&store, work).await?)
    }

    /// The same with the table that tokens are counted by.
    async fn counting<T: Send + 'static>(
        &self,
        agent: &str,
        work: impl FnOnce(&Store, &Table) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Status> {
        let table = Arc::clone(&self.table);
        let done = self.on(agent, move |store| work(store, &table)).await;
        let table = Arc::clone(&self.table);
        tokio::spawn(async move { table.let_go().await });
        done
    }

    async fn load_bootstrap(
        &self,
        request: &wire::LoadBootstrapRequest,
    ) -> Result<wire::LoadBootstrapResponse, Status> {
        let begin = Instant::now();
        let is_shared = request.shared;
        let load = move |store: &Store| store.bootstrap(&Zoned::now(), is_shared);
        let (files, problems) = self.on(&request.agent_id, load).await?;
        // The gateway says with the run how many there were.
        tracing::debug!(
            files = files.len(),
            milliseconds = milliseconds(begin),
            "loaded the bootstrap files"
        );
        let files = files.into_iter().map(Into::into).collect();
        Ok(wire::LoadBootstrapResponse { files, problems })
    }

    async fn search(&self, question: Question) -> Result<SearchResults, Status> {
        let begin = Instant::now();
        let found = self.ask(question, QUESTION_WAITS, Asked::search).await?;
        // The turn that asks has its own line of each call.
        tracing::debug!(
            hits = found.hits.len(),
            milliseconds = milliseconds(begin),
            "{}",
            told(&found, begin)
        );
        Ok(found)
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: Question,
        patience: Duration,
        ask: fn(Asked, &Store) -> Result<T, Error>,
    ) -> Result<T, Status> {
        let store = self.agents.store(&question.agent_id)?;
        first_look(&store, patience).await;
        let asked = Asked::prepare(question, &store, self.agents.hub()).await?;
        let search = move |store: &Store| ask(asked, store);
        Ok(self.agents.worker().run(&store, search).await?)
    }

    async fn recall(&self, request: wire::RecallRequest) -> Result<wire::RecallResponse, Status> {
        let store = self.agents.store(&request.agent_id)?;
        if store.search.recalled == 0 || request.text.trim().is_empty() {
            return Ok(wire::RecallResponse::default());
        }
        let patience = if request.patient {
            QUESTION_WAITS
        } else {
            MESSAGE_WAITS
        };
        let question = recall::question(request);
        let begin = Instant::now();
        let recollection = self.ask(question, patience, Asked::recall).await?;
        let found = &recollection.found;
        tracing::info!(
            message_id = MEMORY_SEARCHED,
            hits = found.hits.len(),
            milliseconds = milliseconds(begin),
            "{}",
            told(found, begin)
        );
        Ok(recall::priced(recollection, &store).into())
    }

    async fn get(&self, request: wire::GetRequest) -> Result<wire::GetResponse, Status> {
        let lines = Lines {
            from: request.from,
            count: request.lines,
        };
        let path = request.path.clone();
        let reader = Reader {
            session_id: request.session_id,
            is_isolated: request.isolated,
            is_shared: request.shared,
        };
        // What is listed is what was taken in.
        first_look(&*self.agents.store(&request.agent_id)?, QUESTION_WAITS).await;
        let get = move |store: &Store| store.get(&path, lines, &reader);
        let text = self.on(&request.agent_id, get).await?;
        Ok(text.map_or_else(
            || wire::GetResponse {
                path: request.path,
                ..wire::GetResponse::default()
            },
            Into::into,
        ))
    }

    async fn remember(
        &self,
        origin: &Origin,
        request: wire::RememberRequest,
    ) -> Result<wire::RememberResponse, Status> {
        let text = request.text;
        let remember = move |store: &Store| store.remember(&text, &Zoned::now());
        let remembered = self.on(&request.agent_id, remember).await?;
        let (path, line) = (&remembered.path, remembered.line);
        tell_change(origin, &format!("noted in {path}, line {line}"));
        Ok(wire::RememberResponse {
            path: remembered.path,
            line: remembered.line,
        })
    }

    async fn forget(
        &self,
        origin: &Origin,
        request: wire::ForgetRequest,
    ) -> Result<wire::ForgetResponse, Status> {
        let lines = (request.from, request.to);
        let forget = move |store: &Store| store.forget(&request.path, lines);
        let forgotten = self.on(&request.agent_id, forget).await?;
        let lines = words::count(forgotten.lines.into(), "line");
        tell_change(origin, &format!("forgot {lines} of {}", forgotten.path));
        Ok(forgotten.into())
    }

    async fn find_notes(
        &self,
        origin: &Origin,
        request: wire::FindNotesRequest,
    ) -> Result<wire::FindNotesResponse, Status> {
        let words = Words::new(&request.words);
        let words = words.map_err(|error| Status::invalid_argument(error.to_string()))?;
        first_look(&*self.agents.store(&request.agent_id)?, QUESTION_WAITS).await;
        let find = move |store: &Store| store.notes_with(&words, request.forget);
        let found = self.on(&request.agent_id, find).await?;
        if request.forget && !found.is_empty() {
            let places = words::count(found.len() as u64, "place");
            tell_change(origin, &format!("forgot what was said in {places}"));
        }
        let lines = found.into_iter().map(Into::into).collect();
        Ok(wire::FindNotesResponse { lines })
    }

    /// What fails by itself may not the second time: the gateway writes to the
    /// transcript meanwhile (seed 002: retry once, then go on without).
    async fn compact(&self, conversation: Conversation) -> Result<wire::CompactResponse, Status> {
        let agent = conversation.agent_id.clone();
        let conversation = Arc::new(conversation);
        let plan = || {
            let conversation = Arc::clone(&conversation);
            self.counting(&agent, move |store, table| {
                compaction::plan(store, table, &conversation)
            })
        };
        let planned = match plan().await {
            Err(status) if status.code() == Code::Internal => {
                tracing::warn!(
                    "a compaction failed and is tried again: {}",
                    status.message()
                );
                plan().await
            }
            other => other,
        };
        planned.map(Into::into).inspect_err(|status| {
            openclaw_daemon::failure::report_text(
                "plan a compaction",
                &format!("{}; the conversation stays as it is", status.message()),
            );
        })
    }
}

/// Waits until the files were looked at since the start, for at most `patience`;
/// only the first questions after a start wait for files.
async fn first_look(store: &Store, patience: Duration) {
    let mut looked = store.looked.subscribe();
    // When it takes longer, what is in the index already is searched.
    let _ = tokio::time::timeout(patience, looked.wait_for(|looked| *looked)).await;
}

#[tonic::async_trait]
impl wire::memory_server::Memory for Service {
    async fn load_bootstrap(
        &self,
        request: Request<wire::LoadBootstrapRequest>,
    ) -> Result<Response<wire::LoadBootstrapResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        let span = span(&origin, &request.agent_id);
        answer(span, self.load_bootstrap(&request)).await
    }

    async fn search(
        &self,
        request: Request<wire::SearchRequest>,
    ) -> Result<Response<wire::SearchResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        let span = span(&origin, &request.agent_id);
        let search = async { Ok(self.search(request.into()).await?.into()) };
        answer(span, search).await
    }

    async fn recall(
        &self,
        request: Request<wire::RecallRequest>,
    ) -> Result<Response<wire::RecallResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        answer(span(&origin, &request.agent_id), self.recall(request)).await
    }

    async fn get(
        &self,
        request: Request<wire::GetRequest>,
    ) -> Result<Response<wire::GetResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        answer(span(&origin, &request.agent_id), self.get(request)).await
    }

    async fn remember(
        &self,
        request: Request<wire::RememberRequest>,
    ) -> Result<Response<wire::RememberResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        answer(
            span(&origin, &request.agent_id),
            self.remember(&origin, request),
        )
        .await
    }

    async fn forget(
        &self,
        request: Request<wire::ForgetRequest>,
    ) -> Result<Response<wire::ForgetResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        answer(
            span(&origin, &request.agent_id),
            self.forget(&origin, request),
        )
        .await
    }

    async fn find_notes(
        &self,
        request: Request<wire::FindNotesRequest>,
    ) -> Result<Response<wire::FindNotesResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        let span = span(&origin, &request.agent_id);
        answer(span, self.find_notes(&origin, request)).await
    }

    type ExportStream = Out<wire::ExportedDocument>;

    async fn export(
        &self,
        request: Request<wire::ExportRequest>,
    ) -> Result<Response<Self::ExportStream>, Status> {
        let store = self.agents.store(&request.into_inner().agent_id)?;
        let documents = export::documents(store, self.agents.worker().clone()).await?;
        Ok(Response::new(Box::pin(documents)))
    }

    type IndexStream = Out<wire::IndexProgress>;

    async fn index(
        &self,
        request: Request<wire::IndexRequest>,
    ) -> Result<Response<Self::IndexStream>, Status> {
        let request = request.into_inner();
        let progress = indexing::run(&self.agents, &request.agent_id, request.force).await?;
        Ok(Response::new(Box::pin(progress)))
    }

    async fn compact(
        &self,
        request: Request<wire::CompactRequest>,
    ) -> Result<Response<wire::CompactResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        let span = span(&origin, &request.agent_id);
        answer(span, self.compact(request.into())).await
    }

    async fn shorten(
        &self,
        request: Request<wire::ShortenRequest>,
    ) -> Result<Response<wire::ShortenResponse>, Status> {
        let origin = Origin::of(request.metadata());
        let request = request.into_inner();
        let span = span(&origin, &request.agent_id);
        let limit = request.max_tokens as usize;
        let (agent, text) = (request.agent_id, request.text);
        let shorten = move |_: &Store, table: &Table| compaction::shorten(table, &text, limit);
        answer(span, async {
            let text = self.counting(&agent, shorten).await?;
            Ok(wire::ShortenResponse { text })
        })
        .await
    }

    type EmbedStream = tokio_stream::wrappers::ReceiverStream<Result<wire::EmbedJob, Status>>;

    async fn embed(
        &self,
        request: Request<Streaming<wire::EmbedResult>>,
    ) -> Result<Response<Self::EmbedStream>, Status> {
        Ok(Response::new(
            self.agents.hub().attach(request.into_inner()),
        ))
    }

    async fn status(
        &self,
        _request: Request<wire::StatusRequest>,
    ) -> Result<Response<wire::StatusResponse>, Status> {
        Ok(Response::new(status::of(
            &self.agents,
            self.started.elapsed(),
        )))
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

/// What a search came to.
fn told(found: &SearchResults, begin: Instant) -> String {
    let passages = words::count(found.hits.len() as u64, "passage");
    let took = words::elapsed(begin.elapsed());
    let partial = if found.partial {
        ", before all files were read"
    } else {
        ""
    };
    format!("searched memory: {passages} in {took}{partial}")
}

/// What was changed in the notes: news of a client's, and of a turn what its own
/// line of the call says.
fn tell_change(origin: &Origin, change: &str) {
    if origin.run_id.is_empty() {
        tracing::info!("{change}");
    } else {
        tracing::debug!("{change}");
    }
}

fn milliseconds(begin: Instant) -> f64 {
    // To the microsecond: more is noise in a log.
    (begin.elapsed().as_secs_f64() * 1e6).round() / 1e3
}

/// As the wire has it.
fn whole_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
