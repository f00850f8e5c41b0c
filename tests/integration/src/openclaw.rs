//! OpenClaw's own programs from npm, as clients of the gateway.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::{Said, Suite, before};

/// Names the folder they are installed in, or is `skip`.
const VARIABLE: &str = "OPENCLAW_TEST_OPENCLAW";
/// Where tests/run installs them, beneath the workspace's root.
const INSTALLED: &str = "target/openclaw";
/// The program that uses the client library.
const SCRIPT: &str = "tests/openclaw/client.mjs";
/// Several seconds of it are Node reading OpenClaw's own code, on an idle machine.
const START: Duration = Duration::from_secs(120);

/// The folder; `None` where the tests were told to do without.
pub fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = match std::env::var(VARIABLE).unwrap_or_default().as_str() {
        "skip" => {
            crate::skipped(&format!("OpenClaw's programs: {VARIABLE} is skip"));
            return None;
        }
        "" => root.join(INSTALLED),
        named => PathBuf::from(named),
    };
    let program = folder.join("node_modules/openclaw/openclaw.mjs");
    assert!(
        program.is_file(),
        "{} is not there: run tests/run, or set {VARIABLE} to the folder or to skip",
        program.display()
    );
    Some(folder.canonicalize().expect("the folder is there"))
}

/// The protocol's schema as the npm package has it.
pub fn schema(folder: &Path) -> serde_json::Value {
    let file = folder.join("node_modules/@openclaw/gateway-protocol/protocol.schema.json");
    let text = std::fs::read_to_string(file).expect("read the schema");
    serde_json::from_str(&text).expect("the schema is JSON")
}

/// OpenClaw's programs, at a gateway.
#[derive(Debug)]
pub struct OpenClaw {
    folder: PathBuf,
    home: tempfile::TempDir,
    url: String,
    token: String,
}

impl OpenClaw {
    /// With the gateway's own token and a home of their own.
    pub async fn at(suite: &Suite) -> Option<Self> {
        let folder = folder()?;
        let home = tempfile::tempdir().expect("make a folder");
        let url = suite.address("http").await.replacen("http", "ws", 1);
        Some(Self {
            folder,
            home,
            url,
            token: suite.token().await,
        })
    }

    /// Runs `openclaw` with `arguments`.
    pub async fn cli(&self, arguments: &[&str]) -> Said {
        let mut command = self.node();
        command
            .arg(self.folder.join("node_modules/openclaw/openclaw.mjs"))
            .args(arguments);
        Self::run(&format!("openclaw {}", arguments.join(" ")), command).await
    }

    /// Runs the script that uses @openclaw/gateway-client.
    pub async fn client(&self, arguments: &[&str]) -> Said {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPT);
        let mut command = self.node();
        command.arg(script).args(arguments);
        Self::run(&format!("client.mjs {}", arguments.join(" ")), command).await
    }

    async fn run(what: &str, mut command: Command) -> Said {
        let output = before(START, what, command.output())
            .await
            .expect("start Node");
        Said::of(what.to_owned(), &output)
    }

    fn node(&self) -> Command {
        let port = self.url.rsplit(':').next().unwrap_or_default();
        let mut command = Command::new(self.folder.join("node_modules/node/bin/node"));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home.path())
            .env("OPENCLAW_STATE_DIR", self.home.path().join("state"))
            .env("OPENCLAW_GATEWAY_URL", &self.url)
            .env("OPENCLAW_GATEWAY_PORT", port)
            .env("OPENCLAW_GATEWAY_TOKEN", &self.token)
            .env("OPENCLAW_TEST_PACKAGES", self.folder.join("node_modules"))
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}
