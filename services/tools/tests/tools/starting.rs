//! Commands that cannot start, names of tools and arguments, and what a command
//! is given.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use openclaw_tools::approval::effect::TurnPaths;
use openclaw_tools::{Builtin, Registry, ToolCall, Workspace};
use serde_json::{Value, json};

use crate::Tools;

#[tokio::test]
async fn command_that_cannot_start_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    fs::write(folder.path().join("file"), "").unwrap();
    for (arguments, kind, part) in [
        (
            json!({"command": ["no-such-program", "x"]}),
            "not_found",
            "there is no program \"no-such-program\"",
        ),
        (
            json!({"command": ["no-such-program"], "background": true}),
            "not_found",
            "there is no program \"no-such-program\"",
        ),
        (
            json!({"command": "true", "workdir": "none"}),
            "not_found",
            "cannot run a command in",
        ),
        (
            json!({"command": "true", "workdir": "file"}),
            "wrong_file_type",
            "it is not a folder",
        ),
        (
            json!({"command": "true", "env": {"PATH": "/x"}}),
            "invalid_arguments",
            "decides which code runs",
        ),
        (
            json!({"command": "true", "env": {"A": "x\0"}}),
            "invalid_arguments",
            "cannot be set as a variable",
        ),
    ] {
        let (failed, message) = tools.failed("exec", arguments.clone()).await;
        assert_eq!(failed, kind, "{arguments}");
        assert!(message.contains(part), "{arguments}: {message}");
    }
    let words = json!({"command": ["echo", "a  b", "$HOME"]});
    let said = tools.ok("exec", words).await;
    assert!(said.contains("\na  b $HOME\n"), "no shell: {said}");
}

#[tokio::test]
async fn command_that_names_no_time_has_the_patience_of_the_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(folder.path()).with_patience(Duration::from_secs(1));
    let mut registry = Registry::new();
    Builtin::ExecuteShell
        .register(&mut registry, &workspace)
        .unwrap();
    for arguments in [
        json!({"command": "exec sleep 300"}),
        json!({"command": "exec sleep 300", "timeout_seconds": 1}),
    ] {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "exec".to_owned(),
            arguments,
        };
        let error = registry.execute(call).await.error.unwrap();
        assert_eq!(error.kind.as_str(), "timeout");
        assert!(error.message.contains("within 1 s"), "{error}");
    }
}

#[tokio::test]
async fn poll_that_waited_in_vain_says_how_long() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let command = json!({"command": "exec sleep 300", "background": true});
    tools.ok("exec", command).await;
    let poll = json!({"action": "poll", "id": "p1", "timeout": 1100});
    let said = tools.ok("process", poll).await;
    assert!(
        said.contains("0 bytes of output so far\nno new output in 1 s; it has been there for "),
        "{said}"
    );
    let listed = tools.ok("process", json!({"action": "list"})).await;
    assert!(!listed.contains(" 0 s, "), "{listed}");
}

#[test]
fn tools_are_told_by_their_own_names() {
    let names: Vec<&str> = Builtin::ALL.iter().map(|tool| tool.name()).collect();
    let expected = [
        "read_file",
        "write_file",
        "edit",
        "apply_patch",
        "list_directory",
        "execute_shell",
        "process",
    ];
    assert_eq!(names, expected);
    for tool in Builtin::ALL {
        assert_eq!(Builtin::from_name(tool.name()), Some(tool));
        assert_eq!(tool.definition().name, tool.name());
        assert!(tool.definition().parameters.is_object());
    }
    assert_eq!(Builtin::from_name("exec"), None);
}

#[tokio::test]
async fn arguments_have_the_names_of_other_agents_too() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    fs::create_dir(folder.path().join("sub")).unwrap();
    for (name, arguments, part) in [
        (
            "write",
            json!({"file_path": "f", "content": "one\n"}),
            "wrote 4 bytes",
        ),
        ("read", json!({"file_path": "f"}), "one\n"),
        ("ls", json!({"file_path": "."}), "file 4 f\n"),
        (
            "edit_file",
            json!({"file_path": "f", "edits": [{"oldText": "one", "newText": "two"}]}),
            "made 1 change",
        ),
        ("bash", json!({"command": "pwd", "cwd": "sub"}), "/sub\n"),
        (
            "exec",
            json!({"command": "echo hi", "timeoutSeconds": 9}),
            "hi\n",
        ),
        (
            "exec",
            json!({"command": "echo hi", "timeoutSec": 9}),
            "hi\n",
        ),
        ("exec", json!({"command": "echo hi", "timeout": 9}), "hi\n"),
        (
            "exec",
            json!({"command": "echo hi", "yieldMs": 20_000}),
            "hi\n",
        ),
    ] {
        let said = tools.ok(name, arguments.clone()).await;
        assert!(said.contains(part), "{name} {arguments}: {said}");
    }
    // Under its own name a tool has its own arguments alone.
    for (name, arguments) in [
        ("read_file", json!({"file_path": "f"})),
        ("execute_shell", json!({"command": "true", "cwd": "sub"})),
    ] {
        let (kind, _) = tools.failed(name, arguments).await;
        assert_eq!(kind, "invalid_arguments", "{name}");
    }
}

#[tokio::test]
async fn call_runs_alone_when_it_changes_something() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = Tools::of(folder.path()).0;
    registry.run_alone("list_directory");
    for (name, arguments, alone) in [
        ("write", json!({}), true),
        ("edit", json!({}), true),
        ("apply_patch", json!({}), true),
        ("read", json!({}), false),
        ("exec", json!({"command": "rm a"}), false),
        ("process", json!({"action": "poll"}), false),
        ("process", json!({"action": "list"}), false),
        ("process", json!({"action": "log"}), false),
        ("process", json!({"action": "kill"}), true),
        ("process", json!({"action": "write"}), true),
        ("process", json!({}), true),
        ("ls", json!({}), true),
        ("none", Value::Null, false),
    ] {
        let call = ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments,
        };
        assert_eq!(registry.runs_alone(&call), alone, "{call:?}");
    }
    assert!(registry.is_alone("list_directory") && !registry.is_alone("ls"));
}

#[test]
fn folder_of_a_command_is_where_it_leads() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("ws/sub")).unwrap();
    std::os::unix::fs::symlink("sub", root.join("ws/link")).unwrap();
    std::os::unix::fs::symlink("circle", root.join("ws/circle")).unwrap();
    let ground = TurnPaths {
        workspace: root.join("ws"),
        ..TurnPaths::default()
    };
    for (given, expected) in [
        ("", root.join("ws")),
        ("sub", root.join("ws/sub")),
        ("link", root.join("ws/sub")),
        ("../x", root.join("x")),
        ("/usr", PathBuf::from("/usr")),
        ("circle", root.join("ws/circle")),
    ] {
        assert_eq!(ground.directory(given), expected, "{given}");
    }
}
