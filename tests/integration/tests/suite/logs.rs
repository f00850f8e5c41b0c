//! The daemons' log, which tells the whole story of a message.

use integration_tests::Setup;
use integration_tests::log::message_of;
use scripted_model::{Scenario, Server};
use serde_json::json;

/// Records of every daemon; those notable of a run are the gateway's and the runner's.
const TARGETS: [&str; 3] = [
    "openclaw_notable",
    "openclaw_agent_runner",
    "openclaw_memory",
];

#[tokio::test]
async fn logs_one_run_is_followed_through_all_daemons() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::tool("execute_shell", json!({"command": "true"})));
    let run = suite.ask("do something").await;
    for target in TARGETS {
        let record = suite
            .log
            .record(&format!("{target} and the run"), |record| {
                let context = &record["context"];
                context["target"]
                    .as_str()
                    .is_some_and(|it| it.starts_with(target))
                    && context["openclaw_run"] == run["runId"]
            })
            .await;
        let session = &record["context"]["openclaw_session"];
        assert_eq!(session, "agent:main:main", "{record}");
    }
    let tool = |record: &serde_json::Value| record["context"]["openclaw_tool"] == "execute_shell";
    let record = suite.log.record("the tool that was called", tool).await;
    assert_eq!(record["context"]["openclaw_run"], run["runId"], "{record}");
}

/// Feature: openclaw-mvp, Property 23: For any log entry, the output SHALL be
/// valid JSON containing timestamp, level, message, and context fields. Here:
/// every line of the suite. Any record: services/daemon/tests/daemon.
#[tokio::test]
async fn property_23_every_line_of_the_suite_is_a_record() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::failure(401));
    suite.ask("fail").await;
    suite.say("succeed").await;
    suite.terminate();
    suite.ended().await;

    let lines = suite.log.lines();
    let records = suite.log.records();
    assert_eq!(lines.len(), records.len(), "{lines:#?}");
    assert!(records.len() > 5, "{lines:#?}");
    for record in records {
        let timestamp = record["timestamp"].as_str().unwrap_or_default();
        assert!(
            timestamp.starts_with("20") && timestamp.ends_with('Z'),
            "{record}"
        );
        let level = record["level"].as_str().unwrap_or_default();
        assert!(
            ["debug", "info", "warn", "error"].contains(&level),
            "{record}"
        );
        assert!(
            record["message"].as_str().is_some_and(|it| !it.is_empty()),
            "{record}"
        );
        assert!(record["context"]["target"].is_string(), "{record}");
    }
}

/// Feature: openclaw-mvp, Property 24: For any log entry, it SHALL only be
/// written if its level is at or above the configured minimum level (error >
/// warn > info > debug). Here: by every process of the suite, turns included.
#[tokio::test]
async fn property_24_the_suite_logs_nothing_below_its_level() {
    let rank = |level: &str| {
        ["error", "warn", "info", "debug"]
            .iter()
            .position(|it| *it == level)
    };
    for least in ["debug", "info", "warn", "error"] {
        let model = Server::start().await.unwrap();
        let setup = Setup::anthropic(&model).set("logging.level", least);
        let mut suite = setup.start().await;
        model.push(Scenario::tool("execute_shell", json!({"command": "true"})));
        suite.ask("do something").await;
        model.push(Scenario::failure(401));
        suite.ask("fail").await;
        suite.configure("{ not a key: 1 }");
        // It is told at every level.
        suite
            .log
            .times("reload the configuration", TARGETS.len())
            .await;
        suite.terminate();
        suite.ended().await;
        let records = suite.log.records();
        let levels: std::collections::BTreeSet<_> = records
            .iter()
            .filter_map(|record| rank(record["level"].as_str()?))
            .collect();
        let worst = rank(least).unwrap();
        assert!(
            levels.iter().all(|level| *level <= worst),
            "{least}: {levels:?}"
        );
        // There is news of every level but the last at any time.
        let told = worst.min(2);
        assert!(levels.contains(&told), "{least}: {levels:?}");
    }
}

/// Feature: openclaw-mvp, Property 25: For any error log entry, the output SHALL
/// include a stack trace and relevant context (session ID, operation name).
/// Here: errors of every daemon, and one of a session.
#[tokio::test]
async fn property_25_errors_of_every_daemon_say_what_failed_and_where() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;
    let transcripts = suite.state().join("agents/main/sessions");
    // A folder in the place of a transcript is no conversation.
    for entry in std::fs::read_dir(&transcripts).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            std::fs::remove_file(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
        }
    }
    suite.ask("are you there?").await;
    suite.configure("{ not a key: 1 }");
    suite
        .log
        .times("reload the configuration", TARGETS.len())
        .await;
    let records = suite.log.records();
    let errors: Vec<_> = records
        .iter()
        .filter(|record| record["level"] == "error")
        .collect();
    assert!(errors.len() > TARGETS.len(), "{errors:#?}");
    for record in &errors {
        let operation = record["context"]["operation"].as_str().unwrap_or_default();
        let trace = record["stackTrace"].as_str().unwrap_or_default();
        assert!(
            !operation.is_empty() && trace.contains("openclaw"),
            "{record}"
        );
    }
    let of_session =
        |record: &&&serde_json::Value| record["context"]["openclaw_session"] == "agent:main:main";
    assert!(
        errors.iter().any(|record| of_session(&record)),
        "{errors:#?}"
    );
}

/// The lines of one run at level info.
const LINE_LIMIT: usize = 12;

/// However much a turn does, a day's log is read through; what has no line of its
/// own is counted.
#[tokio::test]
async fn logs_one_turn_has_a_dozen_lines_at_most() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .start()
        .await;
    for busy in [Vec::new(), vec!["echo one"; 10]] {
        let calls: Vec<_> = busy
            .iter()
            .map(|command| json!({"name": "execute_shell", "arguments": {"command": command}}))
            .collect();
        let mut message = "nothing to do".to_owned();
        if !calls.is_empty() {
            message = format!("[[scenario:tools {}]]", json!(calls));
        }
        let run = suite.ask(&message).await;
        let id = run["runId"].as_str().unwrap().to_owned();
        for end in ["run ended", "the turn ended"] {
            let is_end = |record: &serde_json::Value| {
                let is_of_run = record["context"]["openclaw_run"] == *id;
                is_of_run && message_of(record).starts_with(end)
            };
            suite.log.record(end, is_end).await;
        }
        let records = suite.log.records();
        let told: Vec<&str> = records
            .iter()
            .filter(|record| record["context"]["openclaw_run"] == *id)
            .map(message_of)
            .collect();
        assert!(told.len() <= LINE_LIMIT, "{told:#?}");
        for begin in [
            "run accepted by cli with",
            "run started: native",
            "the turn starts: native",
            "the turn ended: done after",
            "run ended: done after",
        ] {
            assert!(
                told.iter().any(|line| line.starts_with(begin)),
                "{begin}: {told:#?}"
            );
        }
        if !calls.is_empty() {
            let own = told
                .iter()
                .filter(|line| line.starts_with("tool execute_shell: done in"));
            assert_eq!(own.count(), 4, "{told:#?}");
            let rest = "6 more calls: execute_shell 6 times in";
            assert!(told.iter().any(|line| line.starts_with(rest)), "{told:#?}");
        }
    }
}

/// What was said is in the log where the configuration wants it, and only there.
#[tokio::test]
async fn messages_are_logged_where_they_are_wanted() {
    let model = Server::start().await.unwrap();
    for (wanted, setup) in [
        (true, Setup::anthropic(&model).set("logging.content", true)),
        (false, Setup::anthropic(&model)),
    ] {
        let suite = setup.start().await;
        model.push(Scenario::tool(
            "execute_shell",
            json!({"command": "echo private-output"}),
        ));
        suite.ask("a private question").await;
        suite.log.message("run ended").await;
        let log = suite.log.lines().join("\n");
        for text in ["a private question", "private-output"] {
            assert_eq!(log.contains(text), wanted, "{text}: {log}");
        }
    }
}

#[tokio::test]
async fn logs_neither_keys_nor_messages_are_logged() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("logging.level", "debug");
    let suite = setup.start().await;
    suite.say("a very private question").await;
    suite.log.message("run ended").await;
    let log = suite.log.lines().join("\n");
    for secret in [integration_tests::setup::KEY, "a very private question"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

/// A line of the log, of the run r1.
fn line(second: u32, message: &str) -> String {
    let record = json!({
        "timestamp": format!("2026-11-20T10:00:{second:02}Z"), "level": "info", "message": message,
        "context": {"daemon": "openclaw-gateway", "target": "openclaw_notable",
            "openclaw_run": "r1", "openclaw_session": "agent:main:main"},
    });
    format!("{record}\n")
}

#[tokio::test]
async fn story_that_is_followed_begins_with_its_last_lines() {
    let suite = Setup::offline().start().await;
    let log = suite.state().join("a.log");
    let text: String = (0..5).map(|at| line(at, &format!("event {at}"))).collect();
    std::fs::write(&log, text).unwrap();
    let path = log.to_str().unwrap();
    let arguments = ["logs", "--file", path, "--run", "r1", "-f", "-n", "2"];
    let mut terminal = suite.at_terminal(&arguments);
    let mut seen = terminal.see("event 4").await;
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    std::io::Write::write_all(&mut file, line(7, "event 7").as_bytes()).unwrap();
    seen.push_str(&terminal.see("event 7").await);
    let shown = |at: usize| seen.contains(&format!("event {at}"));
    assert_eq!(
        [0, 1, 2, 3, 4, 7].map(shown),
        [false, false, false, true, true, true],
        "{seen}"
    );
    assert!(seen.contains("+7.0 s"), "{seen}");
}
