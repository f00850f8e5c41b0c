//! The daemon in this process, with a state directory of its own.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use openclaw_config::{Environment, Paths};
use openclaw_daemon::configuration::Owner;
use openclaw_daemon::{Activity, Daemon, LastWord, Listeners, Notifier};
use openclaw_proto::memory::{Client, Hit, Progress, Question};
use openclaw_proto::origin::Origin;
use tokio::task::JoinHandle;
use tokio_stream::StreamExt as _;
use tokio_util::sync::CancellationToken;

/// Keywords alone, so that what is found is what has the words.
pub(crate) const WORDS: &str = r#"{memory: {search: {provider: "none"}}}"#;

/// What a change may take until it is found, on a machine that is busy; the
/// daemon is to need less than 2 s.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Running {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) client: Client,
    owner: Owner,
    environment: Environment,
    shutdown: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

/// A state directory with `configuration` and `files` in its workspace.
pub(crate) fn state(configuration: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    if !configuration.is_empty() {
        fs::write(folder.path().join("openclaw.json"), configuration).unwrap();
    }
    for (path, text) in files {
        write(&folder.path().join("workspace").join(path), text);
    }
    folder
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

impl Running {
    pub(crate) fn start() -> Self {
        Self::start_in(state("", &[]))
    }

    pub(crate) fn start_in(folder: tempfile::TempDir) -> Self {
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let settings = openclaw_settings::load(&environment).unwrap();
        let (owner, configuration) = Owner::new(settings);
        let socket = folder.path().join("memory.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let shutdown = CancellationToken::new();
        let daemon = Daemon {
            configuration,
            environment: environment.clone(),
            listeners: Listeners::from_iter([("control", listener)]),
            notifier: Notifier::default(),
            shutdown: shutdown.clone(),
            activity: Activity::default(),
            last_word: LastWord::default(),
        };
        Self {
            client: Client::new(socket),
            task: tokio::spawn(openclaw_memory::run(daemon)),
            folder,
            owner,
            environment,
            shutdown,
        }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(crate) fn transcripts(&self) -> PathBuf {
        self.folder.path().join("agents/main/sessions")
    }

    pub(crate) fn index_folder(&self) -> PathBuf {
        self.folder.path().join("memory/main")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("memory.sock")
    }

    /// Writes the configuration and has it read.
    pub(crate) fn configure(&self, configuration: &str) {
        let paths = Paths::resolve(&self.environment).unwrap();
        fs::write(&paths.configuration, configuration).unwrap();
        self.owner
            .reload(openclaw_settings::load, &self.environment);
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.workspace().join(path), text);
    }

    /// Ends the daemon; its files stay.
    pub(crate) async fn stop(self) -> tempfile::TempDir {
        self.shutdown.cancel();
        self.task.await.unwrap().unwrap();
        fs::remove_file(self.folder.path().join("memory.sock")).unwrap();
        self.folder
    }

    /// Has everything looked at, and waits.
    pub(crate) async fn index(&self, force: bool) -> Progress {
        let mut progress = self.client.index("", force).await.unwrap();
        let mut last = Progress::default();
        while let Some(news) = progress.next().await {
            last = news.unwrap();
        }
        assert!(last.done);
        last
    }

    pub(crate) async fn search(&self, text: &str) -> Vec<Hit> {
        let found = self.client.search(&origin(), asked("main", text, 0)).await;
        found.unwrap().hits
    }

    pub(crate) async fn paths(&self, text: &str) -> Vec<String> {
        let hits = self.search(text).await;
        hits.into_iter().map(|hit| hit.path).collect()
    }

    /// Waits until `paths` is what is found.
    pub(crate) async fn finds(&self, text: &str, paths: &[&str]) -> Vec<Hit> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let hits = self.search(text).await;
            let found: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
            if found == paths {
                return hits;
            }
            assert!(Instant::now() < deadline, "{found:?} instead of {paths:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

pub(crate) fn asked(agent: &str, text: &str, limit: u32) -> Question {
    Question {
        agent_id: agent.to_owned(),
        text: text.to_owned(),
        limit,
        ..Question::default()
    }
}

pub(crate) fn origin() -> Origin {
    Origin {
        run_id: "run-17".to_owned(),
        session_key: "agent:main:main".to_owned(),
    }
}
