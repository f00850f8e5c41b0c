//! What OpenClaw's gateway was recorded to do, done with ours: the same frames
//! are sent, and frames of the same kinds come back, in the same order, with
//! the same codes. The recordings are reduced to what is compared.

use std::path::Path;

use integration_tests::socket::{self, Socket};
use integration_tests::{Setup, Suite, asked};
use scripted_model::Server;
use serde_json::{Value, json};

/// The token in the recordings.
const TOKEN: &str = "test-token-0123456789abcdef";

/// Events that come by the clock, or that tell of parts we do not have.
const BY_THE_WAY: [&str; 9] = [
    "chat.metadata.changed",
    "tick",
    "health",
    "presence",
    "sessions.changed",
    "session.message",
    "cron",
    "voicewake.changed",
    "voicewake.routing.changed",
];

fn setup(model: &Server) -> Setup {
    Setup::anthropic(model)
        .set("gateway.auth.mode", "token")
        .set("gateway.auth.token", TOKEN)
}

async fn suite() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (setup(&model).start().await, model)
}

fn recording(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recordings")
        .join(format!("{name}.jsonl"));
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What a message of the recording asks of our scripted model.
fn said(text: &str) -> String {
    if let Some(call) = text.strip_prefix("TOOLCALL exec ") {
        return format!("[[scenario:tool execute_shell {call}]]");
    }
    if let Some(call) = text.strip_prefix("TOOLCALL write ") {
        return format!("[[scenario:tool write_file {call}]]");
    }
    if text.starts_with("FAIL401") {
        return "[[scenario:401]]".to_owned();
    }
    if text.starts_with("SLOW") || text.starts_with("STREAM") {
        return format!("[[scenario:slow 40]] {text}");
    }
    text.to_owned()
}

/// A frame in one word, as far as it is compared.
fn kind(frame: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if frame["type"] == "res" {
        let error = &frame["error"];
        let mut kind = format!("res {} {}", text(&frame["id"]), frame["ok"]);
        if error.is_object() {
            let code = text(&error["details"]["code"]);
            kind += &format!(
                " {} {code} {}",
                text(&error["code"]),
                text(&error["message"])
            );
        }
        let payload = &frame["payload"];
        return kind + &format!(" {} {}", text(&payload["type"]), text(&payload["status"]));
    }
    let payload = &frame["payload"];
    let phase = match frame["event"].as_str() {
        Some("agent") => payload["data"].get("phase").or(payload.get("phase")),
        _ => payload.get("phase"),
    };
    let phase = phase.map(text).unwrap_or_default();
    let (stream, state) = (text(&payload["stream"]), text(&payload["state"]));
    format!("{} {stream}{state} {phase}", text(&frame["event"]))
}

/// The order of the frames, for each run by itself. How often text comes is
/// the model's affair, and how often a command tells that it runs is the
/// sandbox's.
fn order(frames: &[Value], run_id: Option<&str>) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for frame in frames {
        let event = frame["event"].as_str().unwrap_or_default();
        if BY_THE_WAY.contains(&event) || frame["payload"]["runId"].as_str() != run_id {
            continue;
        }
        let kind = kind(frame);
        let streams = ["agent assistant ", "chat delta ", "agent usage "];
        let repeats = kind.ends_with(" update") || kind == "agent command_output delta";
        if !streams.contains(&kind.as_str()) && !repeats {
            kinds.push(kind);
        }
    }
    kinds
}

/// The runs that a recording begins; of one that begins none, those in it.
fn run_ids(recording: &[Value]) -> Vec<String> {
    let sent = recording.iter().filter(|line| line["dir"] == "c2s");
    let keys = sent.filter_map(|line| line["frame"]["params"]["idempotencyKey"].as_str());
    let mut ids: Vec<String> = keys.map(str::to_owned).collect();
    if ids.is_empty() {
        let told = recording.iter();
        let told = told.filter_map(|line| line["frame"]["payload"]["runId"].as_str());
        ids = told.map(str::to_owned).collect();
        ids.dedup();
    }
    ids
}

/// Replays a recording; the frames that came back and how it was closed.
async fn replay(suite: &Suite, lines: &[Value], origin: Option<&str>) -> (Vec<Value>, u16) {
    let address = suite.address("http").await;
    let mut socket = Socket::open(&address, origin).await;
    let challenge = socket.next().await.unwrap();
    let seed = lines[1]["frame"]["params"]["device"]["id"]
        .as_str()
        .map_or(0, |id| id.as_bytes()[0]);
    let mut refused = None;
    for (at, line) in lines.iter().enumerate() {
        if line["dir"] != "c2s" {
            continue;
        }
        wait_for(&mut socket, &lines[..at]).await;
        let mut frame = line["frame"].clone();
        if frame["method"] == "connect" && frame["params"]["device"].is_object() {
            let device = socket::device(seed, &frame["params"], &challenge["payload"]);
            frame["params"]["device"] = device;
        }
        if frame["method"] == "exec.approval.resolve" {
            let waiting = socket.seen.iter().rev();
            let mut ids = waiting.filter_map(|it| it["payload"][0]["id"].as_str());
            frame["params"]["id"] = json!(ids.next().expect("an approval was listed"));
        }
        if let Some(message) = frame["params"]["message"].as_str() {
            frame["params"]["message"] = json!(said(message));
        }
        socket.send(&frame.to_string()).await;
        let id = frame["id"].as_str().unwrap();
        if let Err(closed) = socket.answer(id).await {
            refused = Some(closed.code);
            break;
        }
    }
    let code = match (refused, lines.last().unwrap()["frame"]["code"].as_u64()) {
        (Some(code), _) => code,
        (None, Some(1005)) => {
            wait_for(&mut socket, lines).await;
            1005
        }
        (None, _) => socket.closed().await.code,
    };
    (socket.seen.clone(), code)
}

/// Waits for the ends of the runs whose ends are in `lines`: the client of the
/// recording waited for them too.
async fn wait_for(socket: &mut Socket, lines: &[Value]) {
    // Not those that others had under way when it was recorded.
    let own = run_ids(lines);
    for line in lines {
        let payload = &line["frame"]["payload"];
        let ended = matches!(
            payload["state"].as_str(),
            Some("final" | "aborted" | "error")
        ) || (payload["stream"] == "lifecycle" && payload["data"]["phase"] == "end");
        let run_id = payload["runId"].as_str().unwrap_or_default();
        if ended && is_own(&own, payload) {
            socket.end_of(run_id).await;
        } else if payload["state"] == "delta" && is_own(&own, payload) {
            begin_of(socket, run_id).await;
        } else if line["frame"]["event"] == "exec.approval.requested" {
            let asked = |it: &Value| it["event"] == "exec.approval.requested";
            socket.heard(asked).await;
        }
    }
}

/// Waits for the first words of a run.
async fn begin_of(socket: &mut Socket, run_id: &str) {
    let is_word = |frame: &Value| {
        let payload = &frame["payload"];
        payload["runId"] == run_id && payload["state"] == "delta"
    };
    if !socket.seen.iter().any(is_word) {
        socket.event(is_word).await;
    }
}

fn is_own(own: &[String], payload: &Value) -> bool {
    own.iter().any(|id| payload["runId"] == id.as_str())
}

fn recorded(lines: &[Value]) -> Vec<Value> {
    let came = lines.iter().filter(|line| line["dir"] == "s2c");
    came.map(|line| line["frame"].clone()).collect()
}

async fn compare(suite: &Suite, name: &str, origin: Option<&str>) {
    let lines = recording(name);
    let (came, code) = replay(suite, &lines, origin).await;
    same(name, &lines, &came, code);
}

/// What came must be what was recorded in `lines`.
fn same(name: &str, lines: &[Value], came: &[Value], code: u16) {
    let recorded = recorded(lines);
    assert_eq!(order(came, None), order(&recorded, None), "{name}");
    for run_id in run_ids(lines) {
        let id = Some(run_id.as_str());
        let (ours, theirs) = (order(came, id), order(&recorded, id));
        assert_eq!(ours, theirs, "{name}, run {run_id}");
        let ends = |frames: &[Value]| frames.iter().filter(|it| is_end(it, &run_id)).count();
        assert_eq!(ends(came), ends(&recorded), "{name}, run {run_id}");
    }
    let closed = lines.last().unwrap()["frame"]["code"].as_u64();
    assert_eq!(Some(u64::from(code)), closed, "{name}");
}

fn is_end(frame: &Value, run_id: &str) -> bool {
    let payload = &frame["payload"];
    let state = payload["state"].as_str();
    frame["event"] == "chat"
        && payload["runId"] == run_id
        && matches!(state, Some("final" | "aborted" | "error"))
}

#[tokio::test]
async fn handshakes_end_as_recorded() {
    let (suite, _model) = suite().await;
    let own = suite.address("http").await;
    for number in 1..=12 {
        let origin = match number {
            7 => Some(own.as_str()),
            8 => Some("https://evil.example"),
            _ => None,
        };
        compare(&suite, &format!("connect-{number}"), origin).await;
    }
}

#[tokio::test]
async fn scopes_are_as_recorded() {
    let (suite, _model) = suite().await;
    compare(&suite, "scope", None).await;
}

#[tokio::test]
async fn chat_is_told_as_recorded() {
    let (suite, _model) = suite().await;
    compare(&suite, "chat-send", None).await;
}

#[tokio::test]
async fn tools_are_told_as_recorded() {
    let (suite, _model) = suite().await;
    let mut lines = recording("tool");
    // What its client sent later went into the run or not, as it came.
    let mut sent = 0;
    lines.retain(|line| {
        let is_message = line["dir"] == "c2s" && line["frame"]["method"] != "connect";
        sent += usize::from(is_message);
        !is_message || sent == 1
    });
    let (came, _) = replay(&suite, &lines, None).await;
    let recorded = recorded(&lines);
    let run_id = run_ids(&lines).remove(0);
    assert_eq!(order(&came, Some(&run_id)), order(&recorded, Some(&run_id)));
}

#[tokio::test]
async fn stream_is_told_as_recorded() {
    let (suite, _model) = suite().await;
    compare(&suite, "stream", None).await;
}

#[tokio::test]
async fn commands_are_told_as_recorded() {
    let (suite, _model) = suite().await;
    compare(&suite, "slash", None).await;
}

/// The Claude Code CLI answers, in a session that goes on, whether it was named
/// or found.
#[tokio::test]
async fn claude_cli_is_told_as_recorded() {
    let model = Server::start().await.unwrap();
    for (backend, name) in [("claude-cli", "claude-cli"), ("auto", "claude-cli-resume")] {
        let Some(setup) = Setup::claude(&model) else {
            return;
        };
        let setup = setup
            .set("agents.defaults.backend", backend)
            .set("gateway.auth.mode", "token")
            .set("gateway.auth.token", TOKEN);
        compare(&setup.start().await, name, None).await;
    }
}

/// Messages that come while a turn runs go into it.
#[tokio::test]
async fn steering_is_told_as_recorded() {
    let (suite, _model) = suite().await;
    compare(&suite, "queue", None).await;
}

/// Up to the end that clients are told: OpenClaw's run goes on a little while
/// it notices, and then fails with an event of its own.
#[tokio::test]
async fn aborted_run_is_told_as_recorded() {
    let (suite, _model) = suite().await;
    let lines = recording("abort");
    let (came, _) = replay(&suite, &lines, None).await;
    let recorded = recorded(&lines);
    assert_eq!(order(&came, None), order(&recorded, None));
    let ids = run_ids(&lines);
    let ours = order(&came, Some(&ids[0]));
    let theirs = order(&recorded, Some(&ids[0]));
    assert_eq!(ours, theirs[..ours.len()]);
    assert_eq!(order(&came, Some(&ids[1])), order(&recorded, Some(&ids[1])));
}

/// The recording without the second error of the same run: a run ends once.
#[tokio::test]
async fn refused_key_is_told_as_recorded() {
    let (suite, _model) = suite().await;
    compare(&suite, "errors", None).await;
}

/// Up to the end of the connection: OpenClaw's gateway waits for what runs,
/// and here that goes on without it.
#[tokio::test]
async fn end_of_the_gateway_is_told_as_recorded() {
    let (suite, model) = suite().await;
    let lines = recording("shutdown");
    let end = async {
        asked::turns(&model, 1).await;
        suite.terminate();
    };
    let ((came, code), ()) = tokio::join!(replay(&suite, &lines, None), end);
    let recorded = recorded(&lines);
    assert_eq!(order(&came, None), order(&recorded, None));
    let run_id = run_ids(&lines).remove(0);
    let (ours, theirs) = (order(&came, Some(&run_id)), order(&recorded, Some(&run_id)));
    assert_eq!(ours, theirs[..ours.len()]);
    assert_eq!(code, 1012);
}

/// A command waits while its client leaves; another one decides. What the tool
/// said OpenClaw tells the client alone that began the run, and that is gone.
#[tokio::test]
async fn approvals_are_told_as_recorded() {
    let model = Server::start().await.unwrap();
    let suite = setup(&model).set("tools.exec.ask", "always").start().await;
    compare(&suite, "approval-1", None).await;
    let lines = recording("approval-2");
    let (mut came, code) = replay(&suite, &lines, None).await;
    came.retain(|frame| frame["payload"]["stream"] != "tool");
    same("approval-2", &lines, &came, code);
    let decided = came
        .iter()
        .find(|it| it["event"] == "exec.approval.resolved");
    let request = &decided.unwrap()["payload"]["request"];
    assert_eq!(request["runId"], "ap-1", "{request}");
    assert_eq!(request["ask"], "always", "{request}");
    assert!(
        request["cwd"].as_str().unwrap().ends_with("workspace"),
        "{request}"
    );
}
