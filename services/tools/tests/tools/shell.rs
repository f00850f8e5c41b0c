//! `execute_shell` with real shells.

use std::path::Path;
use std::time::{Duration, Instant};

use openclaw_tools::{Builtin, Registry, ToolCall, ToolResult, Workspace};
use serde_json::{Value, json};

fn registry(workspace: &Path) -> Registry {
    let mut registry = Registry::new();
    let workspace = Workspace::new(workspace);
    Builtin::ExecuteShell
        .register(&mut registry, &workspace)
        .unwrap();
    registry
}

fn call(arguments: Value) -> ToolCall {
    ToolCall {
        id: "1".into(),
        name: "execute_shell".into(),
        arguments,
    }
}

async fn shell(workspace: &Path, arguments: Value) -> ToolResult {
    registry(workspace).execute(call(arguments)).await
}

#[tokio::test]
async fn format_is_the_documented_one() {
    let folder = tempfile::tempdir().unwrap();
    let result = shell(
        folder.path(),
        json!({"command": "echo out; echo err >&2; exit 3"}),
    )
    .await;
    assert!(result.success && result.error.is_none());
    assert_eq!(
        result.output,
        "exit code: 3\nstdout (4 bytes):\nout\nstderr (4 bytes):\nerr\n"
    );
    let silent = shell(folder.path(), json!({"command": "true"})).await;
    assert_eq!(
        silent.output,
        "exit code: 0\nstdout (0 bytes):\nstderr (0 bytes):\n"
    );
}

#[tokio::test]
async fn signal_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let result = shell(folder.path(), json!({"command": "kill -KILL $$"})).await;
    assert!(
        result
            .output
            .starts_with("exit code: 137 (killed by signal 9, SIGKILL)\n")
    );
}

#[tokio::test]
async fn timeout_keeps_the_partial_output_and_kills_the_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let command = "echo begun; echo oops >&2; sleep 300 & echo $! > child; wait";
    let started = Instant::now();
    let result = shell(
        folder.path(),
        json!({"command": command, "timeout_seconds": 1}),
    )
    .await;
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(result.error.unwrap().kind.as_str(), "timeout");
    assert!(!result.success);
    assert_eq!(
        result.output,
        "exit code: none (timed out)\nstdout (6 bytes):\nbegun\nstderr (5 bytes):\noops\n"
    );
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    gone(child.trim()).await;
}

#[tokio::test]
async fn cancelled_call_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    let pid_file = folder.path().join("child");
    let command = "sleep 300 & echo $! > child.new; mv child.new child; wait";
    let running = registry.execute(call(json!({"command": command})));
    let appeared = async {
        while !pid_file.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        result = running => panic!("ended by itself: {result:?}"),
        () = appeared => {}
    }
    gone(std::fs::read_to_string(&pid_file).unwrap().trim()).await;
}

/// Waits until a process is gone or a zombie; the test's own deadline is the limit.
async fn gone(pid: &str) {
    let stat = format!("/proc/{pid}/stat");
    let ended = async {
        loop {
            match std::fs::read_to_string(&stat) {
                Ok(stat) if !stat.contains(") Z ") => {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                _ => return,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(5), ended)
        .await
        .unwrap();
}

#[tokio::test]
async fn background_process_does_not_hold_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let command = "echo now; sleep 300 & echo $! > child";
    let result = shell(folder.path(), json!({"command": command})).await;
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(
        result
            .output
            .starts_with("exit code: 0\nstdout (4 bytes):\nnow\n")
    );
    assert!(
        result.output.contains("note: a background process"),
        "{}",
        result.output
    );
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    let pid = nix::unistd::Pid::from_raw(child.trim().parse().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}

#[tokio::test]
async fn flood_is_kept_at_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let command = "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last";
    let result = shell(folder.path(), json!({"command": command})).await;
    assert!(result.output.len() < 30_000);
    assert!(result.output.contains("stdout (3000012 bytes):\nfirst\n"));
    assert!(
        result.output.contains("[… 2975436 bytes elided …]"),
        "{}",
        result.output.len()
    );
    assert!(result.output.contains("\nlast\nstderr"));
}

#[tokio::test]
async fn shell_there_is_no_input_and_the_workdir_counts_from_the_workspace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let result = shell(
        folder.path(),
        json!({"command": "cat; basename \"$PWD\"", "workdir": "sub"}),
    )
    .await;
    assert!(
        result.output.contains("stdout (4 bytes):\nsub\n"),
        "{}",
        result.output
    );
    let missing = shell(folder.path(), json!({"command": "true", "workdir": "nope"})).await;
    assert_eq!(missing.error.unwrap().kind.as_str(), "not_found");
    std::fs::write(folder.path().join("file"), "").unwrap();
    let file = shell(folder.path(), json!({"command": "true", "workdir": "file"})).await;
    let error = file.error.unwrap();
    assert_eq!(error.kind.as_str(), "wrong_file_type", "{error:?}");
    assert!(error.message.contains("it is not a folder"), "{error:?}");
}
