//! What is asked about beside commands, how it is shown, and how much of it.

use std::os::unix::fs::symlink;

use integration_tests::claude::{CLAUDE, delta};
use integration_tests::{Setup, Suite, Talk};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// Of what can be allowed this time only.
const PROMPT: &str = "allow? [y]es, [n]o: ";

/// Without a sandbox, and without a word about when somebody is asked.
fn without_sandbox(model: &Server) -> Setup {
    Setup::anthropic(model).set("sandbox.level", "off")
}

async fn waiting(suite: &Suite) -> Value {
    let listed = suite.ctl(&["approvals", "list", "--json"]).await;
    listed.ended(0).document()["waiting"].clone()
}

/// Lets the model call a tool, and waits until that is asked about.
async fn asking(suite: &Suite, model: &Server, tool: &str, arguments: Value) -> (Talk, Value) {
    model.push(Scenario::tool(tool, arguments));
    let mut talk = suite.begin(&["message", "--json", "go on"]);
    talk.hear("\"approval_requested\"").await;
    (talk, waiting(suite).await[0].clone())
}

async fn decide(suite: &Suite, waiting: &Value, word: &[&str]) {
    let mut arguments = vec!["approvals"];
    arguments.extend(word);
    arguments.push(waiting["id"].as_str().unwrap());
    suite.ctl(&arguments).await.ok();
}

fn patch(path: &str) -> Value {
    json!({"input": format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch")})
}

#[tokio::test]
async fn file_tools_that_write_outside_the_workspace_are_asked_about() {
    let model = Server::start().await.unwrap();
    let suite = without_sandbox(&model).start().await;
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    let target = outside.join("a");
    let workspace = suite.workspace();
    std::fs::create_dir_all(&workspace).unwrap();
    symlink(&outside, workspace.join("link")).unwrap();
    symlink(&target, workspace.join("dangling")).unwrap();
    let up = "../".repeat(workspace.components().count());
    let around = format!("{up}{}", target.display());
    let absolute = target.display().to_string();
    let write = |path: &str| json!({"path": path, "content": "x"});
    for (tool, arguments) in [
        ("write_file", write(&absolute)),
        ("write", write("link/a")),
        ("write_file", write("dangling")),
        ("write_file", write(&around)),
        ("apply_patch", patch(&absolute)),
        ("apply_patch", patch("link/a")),
    ] {
        let (talk, asked) = asking(&suite, &model, tool, arguments.clone()).await;
        let reason = asked["reason"].as_str().unwrap();
        assert!(
            reason.contains("outside the workspace"),
            "{arguments}: {asked}"
        );
        assert!(reason.contains(&absolute), "{arguments}: {asked}");
        decide(&suite, &asked, &["deny"]).await;
        talk.end().await.ok();
        assert!(!target.exists(), "{tool} {arguments}");
    }
    let (talk, asked) = asking(&suite, &model, "write", write("link/a")).await;
    decide(&suite, &asked, &["allow"]).await;
    talk.end().await.ok();
    assert!(target.exists());
    // What stays inside is not asked about.
    model.push(Scenario::tool("write_file", write("new/inside")));
    suite.say("go on").await;
    assert_eq!(suite.written("new/inside").as_deref(), Some("x"));
}

#[tokio::test]
async fn granted_folder_is_outside_the_workspace_too() {
    let model = Server::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let granted = folder.path().display().to_string();
    let suite = Setup::anthropic(&model)
        .set("sandbox.paths.rw", json!([granted]))
        .start()
        .await;
    let arguments = json!({"path": format!("{granted}/a"), "content": "x"});
    let (talk, asked) = asking(&suite, &model, "write_file", arguments).await;
    decide(&suite, &asked, &["deny"]).await;
    talk.end().await.ok();
    assert!(!folder.path().join("a").exists());
    // The sandbox's /tmp is the turn's own.
    model.push(Scenario::tool(
        "write_file",
        json!({"path": "/tmp/a", "content": "x"}),
    ));
    let run = suite.ask("go on").await;
    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
}

#[tokio::test]
async fn whole_network_is_a_reason_to_ask() {
    let model = Server::start().await.unwrap();
    for (network, asks) in [("full", true), ("allowlist", false), ("model-only", false)] {
        let setup = Setup::anthropic(&model)
            .set("sandbox.network", network)
            .set("tools.exec.approvalTimeoutSec", 1);
        let suite = setup.start().await;
        let touch = json!({"command": "touch a"});
        model.push(Scenario::tool("execute_shell", touch));
        suite.say("go on").await;
        assert_eq!(suite.written("a").is_none(), asks, "{network}");
    }
}

#[tokio::test]
async fn command_that_is_allowed_for_good_is_allowed_in_its_directory() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "on-miss")
        .start()
        .await;
    for folder in ["one", "two"] {
        std::fs::create_dir_all(suite.workspace().join(folder)).unwrap();
    }
    let touch = |folder: &str| json!({"command": "touch a", "workdir": folder});
    let (talk, asked) = asking(&suite, &model, "execute_shell", touch("one")).await;
    let place = suite.workspace().canonicalize().unwrap().join("one");
    assert_eq!(asked["cwd"], place.display().to_string(), "{asked}");
    decide(&suite, &asked, &["allow", "--always"]).await;
    talk.end().await.ok();
    std::fs::remove_file(suite.workspace().join("one/a")).unwrap();

    let suite = suite.restart().await;
    model.push(Scenario::tool("execute_shell", touch("two/../one")));
    suite.say("go on").await;
    assert!(
        suite.written("one/a").is_some(),
        "asked in spite of the grant"
    );
    for arguments in [
        touch("two"),
        json!({"command": "touch a"}),
        json!({"command": ["touch", "a"], "workdir": "one"}),
    ] {
        let (talk, asked) = asking(&suite, &model, "execute_shell", arguments).await;
        decide(&suite, &asked, &["deny"]).await;
        talk.end().await.ok();
    }
    let shown = suite.ctl(&["approvals"]).await;
    shown
        .ended(0)
        .says(&["touch a", &place.display().to_string()]);
    let revoke = |folder: &'static str| ["approvals", "revoke", "touch a", "--directory", folder];
    suite.ctl(&revoke("/elsewhere")).await.ended(1);
    suite
        .ctl(&["approvals", "revoke", "touch a"])
        .await
        .ended(0);
}

/// What a terminal would act on does not reach it, and a line that only looks
/// like a comment is seen.
#[tokio::test]
async fn effects_what_is_asked_about_is_shown_as_it_is() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "on-miss")
        .start()
        .await;
    let arguments = json!({
        "command": "ls # list\nrm -rf x",
        "workdir": "\u{1b}]52;c;eA==\u{7}\u{1b}[1A\u{202e}",
    });
    model.push(Scenario::tool("execute_shell", arguments.clone()));
    let mut terminal = suite.at_terminal(&["message", "go on"]);
    let seen = terminal.see(PROMPT).await;
    assert!(seen.contains("│ ls # list⏎\r\n"), "{seen:?}");
    assert!(seen.contains("│ rm -rf x\r\n"), "{seen:?}");
    assert!(
        seen.contains(r"\x1b]52;c;eA==\x07\x1b[1A\u{202e}"),
        "{seen:?}"
    );
    assert!(seen.contains("this time only: what it does"), "{seen:?}");
    assert!(
        !seen.contains("\u{1b}]52") && !seen.contains('\u{202e}'),
        "{seen:?}"
    );
    let listed = suite.ctl(&["approvals"]).await.ok();
    assert!(
        listed.contains("│ ls # list⏎\n    │ rm -rf x\n"),
        "{listed}"
    );
    assert!(!listed.contains('\u{1b}'), "{listed:?}");
    terminal.type_line("n");
    let (code, seen) = terminal.end().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(
        !seen.contains("\u{1b}]52") && !seen.contains('\u{202e}'),
        "{seen:?}"
    );
}

/// 300 questions at once: eight wait, the others are refused, and one watch is
/// enough for all.
#[tokio::test]
async fn flood_of_questions_is_refused() {
    let script = format!(
        r#"read message
number=0
while [ $number -lt 300 ]; do
  echo '{{"type":"control_request","request_id":"q'$number'","request":{{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t'$number'","input":{{"command":"touch a'$number'"}}}}}}'
  number=$((number + 1))
done
refused=0
while [ $refused -lt 292 ]; do
  read -r answer
  case "$answer" in *"8 questions of this turn wait already"*) refused=$((refused + 1)) ;; esac
done
echo '{delta}'
read -r answer
echo '{{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s","usage":{{}}}}'
"#,
        delta = delta("292 were refused")
    );
    let setup = Setup::empty().set("tools.exec.ask", "on-miss");
    let suite = setup.imitating(&CLAUDE, &script).await;
    let mut talk = suite.begin(&["message", "--json", "go on"]);
    talk.hear("292 were refused").await;
    let descriptors = std::fs::read_dir(format!("/proc/{}/fd", suite.turn())).unwrap();
    let links = descriptors
        .flatten()
        .filter_map(|it| std::fs::read_link(it.path()).ok());
    let watches = links.filter(|link| link.to_string_lossy().contains("inotify"));
    assert!(watches.count() <= 2);
    let waiting = waiting(&suite).await;
    assert_eq!(waiting.as_array().map(Vec::len), Some(8), "{waiting}");
    decide(&suite, &waiting[0], &["deny"]).await;
    talk.end().await;
}

/// The real CLI's own tools that write.
#[tokio::test]
async fn tools_of_a_cli_are_asked_about_too() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.set("sandbox.level", "off").start().await;
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().canonicalize().unwrap().join("a");
    let write = |path: &std::path::Path| json!({"file_path": path, "content": "x"});
    let (talk, asked) = asking(&suite, &model, "Write", write(&target)).await;
    let reason = asked["reason"].as_str().unwrap();
    assert!(reason.contains(&target.display().to_string()), "{asked}");
    decide(&suite, &asked, &["deny"]).await;
    talk.end().await.ok();
    assert!(!target.exists());
    let (talk, asked) = asking(&suite, &model, "Write", write(&target)).await;
    decide(&suite, &asked, &["allow"]).await;
    talk.end().await.ok();
    assert!(target.exists());
    model.push(Scenario::tool(
        "Write",
        write(&suite.workspace().join("inside")),
    ));
    suite.ask("go on").await;
    assert_eq!(suite.written("inside").as_deref(), Some("x"));
}
