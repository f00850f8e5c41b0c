//! Clients that do nothing.

use anyhow::ensure;
use serde_json::json;

use super::pss;
use crate::process::Process;
use crate::socket::{Place, Socket};
use crate::table::{Table, Unit};

/// Clients.
const CLIENTS: usize = 1000;
/// MiB that the gateway may grow by them.
const TARGET: f64 = 20.0;
/// Clients before those that count: what the first one makes the gateway load stays.
const WARM_UP: usize = 4;

pub(super) async fn measure(
    place: &Place,
    gateway: Process,
    table: &mut Table,
) -> anyhow::Result<()> {
    let mut warm = Vec::new();
    for _ in 0..WARM_UP {
        warm.push(Socket::enter(place).await?);
    }
    let before = pss(gateway)?;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(Socket::enter(place).await?);
    }
    let after = pss(gateway)?;
    // All of them are let in and alive, the first one too.
    for client in clients.iter_mut().step_by(CLIENTS / 10) {
        let health = client.call("health", json!({})).await?;
        ensure!(health["ok"] == true, "{health}");
    }
    table.target(
        format!("PSS, gateway, {CLIENTS} idle WebSocket clients more"),
        Unit::Mebibytes,
        after - before,
        TARGET,
    );
    Ok(())
}
