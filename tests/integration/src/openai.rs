//! The official `openai` package, as a client of the gateway.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;

use crate::{Said, Suite, Talk, within};

/// Names a Python that has the package, or is `skip`.
const VARIABLE: &str = "OPENCLAW_TEST_OPENAI";
/// Where tests/run installs it, beneath the workspace's root.
const INSTALLED: &str = "target/openai/bin/python";
/// The program that uses the package.
const SCRIPT: &str = "tests/openai/client.py";

/// The package, at a gateway.
#[derive(Debug)]
pub struct OpenAi {
    python: PathBuf,
    address: String,
    token: String,
}

impl OpenAi {
    /// With the gateway's own token; `None` where the tests were told to do
    /// without the package.
    pub async fn at(suite: &Suite) -> Option<Self> {
        let python = python()?;
        Some(Self {
            python,
            address: suite.address("http").await,
            token: suite.token().await,
        })
    }

    /// The same with another token.
    pub fn with_token(mut self, token: &str) -> Self {
        token.clone_into(&mut self.token);
        self
    }

    /// Calls a function of the script; what it printed.
    pub async fn call(&self, function: &str, arguments: &[&str]) -> Value {
        let output = self.command(function, arguments).output();
        let what = format!("client.py {function}");
        let output = within(&what, output).await.expect("start Python");
        Said::of(what, &output).document()
    }

    /// Calls a function and does not wait for its end.
    pub fn begin(&self, function: &str, arguments: &[&str]) -> Talk {
        Talk::start(
            &format!("client.py {function}"),
            self.command(function, arguments),
        )
    }

    fn command(&self, function: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPT))
            .args([&self.address, &self.token])
            .arg(function)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

fn python() -> Option<PathBuf> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    let installed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(INSTALLED);
    match named.as_str() {
        "skip" => {
            crate::skipped(&format!("the openai package: {VARIABLE} is skip"));
            None
        }
        "" if installed.is_file() => Some(installed),
        "" => panic!(
            "the openai package is not in {INSTALLED}: run tests/run, which installs it, or set \
             {VARIABLE} to a Python that has it, or to `skip` to do without these tests"
        ),
        path if Path::new(path).is_file() => Some(PathBuf::from(path)),
        path => panic!("{VARIABLE} is {path}, which is not there"),
    }
}
