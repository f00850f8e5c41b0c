//! What an agent can see and do, tried by an agent.

use integration_tests::setup::KEY;
use integration_tests::{Setup, Suite, asked};
use scripted_model::{Scenario, Server};
use serde_json::json;

async fn started() -> (Server, Suite) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    (model, suite)
}

/// Lets the agent run `command`; what the model was told of it.
async fn tried(model: &Server, suite: &Suite, command: &str) -> String {
    model.forget();
    model.push(Scenario::tool("execute_shell", json!({"command": command})));
    suite.say("try it").await;
    let turns = asked::turns(model, 2).await;
    let (_, result) = asked::messages(&turns[1]).pop().unwrap();
    assert!(result.contains("exit code: "), "{result}");
    result
}

#[tokio::test]
async fn key_is_nowhere_in_the_agents_view() {
    let (model, suite) = started().await;
    let own = tried(&model, &suite, "env").await;
    assert!(
        own.contains("OPENCLAW_SHELL=") && !own.contains("ANTHROPIC"),
        "{own}"
    );
    // Arguments of others can be read, and are no place for a key; their
    // environments cannot.
    let everything = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'";
    let seen = tried(&model, &suite, everything).await;
    assert!(
        seen.contains("OPENCLAW_SHELL=") && !seen.contains(KEY),
        "{seen}"
    );
    let sent = asked::turns(&model, 2).await;
    assert_eq!(sent[0].header("x-api-key"), Some(KEY), "the model got it");
}

/// Every user of the machine is shown what programs were called with (proc_pid_cmdline(5)).
#[tokio::test]
async fn command_lines_of_a_turn_name_none_of_the_users_folders() {
    let (model, suite) = started().await;
    let fifo = suite.workspace().join("fifo");
    tried(&model, &suite, "mkfifo fifo").await;
    // Opened when the command reads from it, which ends when it is closed.
    let lines = tokio::task::spawn_blocking(move || {
        let held = std::fs::OpenOptions::new().write(true).open(fifo).unwrap();
        let lines = command_lines();
        drop(held);
        lines
    });
    tried(&model, &suite, "cat fifo").await;
    let lines = lines.await.unwrap();
    assert!(lines.iter().any(|line| line.contains("cat fifo")));
    let of_sandbox = |line: &&String| line.contains("openclaw-sandbox run");
    assert!(lines.iter().any(|line| of_sandbox(&line)), "{lines:?}");
    let home = suite.state();
    let home = home.to_str().unwrap();
    let naming: Vec<_> = lines.iter().filter(|line| line.contains(home)).collect();
    assert!(naming.is_empty(), "{naming:?}");
}

fn command_lines() -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

#[tokio::test]
async fn confinement_nothing_outside_the_workspace_can_be_written() {
    let (model, suite) = started().await;
    let before = std::fs::read_to_string(suite.configuration()).unwrap();
    for place in [
        suite.configuration(),
        suite.state().join("new"),
        "/etc/openclaw-test".into(),
    ] {
        let shown = place.display();
        let seen = tried(
            &model,
            &suite,
            &format!("echo evil > {shown} && echo written"),
        )
        .await;
        assert!(
            !seen.contains("\nwritten\n") && seen.contains("exit code: 1"),
            "{seen}"
        );
        assert_eq!(place.exists(), place == suite.configuration(), "{shown}");
    }
    assert_eq!(
        std::fs::read_to_string(suite.configuration()).unwrap(),
        before
    );

    for path in ["../evil.txt", "/usr/evil.txt"] {
        model.push(Scenario::tool(
            "write_file",
            json!({"path": path, "content": "evil"}),
        ));
        let run = suite.ask("write").await;
        assert_eq!(run["toolCalls"][0]["success"], false, "{run}");
    }
    assert!(!suite.state().join("evil.txt").exists());
    let seen = tried(&model, &suite, "echo fine > fine.txt && cat fine.txt").await;
    assert!(
        seen.contains("exit code: 0"),
        "the workspace itself can be: {seen}"
    );
}

#[tokio::test]
async fn secrets_of_the_user_cannot_be_read() {
    let (model, suite) = started().await;
    let secret = suite.home().join("diary.txt");
    std::fs::write(&secret, "dear diary").unwrap();
    for place in [
        secret,
        suite.configuration(),
        suite.state().join("state/ledger.sqlite"),
    ] {
        assert!(place.exists(), "{}", place.display());
        let seen = tried(&model, &suite, &format!("cat {}", place.display())).await;
        assert!(
            seen.contains("exit code: 1") && !seen.contains("dear diary"),
            "{seen}"
        );
    }
    for folder in ["/root", &suite.home().display().to_string()] {
        let seen = tried(&model, &suite, &format!("ls -A {folder}/ && echo listed")).await;
        let nothing = seen.contains("stdout (7 bytes):\nlisted");
        assert!(nothing || seen.contains("exit code: 2"), "{folder}: {seen}");
    }
}

#[tokio::test]
async fn unix_sockets_are_out_of_reach() {
    let (model, suite) = started().await;
    let socket = suite.runtime().join("gateway.sock");
    let script = format!(
        "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die qq(socket: $!); \
         connect(S, sockaddr_un(q({}))) or die qq(connect: $!); print qq(connected)'",
        socket.display()
    );
    let seen = tried(&model, &suite, &script).await;
    assert!(seen.contains("socket: Operation not permitted"), "{seen}");
}

#[tokio::test]
async fn network_is_out_of_reach() {
    let (model, suite) = started().await;
    let address = model.address();
    let script = format!(
        "exec 3<>/dev/tcp/{}/{} && echo connected",
        address.ip(),
        address.port()
    );
    let seen = tried(&model, &suite, &script).await;
    assert!(
        !seen.contains("\nconnected") && seen.contains("not permitted"),
        "{seen}"
    );
}

#[tokio::test]
async fn agents_have_no_privileges() {
    let (model, suite) = started().await;
    let seen = tried(
        &model,
        &suite,
        "id -u; grep -E 'NoNewPrivs|CapEff|Seccomp:' /proc/self/status",
    )
    .await;
    for line in ["NoNewPrivs:\t1", "CapEff:\t0000000000000000", "Seccomp:\t2"] {
        assert!(seen.contains(line), "no {line:?}: {seen}");
    }
    assert!(!seen.contains("\n0\n"), "not root: {seen}");
}
