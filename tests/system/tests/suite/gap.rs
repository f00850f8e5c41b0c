//! What a client over WebSocket sees while daemons, or all of them, are restarted in
//! the middle of an answer.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use integration_tests::socket::Socket;
use serde_json::{Value, json};

use crate::stage::{Stage, stage};

const ADDRESS: &str = "http://127.0.0.1:18789";
/// The control socket as a file: another one is a socket that was closed.
const CONTROL: &str = "stat -c %i \"$XDG_RUNTIME_DIR/openclaw/gateway.sock\"";
/// The answer: a piece every 20 milliseconds, for five seconds.
const ANSWER: &str = "[[scenario:clock 20 250]]";
const PIECES: usize = 250;
/// Told pieces before the restart: the answer is well under way.
const BEFORE: usize = 5;
/// What issue and DESIGN.md allow.
const LONGEST: Duration = Duration::from_secs(1);

/// What is restarted.
const UNITS: [&str; 4] = [
    "openclaw-gateway.service",
    "openclaw-agent-runner.service",
    "openclaw-memory.service",
    "openclaw.target",
];
/// The restart and then a whole answer, with unoptimised programs on a busy machine.
const BESIDE_SILENCE: Duration = Duration::from_millis(3500);

/// What the client saw of one answer.
struct Seen {
    text: String,
    /// The longest time without a word.
    silence: Duration,
    /// Connections that ended.
    breaks: usize,
}

#[test]
#[ignore = "boots a machine, needs root"]
fn clients_resume_through_restarts_of_daemons_and_of_the_target() -> Result<()> {
    let stage = stage()?;
    stage.ask("scripted", "[[scenario:text warm]]")?;
    let token = stage.user("openclawctl token")?;
    for unit in UNITS {
        let seen = through(&stage, unit, &token).with_context(|| unit.to_owned())?;
        println!(
            "restart of {unit}: longest silence {:?}, {} connections broken",
            seen.silence, seen.breaks
        );
        let pieces: Vec<u64> = seen
            .text
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()
            .with_context(|| seen.text.clone())?;
        ensure!(pieces.len() == PIECES, "{} pieces", pieces.len());
        ensure!(pieces.is_sorted(), "out of order: {pieces:?}");
        ensure!(seen.silence < LONGEST, "{unit}: {:?}", seen.silence);
    }
    Ok(())
}

/// A restart waits for no turn: it is what all other clients wait for.
#[test]
#[ignore = "boots a machine, needs root"]
fn turn_that_says_nothing_keeps_no_restart() -> Result<()> {
    let stage = stage()?;
    let asking = stage.start_asking("scripted", "[[scenario:held silent]]")?;
    stage.wait_for_turns(1)?;
    for unit in UNITS {
        let begun = Instant::now();
        stage.user(&format!("systemctl --user restart {unit}"))?;
        let answer = stage.ask("main", "hello")?;
        let took = begun.elapsed();
        println!("restart of {unit} beside a silent turn, and an answer: {took:?}");
        ensure!(!answer.is_empty());
        ensure!(took < BESIDE_SILENCE, "{unit}: {took:?}");
    }
    stage.model.release("silent");
    let answer = asking.wait_with_output()?;
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    ensure!(answer.status.success(), "{}: {said}", answer.status);
    ensure!(said.matches("sixteen.").count() == 1, "{said}");
    Ok(())
}

/// Restarts the unit while a client hears an answer.
fn through(stage: &Stage, unit: &str, token: &str) -> Result<Seen> {
    let control = stage.user(CONTROL)?;
    let (under_way, told) = mpsc::channel();
    let seen = std::thread::scope(|scope| -> Result<Seen> {
        let client = scope.spawn(move || stage.inside(move || hear(unit, token, &under_way)));
        // Nothing is told where the client ended before, which says why.
        if told.recv().is_ok() {
            stage.user(&format!("systemctl --user restart {unit}"))?;
        }
        client
            .join()
            .map_err(|_| anyhow::anyhow!("a connection was refused"))?
    })?;
    ensure!(stage.user(CONTROL)? == control, "another control socket");
    Ok(seen)
}

/// Sends the message and hears its answer, over as many connections as it takes.
fn hear(unit: &str, token: &str, under_way: &mpsc::Sender<()>) -> Result<Seen> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut socket = Socket::enter_at(ADDRESS, token, json!({})).await;
        let message = json!({
            "sessionKey": format!("agent:scripted:{unit}"), "message": ANSWER, "idempotencyKey": unit,
        });
        let run = socket.call("chat.send", message).await["runId"].clone();
        let mut seen = Seen { text: String::new(), silence: Duration::ZERO, breaks: 0 };
        let (mut told, mut heard_at) = (0, None::<Instant>);
        loop {
            let Ok(frame) = socket.next().await else {
                seen.breaks += 1;
                socket = Socket::open(ADDRESS, None).await;
                // One that was let in by a gateway on its way out comes back once more.
                let _ = socket.connect(token, json!({})).await;
                continue;
            };
            let payload = &frame["payload"];
            if frame["event"] != "chat" || payload["runId"] != run {
                continue;
            }
            let now = Instant::now();
            let since = heard_at.replace(now).map_or(Duration::ZERO, |it| now - it);
            seen.silence = seen.silence.max(since);
            told += 1;
            if told == BEFORE {
                under_way.send(())?;
            }
            if matches!(payload["state"].as_str(), Some("status" | "delta")) {
                continue;
            }
            ensure!(payload["state"] == "final", "{frame}");
            seen.text = said(payload);
            return Ok(seen);
        }
    })
}

fn said(payload: &Value) -> String {
    let content = payload["message"]["content"].as_array();
    let texts = content
        .into_iter()
        .flatten()
        .filter_map(|it| it["text"].as_str());
    texts.collect()
}
