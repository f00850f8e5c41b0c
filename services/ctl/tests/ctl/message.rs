//! `openclawctl message`.

use std::io::Write as _;
use std::process::Stdio;

use nix::sys::signal::Signal;
use openclaw_proto::event::{Code, Failed, Kind, Usage};
use openclaw_proto::wire::gateway::StatusResponse;
use serde_json::{Value, json};

use crate::gateway::{RUN, ScriptedGateway, Step, delta, done, listen};
use crate::scene::{Scene, text};

fn failed(seq: u64) -> Step {
    Step::Event(
        seq,
        Kind::Failed(Failed {
            code: Code::Auth,
            message: "the key was refused".to_owned(),
            retry_after_ms: None,
            backend_session: None,
            backend: "native".to_owned(),
        }),
    )
}

#[test]
fn the_reply_comes_as_it_is_said() {
    let scene = Scene::new();
    let gateway = ScriptedGateway::start(
        &scene,
        vec![vec![delta(1, "Hello\n"), Step::UntilCancelled(2)]],
    );
    let running = scene.start(&["message", "hi", "there", "--session", "work"]);
    // Before the run has ended.
    assert_eq!(running.stdout.until("Hello"), "Hello\n");
    running.signal(Signal::SIGINT);
    running.stderr.until("cancelled");
    assert_eq!(running.wait().code(), Some(130));
    let asked = gateway.asked();
    assert_eq!(asked.messages[0].text, "hi there");
    assert_eq!(asked.messages[0].session_key, "work");
    assert_eq!(asked.messages[0].channel, "cli");
    assert!(!asked.messages[0].idempotency_key.is_empty());
    assert_eq!(asked.cancelled[0].run_id, RUN);
}

#[test]
fn sigterm_cancels_too() {
    let scene = Scene::new();
    let script = vec![delta(1, "a\n"), Step::UntilCancelled(2)];
    let gateway = ScriptedGateway::start(&scene, vec![script]);
    let running = scene.start(&["message", "hi"]);
    running.stdout.until("a");
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait().code(), Some(143));
    assert_eq!(gateway.asked().cancelled.len(), 1);
}

#[test]
fn the_time_that_was_given_ends_the_run() {
    let scene = Scene::new();
    let gateway = ScriptedGateway::start(&scene, vec![vec![Step::UntilCancelled(1)]]);
    let output = scene.run(&["message", "hi", "--timeout", "0.2"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("error: the reply was not whole after 0.2 s"),
        "{stderr}"
    );
    assert_eq!(gateway.asked().cancelled.len(), 1);
}

#[test]
fn a_reply_ends_with_one_line_end_and_needs_no_terminal() {
    for arguments in [&["message", "hi"][..], &["message", "hi", "--no-stream"]] {
        let scene = Scene::new();
        let script = vec![delta(1, "one "), delta(2, "two"), done(3)];
        let _gateway = ScriptedGateway::start(&scene, vec![script]);
        let output = scene.run(arguments);
        assert_eq!(text(&output.stdout), "one two\n");
        assert_eq!(text(&output.stderr), "");
        assert!(output.status.success());
    }
}

#[test]
fn standard_input_is_a_message() {
    let scene = Scene::new();
    let gateway = ScriptedGateway::start(&scene, vec![vec![done(1)]]);
    let mut child = scene
        .command(&["message", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("two\nlines\n".as_bytes()).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(gateway.asked().messages[0].text, "two\nlines");
}

#[test]
fn a_failed_run_keeps_its_text_and_says_why() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(&scene, vec![vec![delta(1, "half"), failed(2)]]);
    let output = scene.run(&["message", "hi"]);
    assert_eq!(text(&output.stdout), "half\n");
    assert_eq!(text(&output.stderr), "error: the key was refused\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn json_lines_are_the_events() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(&scene, vec![vec![delta(1, "half"), failed(2)]]);
    let output = scene.run(&["message", "hi", "--json", "--session", "s"]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            json!({"type": "accepted", "runId": RUN, "sessionKey": "s",
                "sessionId": "session-1", "agentId": "main", "existing": false}),
            json!({"type": "text_delta", "runId": RUN, "seq": 1, "atMs": 1, "text": "half"}),
            json!({"type": "failed", "runId": RUN, "seq": 2, "atMs": 1, "code": "auth",
                "message": "the key was refused", "backend": "native"}),
        ]
    );
}

#[test]
fn json_without_a_stream_is_one_document() {
    let scene = Scene::new();
    let usage = Kind::Usage(Usage {
        input: 3,
        output: 4,
        ..Usage::default()
    });
    let script = vec![delta(1, "whole"), Step::Event(2, usage), done(3)];
    let _gateway = ScriptedGateway::start(&scene, vec![script]);
    let output = scene.run(&["message", "hi", "--json", "--no-stream"]);
    assert!(output.status.success());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["status"], "done");
    assert_eq!(document["text"], "whole");
    assert_eq!(document["usage"]["output"], 4);
    assert_eq!(document["runId"], RUN);
}

#[test]
fn a_broken_stream_goes_on_where_it_broke() {
    let scene = Scene::new();
    let gateway = ScriptedGateway::start(
        &scene,
        vec![
            vec![delta(1, "one "), delta(2, "two ")],
            // An event that was heard before is not printed twice.
            vec![delta(2, "two "), delta(3, "three")],
            vec![done(4)],
            vec![delta(1, "one two three"), done(2)],
        ],
    );
    let output = scene.run(&["message", "hi"]);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&output.stdout), "one two three\n");
    let asked = gateway.asked();
    assert_eq!(asked.messages.len(), 1);
    // The last time for the whole text, of which nothing was missing.
    assert_eq!(asked.attached, [3, 4, 0]);
}

#[test]
fn what_was_said_while_the_connection_was_broken_is_not_lost() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(
        &scene,
        vec![
            vec![delta(1, "one "), delta(2, "two ")],
            // Read back from the transcript, the run has one long piece.
            vec![done(2)],
            vec![delta(1, "one two three"), done(2)],
        ],
    );
    let output = scene.run(&["message", "hi"]);
    assert_eq!(text(&output.stdout), "one two three\n");
    assert!(output.status.success());
}

#[test]
fn a_run_that_was_interrupted_meanwhile_says_so() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(
        &scene,
        vec![vec![delta(1, "one "), delta(2, "two")], vec![failed(1)]],
    );
    let output = scene.run(&["message", "hi"]);
    assert_eq!(text(&output.stdout), "one two\n");
    assert_eq!(text(&output.stderr), "error: the key was refused\n");
}

#[test]
fn a_gateway_that_dies_before_it_answers_is_asked_again() {
    let scene = Scene::new();
    let listener = listen(&scene);
    let running = scene.start(&["message", "hi"]);
    drop(listener.accept().unwrap());
    let script = vec![delta(1, "there\n"), done(2)];
    let gateway = ScriptedGateway::start_on(listener, vec![script], StatusResponse::default());
    assert_eq!(running.stdout.until("there"), "there\n");
    assert_eq!(running.wait().code(), Some(0));
    assert_eq!(gateway.asked().messages.len(), 1);
}

#[test]
fn what_the_gateway_refuses_is_said_once() {
    let scene = Scene::new();
    let gateway = ScriptedGateway::start(&scene, Vec::new());
    let output = scene.run(&["message", "hi", "--session", "bad"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        "error: the gateway refused: session key: is no key\n"
    );
    assert!(gateway.asked().messages.is_empty());
}

#[test]
fn a_gateway_that_is_not_there_comes_with_the_way_to_start_it() {
    let scene = Scene::new();
    let missing = scene.run(&["message", "hi"]);
    assert_eq!(missing.status.code(), Some(1));
    let stderr = text(&missing.stderr);
    assert!(
        stderr.starts_with("error: the gateway is not running: there is no socket"),
        "{stderr}"
    );
    assert!(
        stderr.contains("hint: start it with: openclawctl start"),
        "{stderr}"
    );

    std::fs::create_dir(scene.runtime()).unwrap();
    drop(std::os::unix::net::UnixListener::bind(scene.socket("gateway")).unwrap());
    let refused = text(&scene.run(&["message", "hi"]).stderr);
    assert!(refused.contains("nobody listens at"), "{refused}");
}
