//! What the command line says of the suite is so: of models, of settings that
//! something else comes over, of sessions, of runs, and of what stays.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use integration_tests::transcript::{self, of_role, text};
use integration_tests::{Setup, Suite, Talk, Terminal};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

async fn started() -> (Server, Suite) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    (model, suite)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn checks<'a>(report: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = report["checks"].as_array().unwrap().iter();
    all.filter(|check| check["name"] == name).collect()
}

#[tokio::test]
async fn doctor_judges_models_as_messages_find_them() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set(
            "agents.list",
            json!([
                {"id": "main"},
                {"id": "lost", "model": "nosuch/big"},
                {"id": "spare", "model": {"primary": "anthropic/m", "fallbacks": ["nosuch/b"]}},
            ]),
        )
        .start()
        .await;
    let report = suite.ctl(&["doctor", "--json"]).await.ended(1).document();
    let state = |agent: &str| {
        let found = checks(&report, &format!("model of {agent}"));
        assert_eq!(found.len(), 1, "{report}");
        (found[0]["state"].clone(), found[0]["detail"].to_string())
    };
    assert_eq!(state("main").0, "ok");
    let (lost, detail) = state("lost");
    assert_eq!(lost, "fail", "{detail}");
    for part in ["agents.list[1].model", "nosuch/big", "models.providers"] {
        assert!(detail.contains(part), "{detail}");
    }
    let (spare, detail) = state("spare");
    assert_eq!(spare, "warn", "{detail}");
    assert!(
        detail.contains("agents.list[2].model.fallbacks[0]"),
        "{detail}"
    );

    suite.say("hello").await;
    let said = suite.ctl(&["message", "--agent", "lost", "hello"]).await;
    said.ended(1).complains(&["nosuch/big"]);
    let status = suite.ctl(&["status"]).await.ended(0);
    status.says(&["agents.list[1].model: the model nosuch/big"]);
}

#[tokio::test]
async fn setting_that_something_comes_over_is_told_with_what_holds() {
    let (_model, suite) = started().await;
    let overlay = suite.state().join("openclaw.json.d/50-x.json");
    write(
        &overlay,
        "{ agents: { defaults: { maxTokens: 111 } }, logging: { level: null } }",
    );
    let set = ["config", "set", "agents.defaults.maxTokens", "222"];
    let told = format!(
        "{} sets agents.defaults.maxTokens to 111, which holds",
        overlay.display()
    );
    suite
        .ctl(&set)
        .await
        .ended(0)
        .complains(&["written; but", &told]);
    let taken = suite
        .ctl(&["config", "set", "logging.level", "debug"])
        .await;
    taken.ended(0).complains(&["takes logging.level away"]);
    let patch = [
        "config",
        "patch",
        "{ agents: { defaults: { maxTokens: 333 } } }",
    ];
    suite.ctl(&patch).await.ended(0).complains(&[&told]);
    let shown = suite
        .ctl(&["config", "get", "agents.defaults.maxTokens"])
        .await;
    shown.ended(0).says(&["111"]).complains(&["50-x.json sets"]);
    let unset = ["config", "unset", "agents.defaults.maxTokens"];
    suite.ctl(&unset).await.ended(0).complains(&[&told]);
    let again = suite.ctl(&unset).await.ended(1);
    again.complains(&["50-x.json sets agents.defaults.maxTokens"]);
    // The same value is no surprise.
    let same = ["config", "set", "agents.defaults.maxTokens", "111"];
    let said = suite.ctl(&same).await.ended(0);
    assert_eq!(said.stderr, "", "{said}");
}

#[tokio::test]
async fn command_line_of_the_suite_comes_over_the_file() {
    let site = Setup::empty().site();
    let mut run = site.command("openclawctl");
    run.args(["run", "--set", "agents.defaults.maxTokens=777"]);
    let mut run = Talk::start("run", run);
    run.hear("openclaw is ready").await;
    let set = ["config", "set", "agents.defaults.maxTokens", "222"];
    let said = site.ctl(&set).await.ended(0);
    said.complains(&["the command line of openclawctl run sets agents.defaults.maxTokens to 777"]);
    site.ctl(&["run", "--stop"]).await.ended(0);
}

#[tokio::test]
async fn said_other_sockets_are_said_to_be_needed_where_they_are() {
    let site = Setup::empty().variable("OPENCLAW_GATEWAY_PORT", "").site();
    for (key, value) in [
        ("gateway.port", "18789"),
        ("gateway.bind", "loopback"),
        ("gateway.bind", "127.0.0.1"),
        ("gateway.cli.port", "18999"),
    ] {
        let said = site.ctl(&["config", "set", key, value]).await.ended(0);
        assert!(!said.stderr.contains("sockets"), "{key} {value}: {said}");
    }
    for (key, value) in [("gateway.port", "18790"), ("gateway.cli.secret", "s")] {
        let said = site.ctl(&["config", "set", key, value]).await.ended(0);
        said.complains(&[
            key,
            "openclawctl sockets",
            "daemon-reload",
            "openclawctl run",
        ]);
    }
}

#[tokio::test]
async fn broken_file_is_said_with_each_message_until_it_is_mended() {
    let (model, suite) = started().await;
    let good = fs::read_to_string(suite.configuration()).unwrap();
    fs::write(suite.configuration(), "{\n  agents: {,\n").unwrap();
    model.push(Scenario::text("All the same."));
    let said = suite.ctl(&["message", "hello"]).await.ended(0);
    assert_eq!(said.stdout, "All the same.\n");
    let place = format!("{}:2:12: not valid JSON5", suite.configuration().display());
    let lines: Vec<&str> = said
        .stderr
        .lines()
        .filter(|line| line.contains(&place))
        .collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].contains("using"), "{said}");
    let json = suite.ctl(&["message", "--json", "hello"]).await.ended(0);
    assert!(json.stderr.contains(&place), "{json}");
    fs::write(suite.configuration(), &good).unwrap();
    let said = suite.ctl(&["message", "hello"]).await.ended(0);
    assert!(!said.stderr.contains("openclaw.json"), "{said}");

    // As editors and shells empty it before they write.
    fs::write(suite.configuration(), "").unwrap();
    model.push(Scenario::text("As before."));
    let said = suite.ctl(&["message", "hello"]).await.ended(0);
    assert_eq!(said.stdout, "As before.\n");
    fs::write(suite.configuration(), "{").unwrap();
    model.push(Scenario::text("Still."));
    let said = suite.ctl(&["message", "hello"]).await.ended(0);
    assert_eq!(said.stdout, "Still.\n");
    let suite = suite.restart().await;
    model.push(Scenario::text("By what was kept."));
    let said = suite.ctl(&["message", "hello"]).await.ended(0);
    assert_eq!(said.stdout, "By what was kept.\n");
    fs::write(suite.configuration(), good).unwrap();
}

#[tokio::test]
async fn session_is_named_in_message_as_in_sessions() {
    let (_model, suite) = started().await;
    let new = suite.ctl(&["message", "--session", "garden", "one"]).await;
    new.ended(0)
        .complains(&["no session \"garden\"; agent:main:garden begins"]);
    let patch = [
        "sessions",
        "patch",
        "garden",
        "--label",
        "Roses & co",
        "--json",
    ];
    let id = suite.ctl(&patch).await.ended(0).document()["id"].clone();
    let id = id.as_str().unwrap();
    for name in ["roses & co", id, &id[..8], "agent:main:garden"] {
        let said = suite
            .ctl(&["message", "--session", name, "two"])
            .await
            .ended(0);
        assert_eq!(said.stderr.lines().count(), 0, "{name}: {said}");
    }
    let messages = transcript::messages(&suite, "agent:main:garden");
    assert_eq!(of_role(&messages, "user").len(), 5);
    assert_eq!(text(of_role(&messages, "user")[1]), "two");
    let other = suite
        .ctl(&["message", "--session", "other", "x"])
        .await
        .ended(0);
    other.complains(&["\"other\""]);
    let label = ["sessions", "patch", "other", "--label", "twin"];
    suite.ctl(&label).await.ended(0);
    let list = suite.ctl(&["sessions", "--json"]).await.ended(0).document();
    assert_eq!(list["total"], 2, "{list}");
}

#[tokio::test]
async fn turn_that_failed_says_why() {
    let (model, suite) = started().await;
    model.push(Scenario::failure(401));
    suite.ctl(&["message", "hello"]).await.ended(1);
    let shown = suite.ctl(&["turns"]).await.ended(0);
    shown.says(&["REASON", "failed"]);
    let document = suite.ctl(&["turns", "--json"]).await.ended(0).document();
    let reason = document[0]["reason"].as_str().unwrap().to_owned();
    assert!(!reason.is_empty(), "{document}");
    suite
        .ctl(&["turns", "--wide"])
        .await
        .ended(0)
        .says(&[&reason]);
}

#[tokio::test]
async fn run_is_cancelled_by_the_beginning_of_its_id() {
    let (model, suite) = started().await;
    model.push(Scenario::held("never", "shut"));
    let mut talk = suite.begin(&["message", "--json", "hello"]);
    let heard = talk.hear("}\n").await;
    let accepted: Value = serde_json::from_str(heard.lines().next().unwrap()).unwrap();
    let run_id = accepted["runId"].as_str().unwrap();
    suite
        .ctl(&["cancel", &run_id[..7]])
        .await
        .ended(0)
        .says(&["cancelled"]);
    talk.end().await;
    let again = suite.ctl(&["cancel", &run_id[..7]]).await.ended(0);
    again.says(&["had ended already"]);
    suite
        .ctl(&["cancel", "zzzz"])
        .await
        .ended(1)
        .complains(&["zzzz"]);
}

#[tokio::test]
async fn tool_server_without_its_program_is_told_with_the_key() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("mcp.servers.files", json!({"command": "no-such-program"}))
        .set(
            "mcp.servers.notes",
            json!({"command": "/bin/sh", "cwd": "/no/such/folder"}),
        )
        .start()
        .await;
    let keys = ["mcp.servers.files.command", "mcp.servers.notes.cwd"];
    suite
        .ctl(&["config", "validate"])
        .await
        .ended(0)
        .complains(&keys);
    let doctor = suite.ctl(&["doctor"]).await;
    doctor.says(&keys);
}

#[tokio::test]
async fn secret_that_was_taken_out_is_nowhere_any_more() {
    let (_model, suite) = started().await;
    let key = "models.providers.other";
    let provider = r#"{ baseUrl: "http://127.0.0.1:9/v1", apiKey: "sk-taken-out-1" }"#;
    suite.ctl(&["config", "set", key, provider]).await.ended(0);
    suite.log.times("the configuration was read again", 3).await;
    let unset = ["config", "unset", "models.providers.other.apiKey"];
    suite.ctl(&unset).await.ended(0);
    suite.log.times("the configuration was read again", 6).await;
    for file in fs::read_dir(suite.state()).unwrap().flatten() {
        let bytes = fs::read(file.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("sk-taken-out-1"), "{:?}", file.path());
    }
    let backup = format!("{}.bak", suite.configuration().display());
    assert!(fs::read_to_string(&backup).unwrap().contains("127.0.0.1:9"));
    let mode = fs::metadata(&backup).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn sessions_are_found_by_when_something_was_said() {
    let (_model, suite) = started().await;
    suite.say("about the lighthouse").await;
    let find = async |arguments: &[&str]| {
        let all = [&["sessions", "find"], arguments].concat();
        suite.ctl(&all).await
    };
    find(&["--since", "1h"])
        .await
        .ended(0)
        .says(&["lighthouse"]);
    find(&["--since", "today", "lighthouse"]).await.ended(0);
    find(&["--until", "1h"]).await.ended(1).says(&["nothing"]);
    find(&["lighthouse", "--until", "1h"]).await.ended(1);
    find(&["--since", "2001-01-01", "--until", "2001-12-31"])
        .await
        .ended(1);
    find(&["volcano"]).await.ended(1).says(&["nothing about"]);
    let none = find(&["volcano", "--json"]).await.ended(1).document();
    assert_eq!(none["sessions"], json!([]));
    find(&["--since", "soon"])
        .await
        .ended(64)
        .complains(&["yesterday"]);
    find(&["--since", "1h", "--until", "2h"]).await.ended(64);
    find(&[]).await.ended(64);
}

#[tokio::test]
async fn session_takes_no_model_that_nobody_knows() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set(
            "models.providers.mine",
            json!({"baseUrl": "http://127.0.0.1:9/v1", "models": [{"id": "small", "name": "s"}]}),
        )
        .start()
        .await;
    suite.say("hello").await;
    for (name, said) in [
        ("nosuch/m", "models.providers"),
        ("mine/smal", "it has small"),
    ] {
        let patch = suite
            .ctl(&["sessions", "patch", "main", "--model", name])
            .await;
        patch.ended(64).complains(&[said]);
        let create = suite
            .ctl(&["sessions", "create", "new", "--model", name])
            .await;
        create.ended(64).complains(&[said]);
    }
    for name in ["mine/small", "anthropic/any", ""] {
        let patch = suite
            .ctl(&["sessions", "patch", "main", "--model", name])
            .await;
        patch.ended(0);
    }
}

#[tokio::test]
async fn session_takes_no_model_that_the_agents_cli_does_not_ask() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set(
            "models.providers.mine",
            json!({"baseUrl": "http://127.0.0.1:9/v1"}),
        )
        .set(
            "agents.list",
            json!([{"id": "main"}, {"id": "c", "backend": "claude-cli", "model": "mine/qwen3"}]),
        )
        .start()
        .await;
    suite
        .ctl(&["sessions", "create", "agent:c:old"])
        .await
        .ended(0);
    for (action, session, code) in [
        ("create", "agent:c:new", 64),
        ("patch", "agent:c:old", 64),
        ("create", "agent:main:other", 0),
        ("patch", "agent:main:other", 0),
    ] {
        let said = suite
            .ctl(&["sessions", action, session, "--model", "mine/m1"])
            .await;
        let said = said.ended(code);
        if code != 0 {
            said.complains(&["mine/m1", "claude-cli asks"]);
        }
    }
    let said = suite.ctl(&["config", "validate"]).await;
    let words = format!("{}{}", said.stdout, said.stderr);
    assert!(words.contains("mine/qwen3"), "{words}");
    let said = suite.ctl(&["message", "--agent", "c", "hello"]).await;
    assert_ne!(said.code, 0, "{said}");
    assert!(model.turns().is_empty(), "nobody was asked");
}

#[tokio::test]
async fn said_no_escapes_where_nobody_wants_them() {
    let (model, suite) = started().await;
    for (term, no_color, has_escapes) in [
        ("xterm", "", true),
        ("dumb", "", false),
        ("", "", false),
        ("xterm", "1", true),
    ] {
        model.push(Scenario::tool("list_directory", json!({})).then(Scenario::text("Done.")));
        let mut command = suite.command("openclawctl");
        command.args(["message", "look"]);
        command.env("TERM", term).env("NO_COLOR", no_color);
        let mut terminal = Terminal::start("message at a terminal", command);
        let shown = terminal.see("Done.").await;
        assert!(shown.contains("list_directory"), "{shown}");
        let found = shown.contains('\u{1b}');
        assert_eq!(found, has_escapes, "{term} {no_color}: {shown:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the script under test")]
#[tokio::test]
async fn removing_names_what_stays_and_how_it_is_removed() {
    let site = Setup::empty().site();
    let home = site.home();
    write(&home.join(".config/openclaw/env"), "ANTHROPIC_API_KEY=k\n");
    write(&home.join(".openclaw/openclaw.json"), "{}");
    write(
        &home.join(".config/environment.d/50-claw.conf"),
        "OPENCLAW_CLI_SECRET=s\n",
    );
    write(
        &home.join(".config/systemd/user/openclaw-memory.service.d/own.conf"),
        "[Service]\n",
    );
    // No user manager: one that is there is not to be touched.
    let systemctl = site.path("bin/systemctl");
    write(&systemctl, "#!/bin/sh\nexit 1\n");
    fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
    let install = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/install");
    let path = format!("{}:/usr/bin:/bin", site.path("bin").display());
    let remove = async || {
        let mut command = tokio::process::Command::new("/bin/bash");
        command.arg(&install).arg("--remove").env_clear();
        command.env("HOME", &home).env("PATH", &path);
        let output = command.output().await.unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let said = remove().await;
    let home_text = home.display();
    for command in [
        format!("rm -r '{home_text}/.openclaw'"),
        format!("rm '{home_text}/.config/openclaw/env'"),
        format!("{home_text}/.config/environment.d/50-claw.conf"),
        format!("rm -r '{home_text}/.config/systemd/user/openclaw-memory.service.d'"),
    ] {
        assert!(said.contains(&command), "{command}: {said}");
    }
    fs::remove_dir_all(home.join(".config")).unwrap();
    let said = remove().await;
    assert!(
        said.contains(".openclaw'") && !said.contains("env"),
        "{said}"
    );
}
