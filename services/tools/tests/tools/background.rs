//! `execute_shell` in the background and `process`, with real commands.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::{PATIENCE, Tools};

#[tokio::test]
async fn command_in_the_background_is_followed_fed_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let command = "echo ready; while read line; do echo \"got $line\"; done; echo bye; exit 4";
    let started = tools
        .ok("exec", json!({"command": command, "background": true}))
        .await;
    assert!(started.contains("as p1 (pid "), "{started}");
    let listed = tools.ok("process", json!({"action": "list"})).await;
    assert!(listed.starts_with("p1 running"), "{listed}");

    let write = json!({"action": "write", "sessionId": "p1", "data": "milk\n"});
    tools.ok("process", write).await;
    let poll = json!({"action": "poll", "session_id": "p1", "timeout": 5000});
    tools.until(poll, "got milk").await;
    let close = json!({"action": "write", "sessionId": "p1", "eof": true});
    tools.ok("process", close).await;
    let poll = json!({"action": "poll", "sessionId": "p1", "timeout": 5000});
    tools.until(poll, "ended with exit code 4").await;
    let log = json!({"action": "log", "sessionId": "p1", "offset": 2, "limit": 1});
    let log = tools.ok("process", log).await;
    assert!(
        log.contains("got milk\n") && log.contains("[1 more lines"),
        "{log}"
    );
    let late = json!({"action": "write", "sessionId": "p1", "data": "x"});
    assert!(!tools.run("process", late).await.success);
}

#[tokio::test]
async fn background_what_is_logged_fills_its_window() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let line = "x".repeat(99);
    let command =
        format!("for i in $(seq 1000); do echo {line}; done; echo leader $$ is done; cat");
    let started = tools
        .ok("exec", json!({"command": command, "background": true}))
        .await;
    let poll = json!({"action": "poll", "sessionId": "p1", "timeout": 5000});
    let heard = tools.until(poll, " is done").await;
    // What was told at the start is the process that runs.
    let (_, own) = heard.split_once("leader ").unwrap();
    let own: String = own.chars().take_while(char::is_ascii_digit).collect();
    assert!(started.contains(&format!("(pid {own})")), "{started} {own}");
    let log = json!({"action": "log", "sessionId": "p1", "offset": 1, "limit": 2000});
    let log = tools.ok("process", log).await;
    // 64 KiB hold 655 of them whole.
    let lines = log.matches(&line).count();
    assert_eq!(lines, 655);
}

#[tokio::test]
async fn background_what_ends_in_time_is_a_result_and_the_rest_runs_on() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let quick = json!({"command": "echo out; echo err >&2; exit 3", "yieldMs": 10_000});
    let quick = tools.ok("exec", quick).await;
    assert!(
        quick.starts_with("exit code: 3\noutput (8 bytes):\n"),
        "{quick}"
    );
    let slow = json!({"command": "echo begun; exec sleep 300", "yield_ms": 200});
    let slow = tools.ok("execute_shell", slow).await;
    assert!(slow.contains("running in the background"), "{slow}");
    let began = Instant::now();
    let killed = tools
        .ok("process", json!({"action": "kill", "sessionId": "p2"}))
        .await;
    assert!(killed.contains("killed by signal 15"), "{killed}");
    assert!(began.elapsed() < Duration::from_secs(5));
    let unknown = json!({"action": "poll", "sessionId": "p9"});
    let error = tools.run("process", unknown).await.error.unwrap();
    assert!(error.message.contains("p2"), "{error}");
}

#[tokio::test]
async fn time_limit_holds_in_the_background_too() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let command = json!({"command": "sleep 300", "background": true, "timeout_seconds": 1});
    tools.ok("exec", command).await;
    let poll = json!({"action": "poll", "sessionId": "p1", "timeout": 10_000});
    let ended = tools.ok("process", poll).await;
    assert!(ended.contains("timed out"), "{ended}");
}

#[tokio::test]
async fn terminal_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let command = json!({"command": "test -t 0 && test -t 1 && tty && stty size", "pty": true});
    let result = tools.run("exec", command).await;
    if result
        .error
        .as_ref()
        .is_some_and(|error| error.kind.as_str() == "unavailable")
    {
        return;
    }
    assert!(result.success, "{result:?}");
    assert!(result.output.contains("/dev/pts/"), "{}", result.output);
    assert!(result.output.contains("24 120"), "{}", result.output);
    assert!(
        result.output.starts_with("exit code: 0\n"),
        "{}",
        result.output
    );
}

#[tokio::test]
async fn background_nothing_is_left_when_the_tools_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let command = "echo $$ > pid.new; mv pid.new pid; exec sleep 300";
    tools
        .ok("exec", json!({"command": command, "background": true}))
        .await;
    let pid = folder.path().join("pid");
    let begun = async {
        while !pid.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.unwrap();
    let pid = std::fs::read_to_string(pid).unwrap();
    drop(tools);
    let stat = format!("/proc/{}/stat", pid.trim());
    let gone = async {
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone)
        .await
        .unwrap();
}

#[tokio::test]
async fn background_what_a_command_says_is_heard_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut tools = Tools::of(folder.path());
    let heard = Arc::new(Mutex::new(String::new()));
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let (ear, mut sender) = (Arc::clone(&heard), Some(sender));
    let sender = Mutex::new(sender.take());
    tools.0.listen(move |call_id, text| {
        assert_eq!(call_id, "1");
        ear.lock().unwrap().push_str(text);
        if let Some(sender) = sender.lock().unwrap().take() {
            sender.send(()).unwrap();
        }
    });
    let command = "echo first; while [ ! -e go ]; do sleep 0.01; done; echo last";
    let running = tools.run("exec", json!({"command": command}));
    let go = async {
        receiver.await.unwrap();
        std::fs::write(folder.path().join("go"), "").unwrap();
    };
    let (result, ()) = tokio::join!(running, go);
    assert!(result.output.contains("first\nlast\n"), "{result:?}");
    assert_eq!(*heard.lock().unwrap(), "first\nlast\n");
}

#[tokio::test]
async fn variables_reach_the_command_but_not_those_that_choose_the_code() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let set = json!({"command": "echo $COLOUR", "env": {"COLOUR": "green"}});
    assert!(tools.ok("exec", set).await.contains("\ngreen\n"));
    let refused = json!({"command": "true", "env": {"LD_PRELOAD": "x.so"}});
    let error = tools.run("exec", refused).await.error.unwrap();
    assert!(error.message.contains("LD_PRELOAD"), "{error}");
    let missing = json!({"command": ["no-such-program-here"]});
    let error = tools.run("exec", missing).await.error.unwrap();
    assert_eq!(error.kind.as_str(), "not_found");
}

#[tokio::test]
async fn commands_have_the_environment_of_their_turn() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    // Of cargo, which runs this test.
    let own = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    for mode in [json!({}), json!({"yield_ms": 20_000})] {
        let mut arguments = json!({"command": "echo \"at $CARGO_MANIFEST_DIR\""});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(mode.as_object().unwrap().clone());
        let said = tools.ok("exec", arguments).await;
        assert!(said.contains(&format!("\nat {own}\n")), "{said}");
    }
}
