//! A daemon that is killed is started again, and the next message finds it.

use std::fs;

use integration_tests::socket::Socket;
use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, asked, processes, until};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::json;

async fn killed(daemon: &str) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("before").await;
    let old = suite.daemon(daemon);
    processes::send(old, Signal::SIGKILL);
    assert_eq!(suite.say("after").await, "You said: after\n");
    assert_ne!(suite.daemon(daemon), old);
    let last = asked::turns(&model, 2).await.pop().unwrap();
    assert!(
        asked::words(&last).contains("before"),
        "the conversation goes on"
    );
}

#[tokio::test]
async fn survival_gateway() {
    killed("openclaw-gateway").await;
}

#[tokio::test]
async fn survival_agent_runner() {
    killed("openclaw-agent-runner").await;
}

#[tokio::test]
async fn survival_memory_daemon() {
    killed("openclaw-memory").await;
}

/// Kills `daemon` in the middle of an answer; the answer goes on after that.
/// `news` is what is logged when it is there again, if anything is.
async fn killed_in_a_turn(daemon: &str, news: Option<&str>) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::held("Once upon a time there was a king.", "rest"));
    let mut talk = suite.begin(&["message", "tell"]);
    talk.hear("Once upon").await;
    let old = suite.daemon(daemon);
    processes::send(old, Signal::SIGKILL);
    if let Some(news) = news {
        suite.log.message(news).await;
    }
    model.release("rest");
    let said = talk.end().await;
    assert_eq!(said.ok(), "Once upon a time there was a king.\n");
    assert_eq!(model.turns().len(), 1, "the model was asked once");
    let messages = suite.messages();
    assert_eq!(of_role(&messages, "user").len(), 1);
    let answers = of_role(&messages, "assistant");
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(text(answers[0]), "Once upon a time there was a king.");
    assert_eq!(answers[0]["stopReason"], "stop");
    assert_eq!(suite.say("after").await, "You said: after\n");
}

#[tokio::test]
async fn turn_goes_on_without_the_runner() {
    killed_in_a_turn("openclaw-agent-runner", Some("the turn goes on")).await;
}

#[tokio::test]
async fn turn_goes_on_without_the_gateway() {
    killed_in_a_turn("openclaw-gateway", Some("the run goes on")).await;
}

#[tokio::test]
async fn turn_goes_on_without_memory() {
    killed_in_a_turn("openclaw-memory", None).await;
}

/// A tool that was called before the kill and answers after it has run once.
#[tokio::test]
async fn tool_runs_once_whatever_is_killed() {
    let model = Server::start().await.unwrap();
    let suite = setup(&model).start().await;
    let command = "echo once >> done.txt; until [ -e go ]; do sleep 0.05; done; echo went";
    let directive = serde_json::json!({ "command": command });
    let mut talk = suite.begin(&[
        "message",
        &format!("[[scenario:tool execute_shell {directive}]]"),
    ]);
    suite.log.message("the agent called a tool").await;
    for daemon in ["openclaw-gateway", "openclaw-agent-runner"] {
        processes::send(suite.daemon(daemon), Signal::SIGKILL);
    }
    std::fs::write(suite.workspace().join("go"), "").unwrap();
    talk.hear("went").await;
    talk.end().await.ok();
    let done = std::fs::read_to_string(suite.workspace().join("done.txt")).unwrap();
    assert_eq!(done, "once\n");
    let messages = suite.messages();
    assert_eq!(of_role(&messages, "toolResult").len(), 1);
}

/// Runs that are taken up again together append nothing of what they have said.
#[tokio::test]
async fn several_runs_go_on_without_the_gateway() {
    const SESSIONS: [&str; 3] = ["one", "two", "three"];
    let model = Server::start().await.unwrap();
    let suite = setup(&model).start().await;
    let command = "until [ -e go ]; do sleep 0.05; done; echo went";
    let directive = serde_json::json!({ "command": command });
    let message = format!("[[scenario:tool execute_shell {directive}]]");
    let talks = SESSIONS.map(|key| suite.begin(&["message", "--session", key, &message]));
    let calls = suite.log.times("the agent called a tool", SESSIONS.len());
    calls.await;
    processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
    suite.log.times("the run goes on", SESSIONS.len()).await;
    std::fs::write(suite.workspace().join("go"), "").unwrap();
    for talk in talks {
        let said = talk.end().await.ok();
        assert!(said.contains("went"), "{said}");
    }
}

/// A turn's own process that is killed takes only its turn along, with what
/// was said.
#[tokio::test]
async fn killed_turn_ends_with_what_was_said() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::held(
        "Once upon a time there was a king.",
        "never",
    ));
    let mut talk = suite.begin(&["message", "tell"]);
    talk.hear("Once upon").await;
    processes::send(suite.turn(), Signal::SIGKILL);
    talk.end()
        .await
        .ended(1)
        .says(&["Once upon"])
        .complains(&["the turn's process was killed or died"]);
    let messages = suite.messages();
    let last = of_role(&messages, "assistant").pop().unwrap();
    assert!(text(last).starts_with("Once upon"), "{last}");
    assert_eq!(last["stopReason"], "error", "{last}");
    assert_eq!(suite.say("after").await, "You said: after\n");
}

/// All of it killed at once, as when the machine loses power: the next start
/// closes the run with what was said, and nothing is asked or done again.
#[tokio::test]
async fn crash_of_everything_closes_the_run_as_interrupted() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::held(
        "Once upon a time there was a king.",
        "never",
    ));
    let mut talk = suite.begin(&["message", "tell"]);
    talk.hear("Once upon").await;
    processes::end_all(&suite.path(""));
    drop(talk);
    let suite = suite.restart().await;
    suite.log.message("run ended").await;
    let messages = suite.messages();
    let last = of_role(&messages, "assistant").pop().unwrap();
    assert!(text(last).starts_with("Once upon"), "{last}");
    assert_eq!(last["stopReason"], "error", "{last}");
    assert!(suite.say("after").await.contains("after"));
    assert_eq!(model.turns().len(), 2);
}

/// Kills everything in the middle of an answer, and starts it again.
/// With a log that says when a tool is called, not only when it has answered.
fn setup(model: &Server) -> Setup {
    Setup::anthropic(model).set("logging.level", "debug")
}

async fn crashed(model: &Server, scenario: Scenario, heard: &str) -> integration_tests::Suite {
    let setup = setup(model).set("session.interrupted", "resume");
    let suite = setup.start().await;
    model.push(scenario);
    let mut talk = suite.begin(&["message", "tell"]);
    talk.hear("Once upon").await;
    if !heard.is_empty() {
        suite.log.message(heard).await;
    }
    processes::end_all(&suite.path(""));
    drop(talk);
    suite.restart().await
}

#[tokio::test]
async fn interrupted_answer_is_gone_on_with_where_that_is_wanted() {
    let model = Server::start().await.unwrap();
    let held = Scenario::held("Once upon a time there was a king.", "never");
    let suite = crashed(&model, held, "").await;
    suite.log.message("gone on with").await;
    let asked = asked::turns(&model, 2).await.pop().unwrap();
    let words = asked::words(&asked);
    assert!(
        words.contains("Once upon") && words.contains("go on from there"),
        "{words}"
    );
    assert!(suite.say("after").await.contains("after"));
    assert_eq!(model.turns().len(), 3, "gone on with once");
    let suite = suite.restart().await;
    assert!(suite.say("and again").await.contains("again"));
    assert_eq!(model.turns().len(), 4);
}

#[tokio::test]
async fn tool_whose_effect_is_unknown_is_left_to_the_user() {
    let model = Server::start().await.unwrap();
    let mut scenario = Scenario::tool(
        "execute_shell",
        serde_json::json!({"command": "sleep 1000"}),
    );
    scenario.text = "Once upon a time".to_owned();
    let suite = crashed(&model, scenario, "the agent called a tool").await;
    suite.log.message("run ended").await;
    assert!(suite.say("after").await.contains("after"));
    assert_eq!(model.turns().len(), 2);
    let messages = suite.messages();
    let told = messages
        .iter()
        .filter_map(|message| message["errorMessage"].as_str());
    assert!(
        told.collect::<String>().contains("say \"continue\""),
        "{messages:?}"
    );
}

/// Whoever sends a message says how long it may take, and the next gateway holds it to that.
#[tokio::test]
async fn deadline_of_a_message_holds_without_the_gateway() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    model.push(Scenario::held("Once upon a time there was a king.", "rest"));
    let message = json!({"sessionKey": "main", "message": "tell", "idempotencyKey": "t",
        "timeoutMs": 5_000});
    socket.call("chat.send", message).await;
    asked::turns(&model, 1).await;
    processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
    suite.log.message("the run goes on").await;
    until("the end of the run", || {
        let messages = suite.messages();
        let answers = of_role(&messages, "assistant");
        answers.iter().any(|it| it["stopReason"] == "aborted")
    })
    .await;
    assert_eq!(suite.say("after").await, "You said: after\n");
    assert_eq!(model.turns().len(), 2, "the first is not asked again");
}

/// A message is durable before its row in the ledger is, and so is what it wants: a machine that
/// loses the row, and the turn with it, begins it again as its sender said.
#[tokio::test]
async fn message_whose_row_in_the_ledger_was_lost_is_begun_as_its_sender_said() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite.say("before").await;
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));
    let ledger = suite.state().join("state/ledger.sqlite");
    let before = fs::read(&ledger).unwrap();
    let suite = suite.restart().await;
    let mut socket = Socket::enter(&suite).await;
    model.push(Scenario::held(
        "Once upon a time there was a king.",
        "never",
    ));
    let message = json!({"sessionKey": "main", "message": "tell", "idempotencyKey": "t",
        "thinking": "high"});
    socket.call("chat.send", message).await;
    let wanted = asked::turns(&model, 2).await[1].json()["thinking"].clone();
    processes::end_all(&suite.path(""));
    fs::write(&ledger, before).unwrap();
    for log in ["-wal", "-shm"] {
        let log = suite.state().join(format!("state/ledger.sqlite{log}"));
        fs::remove_file(log).unwrap();
    }
    fs::remove_dir_all(suite.state().join("state/turns")).unwrap();
    let suite = suite.restart().await;
    suite
        .log
        .message("written but not entered is taken up")
        .await;
    let again = asked::turns(&model, 3).await[2].json()["thinking"].clone();
    assert!(wanted.is_object(), "{wanted}");
    assert_eq!(again, wanted);
    let mut socket = Socket::enter(&suite).await;
    let history = socket
        .call("chat.history", json!({"sessionKey": "main"}))
        .await;
    let history = history.to_string();
    assert!(
        history.contains("tell") && !history.contains("turnOptions"),
        "{history}"
    );
}
