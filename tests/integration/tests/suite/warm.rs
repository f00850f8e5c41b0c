//! CLIs that stand ready for a session's next message (`cliWarmSeconds`).

use integration_tests::tool_server::ToolServer;
use integration_tests::{Setup, Suite, asked, processes, seen};
use scripted_model::{Scenario, Server};
use serde_json::json;

/// The processes of CLIs, by their programs' names.
fn standing(suite: &Suite) -> Vec<i32> {
    processes::of_folder(&suite.path(""))
        .into_iter()
        .filter(|pid| {
            let name = processes::program(*pid).unwrap_or_default();
            name.starts_with("claude") || name == "codex"
        })
        .map(|pid| pid.as_raw())
        .collect()
}

/// Waits until as many stand ready.
async fn are_standing(suite: &Suite, count: usize) -> Vec<i32> {
    let what = format!("{count} CLIs that stand ready");
    seen(&what, || {
        let pids = standing(suite);
        (pids.len() == count).then_some(pids)
    })
    .await
}

fn setups(model: &Server) -> Vec<Setup> {
    let both = [Setup::claude(model), Setup::codex(model)];
    both.into_iter().flatten().collect()
}

#[tokio::test]
async fn next_message_is_answered_by_the_one_that_stands_ready() {
    let model = Server::start().await.unwrap();
    for (number, setup) in setups(&model).into_iter().enumerate() {
        // A gate stays open for everyone once it was released.
        let gate = format!("asked-{number}");
        let suite = setup
            .set("agents.defaults.cliWarmSeconds", 60)
            .start()
            .await;
        let before = model.turns().len();
        model.push(Scenario::text("Noted: xylophone."));
        suite.say("The word is xylophone.").await;
        let ready = are_standing(&suite, 1).await;

        model.push(Scenario::held("It was that one, I think.", &gate));
        let mut talk = suite.begin(&["message", "Which word was it?"]);
        talk.hear("It").await;
        assert_eq!(standing(&suite), ready, "another one was started");
        model.release(&gate);
        talk.end().await.ok();

        let last = asked::turns(&model, before + 2).await.pop().unwrap();
        let messages = asked::messages(&last);
        let noted = |(role, text): &(String, String)| role == "assistant" && text.contains("Noted");
        assert!(messages.iter().any(noted), "{messages:?}");
        let next = are_standing(&suite, 1).await;
        assert_ne!(next, ready, "each serves one turn");
    }
}

#[tokio::test]
async fn warm_has_our_tools() {
    let model = Server::start().await.unwrap();
    for setup in setups(&model) {
        let suite = setup
            .set("agents.defaults.cliWarmSeconds", 60)
            .start()
            .await;
        suite.say("hello").await;
        are_standing(&suite, 1).await;
        let arguments = json!({"text": "likes tea"});
        model.push(Scenario::tool("mcp__openclaw__memory_write", arguments));
        let run = suite.ask("keep it").await;
        assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    }
}

/// It has them from its start, and the same servers answer it as answered the
/// message before.
#[tokio::test]
async fn warm_has_the_tools_of_servers() {
    let model = Server::start().await.unwrap();
    for setup in setups(&model) {
        let server = ToolServer::default();
        let suite = setup
            .set("agents.defaults.cliWarmSeconds", 60)
            .set("tools.exec.ask", "off")
            .set("mcp.servers.test", server.entry(&json!({})))
            .start()
            .await;
        let tool = "mcp__openclaw__test__count";
        let mut answers = Vec::new();
        for message in ["one", "two", "three"] {
            let before = standing(&suite);
            model.push(Scenario::tool(tool, json!({})));
            let run = suite.ask(message).await;
            assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
            let output = run["toolCalls"][0]["output"].to_string();
            answers.push(output.trim_matches('"').to_owned());
            let after = are_standing(&suite, 1).await;
            assert_ne!(before, after, "each serves one turn");
        }
        let processes = answers.iter().map(|said| said.split_once(' ').unwrap());
        let (counts, servers): (Vec<&str>, Vec<&str>) = processes.unzip();
        assert_eq!(counts, ["1", "2", "3"], "{answers:?}");
        assert!(servers.iter().all(|it| *it == servers[0]), "{answers:?}");
    }
}

#[tokio::test]
async fn warm_one_that_stands_ready_answers_also_where_there_are_servers() {
    let model = Server::start().await.unwrap();
    for (number, setup) in setups(&model).into_iter().enumerate() {
        let (server, gate) = (ToolServer::default(), format!("served-{number}"));
        let suite = setup
            .set("agents.defaults.cliWarmSeconds", 60)
            .set("mcp.servers.test", server.entry(&json!({})))
            .start()
            .await;
        suite.say("hello").await;
        let ready = are_standing(&suite, 1).await;
        let before = model.turns().len();
        model.push(Scenario::held("It is me, I think.", &gate));
        let mut talk = suite.begin(&["message", "Who is there?"]);
        talk.hear("It").await;
        assert_eq!(standing(&suite), ready, "another one was started");
        model.release(&gate);
        talk.end().await.ok();
        let tools = asked::tools(&asked::turns(&model, before + 1).await[before]);
        let has = tools.iter().any(|name| name.ends_with("test__count"));
        assert!(has, "{tools:?}");
    }
}

/// A CLI that stands ready has read its session, what the transcript has not as
/// well.
#[tokio::test]
async fn warm_one_that_has_read_what_is_forgotten_is_ended() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup
        .set("agents.defaults.cliWarmSeconds", 60)
        .start()
        .await;
    suite.say("hello").await;
    are_standing(&suite, 1).await;
    suite
        .ctl(&[
            "memory",
            "forget",
            "--everywhere",
            "--yes",
            "nobody said it",
        ])
        .await
        .complains(&["nowhere"])
        .ended(1);
    are_standing(&suite, 0).await;
}

/// What it read at its start is not what it would read now.
#[tokio::test]
async fn warm_one_that_was_told_something_else_does_not_answer() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup
        .set("agents.defaults.cliWarmSeconds", 60)
        .note("SOUL.md", "You speak like a sailor.\n")
        .start()
        .await;
    suite.say("hello").await;
    are_standing(&suite, 1).await;
    std::fs::write(
        suite.workspace().join("SOUL.md"),
        "You speak like a judge.\n",
    )
    .unwrap();
    suite.say("and now?").await;
    let turns = asked::turns(&model, 2).await;
    let system = turns[1].json()["system"].to_string();
    assert!(
        system.contains("like a judge") && !system.contains("sailor"),
        "{system}"
    );
}

#[tokio::test]
async fn warm_ends_with_its_time_its_session_its_settings_and_the_daemons() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let short = setup.clone().set("agents.defaults.cliWarmSeconds", 2);
    let suite = short.start().await;
    suite.say("hello").await;
    are_standing(&suite, 1).await;
    are_standing(&suite, 0).await;

    let suite = setup
        .set("agents.defaults.cliWarmSeconds", 600)
        .start()
        .await;
    suite.say("hello").await;
    are_standing(&suite, 1).await;
    let change = ["config", "set", "agents.defaults.limits.steps", "20"];
    suite.ctl(&change).await.ok();
    are_standing(&suite, 0).await;
    suite.say("still there?").await;
    are_standing(&suite, 1).await;
    suite
        .ctl(&["sessions", "reset", "agent:main:main"])
        .await
        .ok();
    are_standing(&suite, 0).await;
    suite.say("hello again").await;
    are_standing(&suite, 1).await;
    suite.terminate();
    are_standing(&suite, 0).await;
}

#[tokio::test]
async fn warm_nothing_stands_ready_unless_it_is_asked_for() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.start().await;
    suite.say("hello").await;
    are_standing(&suite, 0).await;
}
