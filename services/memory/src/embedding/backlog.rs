//! Passages that have no vector of the configured model yet. Search goes on
//! with what is there meanwhile.

use std::sync::Arc;
use std::time::Duration;

use openclaw_daemon::failure;
use openclaw_retrieval::Engine;
use openclaw_settings::Embedder;

use super::{Hub, Unavailable};
use crate::error::Error;
use crate::store::Store;
use crate::worker::Worker;

/// Texts in one request to a provider: far below what any of them takes, and
/// lost work is little.
const BATCH: usize = 32;
/// Texts looked for at once: to find the next, all those before it are looked at again.
const GATHERED: usize = 1_024;
/// What a provider gets for a batch.
const DEADLINE: Duration = Duration::from_secs(60);
/// The first pause after a failure, and the longest.
const PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// How it went.
enum Outcome {
    /// There may be more.
    Made,
    /// Nothing is missing.
    Complete,
    /// It did not go.
    Failed(Unavailable),
}

/// Makes vectors whenever something was taken in, for as long as the store is
/// kept.
pub(crate) async fn work(store: Arc<Store>, worker: Worker, hub: Hub) {
    let mut pause = PAUSE;
    let mut arrivals = hub.arrivals();
    loop {
        arrivals.borrow_and_update();
        match batches(&store, &worker, &hub).await {
            Ok(Outcome::Made) => pause = PAUSE,
            Ok(Outcome::Complete) => store.indexed.notified().await,
            Ok(Outcome::Failed(why)) => {
                tracing::warn!(
                    "no vectors are made for now: {why}; keywords and the table are used"
                );
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    _ = arrivals.changed() => {}
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(error) => {
                tracing::warn!("no vectors are made for now: {}", failure::chain(&error));
                store.indexed.notified().await;
            }
        }
    }
}

async fn batches(store: &Arc<Store>, worker: &Worker, hub: &Hub) -> Result<Outcome, Error> {
    if on(store, worker, |engine| engine.maintain()).await? {
        return Ok(Outcome::Made);
    }
    let (provider, model) = match &store.embedder {
        Embedder::Remote { provider, model } => (provider, model),
        Embedder::None | Embedder::Static => return Ok(Outcome::Complete),
    };
    let name = format!("{provider}/{model}");
    let wanted = name.clone();
    let missing = on(store, worker, move |engine| {
        engine.missing_vectors(&wanted, GATHERED)
    });
    let missing = missing.await?;
    if missing.is_empty() {
        return Ok(Outcome::Complete);
    }
    for batch in missing.chunks(BATCH) {
        let texts = batch.iter().map(|one| one.text.clone()).collect();
        let vectors = match hub.embed(model, texts, DEADLINE).await {
            Ok(vectors) => vectors,
            Err(why) => return Ok(Outcome::Failed(why)),
        };
        let hashes = batch.iter().map(|one| one.hash);
        let made: Vec<_> = hashes.zip(vectors).collect();
        let name = name.clone();
        on(store, worker, move |engine| {
            engine.store_vectors(&name, &made)
        })
        .await?;
    }
    Ok(Outcome::Made)
}

async fn on<T: Send + 'static>(
    store: &Arc<Store>,
    worker: &Worker,
    work: impl FnOnce(&Engine) -> Result<T, openclaw_retrieval::Error> + Send + 'static,
) -> Result<T, Error> {
    let store = Arc::clone(store);
    let done = worker.beside(move || Ok(work(&*store.engine()?)?));
    done.await?
}
