//! The Claude Code CLI without the suite.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;
use uuid::Uuid;

use crate::programs;

/// A plain run takes a second or two.
const DEADLINE: Duration = Duration::from_secs(120);

/// The CLI as the runner starts it, but by itself: its own home and folders, no sandbox.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) input: String,
    pub(crate) workspace: PathBuf,
    pub(crate) session: String,
}

/// When things happened in a plain run, since it was started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// The result line.
    pub(crate) result: Duration,
    /// The end of the process.
    pub(crate) exit: Duration,
}

impl Plain {
    /// Runs it once, in a new session of its own.
    pub(crate) async fn run(&self) -> anyhow::Result<Run> {
        let run = timeout(DEADLINE, self.run_through()).await;
        run.context("the plain CLI did not end in time")?
    }

    async fn run_through(&self) -> anyhow::Result<Run> {
        let session = Uuid::new_v4().to_string();
        let anew = |text: &String| text.replace(&self.session, &session);
        let mut command = programs::command(&self.program);
        command
            .args(self.arguments.iter().map(anew))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let started = Instant::now();
        let mut child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the plain CLI")?;
        let mut stdin = child.stdin.take().context("the CLI has no input")?;
        stdin.write_all(anew(&self.input).as_bytes()).await?;
        drop(stdin);
        let stdout = child.stdout.take().context("the CLI has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let mut result = None;
        while let Some(line) = lines.next_line().await? {
            let line: serde_json::Value = serde_json::from_str(&line)?;
            if line["type"] == "result" {
                ensure!(line["is_error"] == false, "the plain CLI failed: {line}");
                result = Some(started.elapsed());
            }
        }
        let status = child.wait().await?;
        let exit = started.elapsed();
        match result {
            Some(result) if status.success() => Ok(Run { result, exit }),
            _ => bail!("the plain CLI ended with {status}"),
        }
    }
}
