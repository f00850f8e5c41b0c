//! The level of the sandbox where none is set, on machines that give less: the
//! first answer always comes.

use integration_tests::claude::CLAUDE;
use integration_tests::log::message_of;
use integration_tests::machine::{Lack, without};
use integration_tests::tool_server::ToolServer;
use integration_tests::{Setup, Suite, asked, skipped};
use nix::unistd::geteuid;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

const BOTH: [Lack; 2] = [Lack::Namespaces, Lack::Landlock];

/// What the runner says of its sandbox.
async fn status(suite: &Suite) -> Value {
    let status = suite.ctl(&["status", "--json"]).await.document();
    status["runner"].clone()
}

/// Whether this very machine has both, so that taking one away leaves the other.
async fn has_both() -> bool {
    let suite = Setup::offline().start().await;
    let level = status(&suite).await["sandboxLevel"].clone();
    if level != "strict" {
        skipped(&format!(
            "levels between strict and text: here it is {level}"
        ));
    }
    level == "strict"
}

/// Greets a suite on which nothing is set; what came of it, in the status and in doctor.
async fn greeted(expected: &'static str) {
    let suite = Setup::empty()
        .variable("PATH", "/nonexistent")
        .start()
        .await;
    let said = suite.ctl(&["message", "hello"]).await.ended(0);
    let is_told = said.stdout.contains("level \"text\"");
    assert_eq!(is_told, expected == "text", "{said}");
    let status = status(&suite).await;
    assert_eq!(status["sandboxLevel"], expected, "{status}");
    let reason = status["sandboxReason"].as_str().unwrap();
    let is_strict = expected == "strict";
    assert_eq!(
        reason.contains("the strictest that this machine gives"),
        !is_strict,
        "{reason}"
    );
    assert_eq!(status["sandboxStricter"].is_null(), is_strict, "{status}");
    for confinement in status["confinements"].as_array().unwrap() {
        assert_ne!(confinement["state"], "failed", "{confinement}");
    }
    let doctor = suite.ctl(&["doctor", "--json"]).await.document();
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "sandbox level");
    let check = check.unwrap_or_else(|| panic!("no check of the level: {doctor}"));
    assert_eq!(
        check["state"],
        if is_strict { "ok" } else { "warn" },
        "{check}"
    );
    assert_eq!(check["fix"], status["sandboxStricter"], "{check}");
    let records = suite.log.records();
    let told = records.iter().map(message_of);
    let told = told.filter(|message| message.contains("the sandbox is at level"));
    assert_eq!(told.count(), 1, "{records:?}");
}

#[tokio::test]
async fn level_that_is_not_set_is_the_strictest_that_is_left() {
    if !has_both().await {
        return;
    }
    greeted("strict").await;
    let less = [
        (&[Lack::Landlock][..], "namespaces"),
        // Without mounts root's folders stay closed to its agents.
        (
            &[Lack::Namespaces],
            if geteuid().is_root() {
                "text"
            } else {
                "workspace"
            },
        ),
    ];
    for (lacks, expected) in less {
        without(lacks, move || greeted(expected));
    }
}

#[test]
fn text_is_what_is_left_without_landlock_and_namespaces() {
    without(&BOTH, || greeted("text"));
}

#[test]
fn level_that_is_set_is_refused_where_it_cannot_be_had() {
    without(&BOTH, || async {
        let suite = Setup::offline()
            .set("sandbox.level", "strict")
            .start()
            .await;
        let said = suite.ctl(&["message", "hello"]).await.ended(1);
        said.complains(&["own_root", "sandbox.missing", "sandbox.level"]);
        let status = status(&suite).await;
        assert_eq!(status["sandboxLevel"], "strict, refused", "{status}");
        let suite = Setup::offline()
            .set("sandbox.level", "strict")
            .set("sandbox.missing", "weaken")
            .start()
            .await;
        suite.say("hello").await;
    });
}

#[test]
fn text_has_memory_and_neither_commands_nor_files() {
    without(&BOTH, || async {
        let suite = Setup::offline().start().await;
        let noted = suite
            .say("/remember The spare key hangs behind the clock.")
            .await;
        assert!(noted.starts_with("Noted in "), "{noted}");
        let found = suite.say("Where is the spare key?").await;
        assert!(found.contains("behind the clock"), "{found}");
        let ran = suite.say("/run echo ran > file").await;
        assert!(ran.contains("neither commands nor files"), "{ran}");
        assert_eq!(suite.written("file"), None);
    });
}

#[test]
fn text_keeps_a_model_from_all_but_memory() {
    without(&BOTH, || async {
        let model = Server::start().await.unwrap();
        let server = ToolServer::default();
        let suite = Setup::anthropic(&model)
            .set("sandbox.network", "full")
            .set("mcp.servers.test", server.entry(&json!({})))
            .start()
            .await;
        let said = suite.ctl(&["message", "--verbose", "hello"]).await.ended(0);
        let said = said
            .says(&["You said: hello"])
            .complains(&["level \"text\""]);
        assert!(!said.stderr.contains("MCP"), "{said}");
        let offered = asked::tools(&asked::turns(&model, 1).await[0]);
        // Those for jobs touch no file either: the gateway is told.
        let harmless = ["session_status", "cron", "remind"];
        let touching =
            |name: &&String| !name.starts_with("memory_") && !harmless.contains(&name.as_str());
        let touching: Vec<&String> = offered.iter().filter(touching).collect();
        assert!(touching.is_empty() && offered.len() == 6, "{offered:?}");
        // Called although it is not offered.
        model.forget();
        let arguments = json!({"path": "new.txt", "content": "x"});
        model.push(Scenario::tool("write_file", arguments));
        let run = suite.ask("write").await;
        assert_eq!(run["toolCalls"][0]["success"], false, "{run}");
        assert_eq!(suite.written("new.txt"), None);
        model.push(Scenario::tool(
            "memory_write",
            json!({"text": "The boiler is in the attic."}),
        ));
        let run = suite.ask("note it").await;
        assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    });
}

#[test]
fn text_starts_no_cli_and_says_what_would() {
    without(&BOTH, || async {
        let script = "echo started >&2; exit 1";
        let suite = Setup::imitated(&CLAUDE, script).await;
        let said = suite.ctl(&["message", "hello"]).await.ended(1);
        let said = said.complains(&["no command runs", "what gives a stricter one"]);
        assert!(!said.stderr.contains("started"), "{said}");
    });
}
