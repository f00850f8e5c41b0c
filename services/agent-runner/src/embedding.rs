//! Vectors for memory, whose daemon has no network and no key: a call to it is
//! held open, through which texts come and vectors go.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use openclaw_daemon::Configuration;
use openclaw_model_api::upstream::Upstream;
use openclaw_proto::call::CallError;
use openclaw_proto::memory;
use openclaw_proto::wire::memory as wire;
use openclaw_settings::RunnerSettings;
use openclaw_settings::provider::Provider;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

mod request;

/// Requests to the provider at once: one for passages, and room for questions
/// that somebody waits for.
const AT_ONCE: usize = 4;
/// Results on their way to memory.
const RESULTS: usize = 16;
/// The first pause before the call is made again, and the longest.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Offers to make vectors for as long as a provider of them is configured.
pub(crate) async fn offer(
    mut configuration: Configuration<RunnerSettings>,
    memory: memory::Client,
    upstream: Arc<Upstream>,
) {
    let mut pause = PAUSE;
    loop {
        let settings = configuration.settings();
        let provider = match settings.embedding.clone() {
            Some(Ok(provider)) => provider,
            none => {
                if let Some(Err(problem)) = none {
                    tracing::warn!("no vectors can be made for memory: {problem}");
                }
                if !configuration.changed().await {
                    return;
                }
                continue;
            }
        };
        let served = serve(&memory, Arc::new(provider), &upstream);
        tokio::select! {
            ended = served => {
                if let Err(error) = &ended {
                    tracing::debug!("memory takes no vectors: {error}");
                }
                pause = if ended.is_ok() { PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            }
            changed = configuration.changed() => if changed { continue } else { return },
        }
        tokio::time::sleep(pause).await;
    }
}

/// Makes vectors until memory ends the call.
async fn serve(
    memory: &memory::Client,
    provider: Arc<Provider>,
    upstream: &Arc<Upstream>,
) -> Result<(), CallError> {
    let (results, out) = mpsc::channel(RESULTS);
    let mut jobs = pin!(memory.embed(ReceiverStream::new(out)).await?);
    tracing::info!(provider = provider.id, "making vectors for memory");
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    while let Some(job) = jobs.next().await {
        let job = job?;
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return Ok(());
        };
        let (results, provider, upstream) =
            (results.clone(), Arc::clone(&provider), Arc::clone(upstream));
        tokio::spawn(async move {
            let _permit = permit;
            let result = answer(&upstream, &provider, job).await;
            // When memory is gone nobody wants it any more.
            let _ = results.send(result).await;
        });
    }
    Ok(())
}

async fn answer(
    upstream: &Upstream,
    provider: &Provider,
    job: wire::EmbedJob,
) -> wire::EmbedResult {
    let count = job.texts.len();
    match request::embed(upstream, provider, &job.model, &job.texts).await {
        Ok(vectors) => wire::EmbedResult {
            id: job.id,
            vectors: vectors
                .into_iter()
                .map(|values| wire::Vector { values })
                .collect(),
            ..wire::EmbedResult::default()
        },
        Err(error) => {
            let message = error.to_words(provider);
            tracing::warn!(texts = count, "no vectors for memory: {message}");
            wire::EmbedResult {
                id: job.id,
                error: message,
                retry: error.may_pass(),
                ..wire::EmbedResult::default()
            }
        }
    }
}
