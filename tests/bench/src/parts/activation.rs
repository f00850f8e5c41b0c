//! Cold start: sockets are there, daemons are not, a message comes.

use anyhow::Context as _;
use openclaw_proto::gateway::Client;

use crate::activator::Activator;
use crate::conversation::{self, Exchange};
use crate::daemon::Daemon;
use crate::home::Backend;
use crate::model::Model;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::table::{Table, Unit};

/// Cold starts that count. One before them creates the state directory.
const ROUNDS: usize = 10;

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("activation", Backend::Native, model.url())?;
    let activator = Activator::bind(&stage.programs, &home)?;
    let gateway = Daemon::Gateway.socket(&home.paths);
    let mut exchanges = Vec::new();
    for round in 0..=ROUNDS {
        let client = Client::new(gateway.clone());
        let exchange = cold(&activator, &client).await;
        exchanges.push(exchange.with_context(|| format!("cold start {round}"))?);
    }
    let counted = &exchanges[1..];
    let ended: Sample = counted.iter().map(|exchange| exchange.ended).collect();
    let accepted: Sample = counted.iter().map(|exchange| exchange.accepted).collect();
    let first: Sample = counted.iter().map(|exchange| exchange.first_text).collect();
    let unit = Unit::Milliseconds;
    table.figure("cold start to the whole reply, p50", unit, ended.p50());
    table.figure(
        "cold start to the whole reply, slowest",
        unit,
        ended.percentile(100),
    );
    table.figure(
        "  of it until accepted (durable), p50",
        unit,
        accepted.p50(),
    );
    table.figure("  of it until the first text, p50", unit, first.p50());
    Ok(())
}

/// A message while no daemon runs; the daemons it started are ended again.
async fn cold(activator: &Activator<'_>, client: &Client) -> anyhow::Result<Exchange> {
    let daemons = async {
        tokio::try_join!(
            activator.start_on_demand(Daemon::Gateway),
            activator.start_on_demand(Daemon::Runner),
            activator.start_on_demand(Daemon::Memory),
        )
    };
    let exchange = conversation::exchange(client, "main");
    let ((gateway, runner, memory), exchange) = tokio::try_join!(daemons, exchange)?;
    for daemon in [gateway, runner, memory] {
        daemon.stop().await?;
    }
    Ok(exchange)
}
