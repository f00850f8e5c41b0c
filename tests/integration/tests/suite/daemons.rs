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
async fn without_a_socket_it_is_wrong_usage() {
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
async fn a_wrong_argument_is_wrong_usage() {
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
async fn a_broken_configuration_is_named_with_its_place() {
    let site = Setup::empty().site();
    site.configure("{\n  agents: {\n    defaults: { backend: 'native' ]\n");
    let place = format!("{}:3:", site.configuration().display());
    for (daemon, ..) in DAEMONS {
        let said = site.run(daemon, &[]).await.ended(78);
        let records = records(&said);
        let named = records
            .iter()
            .any(|record| message_of(record).contains(&place));
        assert!(named, "no {place}: {said}");
    }
    site.ctl(&["run"]).await.ended(78).complains(&[&place]);
    site.ctl(&["message", "hello"])
        .await
        .ended(78)
        .complains(&[&place]);
}

#[tokio::test]
async fn a_wrong_value_is_named_with_its_key() {
    let site = Setup::empty()
        .set("agents.defaults.backend", "nativ")
        .site();
    for (daemon, ..) in DAEMONS {
        let said = site.run(daemon, &[]).await.ended(78);
        said.complains(&["agents.defaults.backend", "claude-cli"]);
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
    }
}
