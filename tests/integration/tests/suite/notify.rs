//! What a service manager hears of a daemon, from its start to its end.

use std::time::Duration;

use integration_tests::manager::{DAEMONS, Managed};
use integration_tests::{Setup, Site, within};
use nix::sys::signal::Signal;
use openclaw_proto::runner;

/// WatchdogSec=, short so that the test is.
const WATCHDOG: Duration = Duration::from_millis(200);

async fn ready(site: &Site, daemon: &str, socket: &str) -> Managed {
    let mut managed = Managed::start(site, daemon, socket, None);
    managed.hear("READY=1").await;
    managed
}

#[tokio::test]
async fn notify_is_ready_says_how_it_is_and_is_alive() {
    for (daemon, socket, _) in DAEMONS {
        let site = Setup::offline().site();
        let mut managed = Managed::start(&site, daemon, socket, Some(WATCHDOG));
        let status = managed.hear("STATUS=").await;
        assert!(status.len() > "STATUS=".len(), "{daemon}: {status}");
        for _ in 0..3 {
            managed.hear("WATCHDOG=1").await;
        }
    }
}

#[tokio::test]
async fn notify_reloads() {
    for (daemon, socket, _) in DAEMONS {
        let site = Setup::offline().site();
        let mut managed = ready(&site, daemon, socket).await;
        managed.signal(Signal::SIGHUP);
        managed.hear("RELOADING=1").await;
        managed.hear("MONOTONIC_USEC=").await;
        managed.hear("READY=1").await;
    }
}

#[tokio::test]
async fn notify_says_that_it_stops_and_ends_well() {
    for (daemon, socket, _) in DAEMONS {
        let site = Setup::offline().site();
        let mut managed = ready(&site, daemon, socket).await;
        managed.signal(Signal::SIGTERM);
        managed.hear("STOPPING=1").await;
        assert_eq!(managed.ended().await, Some(0), "{daemon}");
    }
}

#[tokio::test]
async fn notify_status_counts_the_turns() {
    let site = Setup::offline().site();
    let mut managed = Managed::start(&site, "openclaw-agent-runner", "runner.sock", None);
    managed.hear("STATUS=0 turns running").await;
    let client = runner::Client::new(managed.socket.clone());
    let turn = runner::Turn {
        run_id: "6f3c1f0e-2f5b-4b55-9b0e-0c6f0a6f2a11".to_owned(),
        session_key: "agent:main:main".to_owned(),
        session_id: "session-1".to_owned(),
        agent_id: "main".to_owned(),
        channel: "test".to_owned(),
        text: "/run sleep 1000".to_owned(),
        bootstrap: Vec::new(),
        passages: Vec::new(),
        history: Vec::new(),
        backend_sessions: Vec::new(),
        received_ms: 0,
        notes: Vec::new(),
        granted_commands: Vec::new(),
        command_terms: None,
        model: None,
        thinking_level: None,
        purpose: runner::Purpose::Message,
        auth_profile: None,
        limits: String::new(),
    };
    within("StartTurn", client.start_turn(turn)).await.unwrap();
    managed.hear("STATUS=1 turn running").await;
    let end = runner::End {
        reason: "enough",
        at_once: false,
    };
    let cancelled = within(
        "CancelTurn",
        client.cancel_turn("6f3c1f0e-2f5b-4b55-9b0e-0c6f0a6f2a11", end),
    )
    .await;
    assert!(cancelled.unwrap());
    managed.hear("STATUS=0 turns running").await;
}
