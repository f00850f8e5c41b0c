//! The offline backend asks no model, also when one could be asked.

use anyhow::Context as _;

use crate::conversation;
use crate::home::Backend;
use crate::model::Model;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Messages; the first one does not count.
const MESSAGES: usize = 21;

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("offline", Backend::Offline, model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let client = suite.client();
    let mut times = Sample::default();
    for _ in 0..MESSAGES {
        let exchange = conversation::exchange(&client, "main").await;
        let exchange = exchange.with_context(|| suite.last_lines())?;
        times.add(exchange.ended);
    }
    let (_, counted) = times.ends(MESSAGES - 1);
    table.figure(
        "round trip, offline, sequential, p50",
        Unit::Milliseconds,
        counted.p50(),
    );
    let sent: u64 = model.take_sizes().await?.iter().sum();
    table.target(
        "sent to the model by the offline backend",
        Unit::Bytes,
        sent as f64,
        0.0,
    );
    suite.stop().await
}
