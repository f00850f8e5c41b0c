//! The gateway's port where somebody else has it: the suite has another one,
//! which it keeps, unless somebody chose it.

use std::net::TcpListener;

use integration_tests::{Said, Setup, Site, Talk};
use serde_json::Value;
use tokio::sync::Mutex;

/// gateway.port of one that nobody set.
const DEFAULT: u16 = 18789;

/// One test at a time: a port that one was told of and has not opened yet is free
/// for the other.
static PORTS: Mutex<()> = Mutex::const_new(());

/// Another program that has the default port; on a machine in use it may be
/// anybody's already.
fn other() -> Option<TcpListener> {
    TcpListener::bind(("127.0.0.1", DEFAULT)).ok()
}

async fn started(site: &Site) -> Talk {
    let mut command = site.command("openclawctl");
    command.arg("run");
    let mut run = Talk::start("run", command);
    run.hear("openclaw is ready").await;
    run
}

/// What the suite wrote until it was told to end.
async fn ended(site: &Site, run: Talk) -> Said {
    site.ctl(&["run", "--stop"]).await.ended(0);
    run.end().await
}

fn kept(site: &Site) -> u64 {
    let text = std::fs::read_to_string(site.configuration()).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["gateway"]["port"].as_u64().unwrap()
}

#[tokio::test]
async fn port_that_is_taken_is_left_for_one_that_is_kept() {
    let _turn = PORTS.lock().await;
    let _other = other();
    let site = Setup::offline()
        .variable("OPENCLAW_GATEWAY_PORT", "")
        .site();
    let run = started(&site).await;
    let port = kept(&site);
    assert_ne!(port, u64::from(DEFAULT));
    let status = site.ctl(&["status"]).await.ended(0);
    status.says(&[&format!("http://127.0.0.1:{port} ")]);
    ended(&site, run).await.complains(&[
        &format!("127.0.0.1:{DEFAULT} is taken by "),
        &format!("WebSocket and HTTP are at port {port}, which gateway.port in "),
    ]);
    let run = started(&site).await;
    assert_eq!(kept(&site), port);
    let moved = site.ctl(&["sockets", "--port", "auto"]).await.ended(0);
    assert!(
        !moved.stdout.contains("gateway.port is"),
        "its own: {moved}"
    );
    let said = ended(&site, run).await;
    assert!(!said.stderr.contains("is taken"), "{said}");
}

#[tokio::test]
async fn port_that_somebody_chose_is_not_left() {
    let _turn = PORTS.lock().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let site = Setup::offline()
        .variable("OPENCLAW_GATEWAY_PORT", "")
        .set("gateway.port", port)
        .site();
    let said = site.ctl(&["run"]).await.ended(1);
    said.complains(&[
        &format!("127.0.0.1:{port} is taken by another program of yours"),
        "openclawctl config set gateway.port ",
    ]);
    assert_eq!(kept(&site), u64::from(port));
    let moved = site.ctl(&["sockets", "--port", "auto"]).await.ended(0);
    moved.says(&["gateway.port is ", "is taken by another program of yours"]);
    let chosen = kept(&site);
    assert_ne!(chosen, u64::from(port));
    let run = started(&site).await;
    let status = site.ctl(&["status"]).await.ended(0);
    status.says(&[&format!("http://127.0.0.1:{chosen} ")]);
    ended(&site, run).await;
}
