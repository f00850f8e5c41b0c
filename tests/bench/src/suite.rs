//! The whole suite, run by `openclawctl run`.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use openclaw_proto::gateway::Client;
use tokio::process::Child;
use tokio::time::timeout;

use crate::activator::terminate;
use crate::daemon::Daemon;
use crate::home::Home;
use crate::process::Process;
use crate::programs::Programs;

/// Seconds until every daemon answers; a second is usual.
const START_SECONDS: &str = "30";
/// The daemons' own deadline is below that.
const STOP_DEADLINE: Duration = Duration::from_secs(40);
/// Lines of the log that go with an error.
const LOG_LINES: usize = 12;

/// The running suite. `openclawctl run` is killed, and its daemons are ended, when this is dropped.
#[derive(Debug)]
pub(crate) struct Suite {
    child: Child,
    gateway: PathBuf,
    log: PathBuf,
}

impl Suite {
    /// Starts it and waits until every daemon answers.
    pub(crate) async fn start(programs: &Programs, home: &Home) -> anyhow::Result<Self> {
        let ctl = programs.path("openclawctl");
        fs::create_dir_all(&home.paths.state).context("cannot make the state directory")?;
        let log = home.paths.state.join("run.log");
        let file = File::create(&log).context("cannot make the log")?;
        let mut command = home.command(&ctl);
        command
            .arg("run")
            .stdin(Stdio::null())
            .stdout(file.try_clone().context("cannot share the log")?)
            .stderr(file);
        let child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .context("cannot start openclawctl run")?;
        let suite = Self {
            child,
            gateway: home.paths.gateway_socket(),
            log,
        };
        let mut status = home.command(&ctl);
        status.args(["status", "--wait", START_SECONDS]);
        let output = tokio::process::Command::from(status).output().await;
        let output = output.context("cannot start openclawctl status")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stdout);
            bail!("the suite does not answer: {said}\n{}", suite.last_lines());
        }
        Ok(suite)
    }

    /// A client with a connection of its own.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.gateway.clone())
    }

    /// The daemons' processes.
    pub(crate) fn daemons(&self) -> anyhow::Result<Vec<(Daemon, Process)>> {
        let run = Process(self.child.id().context("openclawctl run has ended")?);
        let children = run.children()?.into_iter().filter_map(|process| {
            let daemon = Daemon::of(&process.program().ok()?)?;
            Some((daemon, process))
        });
        let daemons: Vec<_> = children.collect();
        if daemons.len() == Daemon::ALL.len() {
            Ok(daemons)
        } else {
            bail!("not every daemon runs\n{}", self.last_lines())
        }
    }

    /// Ends it in good order.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        terminate(&self.child)?;
        let ended = timeout(STOP_DEADLINE, self.child.wait()).await;
        ended
            .context("openclawctl run did not end in time")?
            .context("cannot wait for openclawctl run")?;
        Ok(())
    }

    /// The end of its log.
    pub(crate) fn last_lines(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(LOG_LINES).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}
