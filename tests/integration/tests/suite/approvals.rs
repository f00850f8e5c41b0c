//! Commands that wait until somebody allows them.

use integration_tests::{Setup, Socket, Suite, Talk, asked, processes, until, within};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// A suite that asks about `touch`.
async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("tools.exec.ask", "on-miss");
    (setup.start().await, model)
}

/// Lets the model run `command`, and waits until that is asked about; the run
/// and what waits.
async fn asking(suite: &Suite, model: &Server, command: &str) -> (Talk, Value) {
    model.push(Scenario::tool("execute_shell", json!({"command": command})));
    let mut talk = suite.begin(&["message", "--json", "go on"]);
    talk.hear("\"approval_requested\"").await;
    let waiting = list(suite).await["waiting"].clone();
    assert_eq!(waiting.as_array().map(Vec::len), Some(1), "{waiting}");
    (talk, waiting[0].clone())
}

async fn list(suite: &Suite) -> Value {
    let said = suite
        .ctl(&["approvals", "list", "--json", "--decided", "10"])
        .await;
    said.ended(0).document()
}

fn id(waiting: &Value) -> &str {
    waiting["id"].as_str().unwrap()
}

/// What the model was told of its last call.
async fn told(model: &Server, count: usize) -> String {
    asked::words(&asked::turns(model, count).await[count - 1])
}

#[tokio::test]
async fn approvals_what_only_reads_runs_at_once() {
    let (suite, model) = scene().await;
    suite.note("a.txt", "apple\n");
    let command = "cat a.txt | grep -c apple && ls";
    model.push(Scenario::tool("execute_shell", json!({"command": command})));
    let run = suite.ask("look").await;
    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    assert_eq!(list(&suite).await["decided"], json!([]));
}

#[tokio::test]
async fn allowed_once_it_runs_and_the_next_one_is_asked_about() {
    let (suite, model) = scene().await;
    let (talk, waiting) = asking(&suite, &model, "touch a; touch b").await;
    assert_eq!(waiting["command"], "touch a; touch b", "{waiting}");
    assert_eq!(waiting["tool"], "execute_shell", "{waiting}");
    assert_eq!(suite.written("a"), None, "it ran unasked");
    let shown = suite.ctl(&["approvals"]).await;
    shown
        .ended(0)
        .says(&["touch a; touch b", &id(&waiting)[..8]]);
    let allowed = suite.ctl(&["approvals", "allow", &id(&waiting)[..8]]).await;
    allowed.ended(0).says(&["allowed once: touch a; touch b"]);
    talk.end().await.ok();
    assert!(suite.written("b").is_some());

    let (talk, waiting) = asking(&suite, &model, "touch a; touch b").await;
    let denied = suite.ctl(&["approvals", "deny", id(&waiting)]).await;
    denied.ended(0).says(&["denied"]);
    talk.end().await.ok();
    let decided = list(&suite).await["decided"].clone();
    let decisions: Vec<&Value> = (0..2).map(|at| &decided[at]["decision"]).collect();
    assert_eq!(decisions, ["deny", "allow-once"], "{decided}");
    assert_eq!(decided[0]["by"], "openclawctl", "{decided}");
    let again = suite.ctl(&["approvals", "allow", id(&waiting)]).await;
    again.ended(1).complains(&["nothing waits under"]);
}

#[tokio::test]
async fn allowed_always_it_is_not_asked_about_again() {
    let (suite, model) = scene().await;
    let (talk, waiting) = asking(&suite, &model, "touch a").await;
    let arguments = ["approvals", "allow", "--always", id(&waiting)];
    suite.ctl(&arguments).await.ok();
    talk.end().await.ok();
    std::fs::remove_file(suite.workspace().join("a")).unwrap();

    let suite = suite.restart().await;
    let call = || {
        let arguments = json!({"command": "touch a"});
        model.push(Scenario::tool("execute_shell", arguments));
    };
    call();
    suite.say("again").await;
    assert!(suite.written("a").is_some(), "asked in spite of the grant");
    let (talk, waiting) = asking(&suite, &model, "touch a b").await;
    suite.ctl(&["approvals", "deny", id(&waiting)]).await.ok();
    talk.end().await.ok();

    let shown = suite.ctl(&["approvals"]).await;
    shown.ended(0).says(&["Allowed from now on", "touch a"]);
    suite
        .ctl(&["approvals", "revoke", "touch a"])
        .await
        .ended(0);
    suite
        .ctl(&["approvals", "revoke", "touch a"])
        .await
        .ended(1);
    let (talk, waiting) = asking(&suite, &model, "touch a").await;
    suite.ctl(&["approvals", "deny", id(&waiting)]).await.ok();
    talk.end().await.ok();
}

#[tokio::test]
async fn denied_it_does_not_run_and_the_model_is_told() {
    let (suite, model) = scene().await;
    let (talk, waiting) = asking(&suite, &model, "touch a").await;
    suite.ctl(&["approvals", "deny", id(&waiting)]).await.ok();
    let said = talk.end().await.ok();
    assert_eq!(suite.written("a"), None);
    assert!(said.contains("\"denied\""), "{said}");
    let words = told(&model, 2).await;
    assert!(words.contains("the user denied it"), "{words}");
}

#[tokio::test]
async fn approvals_nobody_answers_and_the_turn_goes_on_without() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).asks_nobody("always");
    let suite = setup.start().await;
    model.push(Scenario::tool(
        "execute_shell",
        json!({"command": "ls; touch a"}),
    ));
    let said = suite.ctl(&["message", "go on"]).await.ended(0);
    let said = said.complains(&["waiting to be allowed: ls; touch a", "nobody allowed it"]);
    assert!(said.stdout.contains("nobody allowed it in time"), "{said}");
    assert_eq!(suite.written("a"), None);
    let listed = list(&suite).await;
    assert_eq!(listed["waiting"], json!([]), "{listed}");
    assert_eq!(listed["decided"][0]["decision"], "expired", "{listed}");
}

#[tokio::test]
async fn websocket_client_is_asked_and_decides() {
    let (suite, model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    model.push(Scenario::tool(
        "execute_shell",
        json!({"command": "touch a"}),
    ));
    let params = json!({"sessionKey": "main", "message": "go on", "idempotencyKey": "k"});
    socket.call("chat.send", params).await;
    let asked = socket
        .heard(|frame| frame["event"] == "exec.approval.requested")
        .await;
    let request = &asked["payload"]["request"];
    assert_eq!(request["command"], "touch a", "{asked}");
    assert_eq!(request["sessionKey"], "agent:main:main", "{asked}");
    let params = json!({"id": asked["payload"]["id"], "decision": "allow-once"});
    socket.call("exec.approval.resolve", params).await;
    socket
        .heard(|frame| {
            frame["event"] == "exec.approval.resolved"
                && frame["payload"]["decision"] == "allow-once"
        })
        .await;
    socket.end_of("k").await;
    assert!(suite.written("a").is_some());
}

/// Who asked is gone, and every daemon was started again; the question is
/// still there, and so is the turn that waits for its answer.
#[tokio::test]
async fn question_survives_disconnects_and_restarts() {
    for daemons in [
        &["openclaw-gateway"][..],
        &["openclaw-agent-runner"],
        &["openclaw-agent-runner", "openclaw-gateway"],
    ] {
        let (suite, model) = scene().await;
        let (talk, waiting) = asking(&suite, &model, "echo x >> a").await;
        drop(talk);
        for daemon in daemons {
            processes::send(suite.daemon(daemon), Signal::SIGKILL);
        }
        if daemons.contains(&"openclaw-gateway") {
            suite.log.message("the run goes on").await;
        }
        let mut socket = Socket::enter(&suite).await;
        let found = |listed: &Value| listed.to_string().contains(id(&waiting));
        if !found(&socket.call("exec.approval.list", json!({})).await) {
            socket
                .heard(|frame| frame["event"] == "exec.approval.requested" && found(frame))
                .await;
        }
        let allowed = suite.ctl(&["approvals", "allow", id(&waiting)]).await;
        allowed.ended(0);
        let words = told(&model, 2).await;
        assert!(words.contains("exit code: 0"), "{daemons:?}: {words}");
        assert_eq!(suite.written("a").as_deref(), Some("x\n"), "{daemons:?}");
        let decided = list(&suite).await["decided"].clone();
        assert_eq!(decided[0]["decision"], "allow-once", "{decided}");
    }
}

#[tokio::test]
async fn run_that_is_ended_leaves_no_question() {
    let (suite, model) = scene().await;
    let (talk, waiting) = asking(&suite, &model, "touch a").await;
    talk.signal(Signal::SIGINT);
    talk.end().await.ended(130);
    let allowed = suite.ctl(&["approvals", "allow", id(&waiting)]).await;
    allowed.ended(1).complains(&["nothing waits under"]);
    assert_eq!(suite.written("a"), None);
    let listed = list(&suite).await;
    assert_eq!(listed["waiting"], json!([]), "{listed}");
    assert_eq!(listed["decided"][0]["decision"], "expired", "{listed}");
}

#[tokio::test]
async fn listed_commands_run_and_an_environment_is_asked_about() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model)
        .asks_nobody("on-miss")
        .set("tools.exec.allowlist", json!(["touch *.txt"]));
    let suite = setup.start().await;
    let call = |arguments: Value| Scenario::tool("execute_shell", arguments);
    model.push(call(json!({"command": "touch a.txt"})).then(
        call(json!({"command": "touch b.txt; touch c"})).then(call(
            json!({"command": ["touch", "d.txt"], "env": {"LC_ALL": "C"}}),
        )),
    ));
    let run = suite.ask("go on").await;
    let ran: Vec<&Value> = (0..3).map(|at| &run["toolCalls"][at]["success"]).collect();
    assert_eq!(ran, [&json!(true), &json!(false), &json!(false)], "{run}");
    assert_eq!(suite.written("b.txt"), None);
    assert_eq!(suite.written("d.txt"), None);
}

/// A fresh installation: the command writes nothing but the workspace, and
/// nobody is asked.
#[tokio::test]
async fn approvals_where_only_the_workspace_can_be_written_nobody_is_asked() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::tool(
        "execute_shell",
        json!({"command": "touch a"}),
    ));
    suite.say("go on").await;
    assert!(suite.written("a").is_some());
}

/// With more than that to be written, somebody is.
#[tokio::test]
async fn approvals_where_more_can_be_written_somebody_is_asked() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model);
    let folder = tempfile::tempdir().unwrap();
    let suite = setup
        .set(
            "sandbox.paths.rw",
            json!([folder.path().display().to_string()]),
        )
        .start()
        .await;
    let (talk, waiting) = asking(&suite, &model, "touch a").await;
    suite.ctl(&["approvals", "deny", id(&waiting)]).await.ok();
    talk.end().await.ok();
    assert_eq!(suite.written("a"), None);
}

/// The prompt, its answers, and one that is none, at a real terminal.
#[tokio::test]
async fn approvals_who_sent_the_message_is_asked_at_the_terminal() {
    const PROMPT: &str = "allow? [y]es, [a]lways, [n]o: ";
    let (suite, model) = scene().await;
    let call = |command: &str| Scenario::tool("execute_shell", json!({"command": command}));

    model.push(call("touch a"));
    let mut terminal = suite.at_terminal(&["message", "go on"]);
    let seen = terminal.see(PROMPT).await;
    assert!(
        seen.contains("The agent wants to run") && seen.contains("touch a"),
        "{seen}"
    );
    terminal.type_line("what?");
    terminal.see(PROMPT).await;
    assert_eq!(suite.written("a"), None, "it ran unasked");
    terminal.type_line("y");
    let (code, seen) = terminal.end().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(suite.written("a").is_some(), "{seen}");

    model.push(call("touch b"));
    let mut terminal = suite.at_terminal(&["message", "go on"]);
    terminal.see(PROMPT).await;
    terminal.type_line("n");
    let (code, seen) = terminal.end().await;
    assert_eq!((code, suite.written("b")), (Some(0), None), "{seen}");
    // Lines end where the terminal's do.
    let words: Vec<&str> = seen.split_whitespace().collect();
    assert!(words.join(" ").contains("the user denied it"), "{seen}");

    model.push(call("touch c"));
    let mut terminal = suite.at_terminal(&["message", "go on"]);
    terminal.see(PROMPT).await;
    terminal.type_line("always");
    terminal.end().await;
    std::fs::remove_file(suite.workspace().join("c")).unwrap();
    model.push(call("touch c"));
    let (code, seen) = suite.at_terminal(&["message", "go on"]).end().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(
        !seen.contains(PROMPT) && suite.written("c").is_some(),
        "{seen}"
    );
}

/// What is decided elsewhere is said where it was asked.
#[tokio::test]
async fn terminal_hears_what_was_decided_elsewhere() {
    let (suite, model) = scene().await;
    model.push(Scenario::tool(
        "execute_shell",
        json!({"command": "touch a"}),
    ));
    let mut terminal = suite.at_terminal(&["message", "go on"]);
    terminal.see("allow?").await;
    let waiting = list(&suite).await["waiting"][0].clone();
    suite.ctl(&["approvals", "allow", id(&waiting)]).await.ok();
    let (code, seen) = terminal.end().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("allow-once by"), "{seen}");
    assert!(suite.written("a").is_some());
}

/// Lets the model run `command`, which nobody decides about.
async fn undecided(suite: &Suite, model: &Server, command: &str) {
    model.push(Scenario::tool("execute_shell", json!({"command": command})));
    suite.say("go on").await;
}

/// The same suite, started again with `changes` to its configuration, where what nobody
/// decides about is over after a second.
async fn changed(suite: Suite, changes: &[(&str, &str)]) -> Suite {
    let text = std::fs::read_to_string(suite.configuration()).unwrap();
    let mut configuration: Value = serde_json::from_str(&text).unwrap();
    configuration["tools"]["exec"]["approvalTimeoutSec"] = json!(1);
    for (section, level) in changes {
        configuration[*section] = json!({"level": level});
    }
    suite.configure(&configuration.to_string());
    suite.restart().await
}

#[tokio::test]
async fn approvals_what_was_allowed_for_good_is_asked_about_where_it_can_do_more() {
    let (suite, model) = scene().await;
    let (talk, waiting) = asking(&suite, &model, "touch a").await;
    suite
        .ctl(&["approvals", "allow", "--always", id(&waiting)])
        .await
        .ok();
    talk.end().await.ok();
    let remove = |suite: &Suite| std::fs::remove_file(suite.workspace().join("a")).unwrap();
    remove(&suite);
    let suite = changed(suite, &[("sandbox", "off")]).await;
    undecided(&suite, &model, "touch a").await;
    assert_eq!(suite.written("a"), None, "allowed where it was confined");
    let shown = suite.ctl(&["approvals"]).await;
    shown
        .ended(0)
        .says(&["touch a", "at sandbox level", "or stricter"]);
    let suite = changed(
        suite,
        &[("sandbox", waiting["terms"]["level"].as_str().unwrap())],
    )
    .await;
    undecided(&suite, &model, "touch a").await;
    assert!(suite.written("a").is_some());
}

#[tokio::test]
async fn script_is_allowed_this_time_only() {
    let (suite, model) = scene().await;
    suite.note("build.sh", "touch a");
    let (talk, waiting) = asking(&suite, &model, "sh build.sh").await;
    let why = waiting["onlyOnce"].as_str().unwrap();
    assert!(
        why.contains("\"sh\"") && why.contains("tools.exec.allowlist"),
        "{why}"
    );
    let always = suite
        .ctl(&["approvals", "allow", "--always", id(&waiting)])
        .await;
    always.ended(1).complains(&["this time only"]);
    suite.ctl(&["approvals", "allow", id(&waiting)]).await.ok();
    talk.end().await.ok();
    assert!(suite.written("a").is_some());

    // Other text by the time somebody says yes.
    let (talk, waiting) = asking(&suite, &model, "sh build.sh").await;
    suite.note("build.sh", "touch b");
    suite.ctl(&["approvals", "allow", id(&waiting)]).await.ok();
    talk.end().await.ok();
    assert_eq!(suite.written("b"), None);
    let suite = changed(suite, &[]).await;
    undecided(&suite, &model, "sh build.sh").await;
    assert_eq!(suite.written("b"), None);
}

/// The user gave it as it ran then; by hand it is given anew.
#[tokio::test]
async fn command_of_a_job_does_not_run_where_it_can_do_more() {
    let (suite, _model) = scene().await;
    let job = [
        "cron",
        "add",
        "--command",
        "echo x >> ran",
        "--name",
        "j",
        "--every",
        "1h",
    ];
    suite.ctl(&job).await.ok();
    let run = ["cron", "run", "j"];
    suite.ctl(&run).await.ok();
    has_run(&suite, "x\n").await;
    let edit = ["cron", "edit", "j", "--every", "1s"];
    let suite = changed(suite, &[("sandbox", "off")]).await;
    suite.ctl(&edit).await.ok();
    let history = within("a run that is refused", async {
        loop {
            let history = suite.ctl(&["cron", "history", "j", "--json"]).await.ok();
            if history.contains("it was given at") {
                return history;
            }
        }
    })
    .await;
    assert!(history.contains("openclawctl cron run NAME"), "{history}");
    assert_eq!(suite.written("ran").as_deref(), Some("x\n"));
    suite
        .ctl(&["cron", "edit", "j", "--every", "1h"])
        .await
        .ok();
    suite.ctl(&run).await;
    has_run(&suite, "x\nx\n").await;
}

/// Waits until the job's file is `text`.
async fn has_run(suite: &Suite, text: &str) {
    until("a run of the job", || {
        suite.written("ran").as_deref() == Some(text)
    })
    .await;
}

/// Whoever is told that it was allowed, or denied, is told the truth.
#[tokio::test]
async fn approvals_of_two_who_decide_at_once_one_counts() {
    let (suite, model) = scene().await;
    for round in ["a", "b", "c", "d"] {
        let (talk, waiting) = asking(&suite, &model, &format!("touch {round}")).await;
        let (id, short) = (id(&waiting), &id(&waiting)[..8]);
        let [allow, deny, again] = [("allow", id), ("deny", short), ("deny", id)]
            .map(|(word, id)| ["approvals", word, id]);
        let (allowed, denied, late) =
            tokio::join!(suite.ctl(&allow), suite.ctl(&deny), suite.ctl(&again));
        talk.end().await.ok();
        let won = [&allowed, &denied, &late].map(|said| said.code == 0);
        let count = won.iter().filter(|won| **won).count();
        assert_eq!(count, 1, "{allowed} {denied} {late}");
        assert_eq!(suite.written(round).is_some(), won[0], "{allowed}");
        let decided = list(&suite).await["decided"][0]["decision"].clone();
        assert_eq!(decided == "allow-once", won[0], "{decided}");
    }
}

/// A decision is for one call and not for its words: the same ones, asked for twice in one
/// answer, are two questions.
#[tokio::test]
async fn approvals_one_decision_lets_one_of_two_equal_calls_run() {
    let (suite, model) = scene().await;
    let call = || scripted_model::ToolCall {
        name: "execute_shell".to_owned(),
        arguments: json!({"command": "echo x >> a"}),
    };
    model.push(Scenario::tools([call(), call()]));
    let mut talk = suite.begin(&["message", "--json", "go on"]);
    talk.hear("\"approval_requested\"").await;
    let first = list(&suite).await["waiting"][0].clone();
    suite.ctl(&["approvals", "allow", id(&first)]).await.ok();
    talk.hear("\"approval_requested\"").await;
    let second = list(&suite).await["waiting"][0].clone();
    assert_ne!(id(&first), id(&second));
    let again = suite.ctl(&["approvals", "allow", id(&first)]).await;
    again.ended(1).complains(&["nothing waits under"]);
    suite.ctl(&["approvals", "deny", id(&second)]).await.ok();
    talk.end().await.ok();
    assert_eq!(suite.written("a").as_deref(), Some("x\n"));
}

/// An agent that has more than its workspace puts a link in the place of what was shown.
#[tokio::test]
async fn approvals_place_that_became_a_link_meanwhile_is_not_written_to() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let model = Server::start().await.unwrap();
    let granted = tempfile::tempdir().unwrap();
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(granted.path(), everybody).unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "on-miss")
        .set("sandbox.paths.rw", json!([granted.path()]))
        .start()
        .await;
    for (tool, arguments) in [
        (
            "execute_shell",
            json!({"command": "touch a", "workdir": "sub"}),
        ),
        ("execute_shell", json!({"command": "touch sub/a"})),
        ("execute_shell", json!({"command": "cd sub && touch a"})),
    ] {
        let sub = suite.workspace().join("sub");
        std::fs::create_dir_all(&sub).unwrap();
        model.forget();
        model.push(Scenario::tool(tool, arguments.clone()));
        let mut talk = suite.begin(&["message", "--json", "go on"]);
        talk.hear("\"approval_requested\"").await;
        let waiting = list(&suite).await["waiting"][0].clone();
        std::fs::remove_dir(&sub).unwrap();
        symlink(granted.path(), &sub).unwrap();
        suite.ctl(&["approvals", "allow", id(&waiting)]).await.ok();
        talk.end().await.ok();
        assert!(!granted.path().join("a").exists(), "{arguments}");
        let words = told(&model, 2).await;
        assert!(words.contains("is not what it was"), "{arguments}: {words}");
        std::fs::remove_file(&sub).unwrap();
    }
}
