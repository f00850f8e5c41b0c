//! Several clients at once, each with its own connection and session.

use std::time::Instant;

use anyhow::Context as _;
use openclaw_proto::gateway::Client;
use tokio::task::JoinSet;

use crate::conversation;
use crate::home::Backend;
use crate::model::Model;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Clients at once; as many turns may run at once by default.
const CLIENTS: usize = 8;
/// Messages of each that count. One before them makes the session.
const MESSAGES: usize = 50;

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("clients", Backend::Native, model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let talked = talk(&suite, table).await;
    talked.with_context(|| format!("the suite's last lines:\n{}", suite.last_lines()))?;
    suite.stop().await
}

async fn talk(suite: &Suite, table: &mut Table) -> anyhow::Result<()> {
    let clients: Vec<Client> = (0..CLIENTS).map(|_| suite.client()).collect();
    together(&clients, 1).await?;
    let started = Instant::now();
    let times = together(&clients, MESSAGES).await?;
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    for percent in [50, 95, 99] {
        table.figure(
            format!("round trip, native, {CLIENTS} clients, p{percent}"),
            Unit::Milliseconds,
            times.percentile(percent),
        );
    }
    table.words(
        format!("  answered messages, {CLIENTS} clients"),
        format!("{rate:.0} a second"),
    );
    Ok(())
}

async fn together(clients: &[Client], messages: usize) -> anyhow::Result<Sample> {
    let mut tasks = JoinSet::new();
    for (index, client) in clients.iter().cloned().enumerate() {
        tasks.spawn(async move {
            let mut times = Sample::default();
            for _ in 0..messages {
                let exchange = conversation::exchange(&client, &format!("client-{index}")).await?;
                times.add(exchange.ended);
            }
            anyhow::Ok(times)
        });
    }
    let mut times = Sample::default();
    while let Some(task) = tasks.join_next().await {
        times.extend(task.context("a client ended")??);
    }
    Ok(times)
}
