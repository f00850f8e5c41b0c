//! Daemons started by hand, and what they answer to anybody.

use integration_tests::log::message_of;
use integration_tests::manager::{DAEMONS, Managed};
use integration_tests::{Said, Setup, grpc};
use serde_json::Value;
use tonic_health::pb::health_check_response::ServingStatus;

/// The records on a daemon's standard error; every line must be one.
fn records(said: &Said) -> Vec<Value> {
    let lines = said.stderr.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}: {said}")))
        .collect()
}

#[tokio::test]
async fn daemons_without_a_socket_it_is_wrong_usage() {
    let site = Setup::empty().site();
    for (daemon, ..) in DAEMONS {
        let said = site.run(daemon, &[]).await.ended(64);
        let error = records(&said)
            .into_iter()
            .find(|record| record["level"] == "error");
        let error = error.unwrap_or_else(|| panic!("{said}"));
        assert!(
            message_of(&error).contains("no socket was passed"),
            "{error}"
        );
        assert!(error["stackTrace"].is_string(), "{error}");
    }
}

#[tokio::test]
async fn wrong_argument_is_wrong_usage() {
    let site = Setup::empty().site();
    for (daemon, ..) in DAEMONS {
        let said = site.run(daemon, &["--frobnicate"]).await.ended(64);
        said.complains(&["--frobnicate"]);
        site.run(daemon, &["--version"])
            .await
            .ended(0)
            .says(&[daemon]);
    }
}

#[tokio::test]
async fn broken_configuration_is_named_and_done_without() {
    const BROKEN: &str = "{\n  agents: {\n    defaults: { backend: 'native' ]\n";
    for (daemon, socket, _) in DAEMONS {
        for (last_good, instead) in [
            (None, "using the defaults"),
            (
                Some("{ logging: { level: 'warn' } }"),
                "using the last good configuration",
            ),
            (Some("{"), "using the defaults"),
        ] {
            let site = Setup::empty().site();
            site.configure(BROKEN);
            let place = format!("{}:3:", site.configuration().display());
            if let Some(text) = last_good {
                let path = format!("{}.last-good", site.configuration().display());
                std::fs::write(path, text).unwrap();
            }
            let mut managed = Managed::start(&site, daemon, socket, None);
            let status = managed.hear("STATUS=").await;
            assert!(
                status.contains(&place) && status.contains(instead),
                "{status}"
            );
            managed.hear("READY=1").await;
            let record = site.log.message(&place).await;
            assert_eq!(record["level"], "error", "{record}");
            if daemon == "openclaw-gateway" {
                let shown = site.ctl(&["status", "--json"]).await;
                assert!(shown.stdout.contains(instead), "{shown}");
            }
        }
    }
}

/// The defaults restrict less than a file that nobody could read.
#[tokio::test]
async fn daemons_no_turn_runs_while_the_first_configuration_cannot_be_used() {
    let suite = Setup::offline().start().await;
    let good = std::fs::read_to_string(suite.configuration()).unwrap();
    suite.configure(&good.replacen('{', "{ \"agnets\": {},", 1));
    std::fs::remove_file(format!("{}.last-good", suite.configuration().display())).unwrap();
    let suite = suite.restart().await;
    let said = suite.ctl(&["message", "/run touch ran.txt"]).await;
    assert!(said.stderr.contains("no turn runs"), "{said}");
    assert_eq!(suite.written("ran.txt"), None);
    suite.configure(&good);
    let reread = "the configuration was read again";
    suite.log.times(reread, DAEMONS.len()).await;
    suite.say("/run touch ran.txt").await;
    assert!(suite.written("ran.txt").is_some());
}

#[tokio::test]
async fn mended_file_is_taken_up_by_itself() {
    let site = Setup::empty().site();
    site.configure("{ agnets: {} }");
    let mut managed = Managed::start(&site, "openclaw-gateway", "gateway.sock", None);
    let status = managed.hear("STATUS=").await;
    assert!(status.contains("did you mean \"agents\""), "{status}");
    managed.hear("READY=1").await;
    let mended = site.ctl(&["config", "unset", "agnets"]).await;
    mended.ended(0);
    managed.hear("RELOADING=1").await;
    managed.hear("READY=1").await;
    let kept = format!("{}.last-good", site.configuration().display());
    let kept = std::fs::read_to_string(kept).unwrap();
    assert_eq!(kept, std::fs::read_to_string(site.configuration()).unwrap());
    let shown = site.ctl(&["status"]).await;
    assert!(!shown.stdout.contains("agnets"), "{shown}");

    // What a daemon cannot take up while it runs is said.
    let set = site.ctl(&["config", "set", "gateway.bind", "lan"]).await;
    set.ended(0)
        .complains(&["gateway.bind needs other sockets", "openclawctl sockets"]);
    let status = managed.hear("STATUS=").await;
    assert!(
        status.contains("gateway.bind changed: that needs other sockets"),
        "{status}"
    );
}

#[tokio::test]
async fn modes_that_let_others_in_are_repaired() {
    use std::os::unix::fs::PermissionsExt;

    let site = Setup::empty().site();
    let state = site.configuration().parent().unwrap().to_owned();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    open(&state, 0o755);
    open(&site.configuration(), 0o644);
    let mut managed = Managed::start(&site, "openclaw-gateway", "gateway.sock", None);
    managed.hear("READY=1").await;
    assert_eq!(mode(&state), 0o700);
    assert_eq!(mode(&site.configuration()), 0o600);
    site.log.message("let others in").await;
}

#[tokio::test]
async fn wrong_value_of_the_environment_is_the_end() {
    let site = Setup::empty().variable("OPENCLAW_BACKEND", "nativ").site();
    for (daemon, ..) in DAEMONS {
        let said = site.run(daemon, &[]).await.ended(78);
        said.complains(&["OPENCLAW_BACKEND", "claude-cli"]);
    }
}

#[tokio::test]
async fn health_and_reflection_are_answered() {
    for (daemon, socket, service) in DAEMONS {
        let site = Setup::offline().site();
        let mut managed = Managed::start(&site, daemon, socket, None);
        managed.hear("READY=1").await;
        for name in ["", service] {
            let health = grpc::health(managed.socket.clone(), name).await;
            assert_eq!(health, ServingStatus::Serving, "{daemon} {name}");
        }
        let services = grpc::services(managed.socket.clone()).await;
        for name in [
            service,
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
        ] {
            assert!(
                services.iter().any(|found| found == name),
                "{daemon}: {services:?}"
            );
        }
        let is_described = grpc::is_described(managed.socket.clone(), service).await;
        assert!(is_described, "{daemon}: Python's reflection client");
    }
}

#[tokio::test]
async fn suite_in_the_background_answers_or_says_why_it_cannot() {
    let site = Setup::offline().site();
    let wrong = ["run", "--detach", "--set", "logging.level=loud"];
    let said = site.ctl(&wrong).await.ended(78);
    said.complains(&["logging.level", "loud", "allowed"]);
    site.ctl(&["run", "--detach"]).await.ended(0);
    let answer = site.ctl(&["message", "hello"]).await.ended(0);
    assert!(!answer.stdout.is_empty());
    // The state has an owner, also where another runtime directory is used.
    let elsewhere = site.path("elsewhere");
    let mut second = site.command("openclawctl");
    second.args(["run", "--detach"]);
    second.env("OPENCLAW_RUNTIME_DIR", &elsewhere);
    let output = second.output().await.unwrap();
    let said = Said::of("a second suite".to_owned(), &output).ended(3);
    said.complains(&["in use by openclaw-gateway"]);
    site.ctl(&["run", "--stop"]).await.ended(0);
}

#[tokio::test]
async fn start_goes_into_the_background_and_drops_no_port() {
    let site = Setup::offline().site();
    let stopped = ["agents", "models list"].map(|it| it.split(' ').collect::<Vec<_>>());
    for arguments in &stopped {
        let said = site.ctl(arguments).await.ended(1);
        said.complains(&["what answers is not known", "openclawctl start"]);
    }
    let started = site.ctl(&["start"]).await.ended(0);
    for words in ["openclaw is started", "it listens on ", "openclawctl stop"] {
        assert!(started.stdout.contains(words), "{started}");
    }
    for arguments in &stopped {
        site.ctl(arguments).await.ended(0);
    }
    site.ctl(&["start", "--detach"]).await.ended(0);
    let listens = started
        .stdout
        .lines()
        .find(|it| it.starts_with("it listens on"));
    let port = listens.unwrap().rsplit(':').next().unwrap();
    site.ctl(&["start", "--port", port]).await.ended(0);
    let refused = site.ctl(&["start", "--port", "1"]).await.ended(1);
    refused.complains(&["not at port 1", "openclawctl restart --port 1"]);

    let nothing = ["logs", "--unit", "servers", "--since", "1 hour ago"];
    let said = site.ctl(&nothing).await.ended(1);
    said.complains(&["the log has nothing with --unit servers, --since"]);
    site.ctl(&["logs", "--since", "-5m"]).await.ended(0);
    for follow in [&[][..], &["-f"]] {
        let named = [&["logs", "--file", "/nonexist"], follow].concat();
        let said = site.ctl(&named).await.ended(1);
        said.complains(&["there is no log /nonexist"]);
    }
    let said = site.ctl(&["logs", "--file", "/etc/passwd"]).await.ended(1);
    said.complains(&["/etc/passwd is no log"]);
    site.ctl(&["stop"]).await.ended(0);
}
