//! Where the suite runs.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use integration_tests::{Setup, Suite, processes};
use nix::unistd::{Pid, getuid};
use openclaw_config::{Environment, Paths};
use openclaw_proto::gateway;
use scripted_model::Server;
use telegram_double::Double;

/// What the agent may spend in a day. A fast machine gets through so many turns
/// that the scripted model's prices would end them.
const SPENDING: &str = "agents.defaults.limits.costPerDay";
const UNBOUNDED_DOLLARS: f64 = 1e6;

/// A running suite.
#[derive(Debug)]
pub struct RunningSuite {
    paths: Paths,
    own: Option<Own>,
    pub(crate) agent: String,
}

/// A suite of our own, under `openclawctl run`.
#[derive(Debug)]
struct Own {
    suite: Suite,
    _model: Server,
    telegram: Option<Arc<Double>>,
}

impl RunningSuite {
    /// Starts the suite with `openclawctl run` in a folder of its own, with the
    /// native backend and a scripted model.
    ///
    /// # Errors
    /// The model cannot listen, or the folder's paths are not usable.
    pub async fn own() -> anyhow::Result<Self> {
        Self::with(None).await
    }

    /// The same with a bot of Telegram, to whom everybody may talk, in a session of
    /// their own.
    ///
    /// # Errors
    /// The model or the double of Telegram cannot listen, or the folder's paths are
    /// not usable.
    pub async fn telegram() -> anyhow::Result<Self> {
        let double = Double::start().await.context("start Telegram's double")?;
        Self::with(Some(Arc::new(double))).await
    }

    async fn with(telegram: Option<Arc<Double>>) -> anyhow::Result<Self> {
        let model = Server::start().await.context("start the model")?;
        let mut setup = Setup::anthropic(&model).set(SPENDING, UNBOUNDED_DOLLARS);
        if let Some(double) = &telegram {
            setup = setup
                .set("session.dmScope", "per-channel-peer")
                .set("channels.telegram.dmPolicy", "open")
                .set("channels.telegram.allowFrom", vec!["*"])
                .set("channels.telegram.apiRoot", double.url())
                .variable("TELEGRAM_BOT_TOKEN", double.token());
        }
        let suite = setup.start().await;
        let (state, runtime) = (suite.state(), suite.runtime());
        let place = |path: PathBuf| path.display().to_string();
        let environment: Environment = [
            ("OPENCLAW_STATE_DIR", place(state)),
            ("OPENCLAW_RUNTIME_DIR", place(runtime)),
        ]
        .into_iter()
        .collect();
        Ok(Self {
            paths: Paths::resolve(&environment).context("find the suite's folders")?,
            own: Some(Own {
                suite,
                _model: model,
                telegram,
            }),
            agent: "main".to_owned(),
        })
    }

    /// The suite that this user's service manager runs. Its agent `agent`
    /// speaks with a scripted model.
    ///
    /// # Errors
    /// There is no home.
    pub fn units(agent: &str) -> anyhow::Result<Self> {
        let paths = Paths::resolve(&Environment::inherit()).context("find the suite's folders")?;
        Ok(Self {
            paths,
            own: None,
            agent: agent.to_owned(),
        })
    }

    /// Whether turns are units of a service manager.
    pub fn has_units(&self) -> bool {
        self.own.is_none()
    }

    /// What the daemons wrote; with a service manager it is in the journal.
    pub fn log(&self) -> Vec<String> {
        self.own
            .as_ref()
            .map(|own| own.suite.log.lines())
            .unwrap_or_default()
    }

    /// What stands for Telegram, if the suite has a bot there.
    pub(crate) fn double(&self) -> Option<&Arc<Double>> {
        self.own.as_ref()?.telegram.as_ref()
    }

    pub(crate) fn gateway(&self) -> gateway::Client {
        gateway::Client::new(self.paths.gateway_socket())
    }

    /// Spools of turns.
    pub(crate) fn turns(&self) -> PathBuf {
        self.paths.turns()
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.paths.ledger()
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.paths.sessions(&self.agent)
    }

    /// Folders of the turns that run.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.paths.agent(&self.agent).join("tmp")
    }

    /// Those that the agent does not own.
    pub(crate) fn turn_folders(&self) -> PathBuf {
        self.paths.turn_folders(&self.agent)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        match self.agent.as_str() {
            "main" => self.paths.default_workspace(),
            other => self.paths.workspace_of(other),
        }
    }

    /// The suite's processes.
    pub(crate) fn pids(&self) -> Vec<Pid> {
        match &self.own {
            Some(own) => processes::of_folder(&own.suite.path("")),
            None => of_this_user(),
        }
    }
}

/// Processes of this user whose command line names the suite.
fn of_this_user() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            entry
                .metadata()
                .is_ok_and(|found| found.uid() == getuid().as_raw())
        })
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
            let name = program.rsplit(|byte| *byte == b'/').next();
            name.is_some_and(|name| name.starts_with(b"openclaw-"))
        })
        .map(Pid::from_raw)
        .collect()
}
