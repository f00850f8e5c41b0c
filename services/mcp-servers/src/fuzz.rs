//! What a server of tools may answer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_handoff::fuzz::runtime;
use openclaw_handoff::servers::Pace;
use openclaw_tools::Policy;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, Tool};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, duplex,
};
use tokio::time::timeout;

use crate::line::Known;
use crate::offered::{self, State};
use crate::output::{self, Output};
use crate::pool;
use crate::server::{Listener, Refused, greet};

/// Bytes that wait between the two ends.
const PIPE: usize = 1 << 16;

/// For one conversation with a server that has said everything.
const PATIENCE: Duration = Duration::from_secs(8);

/// What parts what a server says to one request from what it says to the next.
const BETWEEN: &str = "\n\n";

/// How often the other side gets its turn before it is taken to wait.
const TURNS: usize = 64;

/// What was said so far, by the client and by the server.
type Said = Arc<Mutex<(Vec<Value>, String)>>;

/// Any lines of a server, some after each request. Its tools have names that
/// models take and no more of them than are allowed; an answer is to the request
/// that was asked, and as long as is allowed.
pub fn mcp_client(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    runtime().block_on(async {
        let (ours, theirs) = duplex(PIPE);
        let said = Said::default();
        let server = tokio::spawn(answer(theirs, text, Arc::clone(&said)));
        let talk = async {
            let ends = tokio::io::split(ours);
            let listener = Listener(Arc::default());
            if let Ok((service, tools)) = greet(ends, listener, &Refused::default()).await {
                use_tools(&service, tools, &said).await;
            }
        };
        timeout(PATIENCE, talk)
            .await
            .expect("nothing is waited for");
        server.abort();
    });
}

/// Says the next part after each request, and goes when there is none, or when
/// the client waits for more.
async fn answer(ends: DuplexStream, text: String, said: Said) {
    let (reader, mut writer) = tokio::io::split(ends);
    let mut lines = BufReader::new(reader).lines();
    let mut parts = text.split(BETWEEN);
    while let Some(line) = next(&mut lines).await {
        let request: Value = serde_json::from_str(&line).expect("a request is JSON");
        // Neither a notification nor an answer to a server's ping is one.
        if request["id"].is_null() || request["method"].is_null() {
            continue;
        }
        let Some(part) = parts.next() else {
            return;
        };
        let part = format!("{part}\n");
        note(&said, request, &part);
        if writer.write_all(part.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn note(said: &Said, request: Value, part: &str) {
    let mut said = said.lock().expect("nobody panicked");
    said.0.push(request);
    said.1.push_str(part);
}

async fn next(lines: &mut Lines<BufReader<ReadHalf<DuplexStream>>>) -> Option<String> {
    for _ in 0..TURNS {
        tokio::select! {
            biased;
            line = lines.next_line() => return line.ok().flatten(),
            () = tokio::task::yield_now() => {}
        }
    }
    None
}

async fn use_tools(peer: &Peer<RoleClient>, tools: Vec<Tool>, said: &Said) {
    let status = pool::ready(tools, String::new());
    let known = Known {
        name: "a".to_owned(),
        trusted: true,
        reach: String::new(),
        status,
    };
    let state = State::of(&[known], &Policy::default(), Pace::Prompt);
    assert!(state.definitions.len() <= offered::TOOLS);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    for definition in &state.definitions {
        let name = &definition.name;
        assert!(name.starts_with("a__") && name.len() <= 64 && name.chars().all(plain));
        assert!(definition.description.len() <= offered::DESCRIPTION_BYTES);
    }
    for offered in state.tools.values().take(2) {
        let request = CallToolRequestParams::new(offered.name.clone());
        if let Ok(result) = peer.call_tool(request).await {
            let output = Output::of(result);
            // The words about what was cut out are between.
            assert!(output.text.len() <= output::HEAD_BYTES + output::TAIL_BYTES + 64);
            assert!(is_answered(said), "{}", output.text);
        }
    }
}

/// Whether the last request has its answer.
fn is_answered(said: &Said) -> bool {
    let said = said.lock().expect("nobody panicked");
    let request = said.0.last().expect("something was asked");
    let lines = said
        .1
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut lines = lines.filter(|line: &Value| line.get("result").is_some());
    lines.any(|line| line["id"] == request["id"])
}
