//! What an agent in the sandbox may write into the pipe to the host's tools.

use std::time::Duration;

use openclaw_folder::Folder;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout;

use super::*;
use crate::fuzz::Scene;

/// For all answers of one run: nothing is waited for in it.
const PATIENCE: Duration = Duration::from_secs(8);

/// A request of ours, after all the others.
const LAST: &str = r#"{"id":18446744073709551615,"tool":"session_status"}"#;

/// Any request lines. Each that is one is answered once, under its id, and
/// whatever came before, the next one is answered too.
pub fn tool_pipe(bytes: &[u8]) {
    let scene = Scene::new();
    let folder = scene.folder.path().join("pipe");
    let tools = scene.tools();
    let answers = scene.runtime.block_on(async {
        let made = Folder::open_or_create(&folder).expect("a folder");
        for name in [REQUEST_PIPE, RESPONSE_PIPE] {
            made.create_fifo(name, 0o600).expect("a pipe");
        }
        let _serving = ToolPipe::serve(&folder, tools, None).await.expect("serve");
        let end = |name| made.open_fifo(name).expect("a pipe");
        let mut sender = Sender::from_file(end(REQUEST_PIPE)).expect("a pipe");
        let receiver = Receiver::from_file(end(RESPONSE_PIPE)).expect("a pipe");
        let mut answers = BufReader::new(receiver).lines();
        let said = [bytes, b"\n", LAST.as_bytes(), b"\n"].concat();
        let wanted = requests(&said);
        let writing = async { sender.write_all(&said).await.expect("write") };
        let reading = async {
            let mut given = Vec::new();
            while given.len() < wanted.len() {
                let line = answers.next_line().await.expect("read").expect("no end");
                let answer: Value = serde_json::from_str(&line).expect("an answer is JSON");
                assert!(answer["ok"].is_boolean(), "{answer}");
                given.push(answer["id"].as_u64().expect("an answer has an id"));
            }
            given
        };
        let both = async { tokio::join!(writing, reading).1 };
        let given = timeout(PATIENCE, both)
            .await
            .expect("every request is answered");
        let more = timeout(Duration::ZERO, answers.next_line()).await;
        assert!(more.is_err(), "{more:?}");
        (given, wanted)
    });
    let (mut given, mut wanted) = answers;
    given.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(given, wanted);
}

/// What a request is.
#[derive(Deserialize)]
struct Request {
    id: u64,
    #[serde(rename = "tool")]
    _tool: String,
    #[serde(default, rename = "arguments")]
    _arguments: Value,
}

/// The ids of the lines that are requests.
fn requests(bytes: &[u8]) -> Vec<u64> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let texts = lines.filter_map(|line| std::str::from_utf8(line).ok());
    let requests = texts.filter_map(|line| serde_json::from_str(line).ok());
    requests.map(|request: Request| request.id).collect()
}
