//! `openclawctl message`.

use std::io::Write as _;
use std::process::Stdio;

use nix::sys::signal::Signal;
use openclaw_proto::event::{Code, Failed, Kind, ToolResult, Usage};
use openclaw_proto::wire::gateway::StatusResponse;
use serde_json::{Value, json};

use crate::gateway::{RUN, ScriptedGateway, Step, delta, done, listen};
use crate::scene::{Running, Scene, text};

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
fn reply_comes_as_it_is_said() {
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

/// A model's bytes, whatever they are: a program reads them.
#[test]
fn reply_in_a_pipe_is_what_was_said() {
    let said = "a\u{1b}[2J\r\nb\rc\u{202e}\u{200b}d\t🏴\u{e0067}";
    for words in [
        &["message", "hi"][..],
        &["message", "hi", "--raw"],
        &["message", "hi", "--no-stream"],
    ] {
        let scene = Scene::new();
        let script = vec![delta(1, said), delta(2, "\r"), done(3)];
        let _gateway = ScriptedGateway::start(&scene, vec![script]);
        let output = scene.run(words);
        assert_eq!(text(&output.stdout), format!("{said}\r\n"), "{words:?}");
        assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    }
}

#[test]
fn message_what_a_session_wants_shown_is_shown() {
    let call = |seq| {
        Step::Event(
            seq,
            Kind::ToolCall {
                id: "c".to_owned(),
                name: "read".to_owned(),
                arguments: json!({"path": "a"}),
            },
        )
    };
    let result = |seq| {
        Step::Event(
            seq,
            Kind::ToolResult(ToolResult {
                call_id: "c".to_owned(),
                success: true,
                output: "what is in it".to_owned(),
                error: None,
            }),
        )
    };
    let thinking = |seq| {
        let text = "so it is\nthus".to_owned();
        Step::Event(seq, Kind::Thinking { text })
    };
    let usage = |seq| {
        let usage = Usage {
            input: 10,
            output: 2,
            ..Usage::default()
        };
        Step::Event(seq, Kind::Usage(usage))
    };
    for (session, expected) in [
        ("main", &[][..]),
        (
            "calls",
            &["∴ so it is", "∴ thus", "→ read", "10 tokens in, 2 out"],
        ),
        (
            "everything",
            &[
                "∴ so it is",
                "∴ thus",
                "→ read",
                "← what is in it",
                "10 tokens in, 2 out",
            ],
        ),
    ] {
        let scene = Scene::new();
        let script = vec![
            thinking(1),
            call(2),
            result(3),
            delta(4, "Yes."),
            usage(5),
            done(6),
        ];
        let _gateway = ScriptedGateway::start(&scene, vec![script]);
        let output = scene.run(&["message", "hi", "--session", session]);
        assert_eq!(text(&output.stdout), "Yes.\n");
        let said = text(&output.stderr);
        // Of a session that begins there is a note.
        let lines = said.lines().filter(|line| !line.starts_with("note: "));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), expected.len(), "{session}: {said}");
        for (line, words) in lines.iter().zip(expected) {
            assert!(line.contains(words), "{session}: {said}");
        }
    }
}

#[test]
fn signals_end_it_as_a_shell_has_it() {
    for (signal, code, is_cancelled) in [
        ("QUIT", 131, true),
        ("TERM", 143, true),
        // Whoever closes the terminal finds the answer in the session.
        ("HUP", 129, false),
    ] {
        let scene = Scene::new();
        let script = vec![delta(1, "a\n"), Step::UntilCancelled(2)];
        let gateway = ScriptedGateway::start(&scene, vec![script]);
        // Whatever started the tests may have it ignore some.
        let front = ["env", "--default-signal=QUIT,TERM,HUP"];
        let mut command = scene.through(&front, &["message", "hi"]);
        let running = Running::new(command.spawn().unwrap());
        running.stdout.until("a");
        running.signal(format!("SIG{signal}").parse().unwrap());
        assert_eq!(running.wait().code(), Some(code), "{signal}");
        let cancelled = gateway.asked().cancelled.len();
        assert_eq!(cancelled, usize::from(is_cancelled), "{signal}");
    }
}

#[test]
fn hangup_that_is_ignored_stays_so() {
    let scene = Scene::new();
    let script = vec![delta(1, "a\n"), Step::UntilCancelled(2)];
    let _gateway = ScriptedGateway::start(&scene, vec![script]);
    let mut command = scene.through(&["env", "--ignore-signal=HUP"], &["message", "hi"]);
    let running = Running::new(command.spawn().unwrap());
    running.stdout.until("a");
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    assert_eq!(ignored & 1, 1, "it takes SIGHUP: {status}");
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
fn time_that_was_given_ends_the_run() {
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
fn reply_ends_with_one_line_end_and_needs_no_terminal() {
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
fn failed_run_keeps_its_text_and_says_why() {
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
fn broken_stream_goes_on_where_it_broke() {
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
fn message_what_was_said_while_the_connection_was_broken_is_not_lost() {
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
fn run_that_was_interrupted_meanwhile_says_so() {
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
fn gateway_that_dies_before_it_answers_is_asked_again() {
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
fn message_what_the_gateway_refuses_is_said_once() {
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
fn gateway_that_is_not_there_comes_with_the_way_to_start_it() {
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
