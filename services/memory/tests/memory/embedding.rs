//! Vectors made elsewhere: the test plays the agent-runner.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use openclaw_proto::memory::Client;
use openclaw_proto::wire::memory as wire;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;

use crate::harness::{Running, asked, origin, state};

const REMOTE: &str = r#"{agents: {defaults: {memorySearch: {provider: "openai", model: "text-embedding-3-small"}}}}"#;

const NOTES: [(&str, &str); 2] = [
    ("memory/a.md", "The cat is called Mourek."),
    ("memory/b.md", "The boiler was serviced in May."),
];

/// Makes vectors in which texts of one first letter are alike; counts texts.
fn runner(client: Client, made: Arc<AtomicUsize>) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        let (results, out) = mpsc::channel(4);
        let mut jobs = pin!(client.embed(ReceiverStream::new(out)).await.unwrap());
        while let Some(Ok(job)) = jobs.next().await {
            assert_eq!(job.model, "text-embedding-3-small");
            made.fetch_add(job.texts.len(), Ordering::SeqCst);
            let vectors = job.texts.iter().map(|text| vector(text));
            let result = wire::EmbedResult {
                id: job.id,
                vectors: vectors.collect(),
                ..wire::EmbedResult::default()
            };
            results.send(result).await.unwrap();
        }
    }))
}

fn vector(text: &str) -> wire::Vector {
    let mut values = vec![0.01; 64];
    values[text.len() % 64] = 1.0;
    wire::Vector { values }
}

#[tokio::test]
async fn vectors_are_made_once_and_kept() {
    let running = Running::start_in(state(REMOTE, &NOTES));
    let made = Arc::new(AtomicUsize::new(0));
    let _runner = runner(running.client.clone(), Arc::clone(&made));
    let deadline = Instant::now() + Duration::from_secs(20);
    while made.load(Ordering::SeqCst) < 2 {
        assert!(Instant::now() < deadline, "no vectors were made");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let question = asked("", "What is the cat called?", 0);
    let found = running
        .client
        .search(&origin(), question.clone())
        .await
        .unwrap();
    assert_eq!(found.provider, "openai");
    assert_eq!(found.warnings, [""; 0]);
    assert_eq!(found.hits[0].path, "memory/a.md");
    assert_eq!(
        made.load(Ordering::SeqCst),
        3,
        "the question, and each passage once"
    );
    running.client.search(&origin(), question).await.unwrap();
    running.index(false).await;
    let _folder = running.stop().await;
    assert_eq!(made.load(Ordering::SeqCst), 3, "all of it is kept");
}

#[tokio::test]
async fn embedding_without_the_provider_the_search_goes_on_with_a_warning() {
    let running = Running::start_in(state(REMOTE, &NOTES));
    running.index(false).await;
    let question = asked("", "What is the cat called?", 0);
    let found = running.client.search(&origin(), question).await.unwrap();
    assert_eq!(found.hits[0].path, "memory/a.md");
    assert!(found.warnings[0].contains("openai"), "{:?}", found.warnings);
    running.stop().await;
}

#[tokio::test]
async fn keywords_alone_are_a_choice() {
    let none = r#"{memory: {search: {provider: "none"}}}"#;
    let running = Running::start_in(state(none, &NOTES));
    running.index(false).await;
    let question = asked("", "Mourek", 0);
    let found = running.client.search(&origin(), question).await.unwrap();
    assert_eq!((found.provider.as_str(), found.hits.len()), ("none", 1));
    assert_eq!(found.hits[0].vector_score, 0.0);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    running.stop().await;
}
