//! Running the suite: its status, its health, its start and its end.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use integration_tests::manager::DAEMONS;
use integration_tests::{Setup, Suite, Talk, grpc, processes, within};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};

#[tokio::test]
async fn status_names_the_backend_and_why() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("agents.defaults.backend", "auto")
        .variable("PATH", "/nonexistent")
        .start()
        .await;
    suite.say("hello").await;
    let said = suite.ctl(&["status", "--verbose"]).await.ended(0);
    let line = said
        .stdout
        .lines()
        .find(|line| line.starts_with("backend"))
        .unwrap();
    assert!(
        line.contains("native: found: anthropic/") && line.contains("ANTHROPIC_API_KEY"),
        "{said}"
    );
    said.says(&[
        "claude-cli not available",
        "npm install",
        "1 session",
        "confinements enforced",
    ]);

    // The turn's process is cleaned up after its end was told.
    let counted = async {
        loop {
            let status = suite.ctl(&["status", "--json"]).await.ended(0).document();
            if status["runner"]["turnsEnded"] == 1 {
                return status;
            }
        }
    };
    let status = within("the turn is counted", counted).await;
    assert_eq!(status["runner"]["backend"], "native", "{status}");
    let confinements = status["runner"]["confinements"].as_array().unwrap();
    assert!(confinements.len() > 5, "{status}");
    for confinement in confinements {
        assert_ne!(confinement["state"], "failed", "{confinement}");
    }
}

#[tokio::test]
async fn status_without_a_suite_says_how_to_start_one() {
    let site = Setup::empty().site();
    let said = site.ctl(&["status"]).await;
    said.ended(1)
        .says(&["does not answer"])
        .complains(&["openclawctl start"]);
}

#[tokio::test]
async fn doctor_finds_a_healthy_suite_healthy_and_an_open_door_open() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let report = suite.ctl(&["doctor", "--json"]).await.ended(0).document();
    let checks = report["checks"].as_array().unwrap();
    let sandbox = |name: &str| name.starts_with("sandbox ");
    assert!(
        checks
            .iter()
            .any(|check| check["name"].as_str().is_some_and(sandbox)),
        "{report}"
    );

    let socket = suite.runtime().join("memory.sock");
    fs::set_permissions(&socket, Permissions::from_mode(0o666)).unwrap();
    let said = suite.ctl(&["doctor"]).await.ended(1);
    said.says(&[
        "FAIL  memory socket",
        "chmod 600",
        "openclawctl doctor --fix does it",
    ]);
    let said = suite.ctl(&["doctor", "--fix"]).await.ended(0);
    said.says(&["mended: memory socket: "]);
    let said = suite.ctl(&["doctor", "--fix"]).await.ended(0);
    said.says(&["there is nothing that could be mended by itself"]);
}

#[tokio::test]
async fn stop_ends_it_and_leaves_no_socket() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite.ctl(&["run", "--stop"]).await.ended(0);
    assert_eq!(suite.ended().await, Some(0));
    let left: Vec<_> = fs::read_dir(suite.runtime()).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    suite
        .ctl(&["run", "--stop"])
        .await
        .ended(0)
        .says(&["not running"]);
}

#[tokio::test]
async fn second_run_is_refused_and_the_first_goes_on() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let said = suite.ctl(&["run"]).await;
    said.ended(3)
        .complains(&["running already, as process", ", for ", "--stop ends it"]);
    suite.say("still there?").await;
}

#[tokio::test]
async fn sockets_are_for_their_owner_alone() {
    let suite = Setup::offline().start().await;
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(suite.runtime()), 0o700);
    for socket in ["gateway.sock", "runner.sock", "memory.sock"] {
        assert_eq!(mode(suite.runtime().join(socket)), 0o600, "{socket}");
    }
}

/// A turn that waits at the gate `rest`.
async fn held(model: &Server, suite: &Suite) -> Talk {
    model.push(Scenario::held("The end of the story comes later.", "rest"));
    let mut talk = suite.begin(&["message", "tell"]);
    talk.hear("The end of").await;
    talk
}

#[tokio::test]
async fn turn_that_runs_is_finished_before_the_end() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    let talk = held(&model, &suite).await;
    suite.terminate();
    grpc::draining(suite.runtime().join("gateway.sock")).await;
    model.release("rest");
    assert_eq!(talk.end().await.ok(), "The end of the story comes later.\n");
    assert_eq!(suite.ended().await, Some(0));
    assert_eq!(suite.messages().len(), 2);
}

#[tokio::test]
async fn turn_goes_on_while_the_runner_is_restarted() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let talk = held(&model, &suite).await;
    let runner = suite.daemon("openclaw-agent-runner");
    processes::send(runner, Signal::SIGTERM);
    suite.log.message("the turn goes on").await;
    model.release("rest");
    assert_eq!(talk.end().await.ok(), "The end of the story comes later.\n");
    suite.say("and on").await;
}

#[tokio::test]
async fn reload_takes_the_new_configuration() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.configure("{agents: {defaults: {backend: 'offline'}}}");
    suite.signal_run(Signal::SIGHUP);
    // The daemons' records do not say whose they are.
    let reread = "the configuration was read again";
    suite.log.times(reread, DAEMONS.len()).await;
    assert_eq!(suite.ask("hello").await["backend"], "offline");

    suite.configure("{agents: {defaults: {backend: 'ofline'}}}");
    suite.signal_run(Signal::SIGHUP);
    let record = suite.log.message("keeping the one before").await;
    let message = record["message"].as_str().unwrap();
    assert!(message.contains("agents.defaults.backend"), "{record}");
}
