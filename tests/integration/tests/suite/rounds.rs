//! The rounds of a turn: calls that are made together, calls that go in a
//! circle, and what is said before and after them.

use integration_tests::tool_server::ToolServer;
use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, Socket, Suite, asked, until};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server, ToolCall, Usage};
use serde_json::{Value, json};

/// A backend with the names that its tools have.
struct Backend {
    setup: Setup,
    /// Runs a command.
    shell: &'static str,
    /// Needs no arguments, and nobody's leave.
    status: &'static str,
}

/// All of them that there are.
fn backends(model: &Server) -> Vec<Backend> {
    let own = |setup: Setup| Backend {
        setup: setup.set("tools.exec.ask", "off"),
        shell: "execute_shell",
        status: "session_status",
    };
    let claude = Setup::claude(model).map(|setup| Backend {
        shell: "Bash",
        status: "mcp__openclaw__session_status",
        ..own(setup)
    });
    let codex = Setup::codex(model).map(|setup| Backend {
        shell: "exec_command",
        status: "mcp__openclaw__session_status",
        ..own(setup)
    });
    let natives = [Setup::anthropic(model), Setup::openai(model)].map(own);
    natives.into_iter().chain(claude).chain(codex).collect()
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        arguments,
    }
}

/// Two commands of which each waits for the other.
fn meeting(shell: &str) -> [ToolCall; 2] {
    let wait = "mkfifo here; read word < here; echo heard $word";
    let come = "until [ -p here ]; do sleep 0.01; done; echo met > here; echo told";
    [wait, come].map(|command| call(shell, json!({"command": command})))
}

#[tokio::test]
async fn calls_of_a_round_run_together_and_are_told_again_as_one_round() {
    for api in ["anthropic", "openai"] {
        let model = Server::start().await.unwrap();
        let setup = match api {
            "anthropic" => Setup::anthropic(&model),
            _ => Setup::openai(&model),
        };
        let suite = setup.set("tools.exec.ask", "off").start().await;
        model
            .push(Scenario::tools(meeting("execute_shell")).then(Scenario::text("Both are back.")));
        let run = suite.ask("let them meet").await;
        let output = |at: usize| run["toolCalls"][at]["output"].as_str().unwrap_or_default();
        assert!(
            output(0).contains("heard met") && output(1).contains("told"),
            "{run}"
        );

        // In the order of the calls, though the second ended first.
        let messages = suite.messages();
        let asked_for: Vec<&Value> = messages
            .iter()
            .filter_map(|message| message["content"].as_array())
            .flatten()
            .filter(|block| block["type"] == "toolCall")
            .map(|block| &block["id"])
            .collect();
        let results = of_role(&messages, "toolResult");
        let answered: Vec<&Value> = results.iter().map(|it| &it["toolCallId"]).collect();
        assert_eq!(answered, asked_for, "{messages:?}");
        assert_eq!(of_role(&messages, "assistant").len(), 2, "{messages:?}");

        suite.say("and now?").await;
        let last = asked::turns(&model, 3).await.pop().unwrap().json();
        let messages = last["messages"].as_array().unwrap();
        let rounds: Vec<&Value> = messages
            .iter()
            .filter(|message| message.to_string().contains("mkfifo"))
            .collect();
        assert_eq!(rounds.len(), 1, "{last}");
        let calls = match api {
            "anthropic" => rounds[0]["content"].as_array().unwrap(),
            _ => rounds[0]["tool_calls"].as_array().unwrap(),
        };
        assert_eq!(calls.len(), 2, "{last}");
        if api == "anthropic" {
            let with_results = |message: &&Value| message.to_string().contains("tool_result");
            assert_eq!(messages.iter().filter(with_results).count(), 1, "{last}");
        }
    }
}

/// The first call waits for what the second one writes.
#[tokio::test]
async fn calls_of_a_server_in_one_round_run_together() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    for backend in backends(&model) {
        let prefix = backend.status.strip_suffix("session_status").unwrap();
        let name = format!("{prefix}test__count");
        let suite = backend
            .setup
            .set("mcp.servers.test", server.entry(&json!({"threads": true})))
            .start()
            .await;
        suite.say("until the server is there").await;
        let calls = [json!({"until": "put.txt"}), json!({"put": "it is here"})];
        let calls = calls.map(|arguments| call(&name, arguments));
        model.push(Scenario::tools(calls).then(Scenario::text("Done.")));
        let run = suite.ask("let them meet").await;
        let calls = run["toolCalls"].as_array().unwrap();
        assert_eq!(calls.len(), 2, "{run}");
        assert!(calls.iter().all(|call| call["success"] == true), "{run}");
    }
}

#[tokio::test]
async fn calls_of_a_round_are_one_entry_whoever_makes_them() {
    let model = Server::start().await.unwrap();
    for backend in backends(&model) {
        let name = backend.shell;
        let suite = backend.setup.start().await;
        let arguments = |line: &str| match name {
            "exec_command" => json!({"cmd": line}),
            _ => json!({"command": line}),
        };
        let lines = ["echo one", "echo two", "echo three"];
        let calls = lines.map(|line| call(name, arguments(line)));
        model.push(Scenario::tools(calls).then(Scenario::text("Done.")));
        suite.say("go on").await;
        let messages = suite.messages();
        let roles: Vec<&str> = messages
            .iter()
            .filter_map(|message| message["role"].as_str())
            .collect();
        let results = ["toolResult"; 3];
        let round = [&["user", "assistant"][..], &results, &["assistant"]].concat();
        assert_eq!(roles, round, "{name}: {messages:?}");
    }
}

#[tokio::test]
async fn file_is_written_before_the_command_that_was_asked_for_with_it() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .start()
        .await;
    let calls = [
        call("execute_shell", json!({"command": "cat late 2>&1; true"})),
        call("write_file", json!({"path": "late", "content": "written"})),
        call("execute_shell", json!({"command": "cat late"})),
    ];
    model.push(Scenario::tools(calls));
    let run = suite.ask("go on").await;
    let output = |at: usize| run["toolCalls"][at]["output"].as_str().unwrap_or_default();
    assert!(output(0).contains("No such file"), "{run}");
    assert!(output(2).contains("written"), "{run}");
}

#[tokio::test]
async fn circle_is_what_comes_to_the_same_and_waiting_is_none() {
    let model = Server::start().await.unwrap();
    for backend in backends(&model) {
        let name = backend.shell;
        let argument = if name == "exec_command" {
            "cmd"
        } else {
            "command"
        };
        let suite = backend
            .setup
            .set("agents.defaults.limits.identicalCalls", 3)
            .set("agents.defaults.limits.steps", 7)
            .start()
            .await;
        let command = |line: &str| json!({(argument): line, "description": "look"});
        let command = |line: &str| {
            let mut arguments = command(line);
            if name != "Bash" {
                arguments.as_object_mut().unwrap().remove("description");
            }
            arguments
        };
        model.push(Scenario::tool_forever(name, command("echo same")));
        let run = suite.ask("go on").await;
        assert_eq!(run["error"]["code"], "loop_detected", "{name}: {run}");
        assert!(
            run["toolCalls"].as_array().unwrap().len() <= 3,
            "{name}: {run}"
        );

        model.push(Scenario::tool_forever(name, command("date +%N")));
        let run = suite.ask("go on").await;
        assert_ne!(run["error"]["code"], "loop_detected", "{name}: {run}");
        assert!(
            run["toolCalls"].as_array().unwrap().len() >= 6,
            "{name}: {run}"
        );
    }
}

#[tokio::test]
async fn command_that_says_the_same_again_and_again_is_waited_for() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("agents.defaults.limits.identicalCalls", 3)
        .set("agents.defaults.limits.steps", 9)
        .start()
        .await;
    let ticks = "while :; do echo tick; sleep 0.05; done";
    let begin = json!({"command": ticks, "background": true});
    let poll = json!({"action": "poll", "sessionId": "p1", "timeout": 120_000});
    let polls = Scenario::tool_forever("process", poll);
    model.push(Scenario::tool("execute_shell", begin).then(polls));
    let run = suite.ask("wait for it").await;
    assert_eq!(run["stopReason"], "step_limit", "{run}");
    let calls = run["toolCalls"].as_array().unwrap();
    assert!(calls.len() >= 8, "{run}");
    assert!(calls.iter().all(|call| call["success"] == true), "{run}");
}

#[tokio::test]
async fn rounds_are_paragraphs_at_every_door() {
    const WHOLE: &str = "Step 1.\n\nStep 2.\n\nStep 3.";
    let model = Server::start().await.unwrap();
    for backend in backends(&model) {
        let name = backend.shell;
        let suite = backend.setup.start().await;
        let rounds = || {
            let round = |words: &str| Scenario {
                text: words.to_owned(),
                ..Scenario::tool(backend.status, json!({}))
            };
            round("Step 1.").then(round("Step 2.").then(Scenario::text("Step 3.")))
        };
        model.push(rounds());
        assert_eq!(suite.say("go on").await, format!("{WHOLE}\n"), "{name}");

        model.push(rounds());
        let run = suite.ask("go on").await;
        assert_eq!(run["text"], WHOLE, "{name}: {run}");

        model.push(rounds());
        let request =
            json!({"model": "openclaw", "messages": [{"role": "user", "content": "go on"}]});
        let answer = suite
            .http()
            .await
            .post("/v1/chat/completions", &request)
            .await
            .ok();
        assert_eq!(answer["choices"][0]["message"]["content"], WHOLE, "{name}");

        let mut socket = Socket::enter(&suite).await;
        model.push(rounds());
        let message = json!({"sessionKey": "main", "message": "go on", "idempotencyKey": "k"});
        socket.call("chat.send", message).await;
        socket.end_of("k").await;
        let deltas: String = socket
            .seen
            .iter()
            .filter(|frame| frame["event"] == "chat" && frame["payload"]["state"] == "delta")
            .filter_map(|frame| frame["payload"]["deltaText"].as_str())
            .collect();
        assert_eq!(deltas, WHOLE, "{name}");

        // Each is an entry of its own, and none begins with the gap.
        let messages = suite.messages();
        for answer in of_role(&messages, "assistant") {
            assert!(text(answer).starts_with("Step"), "{name}: {answer}");
            assert!(!text(answer).contains('\n'), "{name}: {answer}");
        }
    }
}

#[tokio::test]
async fn call_that_was_cancelled_is_told_in_the_next_turn() {
    let model = Server::start().await.unwrap();
    for backend in backends(&model) {
        let name = backend.shell;
        let suite = backend.setup.start().await;
        let line = "touch begun; sleep 86400";
        let arguments = match name {
            "exec_command" => json!({"cmd": line}),
            _ => json!({"command": line}),
        };
        model.push(Scenario::tool(name, arguments));
        let talk = suite.begin(&["message", "go on"]);
        is_written(&suite, "begun").await;
        talk.signal(Signal::SIGINT);
        talk.end().await.ended(130);

        let before = model.turns().len();
        suite.say("what became of it?").await;
        let next = asked::words(&asked::turns(&model, before + 1).await[before]);
        assert!(next.contains("touch begun"), "{name}: {next}");
        assert!(next.contains("cancelled"), "{name}: {next}");
    }
}

/// Waits until an agent has written a file.
async fn is_written(suite: &Suite, file: &str) {
    until(file, || suite.written(file).is_some()).await;
}

#[tokio::test]
async fn tokens_of_a_turn_are_all_that_were_paid_for() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario {
        usage: Some(Usage {
            input: 10,
            output: 3,
            cache_read: 2000,
            cache_write: 400,
        }),
        ..Scenario::text("Here it is.")
    });
    suite.say("hello").await;
    let turns = suite.ctl(&["turns", "--json"]).await.document();
    assert_eq!(turns[0]["inputTokens"], 2410, "{turns}");
    assert_eq!(turns[0]["outputTokens"], 3, "{turns}");
    let listed = suite.ctl(&["turns"]).await.ok();
    assert!(listed.contains("2413"), "{listed}");
}
