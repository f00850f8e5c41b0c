//! The process itself: how it starts and how it ends.

use std::io::Read;
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::common::{Script, Sent, anthropic_call, request, serve, spawn, turn};

/// A killed process is gone by then.
const KILL_LIMIT: Duration = Duration::from_secs(10);

#[tokio::test]
async fn turn_it_cannot_read_is_an_internal_error() {
    let unreadable = json!({"version": openclaw_turn::VERSION, "mode": "telepathic"});
    let outcome = turn(unreadable, vec![], vec![]).await;
    assert_eq!(outcome.end()["code"], "internal");
    assert!(
        outcome.end()["message"].as_str().unwrap().contains("/turn"),
        "{:?}",
        outcome.end()
    );
}

#[tokio::test]
async fn turn_of_another_version_is_an_internal_error_with_the_way_out() {
    let other = openclaw_turn::VERSION + 1;
    for request in [json!({"version": other}), json!({"mode": "native"})] {
        let outcome = turn(request, vec![], vec![]).await;
        assert_eq!(outcome.end()["code"], "internal");
        let message = outcome.end()["message"].as_str().unwrap();
        assert!(message.contains("from one build"), "{message}");
    }
}

#[test]
fn standard_input_that_is_no_socket_is_an_internal_error() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test runs the program itself"
    )]
    let output = Command::new(env!("CARGO_BIN_EXE_openclaw-agent"))
        .arg("turn")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let event: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(event["code"], "internal");
    assert!(event["message"].as_str().unwrap().contains("turn socket"));
}

#[test]
fn runner_that_goes_away_is_an_internal_error() {
    let (ours, theirs) = StdStream::pair().unwrap();
    drop(ours);
    let output = spawn(theirs).wait_with_output().unwrap();
    let event: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(event["code"], "internal");
}

#[tokio::test]
async fn reader_that_goes_away_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = StdStream::pair().unwrap();
    let mut child = spawn(theirs);
    drop(child.stdout.take());
    let script = Script {
        turn: request(folder.path(), "anthropic", "x"),
        model: [anthropic_call(
            "a",
            "execute_shell",
            r#"{"command":"touch ran"}"#,
        )]
        .into(),
        tool: [].into(),
    };
    let sent = Arc::new(Mutex::new(Sent::default()));
    let server = tokio::spawn(serve(ours, Arc::new(Mutex::new(script)), sent));
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap())
        .await
        .unwrap();
    server.abort();
    assert_eq!(status.code(), Some(1));
    assert!(!folder.path().join("ran").exists());
}

#[tokio::test]
async fn sigterm_ends_it_quietly_with_its_commands() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = StdStream::pair().unwrap();
    let mut child = spawn(theirs);
    let command = json!({"command": "echo $$ > pid; exec sleep 300"}).to_string();
    let script = Script {
        turn: request(folder.path(), "anthropic", "x"),
        model: [anthropic_call("a", "execute_shell", &command)].into(),
        tool: [].into(),
    };
    let sent = Arc::new(Mutex::new(Sent::default()));
    let server = tokio::spawn(serve(ours, Arc::new(Mutex::new(script)), sent));
    let pid_file = folder.path().join("pid");
    let shell = loop {
        match std::fs::read_to_string(&pid_file) {
            Ok(pid) if pid.ends_with('\n') => break Pid::from_raw(pid.trim().parse().unwrap()),
            _ => tokio::task::yield_now().await,
        }
    };
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    let ended = tokio::task::spawn_blocking(move || {
        let mut events = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut events)
            .unwrap();
        (events, child.wait_with_output().unwrap())
    });
    let (events, output) = ended.await.unwrap();
    server.abort();
    assert!(output.status.code() == Some(143) || output.status.signal() == Some(15));
    assert!(
        !events.contains("\"error\"") && !events.contains("\"done\""),
        "{events}"
    );
    assert!(output.stderr.is_empty());
    // The kernel takes a moment over a kill; init reaps it, or nobody does.
    let stat = format!("/proc/{shell}/stat");
    let deadline = Instant::now() + KILL_LIMIT;
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Instant::now() < deadline, "the command outlived the agent");
        tokio::task::yield_now().await;
    }
}
