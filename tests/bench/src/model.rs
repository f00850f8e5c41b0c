//! The scripted model, in a process of its own: its work must not be taken for the suite's.

use std::process::Stdio;

use anyhow::Context as _;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout};

use crate::programs::{self, Programs};

/// The running server. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Model {
    url: String,
    client: reqwest::Client,
    _child: Child,
    // Kept open: a closed one would end the server at its next line.
    _stdout: BufReader<ChildStdout>,
}

impl Model {
    pub(crate) async fn start(programs: &Programs) -> anyhow::Result<Self> {
        let mut command = programs::command(&programs.path("scripted-model"));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the scripted model")?;
        let stdout = child
            .stdout
            .take()
            .context("the scripted model has no output")?;
        let mut stdout = BufReader::new(stdout);
        let mut url = String::new();
        let read = stdout.read_line(&mut url).await;
        read.context("the scripted model does not say where it listens")?;
        Ok(Self {
            url: url.trim().to_owned(),
            client: reqwest::Client::builder()
                .tls_built_in_root_certs(false)
                .build()
                .context("cannot make an HTTP client")?,
            _child: child,
            _stdout: stdout,
        })
    }

    /// Base URL of its Anthropic API.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Bytes of each request body since the last time it was asked.
    pub(crate) async fn take_sizes(&self) -> anyhow::Result<Vec<u64>> {
        let url = format!("{}/_requests", self.url);
        let answer = self.client.get(&url).send().await;
        let body = answer.context("ask the scripted model")?.bytes().await?;
        self.client.delete(&url).send().await?;
        let requests: Vec<Value> =
            serde_json::from_slice(&body).context("read the scripted model's record")?;
        let sizes = requests
            .iter()
            .filter_map(|request| request["size"].as_u64());
        Ok(sizes.collect())
    }
}
