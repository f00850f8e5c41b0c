//! `@openclaw/crabline` from npm: a Telegram of somebody else's, which OpenClaw's
//! own channel is tested against.

use std::path::PathBuf;
use std::process::Stdio;

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::installed::folder;
use crate::{seen, within};

const PROGRAM: &str = "node_modules/@openclaw/crabline/dist/src/bin/crabline.js";
/// It needs a newer one than Debian has.
const NODE: &str = "node_modules/node/bin/node";
/// Where it says how it is reached.
const READY: &str = "ready.json";
/// Where it says what it was asked.
const ASKED: &str = "asked.jsonl";

/// A running one, with one bot. It ends when it is dropped.
#[derive(Debug)]
pub struct Crabline {
    folder: TempDir,
    manifest: Value,
    _server: Child,
}

impl Crabline {
    /// Starts it; `None` where the tests were told to do without.
    pub async fn start() -> Option<Self> {
        let installed = folder("crabline", "OPENCLAW_TEST_CRABLINE", "crabline", PROGRAM)?;
        let folder = tempfile::tempdir().expect("make a folder");
        let place = |name: &str| folder.path().join(name);
        let server = Command::new(installed.join(NODE))
            .arg(installed.join(PROGRAM))
            .args(["--json", "serve", "telegram", "--ready-file"])
            .arg(place(READY))
            .arg("--recorder")
            .arg(place(ASKED))
            .env_clear()
            .env("HOME", folder.path())
            .env("CRABLINE_BOT_TOKEN", telegram_double::TOKEN)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("start Node");
        let manifest = seen("crabline is ready", || {
            let text = std::fs::read_to_string(place(READY)).ok()?;
            serde_json::from_str(&text).ok()
        })
        .await;
        Some(Self {
            folder,
            manifest,
            _server: server,
        })
    }

    /// What `apiRoot` is.
    pub fn root(&self) -> &str {
        self.manifest["endpoints"]["apiRoot"]
            .as_str()
            .expect("a root")
    }

    /// The bot's token.
    pub fn token(&self) -> &str {
        self.manifest["botToken"].as_str().expect("a token")
    }

    /// Somebody says `text` in the private chat `chat`.
    pub async fn say(&self, chat: i64, text: &str) {
        let at = |name: &str| self.manifest[name].as_str().expect("a text").to_owned();
        let url = self.manifest["endpoints"]["adminInboundUrl"].as_str();
        let said = Client::new()
            .post(url.expect("a URL"))
            .header("X-Crabline-Admin-Token", at("adminToken"))
            .header("Content-Type", "application/json")
            .body(json!({"chatId": chat, "text": text}).to_string())
            .send();
        let said = within("crabline takes a message", said).await;
        let status = said.expect("crabline answers").status();
        assert!(status.is_success(), "{status}");
    }

    /// Calls of the Bot API's `method` that were carried out, with their parameters.
    pub fn calls(&self, method: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.asked()).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let of_method = lines.filter(|line: &Value| {
            let path = line["path"].as_str().unwrap_or_default();
            path.ends_with(&format!("/{method}")) && line["accepted"] == true
        });
        of_method.map(|mut line| line["body"].take()).collect()
    }

    fn asked(&self) -> PathBuf {
        self.folder.path().join(ASKED)
    }
}
