//! Logins that an agent left in its home: nothing is taken from there unless
//! somebody adopts it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use integration_tests::claude::CLAUDE;
use integration_tests::codex::{CODEX, opened};
use integration_tests::{Setup, Suite};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// A value of the runner's environment; it must be seen nowhere.
const HIDDEN: &str = "sk-hidden-environment-value";

/// What an agent would write to see that value, in the shapes of an auth
/// profile and of both CLIs' logins.
fn planted() -> String {
    let variable = "${OPENAI_API_KEY}";
    json!({
        "id": variable, "type": variable, "provider": variable,
        "credential": {"type": "api-key", "apiKey": "sk-of-the-attacker", "provider": variable},
        "claudeAiOauth": {"accessToken": "sk-of-the-attacker", "expiresAt": 4_110_000_000_000_u64},
        "tokens": {"access_token": "sk-of-the-attacker"},
        "profiles": {variable: {"type": variable, "provider": variable}},
    })
    .to_string()
}

const PLACES: [&str; 2] = [
    "agents/main/home/.claude/.credentials.json",
    "agents/main/home/.codex/auth.json",
];

fn plant(suite: &Suite) {
    for place in PLACES {
        let path = suite.state().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, planted()).unwrap();
    }
    // Where every file is a profile, also one that somebody left there.
    let auth = suite.state().join("agents/main/auth");
    fs::create_dir_all(&auth).unwrap();
    fs::write(auth.join("dropped.json"), planted()).unwrap();
    fs::write(auth.join("claude-credentials.json"), planted()).unwrap();
}

/// All files of the state folder with the text, whatever they are.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_with(&path, text)),
            Ok(kind) if kind.is_file() => {
                let bytes = fs::read(&path).unwrap_or_default();
                if bytes
                    .windows(text.len())
                    .any(|part| part == text.as_bytes())
                {
                    found.push(path);
                }
            }
            _ => {}
        }
    }
    found
}

/// Nothing was taken, and the value is nowhere.
async fn assert_untouched(suite: &Suite, answers: &[Value]) {
    for place in PLACES {
        let path = suite.state().join(place);
        assert_eq!(fs::read_to_string(path).unwrap(), planted(), "{place}");
    }
    assert!(!suite.state().join("agents/main/logins").exists());
    let moved = suite.state().join("agents/main/auth/codex-auth.json");
    assert!(!moved.exists(), "it was moved");
    let status = suite.ctl(&["status", "--json"]).await.ok();
    let doctor = suite.ctl(&["doctor", "--json"]).await;
    let log = suite.log.lines().join("\n");
    let said = answers.iter().map(Value::to_string).collect::<String>();
    for text in [said, status, format!("{doctor:?}"), log] {
        assert!(!text.contains(HIDDEN), "{text}");
        assert!(!text.contains("sk-of-the-attacker"), "{text}");
    }
    assert_eq!(files_with(&suite.state(), HIDDEN), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn planted_login_changes_nothing_for_the_native_backend() {
    let model = Server::start().await.unwrap();
    let suite = Setup::openai(&model)
        .variable("OPENAI_API_KEY", HIDDEN)
        .start()
        .await;
    plant(&suite);
    let mut answers = Vec::new();
    for _ in 0..2 {
        model.push(Scenario::tool("session_status", json!({})));
        answers.push(suite.ask("how are you").await);
    }
    let status = answers[1]["toolCalls"][0]["output"].as_str().unwrap();
    assert!(status.starts_with("backend native"), "{status}");
    let state = suite.state().display().to_string();
    assert!(!status.contains(&state), "{status}");
    for request in model.requests() {
        let headers = format!("{:?}", request.headers);
        assert!(!headers.contains("attacker"), "{headers}");
    }
    assert_untouched(&suite, &answers).await;
}

#[tokio::test]
async fn planted_login_changes_nothing_for_the_clis() {
    for cli in [CLAUDE, CODEX] {
        let script = match cli.name {
            "codex" => opened("exit 3"),
            _ => {
                "read -r first\necho $ANTHROPIC_API_KEY $CLAUDE_CODE_OAUTH_TOKEN >&2\nexit 3".into()
            }
        };
        let site = Setup::empty()
            .set("agents.defaults.backend", format!("{}-cli", cli.name))
            .variable("OPENAI_API_KEY", HIDDEN)
            .variable("ANTHROPIC_API_KEY", HIDDEN)
            .site();
        let program = cli.imitation(&site, &script).display().to_string();
        let text = fs::read_to_string(site.configuration()).unwrap();
        let mut file: Value = serde_json::from_str(&text).unwrap();
        file["agents"]["defaults"][format!("{}CliPath", cli.name)] = program.into();
        site.configure(&file.to_string());
        let suite = Suite::start(site).await;
        plant(&suite);
        let answers = [suite.ask("hello").await, suite.ask("hello").await];
        assert_untouched(&suite, &answers).await;
    }
}

#[tokio::test]
async fn login_of_an_agents_home_lets_no_cli_in() {
    let site = Setup::empty()
        .set("agents.defaults.backend", "claude-cli")
        .site();
    let program = CLAUDE.imitation(&site, "exit 3").display().to_string();
    let text = fs::read_to_string(site.configuration()).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    file["agents"]["defaults"]["claudeCliPath"] = program.into();
    site.configure(&file.to_string());
    let suite = Suite::start(site).await;
    plant(&suite);
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1).complains(&["not logged in"]);
}

#[tokio::test]
async fn adopting_shows_asks_and_keeps_only_what_is_known() {
    let suite = Setup::offline().start().await;
    plant(&suite);
    fs::remove_file(
        suite
            .state()
            .join("agents/main/auth/claude-credentials.json"),
    )
    .unwrap();
    let from = suite.state().join(PLACES[0]);
    let to = suite.state().join("agents/main/logins/claude.json");

    let unasked = suite.ctl(&["auth", "adopt", "claude"]).await;
    unasked
        .ended(2)
        .says(&[
            "Claude Code of main",
            "tokens of an account",
            "SHA-256",
            "2100-03",
        ])
        .complains(&["An agent can write", "--yes"]);
    assert!(from.exists() && !to.exists());

    let mut terminal = suite.at_terminal(&["auth", "adopt", "claude"]);
    let shown = terminal.see("[y/N]").await;
    assert!(!shown.contains("sk-of-the-attacker"), "{shown}");
    terminal.type_line("n");
    terminal.end().await;
    assert!(from.exists() && !to.exists());

    let adopted = suite.ctl(&["auth", "adopt", "--yes", "claude"]).await.ok();
    assert!(adopted.contains("run on this login"), "{adopted}");
    assert!(!from.exists());
    let kept: Value = serde_json::from_str(&fs::read_to_string(&to).unwrap()).unwrap();
    let expected = json!({"claudeAiOauth": {
        "accessToken": "sk-of-the-attacker", "expiresAt": 4_110_000_000_000_u64,
    }});
    assert_eq!(kept, expected);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&to), mode(to.parent().unwrap())), (0o600, 0o700));

    let again = suite.ctl(&["auth", "adopt", "claude"]).await;
    again.ended(1).complains(&["no login of Claude Code"]);
}

#[tokio::test]
async fn adopted_login_is_listed_and_removed() {
    let suite = Setup::offline().start().await;
    plant(&suite);
    let from = suite.state().join(PLACES[1]);
    let to = suite.state().join("agents/main/logins/codex.json");
    suite.ctl(&["auth", "adopt", "--yes", "codex"]).await.ok();
    let listed = suite.ctl(&["auth", "list"]).await.ok();
    for text in ["codex", "openai", "login", "usable"] {
        assert!(listed.contains(text), "{text}: {listed}");
    }
    let listed = suite.ctl(&["auth", "list", "--json"]).await.ok();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let expected = json!([{"agentId": "main", "id": "codex", "provider": "openai",
        "kind": "login", "state": "usable", "file": to}]);
    assert_eq!(listed, expected);
    let near = suite.ctl(&["auth", "remove", "--yes", "codx"]).await;
    near.ended(1).complains(&["did you mean \"codex\"?"]);
    let removed = suite.ctl(&["auth", "remove", "--yes", "codex"]).await.ok();
    assert!(removed.contains("removed codex"), "{removed}");
    assert!(!to.exists() && !from.exists());
    let gone = suite.ctl(&["auth", "remove", "--yes", "codex"]).await;
    gone.ended(1).complains(&["has no profile \"codex\""]);
}

#[tokio::test]
async fn login_that_has_ended_is_not_adopted() {
    let suite = Setup::offline().start().await;
    let from = suite.state().join(PLACES[0]);
    fs::create_dir_all(from.parent().unwrap()).unwrap();
    let text =
        r#"{"claudeAiOauth": {"accessToken": "at", "refreshToken": "rt", "expiresAt": 1000}}"#;
    fs::write(&from, text).unwrap();
    let refused = suite.ctl(&["auth", "adopt", "--yes"]).await;
    refused
        .ended(1)
        .says(&["it has ended: log in again"])
        .complains(&["none of this is a login that can be adopted"]);
    assert!(from.exists() && !suite.state().join("agents/main/logins").exists());
}

#[tokio::test]
async fn key_is_removed_by_the_name_it_was_added_with() {
    let suite = Setup::offline()
        .variable("A_KEY", "sk-some-key-of-mine")
        .start()
        .await;
    let add = [
        "auth",
        "add",
        "openai",
        "--key-variable",
        "A_KEY",
        "--plain",
    ];
    suite.ctl(&add).await.ok();
    let near = suite.ctl(&["auth", "remove", "--yes", "opena"]).await;
    near.ended(1)
        .complains(&["did you mean \"openai:default\"?"]);
    let removed = suite.ctl(&["auth", "remove", "--yes", "openai"]).await.ok();
    assert!(removed.contains("removed openai:default"), "{removed}");
}

#[tokio::test]
async fn adopting_follows_no_link_and_takes_no_profile() {
    let suite = Setup::offline().start().await;
    let home = suite.state().join("agents/main/home");
    let elsewhere = suite.home().join(".claude");
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join(".credentials.json"), planted()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.join(".claude")).unwrap();
    let linked = suite.ctl(&["auth", "adopt", "--yes", "claude"]).await;
    linked.ended(1);
    assert!(elsewhere.join(".credentials.json").exists());

    fs::create_dir_all(home.join(".codex")).unwrap();
    let profile = json!({"id": "a", "provider": "openai"}).to_string();
    fs::write(home.join(".codex/auth.json"), &profile).unwrap();
    let refused = suite.ctl(&["auth", "adopt", "--yes", "codex"]).await;
    refused.ended(1).says(&["it is no login of Codex"]);
    let unknown = suite.ctl(&["auth", "adopt", "--agent", "nobody"]).await;
    unknown.ended(1).complains(&["there is no agent"]);
}
