//! The daemon through its socket, as the gateway uses it.

use std::fs;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use openclaw_proto::address;
use openclaw_proto::call::RefusalCode;
use openclaw_proto::origin::Origin;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::harness::{Running, asked, origin, state};

#[tokio::test]
async fn fresh_agent_remembers_and_finds() {
    let running = Running::start();
    let client = &running.client;
    let files = client
        .load_bootstrap(&origin(), "main")
        .await
        .unwrap()
        .files;
    assert_eq!(files[0].name, "SOUL.md");
    assert!(files.iter().any(|file| file.name == "USER.md"));

    let text = "The spare key is under the blue flowerpot.";
    let noted = client.remember(&origin(), "main", text).await.unwrap();
    let note = fs::read_to_string(running.workspace().join(&noted.path)).unwrap();
    assert!(
        note.lines()
            .nth(noted.line as usize - 1)
            .unwrap()
            .contains(text)
    );

    let hits = running.search("where are the keys?").await;
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].path, noted.path);
    assert!(hits[0].snippet.contains(text));
    assert!((hits[0].start_line..=hits[0].end_line).contains(&noted.line));

    let files = client
        .load_bootstrap(&origin(), "main")
        .await
        .unwrap()
        .files;
    assert_eq!(files.last().unwrap().name, noted.path);

    running.index(false).await;
    let status = client.status().await.unwrap();
    assert_eq!((status.files, status.chunks), (5, 1));
    assert_eq!(status.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(status.configuration_problem, "");
    running.stop().await;
}

#[tokio::test]
async fn mistakes_are_told_with_what_to_do() {
    let running = Running::start();
    let client = &running.client;
    let unknown = client.search(&origin(), asked("nobody", "x", 0)).await;
    let unknown = unknown.unwrap_err();
    assert_eq!(unknown.code(), Some(RefusalCode::NotFound));
    assert!(unknown.to_string().contains("\"nobody\"") && unknown.to_string().contains("main"));

    let empty = client.remember(&origin(), "main", " \n").await.unwrap_err();
    assert_eq!(empty.code(), Some(RefusalCode::InvalidArgument));
    let long = "x".repeat(16 * 1024 + 1);
    let long = client.remember(&origin(), "main", &long).await.unwrap_err();
    assert_eq!(long.code(), Some(RefusalCode::InvalidArgument));
    assert!(long.to_string().contains("16384"), "{long}");

    fs::write(running.workspace(), "a file").unwrap();
    let no_folder = client.load_bootstrap(&origin(), "main").await.unwrap_err();
    let path = running.workspace().display().to_string();
    assert!(no_folder.to_string().contains(&path), "{no_folder}");
    assert!(no_folder.to_string().contains("agents.defaults.workspace"));
    running.stop().await;
}

#[tokio::test]
async fn limit_is_kept_and_has_a_default() {
    let running = Running::start();
    let memory = running.workspace().join("memory");
    fs::create_dir_all(&memory).unwrap();
    for number in 0..60 {
        fs::write(
            memory.join(format!("fox{number}.md")),
            format!("fox w{number}"),
        )
        .unwrap();
    }
    let client = &running.client;
    running.index(false).await;
    for (limit, count) in [(0, 6), (3, 3), (1000, 50)] {
        let found = client.search(&origin(), asked("", "fox", limit)).await;
        let hits = found.unwrap().hits;
        assert_eq!(hits.len(), count, "limit {limit}");
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    }
    running.stop().await;
}

#[tokio::test]
async fn reload_leads_to_another_workspace() {
    let running = Running::start();
    let client = &running.client;
    let other = running.folder.path().join("elsewhere/memory");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("a.md"), "the fox lives here").unwrap();
    assert!(running.search("fox").await.is_empty());

    running.configure(r#"{ agents: { defaults: { workspace: "elsewhere" } } }"#);
    running.finds("fox", &["memory/a.md"]).await;

    running.configure("{ agnets: {} }");
    let status = client.status().await.unwrap();
    assert!(status.configuration_problem.contains("agnets"));
    assert_eq!(running.search("fox").await.len(), 1);
    running.stop().await;
}

#[tokio::test]
async fn workspaces_are_indexed_without_being_asked() {
    let running = Running::start_in(state("", &[("MEMORY.md", "the fox")]));
    let deadline = Instant::now() + Duration::from_secs(10);
    while running.client.status().await.unwrap().chunks != 1 {
        assert!(Instant::now() < deadline, "nothing was indexed");
    }
    running.stop().await;
}

#[tokio::test]
async fn health_and_reflection_answer() {
    let running = Running::start();
    let channel = address::channel(running.socket());
    let request = HealthCheckRequest {
        service: "openclaw.memory.v1.Memory".to_owned(),
    };
    let health = HealthClient::new(channel.clone()).check(request).await;
    assert_eq!(health.unwrap().into_inner().status, 1);

    let list = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut answers = ServerReflectionClient::new(channel)
        .server_reflection_info(tokio_stream::once(list))
        .await
        .unwrap()
        .into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response;
    let Some(MessageResponse::ListServicesResponse(list)) = answer else {
        panic!("{answer:?}");
    };
    let mut names = list.service.iter().map(|service| service.name.as_str());
    assert!(names.any(|name| name == "openclaw.memory.v1.Memory"));
    drop(answers);
    running.stop().await;
}

/// A log that a test can read.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn run_can_be_found_in_the_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(move || writer.clone())
        .finish();
    // For all threads: interest in a record is cached for the whole process,
    // and the other tests run beside this one.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let running = Running::start();
    let origin = Origin {
        run_id: "run-to-find".to_owned(),
        ..origin()
    };
    let client = &running.client;
    client.load_bootstrap(&origin, "main").await.unwrap();
    let question = asked("main", "fox", 0);
    client.search(&origin, question).await.unwrap();
    running.stop().await;

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for message in ["loaded the bootstrap files", "searched memory"] {
        let mut of_run = log.lines().filter(|line| line.contains("run-to-find"));
        let record = of_run.find(|line| line.contains(message)).unwrap();
        for field in [
            r#""openclaw_run":"run-to-find""#,
            r#""openclaw_session":"agent:main:main""#,
            r#""openclaw_agent":"main""#,
            r#""milliseconds":"#,
        ] {
            assert!(record.contains(field), "{field} is not in {record}");
        }
    }
}

#[tokio::test]
async fn file_that_cannot_be_given_is_told_of_with_the_others() {
    let running = Running::start();
    let client = &running.client;
    client.load_bootstrap(&origin(), "main").await.unwrap();
    let large = fs::File::create(running.workspace().join("USER.md")).unwrap();
    large.set_len(1 << 30).unwrap();
    let given = client.load_bootstrap(&origin(), "main").await.unwrap();
    assert_eq!(given.files[0].name, "SOUL.md");
    assert!(given.files.iter().all(|file| file.name != "USER.md"));
    let [told] = given.problems.as_slice() else {
        panic!("{:?}", given.problems);
    };
    assert!(
        told.contains("made without") && told.contains("USER.md"),
        "{told}"
    );
    running.stop().await;
}
