//! The daemon through its socket, as the gateway uses it.
#![allow(clippy::unwrap_used, reason = "only #[test] functions are excepted")]

use std::fs;
use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use openclaw_config::{Environment, Paths, Settings};
use openclaw_daemon::configuration::{Configuration, Owner};
use openclaw_daemon::{Daemon, Listeners, Notifier};
use openclaw_proto::address;
use openclaw_proto::memory::{Client, Hit, Progress, Question};
use openclaw_proto::origin::Origin;
use tokio::task::JoinHandle;
use tokio_stream::StreamExt as _;
use tokio_util::sync::CancellationToken;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

struct Running {
    folder: tempfile::TempDir,
    client: Client,
    owner: Owner,
    environment: Environment,
    shutdown: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Running {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let settings = openclaw_config::load(&environment).unwrap();
        let (owner, configuration) = Owner::new(settings);
        let listener = UnixListener::bind(folder.path().join("memory.sock")).unwrap();
        let shutdown = CancellationToken::new();
        let daemon = daemon(configuration, &environment, listener, &shutdown);
        Self {
            client: Client::new(folder.path().join("memory.sock")),
            task: tokio::spawn(openclaw_memory::run(daemon)),
            folder,
            owner,
            environment,
            shutdown,
        }
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("memory.sock")
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.unwrap().unwrap();
    }
}

fn daemon(
    configuration: Configuration,
    environment: &Environment,
    listener: UnixListener,
    shutdown: &CancellationToken,
) -> Daemon {
    Daemon {
        configuration,
        environment: environment.clone(),
        listeners: Listeners::from_iter([("control", listener)]),
        notifier: Notifier::default(),
        shutdown: shutdown.clone(),
    }
}

fn asked(agent: &str, text: &str, limit: u32) -> Question {
    Question {
        agent_id: agent.to_owned(),
        text: text.to_owned(),
        limit,
        ..Question::default()
    }
}

/// Has everything looked at, and waits.
async fn indexed(client: &Client) -> Progress {
    let mut progress = client.index("", false).await.unwrap();
    let mut last = Progress::default();
    while let Some(news) = progress.next().await {
        last = news.unwrap();
    }
    assert!(last.done);
    last
}

async fn search(client: &Client, text: &str) -> Vec<Hit> {
    let found = client.search(&origin(), asked("main", text, 0)).await;
    found.unwrap().hits
}

/// The hits when `paths` is what is found, which must be so within the time in
/// which changes are to be seen; with some more on a machine that is busy.
async fn finds(client: &Client, text: &str, paths: &[&str]) -> Vec<Hit> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let hits = search(client, text).await;
        let found: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
        if found == paths {
            return hits;
        }
        assert!(Instant::now() < deadline, "{found:?} instead of {paths:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn origin() -> Origin {
    Origin {
        run_id: "run-17".to_owned(),
        session_key: "agent:main:main".to_owned(),
    }
}

#[tokio::test]
async fn a_fresh_agent_remembers_and_finds() {
    let running = Running::start();
    let client = &running.client;
    let files = client.load_bootstrap(&origin(), "main").await.unwrap();
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

    let hits = search(client, "where are the keys?").await;
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].path, noted.path);
    assert!(hits[0].snippet.contains(text));
    assert!((hits[0].start_line..=hits[0].end_line).contains(&noted.line));

    let files = client.load_bootstrap(&origin(), "main").await.unwrap();
    assert_eq!(files.last().unwrap().name, noted.path);

    indexed(client).await;
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
    assert_eq!(unknown.code(), Code::NotFound);
    assert!(unknown.message().contains("\"nobody\"") && unknown.message().contains("main"));

    let empty = client.remember(&origin(), "main", " \n").await.unwrap_err();
    assert_eq!(empty.code(), Code::InvalidArgument);
    let long = "x".repeat(16 * 1024 + 1);
    let long = client.remember(&origin(), "main", &long).await.unwrap_err();
    assert_eq!(long.code(), Code::InvalidArgument);
    assert!(long.message().contains("16384"), "{}", long.message());

    fs::write(running.workspace(), "a file").unwrap();
    let no_folder = client.load_bootstrap(&origin(), "main").await.unwrap_err();
    let path = running.workspace().display().to_string();
    assert!(
        no_folder.message().contains(&path),
        "{}",
        no_folder.message()
    );
    assert!(no_folder.message().contains("agents.defaults.workspace"));
    running.stop().await;
}

#[tokio::test]
async fn the_limit_is_kept_and_has_a_default() {
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
    indexed(client).await;
    for (limit, count) in [(0, 6), (3, 3), (1000, 50)] {
        let found = client.search(&origin(), asked("", "fox", limit)).await;
        let hits = found.unwrap().hits;
        assert_eq!(hits.len(), count, "limit {limit}");
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    }
    running.stop().await;
}

#[tokio::test]
async fn a_reload_leads_to_another_workspace() {
    let running = Running::start();
    let client = &running.client;
    let other = running.folder.path().join("elsewhere/memory");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("a.md"), "the fox lives here").unwrap();
    assert!(search(client, "fox").await.is_empty());

    let paths = Paths::resolve(&running.environment).unwrap();
    let configuration = r#"{ agents: { defaults: { workspace: "elsewhere" } } }"#;
    fs::write(&paths.configuration, configuration).unwrap();
    running
        .owner
        .reload(openclaw_config::load, &running.environment);
    finds(client, "fox", &["memory/a.md"]).await;

    fs::write(&paths.configuration, "{ agnets: {} }").unwrap();
    running
        .owner
        .reload(openclaw_config::load, &running.environment);
    let status = client.status().await.unwrap();
    assert!(status.configuration_problem.contains("agnets"));
    assert_eq!(search(client, "fox").await.len(), 1);
    running.stop().await;
}

#[tokio::test]
async fn workspaces_are_indexed_without_being_asked() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("workspace/memory")).unwrap();
    fs::write(folder.path().join("workspace/MEMORY.md"), "the fox").unwrap();
    let state = folder.path().to_str().unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let settings: Settings = openclaw_config::load(&environment).unwrap();
    let (_owner, configuration) = Owner::new(settings);
    let socket = folder.path().join("memory.sock");
    let shutdown = CancellationToken::new();
    let listener = UnixListener::bind(&socket).unwrap();
    let daemon = daemon(configuration, &environment, listener, &shutdown);
    let task = tokio::spawn(openclaw_memory::run(daemon));
    let client = Client::new(socket);
    let deadline = Instant::now() + Duration::from_secs(10);
    while client.status().await.unwrap().chunks != 1 {
        assert!(Instant::now() < deadline, "nothing was indexed");
    }
    shutdown.cancel();
    task.await.unwrap().unwrap();
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
async fn a_run_can_be_found_in_the_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
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
