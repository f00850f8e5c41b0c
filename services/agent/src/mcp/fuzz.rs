//! What a CLI may ask of the tool server.

use std::collections::HashMap;
use std::time::Duration;

use openclaw_tools::HandlerError;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::time::timeout;

use super::*;
use crate::fuzz::runtime;

/// Bytes that wait between the two ends: all that is said and answered.
const PIPE: usize = 1 << 22;

/// For one conversation with a client that has said everything.
const PATIENCE: Duration = Duration::from_secs(8);

/// Says back what it is given.
const TOOL: &str = "echo";

/// Whole numbers below it are each a number of their own in 64 bits with a point (2^53).
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a client says first.
const GREETING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"greeting","method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n"
);

/// Any lines of a client, after a greeting unless they begin with a byte of 0.
/// Each line of the server is JSON-RPC; each answer is to a request, and
/// there are no more of them than requests under that id.
pub fn mcp_server(bytes: &[u8]) {
    let said = match bytes.strip_prefix(b"\0") {
        Some(bare) => bare.to_vec(),
        None => [GREETING.as_bytes(), bytes].concat(),
    };
    let answers = runtime().block_on(async {
        let (ours, theirs) = duplex(PIPE);
        let (mut reader, mut writer) = tokio::io::split(theirs);
        let serving = tokio::spawn(async move {
            let offered = Offered::of(registry(), String::new());
            let server = ToolServer::new(offered, Images::default(), true);
            // What is no greeting is refused.
            if let Ok(service) = server.serve(tokio::io::split(ours)).await {
                let _ = service.waiting().await;
            }
        });
        writer.write_all(&said).await.expect("it has room");
        writer.shutdown().await.expect("shut down");
        let mut answers = Vec::new();
        let reading = async {
            serving.await.expect("it does not crash");
            reader.read_to_end(&mut answers).await.expect("read");
        };
        timeout(PATIENCE, reading)
            .await
            .expect("it ends with its input");
        answers
    });
    let mut asked = HashMap::<String, usize>::new();
    for line in lines(&said).filter(|line| line["method"].is_string()) {
        *asked.entry(id(&line)).or_default() += 1;
    }
    for line in lines(&answers).filter(|line| line["method"].is_null()) {
        assert_eq!(line["jsonrpc"], "2.0");
        let is_answer = line.get("result").is_some() != line.get("error").is_some();
        assert!(is_answer, "{line}");
        // What cannot be read is answered under no id (JSON-RPC 2.0, 5).
        if !line["id"].is_null() {
            let left = asked.get_mut(&id(&line));
            let left = left.expect("an answer is to a request");
            *left = left.checked_sub(1).expect("a request has one answer");
        }
    }
    let whole = answers.split_inclusive(|byte| *byte == b'\n');
    let is_json = |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok();
    assert!(whole.into_iter().all(is_json));
}

/// The id of a message. A number is the same however it is written: `1e0` is 1.
fn id(line: &Value) -> String {
    let id = &line["id"];
    let whole = id.as_f64().filter(|_| id.is_f64());
    let whole = whole.filter(|it| it.fract() == 0.0 && it.abs() < EXACT);
    whole.map_or_else(|| id.to_string(), |it| (it as i64).to_string())
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Value> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}});
    let tool = ToolDefinition::new(TOOL, "Says back what it is given.", schema);
    let said = registry.register(tool, |arguments: Value| async move {
        Ok::<_, HandlerError>(arguments.to_string())
    });
    said.expect("a tool");
    registry
}
