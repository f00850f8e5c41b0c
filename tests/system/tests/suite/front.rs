//! The TCP sockets under systemd, reached in the machine's network.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::stage::{Stage, eventually, stage};

/// ListenStream= of the units.
const MAIN: &str = "127.0.0.1:18789";
const CLI: &str = "127.0.0.1:8080";
/// A daemon is started and answers within a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// Where the secret of the shared session may be.
const SECRET_FILE: &str = "~/.openclaw/credentials/openclaw-cli-secret";

#[test]
#[ignore = "boots a machine, needs root"]
fn first_request_starts_the_gateway() -> Result<()> {
    let stage = stage()?;
    assert_eq!(
        stage.property("openclaw-gateway.socket", "ActiveState")?,
        "active"
    );
    assert_eq!(
        stage.property("openclaw-gateway.service", "ActiveState")?,
        "inactive"
    );
    let answer = get(&stage, MAIN, "/healthz", "")?;
    ensure!(
        answer.contains("{\"ok\":true,\"status\":\"live\"}"),
        "{answer}"
    );
    assert_eq!(
        stage.property("openclaw-gateway.service", "ActiveState")?,
        "active"
    );
    let refused = get(&stage, MAIN, "/v1/models", "")?;
    ensure!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    let token = stage.user("openclawctl token")?;
    let models = get(&stage, MAIN, "/v1/models", &token)?;
    ensure!(models.contains("openclaw/main"), "{models}");
    assert_eq!(stage.user("stat -c %a ~/.openclaw/auth.json")?, "600");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn client_waits_while_the_gateway_is_restarted() -> Result<()> {
    let stage = stage()?;
    get(&stage, MAIN, "/healthz", "")?;
    let before = stage.property("openclaw-gateway.service", "MainPID")?;
    stage.user("systemctl --user kill --kill-who=main -s KILL openclaw-gateway.service")?;
    let answer = get(&stage, MAIN, "/healthz", "")?;
    ensure!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    eventually("another process serves", || {
        let pid = stage.property("openclaw-gateway.service", "MainPID")?;
        Ok(pid != before && pid != "0")
    })
}

#[test]
#[ignore = "boots a machine, needs root"]
fn shared_session_is_closed_without_a_secret() -> Result<()> {
    let stage = stage()?;
    assert_eq!(
        stage.property("openclaw-cli.socket", "ConditionResult")?,
        "no"
    );
    write_secret(&stage, "")?;
    assert_eq!(
        stage.property("openclaw-cli.socket", "ActiveState")?,
        "inactive"
    );
    assert_eq!(
        stage.property("openclaw-cli.socket", "ConditionResult")?,
        "no"
    );
    write_secret(&stage, "made-up")?;
    assert_eq!(
        stage.property("openclaw-cli.socket", "ActiveState")?,
        "active"
    );
    let refused = get(&stage, CLI, "/session", "")?;
    ensure!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    let session = get(&stage, CLI, "/session", "made-up")?;
    ensure!(session.contains("\"id\":\"home\""), "{session}");
    stage.user(&format!("rm {SECRET_FILE}"))?;
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn front_another_port_is_written_into_the_units() -> Result<()> {
    let stage = stage()?;
    let at = |port: &str| format!("OPENCLAW_GATEWAY_PORT={port} openclawctl sockets");
    let reload = "systemctl --user daemon-reload && systemctl --user restart openclaw.target 'openclaw-*.socket'";
    stage.user(&format!("{} && {reload}", at("18791")))?;
    let answer = get(&stage, "127.0.0.1:18791", "/healthz", "")?;
    ensure!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let closed = stage.inside(|| Ok(TcpStream::connect(MAIN).is_err()))?;
    ensure!(closed, "the old port is closed");
    stage.user(&format!("openclawctl sockets && {reload}"))?;
    get(&stage, MAIN, "/healthz", "").map(drop)
}

/// Writes the secret and lets systemd look again.
fn write_secret(stage: &Stage, secret: &str) -> Result<()> {
    stage.user(&format!(
        "umask 077 && mkdir -p ~/.openclaw/credentials && printf %s '{secret}' >{SECRET_FILE} \
         && systemctl --user stop openclaw.target 'openclaw-*' && systemctl --user start openclaw.target"
    ))?;
    Ok(())
}

fn get(stage: &Stage, address: &str, path: &str, token: &str) -> Result<String> {
    let connect = || TcpStream::connect(address).context("connect");
    let mut stream = stage.inside(connect).with_context(|| address.to_owned())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let authorization = match token {
        "" => String::new(),
        token => format!("authorization: Bearer {token}\r\n"),
    };
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{authorization}\r\n"
    )?;
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .context("read the answer")?;
    Ok(answer)
}
