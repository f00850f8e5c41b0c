//! A gateway in this process, with its neighbours.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use openclaw_config::{Environment, Paths};
use openclaw_daemon::configuration::Owner;
use openclaw_daemon::{Activity, Daemon, LastWord, Notifier};
use openclaw_proto::call::CallError;
use openclaw_proto::event::{Done, Event, Kind};
use openclaw_proto::gateway::{Accepted, Client, Message, Reply};
use openclaw_proto::sessions::{self, Query};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::doubles::{Memory, Runner};

/// Longer than anything here takes; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) type Replies = Pin<Box<dyn Stream<Item = Result<Reply, CallError>> + Send>>;

/// Waits, but not for ever.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what)
        .await
        .unwrap_or_else(|_| panic!("this takes longer than {PATIENCE:?}"))
}

pub(crate) struct Suite {
    dir: Arc<tempfile::TempDir>,
    pub(crate) client: Client,
    pub(crate) sessions: sessions::Client,
    pub(crate) runner: Runner,
    pub(crate) memory: Memory,
    shutdown: CancellationToken,
    daemon: JoinHandle<anyhow::Result<()>>,
    owner: Owner,
}

impl Suite {
    /// Gateway, runner and memory.
    pub(crate) async fn start() -> Self {
        Self::configured("{}").await
    }

    pub(crate) async fn configured(configuration: &str) -> Self {
        let dir = Arc::new(tempfile::tempdir().unwrap());
        Self::begin(dir, configuration).await
    }

    async fn begin(dir: Arc<tempfile::TempDir>, configuration: &str) -> Self {
        std::fs::write(dir.path().join("openclaw.json"), configuration).unwrap();
        std::fs::create_dir(dir.path().join("run")).unwrap();
        let paths = paths(&dir);
        let runner = Runner::serve(&paths.runner_socket());
        let memory = Memory::serve(&paths.memory_socket());
        Self::on(dir, runner, memory).await
    }

    /// With its state below `folder`.
    pub(crate) async fn in_folder(folder: &std::path::Path) -> Self {
        let dir = Arc::new(tempfile::tempdir_in(folder).unwrap());
        Self::begin(dir, "{}").await
    }

    /// Another gateway on the state directory of this one, which must be gone.
    pub(crate) async fn again(self) -> Self {
        Self::on(self.dir, self.runner, self.memory).await
    }

    async fn on(dir: Arc<tempfile::TempDir>, runner: Runner, memory: Memory) -> Self {
        let shutdown = CancellationToken::new();
        let (daemon, owner) = daemon(&dir, shutdown.clone());
        let client = Client::new(paths(&dir).gateway_socket());
        let sessions = sessions::Client::new(paths(&dir).gateway_socket());
        let daemon = tokio::spawn(openclaw_gateway::run(daemon));
        let suite = Self {
            dir,
            client,
            sessions,
            runner,
            memory,
            shutdown,
            daemon,
            owner,
        };
        soon(suite.sessions.list(Query::default())).await.unwrap();
        suite
    }

    pub(crate) fn paths(&self) -> Paths {
        paths(&self.dir)
    }

    /// Has the gateway take over `configuration`, as a reload does.
    pub(crate) fn reconfigure(&self, configuration: &str) {
        std::fs::write(self.paths().configuration, configuration).unwrap();
        let environment = environment(&self.dir);
        self.owner.reload(openclaw_settings::load, &environment);
    }

    pub(crate) fn begin_shutdown(&self) {
        self.shutdown.cancel();
    }

    /// Waits for the gateway's end.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<()> {
        soon(&mut self.daemon).await.unwrap()
    }

    /// Ends the gateway as a signal does.
    pub(crate) async fn stop(&mut self) {
        self.begin_shutdown();
        self.ended().await.unwrap();
    }

    pub(crate) async fn send(&self, message: Message) -> Result<(Accepted, Replies), CallError> {
        let mut replies: Replies = Box::pin(soon(self.client.send_message(message)).await?);
        match soon(replies.next()).await.unwrap()? {
            Reply::Accepted(accepted, ..) => Ok((accepted, replies)),
            Reply::Event(event) => panic!("an event came before the acceptance: {event:?}"),
        }
    }

    pub(crate) async fn say(&self, text: &str) -> (Accepted, Replies) {
        self.send(text_of(text)).await.unwrap()
    }

    /// A message with its whole answer.
    pub(crate) async fn exchange(&self, text: &str, answer: &str) -> Accepted {
        let (accepted, replies) = self.say(text).await;
        self.runner.started().await;
        self.runner.say(&accepted.run_id, self::text(answer));
        self.runner.say(&accepted.run_id, done());
        assert!(matches!(rest(replies).await.last(), Some(Kind::Done(_))));
        accepted
    }

    pub(crate) fn transcript(&self, accepted: &Accepted) -> Vec<Value> {
        let file = format!("{}.jsonl", accepted.session_id);
        let path = self.paths().sessions(&accepted.agent_id).join(file);
        let text = std::fs::read_to_string(path).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The messages of a transcript, without what surrounds them.
    pub(crate) fn messages(&self, accepted: &Accepted) -> Vec<Value> {
        let lines = self.transcript(accepted).into_iter();
        let messages = lines.filter(|line| line["type"] == "message");
        messages.map(|mut line| line["message"].take()).collect()
    }

    pub(crate) fn index(&self) -> Value {
        let path = self.paths().sessions("main").join("sessions.json");
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }
}

/// A gateway in a thread of its own, which can vanish as a killed one does.
pub(crate) struct Doomed {
    thread: std::thread::JoinHandle<()>,
    vanish: CancellationToken,
    suite: Suite,
}

impl Doomed {
    /// Starts a gateway on the state directory of `suite`, whose own is gone.
    pub(crate) fn start(suite: Suite) -> Self {
        let shutdown = CancellationToken::new();
        let (daemon, owner) = daemon(&suite.dir, shutdown.clone());
        let vanish = CancellationToken::new();
        let vanished = vanish.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                tokio::spawn(openclaw_gateway::run(daemon));
                vanished.cancelled().await;
            });
        });
        Self {
            thread,
            vanish,
            suite: Suite {
                shutdown,
                owner,
                ..suite
            },
        }
    }

    pub(crate) fn suite(&self) -> &Suite {
        &self.suite
    }

    /// No drain, no goodbye: every task is dropped where it is.
    pub(crate) fn vanish(self) -> Suite {
        self.vanish.cancel();
        self.thread.join().unwrap();
        self.suite
    }
}

fn environment(dir: &tempfile::TempDir) -> Environment {
    let state = dir.path().to_str().unwrap().to_owned();
    let runtime = dir.path().join("run").to_str().unwrap().to_owned();
    let variables = [
        ("OPENCLAW_STATE_DIR", state),
        ("OPENCLAW_RUNTIME_DIR", runtime),
    ];
    variables.into_iter().collect()
}

fn paths(dir: &tempfile::TempDir) -> Paths {
    Paths::resolve(&environment(dir)).unwrap()
}

fn daemon(dir: &tempfile::TempDir, shutdown: CancellationToken) -> (Daemon, Owner) {
    let environment = environment(dir);
    let settings = openclaw_settings::load(&environment).unwrap();
    let (owner, configuration) = Owner::new(settings);
    let listener = |socket: PathBuf| {
        let _ = std::fs::remove_file(&socket);
        UnixListener::bind(socket).unwrap()
    };
    let control = listener(paths(dir).gateway_socket());
    let channels = listener(paths(dir).channel_socket());
    let daemon = Daemon {
        configuration,
        environment,
        listeners: [("control", control), ("channels", channels)]
            .into_iter()
            .collect(),
        notifier: Notifier::default(),
        shutdown,
        activity: Activity::default(),
        last_word: LastWord::default(),
    };
    (daemon, owner)
}

pub(crate) fn text_of(text: &str) -> Message {
    Message {
        text: text.to_owned(),
        ..Message::default()
    }
}

pub(crate) fn text(text: &str) -> Kind {
    Kind::TextDelta {
        text: text.to_owned(),
    }
}

pub(crate) fn done() -> Kind {
    Kind::Done(Done {
        stop_reason: "stop".to_owned(),
        provider: "anthropic".to_owned(),
        model: "m".to_owned(),
        backend_session: Some("b-1".to_owned()),
        backend: "native".to_owned(),
    })
}

pub(crate) async fn next(replies: &mut Replies) -> Event {
    match soon(replies.next()).await.unwrap().unwrap() {
        Reply::Event(event) => event,
        Reply::Accepted(..) => panic!("accepted twice"),
    }
}

/// All events that are left, checked to be numbered without gaps.
pub(crate) async fn rest(mut replies: Replies) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let mut last: Option<u64> = None;
    while let Some(reply) = soon(replies.next()).await {
        let Reply::Event(event) = reply.unwrap() else {
            panic!("accepted twice");
        };
        assert!(
            last.is_none_or(|last| event.seq == last + 1),
            "a gap before {event:?}"
        );
        last = Some(event.seq);
        kinds.push(event.kind);
    }
    let terminals = kinds.iter().filter(|kind| kind.is_terminal()).count();
    assert_eq!(terminals, 1, "exactly one event ends a run: {kinds:?}");
    kinds
}
