//! Vectors that are made elsewhere: the agent-runner has the network and the
//! key, and offers itself by a call that it holds open.

#![expect(clippy::disallowed_types, reason = "it serves gRPC")]

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_proto::wire::memory as wire;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

pub(crate) mod backlog;

/// Jobs on their way to the runner; there is one for passages at a time, and
/// one for each question.
const JOBS: usize = 16;
/// Questions whose vectors are kept: those of a conversation are often asked
/// twice, by the trigger and by the agent.
const QUESTIONS: usize = 64;

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unavailable {
    /// Nobody offers.
    #[error("the agent-runner is not connected")]
    Nobody,
    /// Nobody answered in time.
    #[error("no answer within {0:?}")]
    Late(Duration),
    /// The runner went away.
    #[error("the agent-runner went away")]
    Gone,
    /// The provider does not want to; `retry`: another time it may.
    #[error("{message}")]
    Refused {
        /// In the provider's words.
        message: String,
        /// Whether the same texts may do another time.
        retry: bool,
    },
}

type Vectors = Result<Vec<Vec<f32>>, Unavailable>;

/// Where jobs go out and vectors come in. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hub(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    runner: Mutex<Option<Runner>>,
    last: AtomicU64,
    /// Counts the runners, so that whoever waits for one sees it come.
    arrivals: watch::Sender<u64>,
    questions: Mutex<VecDeque<(String, String, Vec<f32>)>>,
}

#[derive(Debug, Clone)]
struct Runner {
    number: u64,
    jobs: mpsc::Sender<Result<wire::EmbedJob, Status>>,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Vectors>>>>,
}

impl Hub {
    /// Takes up the offer of a runner; the one before is not asked any more.
    pub(crate) fn attach(
        &self,
        results: Streaming<wire::EmbedResult>,
    ) -> ReceiverStream<Result<wire::EmbedJob, Status>> {
        let (jobs, out) = mpsc::channel(JOBS);
        let number = *self.0.arrivals.borrow() + 1;
        let runner = Runner {
            number,
            jobs,
            waiting: Arc::default(),
        };
        *lock(&self.0.runner) = Some(runner.clone());
        self.0.arrivals.send_replace(number);
        tracing::info!("the agent-runner makes vectors for memory");
        tokio::spawn(self.clone().collect(runner, results));
        ReceiverStream::new(out)
    }

    async fn collect(self, runner: Runner, mut results: Streaming<wire::EmbedResult>) {
        // An error is the end of the call, like its end.
        while let Ok(Some(result)) = results.message().await {
            let waiting = lock(&runner.waiting).remove(&result.id);
            if let Some(waiting) = waiting {
                let _ = waiting.send(vectors(result));
            }
        }
        let mut current = lock(&self.0.runner);
        if current
            .as_ref()
            .is_some_and(|now| now.number == runner.number)
        {
            current.take();
            tracing::info!("the agent-runner no longer makes vectors for memory");
        }
        drop(current);
        lock(&runner.waiting).clear();
    }

    /// Whether somebody waits for vectors.
    pub(crate) fn is_asked(&self) -> bool {
        let runner = lock(&self.0.runner);
        runner
            .as_ref()
            .is_some_and(|it| !lock(&it.waiting).is_empty())
    }

    /// Asks for the vectors of `texts`.
    pub(crate) async fn embed(
        &self,
        model: &str,
        texts: Vec<String>,
        deadline: Duration,
    ) -> Vectors {
        let count = texts.len();
        let runner = lock(&self.0.runner).clone();
        let runner = runner.ok_or(Unavailable::Nobody)?;
        let id = self.0.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        lock(&runner.waiting).insert(id, sender);
        let job = wire::EmbedJob {
            id,
            model: model.to_owned(),
            texts,
        };
        let asked = async {
            let sent = runner.jobs.send(Ok(job)).await;
            sent.map_err(|_| Unavailable::Gone)?;
            answer.await.map_err(|_| Unavailable::Gone)?
        };
        let answered = tokio::time::timeout(deadline, asked).await;
        lock(&runner.waiting).remove(&id);
        let vectors = answered.map_err(|_| Unavailable::Late(deadline))??;
        if vectors.len() == count {
            return Ok(vectors);
        }
        Err(Unavailable::Refused {
            message: format!("{} vectors came for {count} texts", vectors.len()),
            retry: false,
        })
    }

    /// The vector of a question, from those asked before if it is there.
    pub(crate) async fn question(
        &self,
        model: &str,
        text: &str,
        deadline: Duration,
    ) -> Result<Vec<f32>, Unavailable> {
        if let Some(vector) = self.known(model, text) {
            return Ok(vector);
        }
        let mut vectors = self.embed(model, vec![text.to_owned()], deadline).await?;
        let vector = vectors.pop().unwrap_or_default();
        let mut questions = lock(&self.0.questions);
        questions.truncate(QUESTIONS - 1);
        questions.push_front((model.to_owned(), text.to_owned(), vector.clone()));
        Ok(vector)
    }

    fn known(&self, model: &str, text: &str) -> Option<Vec<f32>> {
        let questions = lock(&self.0.questions);
        let mut known = questions.iter();
        known
            .find(|(of, question, _)| of == model && question == text)
            .map(|(_, _, vector)| vector.clone())
    }

    /// Tells when a runner comes.
    pub(crate) fn arrivals(&self) -> watch::Receiver<u64> {
        self.0.arrivals.subscribe()
    }
}

fn vectors(result: wire::EmbedResult) -> Vectors {
    if result.error.is_empty() {
        return Ok(result
            .vectors
            .into_iter()
            .map(|vector| vector.values)
            .collect());
    }
    Err(Unavailable::Refused {
        message: result.error,
        retry: result.retry,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
