//! What is answered while files are not read yet.

use std::sync::mpsc;

use openclaw_config::Environment;
use openclaw_daemon::configuration::Owner;

use super::*;
use crate::embedding::Hub;
use crate::worker::Worker;

/// Longer than a message to a model waits.
const LONGER: Duration = MESSAGE_WAITS.saturating_mul(5);

/// A service over a workspace with a note, whose files are read when the sender is
/// dropped; with what has to outlive it.
fn held(folder: &tempfile::TempDir) -> (Service, mpsc::Sender<()>, Owner) {
    let file = r#"{memory: {search: {provider: "none"}}}"#;
    std::fs::write(folder.path().join("openclaw.json"), file).unwrap();
    std::fs::create_dir_all(folder.path().join("workspace")).unwrap();
    let note = "- The spare key is under the blue flowerpot.\n";
    std::fs::write(folder.path().join("workspace/MEMORY.md"), note).unwrap();
    let state = folder.path().to_str().unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let settings = openclaw_settings::load(&environment).unwrap();
    let (owner, configuration) = Owner::new(settings);
    let worker = Worker::default();
    let (release, until) = mpsc::channel::<()>();
    // Files are read one after the other beside what is asked, and this comes first.
    let reader = worker.clone();
    tokio::spawn(async move { reader.beside(move || until.recv()).await });
    let agents = Agents::new(configuration, None, worker, Hub::default());
    (Service::new(Arc::new(agents)), release, owner)
}

async fn recall(service: &Service, patient: bool) -> wire::RecallResponse {
    let request = wire::RecallRequest {
        text: "Where is the spare key?".to_owned(),
        patient,
        ..wire::RecallRequest::default()
    };
    service.recall(request).await.unwrap()
}

#[tokio::test]
async fn recall_waits_for_the_files_where_memory_alone_answers() {
    let folder = tempfile::tempdir().unwrap();
    let (service, release, _owner) = held(&folder);
    tokio::task::yield_now().await;
    let told = recall(&service, false).await;
    assert!(told.partial && told.passages.is_empty(), "{told:?}");
    let mut waiting = std::pin::pin!(recall(&service, true));
    let early = tokio::time::timeout(LONGER, &mut waiting).await;
    assert!(early.is_err(), "not waited for: {early:?}");
    drop(release);
    let told = waiting.await;
    assert_eq!(told.passages.len(), 1, "{told:?}");
    assert!(!told.partial);
    assert!(!recall(&service, false).await.partial);
}
