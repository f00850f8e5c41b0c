//! The tools a model has, and which of them a configuration leaves it.

use integration_tests::{Setup, Socket, Suite, asked};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// Nobody is asked, so that tools are seen as they are.
async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("tools.exec.ask", "off");
    (setup.start().await, model)
}

/// A run in which the model makes `calls` one after the other; its results.
async fn run(suite: &Suite, model: &Server, calls: &[(&str, Value)]) -> Vec<Value> {
    let last = Scenario::text("Done.");
    let chain = calls.iter().rev().fold(last, |next, (name, arguments)| {
        Scenario::tool(*name, arguments.clone()).then(next)
    });
    model.push(chain);
    let run = suite.ask("go on").await;
    assert_eq!(run["status"], "done", "{run}");
    let calls = run["toolCalls"].as_array().cloned();
    calls.unwrap_or_default()
}

fn output(call: &Value) -> &str {
    call["output"].as_str().unwrap_or_default()
}

#[track_caller]
fn worked(call: &Value) -> &str {
    assert_eq!(call["success"], true, "{call}");
    output(call)
}

#[tokio::test]
async fn files_are_edited_and_patched_or_left_alone() {
    let (suite, model) = scene().await;
    suite.note("a.txt", "one\ntwo\nthree\n");
    suite.note("old.txt", "first\nsecond\n");
    let patch = "*** Begin Patch\n*** Update File: old.txt\n*** Move to: new.txt\n@@\n first\n\
                 -second\n+2nd\n*** Add File: added.txt\n+fresh\n*** End Patch";
    let broken = "*** Begin Patch\n*** Add File: half.txt\n+x\n*** Update File: a.txt\n@@\n\
                  -nothing like it\n+y\n*** End Patch";
    let calls = run(
        &suite,
        &model,
        &[
            (
                "edit",
                json!({"path": "a.txt", "edits": [{"oldText": "two", "newText": "2"}]}),
            ),
            (
                "edit",
                json!({"path": "a.txt", "edits": [
                    {"oldText": "one", "newText": "1"}, {"oldText": "four", "newText": "4"},
                ]}),
            ),
            ("apply_patch", json!({"input": patch})),
            ("apply_patch", json!({"input": broken})),
        ],
    )
    .await;
    worked(&calls[0]);
    assert_eq!(calls[1]["success"], false, "{}", calls[1]);
    worked(&calls[2]);
    assert_eq!(calls[3]["success"], false, "{}", calls[3]);
    assert_eq!(suite.written("a.txt").as_deref(), Some("one\n2\nthree\n"));
    assert_eq!(suite.written("new.txt").as_deref(), Some("first\n2nd\n"));
    assert_eq!(suite.written("added.txt").as_deref(), Some("fresh\n"));
    assert_eq!(suite.written("old.txt"), None);
    assert_eq!(suite.written("half.txt"), None, "all or nothing");
}

#[tokio::test]
async fn openclaws_names_are_understood() {
    let (suite, model) = scene().await;
    let calls = run(
        &suite,
        &model,
        &[
            ("write", json!({"path": "n/x.txt", "content": "x y\n"})),
            ("read", json!({"file_path": "n/x.txt"})),
            ("ls", json!({"path": "n"})),
            (
                "exec",
                json!({"command": ["printf", "%s|", "a b", "$HOME"], "cwd": "n"}),
            ),
            (
                "exec",
                json!({"command": "pwd; echo $WHAT", "workdir": "n", "env": {"WHAT": "this"}}),
            ),
        ],
    )
    .await;
    worked(&calls[0]);
    assert!(worked(&calls[1]).contains("x y"), "{}", calls[1]);
    assert!(worked(&calls[2]).contains("x.txt"), "{}", calls[2]);
    assert!(worked(&calls[3]).contains("a b|$HOME|"), "{}", calls[3]);
    let said = worked(&calls[4]);
    assert!(said.contains("/n\nthis\n"), "{said}");
}

#[tokio::test]
async fn command_that_takes_too_long_is_ended_with_all_it_started() {
    let (suite, model) = scene().await;
    let command = "echo begun; (sleep 2; touch late) & wait";
    let calls = run(
        &suite,
        &model,
        &[
            (
                "execute_shell",
                json!({"command": command, "timeout_seconds": 1}),
            ),
            ("execute_shell", json!({"command": "sleep 2; ls"})),
        ],
    )
    .await;
    assert_eq!(calls[0]["success"], false, "{}", calls[0]);
    assert!(output(&calls[0]).contains("begun"), "{}", calls[0]);
    assert!(!worked(&calls[1]).contains("late"), "{}", calls[1]);
}

#[tokio::test]
async fn command_runs_in_the_background() {
    let (suite, model) = scene().await;
    let command = "echo ready; read word; echo got $word; sleep 600";
    let one = |action: &str| json!({"action": action, "sessionId": "p1"});
    let with = |action: &str, more: Value| {
        let mut arguments = one(action);
        let fields = more.as_object().cloned().unwrap_or_default();
        arguments.as_object_mut().unwrap().extend(fields);
        ("process", arguments)
    };
    let calls = run(
        &suite,
        &model,
        &[
            ("exec", json!({"command": command, "background": true})),
            with("poll", json!({"timeout": 20_000})),
            ("process", json!({"action": "list"})),
            with("write", json!({"data": "xylophone\n"})),
            with("poll", json!({"timeout": 20_000})),
            with("kill", json!({})),
            with("log", json!({})),
            with("remove", json!({})),
            with("poll", json!({})),
        ],
    )
    .await;
    let first = format!("{}{}", worked(&calls[0]), worked(&calls[1]));
    assert!(
        first.contains("p1") && first.contains("ready"),
        "{}",
        calls[1]
    );
    assert!(worked(&calls[2]).contains("p1 running"), "{}", calls[2]);
    worked(&calls[3]);
    assert!(worked(&calls[4]).contains("got xylophone"), "{}", calls[4]);
    let killed = worked(&calls[5]);
    assert!(killed.contains("killed by signal 15"), "{killed}");
    let log = worked(&calls[6]);
    assert!(log.contains("ready\ngot xylophone"), "{log}");
    worked(&calls[7]);
    assert_eq!(calls[8]["success"], false, "{}", calls[8]);
    assert_eq!(calls[8]["error"]["type"], "not_found", "{}", calls[8]);
}

#[tokio::test]
async fn command_in_the_background_ends_with_its_turn() {
    let (suite, model) = scene().await;
    let command = "while :; do date +%s%N > alive; sleep 0.05; done";
    run(
        &suite,
        &model,
        &[
            ("exec", json!({"command": command, "background": true})),
            (
                "exec",
                json!({"command": "until [ -e alive ]; do sleep 0.05; done"}),
            ),
        ],
    )
    .await;
    let before = suite.written("alive");
    // A second turn is long enough for several rounds of the loop.
    run(&suite, &model, &[("exec", json!({"command": "sleep 0.5"}))]).await;
    assert_eq!(suite.written("alive"), before, "it still runs");
}

#[tokio::test]
async fn tools_what_is_too_much_is_in_a_file() {
    let (suite, model) = scene().await;
    let calls = run(
        &suite,
        &model,
        &[
            ("exec", json!({"command": "seq 100000"})),
            (
                "exec",
                json!({"command": "cat \"$TMPDIR\"/output-*-stdout.txt | sha256sum; seq 100000 | sha256sum"}),
            ),
        ],
    )
    .await;
    let said = worked(&calls[0]);
    assert!(said.len() < 64 * 1024, "{} bytes", said.len());
    assert!(said.contains("stdout (588895 bytes)"), "{said}");
    assert!(said.contains("\n1\n2\n") && said.contains("\n99999\n100000\n"));
    let note = said.lines().find(|line| line.starts_with("note: all of"));
    assert!(
        note.is_some_and(|note| note.contains("-stdout.txt")),
        "{said}"
    );
    let sums: Vec<&str> = worked(&calls[1])
        .lines()
        .filter(|line| line.len() > 60)
        .collect();
    assert!(sums.len() == 2 && sums[0] == sums[1], "{sums:?}");
}

#[tokio::test]
async fn tools_what_a_command_says_is_heard_while_it_runs() {
    let (suite, model) = scene().await;
    let command = "echo early; until [ -e go ]; do sleep 0.05; done; echo late";
    let call = || {
        model.push(Scenario::tool("execute_shell", json!({"command": command})));
    };
    call();
    let mut talk = suite.begin(&["message", "--json", "go on"]);
    let heard = talk.hear("\"early\\n\"").await;
    assert!(heard.contains("tool_output"), "{heard}");
    suite.note("go", "");
    assert!(talk.end().await.ok().contains("late"));

    std::fs::remove_file(suite.workspace().join("go")).unwrap();
    call();
    let mut socket = Socket::enter(&suite).await;
    let params = json!({"sessionKey": "main", "message": "go on", "idempotencyKey": "k"});
    socket.call("chat.send", params).await;
    let delta = socket
        .heard(|frame| {
            frame["payload"]["stream"] == "command_output"
                && frame["payload"]["data"]["phase"] == "delta"
        })
        .await;
    assert_eq!(delta["payload"]["data"]["output"], "early\n", "{delta}");
    suite.note("go", "");
    socket.end_of("k").await;
}

/// What the model was offered with `setup`, and how each of `calls` went.
async fn offered(setup: Setup, model: &Server, calls: &[(&str, Value)]) -> (String, Vec<Value>) {
    let suite = setup.start().await;
    let results = run(&suite, model, calls).await;
    let tools = asked::tools(&asked::turns(model, 1).await[0]).join(" ");
    (tools, results)
}

#[tokio::test]
async fn tools_what_is_denied_is_not_there() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model)
        .set("tools.allow", json!(["exec", "group:fs", "memory_search"]))
        .set("tools.deny", json!(["exec", "apply_patch"]))
        .set("agents.defaults.tools.deny", json!(["write"]));
    let calls = [
        ("exec", json!({"command": "touch x"})),
        ("write_file", json!({"path": "x", "content": ""})),
        ("memory_write", json!({"text": "x"})),
    ];
    let (tools, results) = offered(setup, &model, &calls).await;
    assert_eq!(tools, "read_file edit list_directory memory_search");
    for (call, key) in results
        .iter()
        .zip(["tools.deny", "tools.deny", "tools.allow"])
    {
        assert_eq!(call["success"], false, "{call}");
        assert_eq!(call["error"]["type"], "not_allowed", "{call}");
        let message = call["error"]["message"].as_str().unwrap();
        assert!(message.contains(key), "{call}");
    }
}

#[tokio::test]
async fn profiles_and_groups_choose() {
    for (profile, also, expected) in [
        ("minimal", json!([]), "session_status"),
        (
            "messaging",
            json!(["read"]),
            "read_file memory_search memory_get memory_write cron remind session_status",
        ),
        (
            "minimal",
            json!(["group:runtime"]),
            "execute_shell process session_status",
        ),
    ] {
        let model = Server::start().await.unwrap();
        let setup = Setup::anthropic(&model)
            .set("tools.profile", profile)
            .set("tools.alsoAllow", also);
        let (tools, _) = offered(setup, &model, &[]).await;
        assert_eq!(tools, expected, "{profile}");
    }
}

#[tokio::test]
async fn agent_has_its_own_policy() {
    let model = Server::start().await.unwrap();
    let list = json!([
        {"id": "main", "default": true},
        {"id": "reader", "tools": {"allow": ["read", "ls"]}},
    ]);
    let suite = Setup::anthropic(&model)
        .set("agents.list", list)
        .start()
        .await;
    suite.say("hello").await;
    suite
        .ctl(&["message", "--agent", "reader", "hello"])
        .await
        .ok();
    let turns = asked::turns(&model, 2).await;
    assert!(asked::tools(&turns[0]).contains(&"execute_shell".to_owned()));
    assert_eq!(asked::tools(&turns[1]), ["read_file", "list_directory"]);
}

#[tokio::test]
async fn name_of_nothing_is_told() {
    let setup = Setup::offline().set("tools.deny", json!(["exce", "group:fs"]));
    let suite = setup.start().await;
    suite.log.message("\"exce\" is the name of no tool").await;
}

#[tokio::test]
async fn command_can_have_a_terminal() {
    let (suite, model) = scene().await;
    let command = "test -t 0 && test -t 1 && stty size; read word; echo got $word";
    let write = json!({"action": "write", "sessionId": "p2", "data": "xylophone\n"});
    let poll = json!({"action": "poll", "sessionId": "p2", "timeout": 20_000});
    let calls = run(
        &suite,
        &model,
        &[
            ("exec", json!({"command": "tty; exit 3", "pty": true})),
            (
                "exec",
                json!({"command": command, "pty": true, "background": true}),
            ),
            ("process", poll.clone()),
            ("process", write),
            ("process", poll.clone()),
            ("process", poll),
        ],
    )
    .await;
    let first = worked(&calls[0]);
    assert!(
        first.contains("exit code: 3") && first.contains("/dev/pts/"),
        "{first}"
    );
    let said: String = calls[1..].iter().map(output).collect();
    assert!(
        said.contains("24 120") && said.contains("got xylophone"),
        "{said}"
    );
}
