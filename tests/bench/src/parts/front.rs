//! The gateway's front door under load: idle clients, one turn told to many, and messages by the hundred.

mod accepted;
mod idle;
mod told;

use anyhow::Context as _;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::daemon::Daemon;
use crate::home::{Backend, Home};
use crate::model::Model;
use crate::process::Process;
use crate::socket::Place;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::Table;

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    raise_file_limit()?;
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("front", Backend::Native, model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let talked = talk(&suite, &home, table).await;
    talked.with_context(|| format!("the suite's last lines:\n{}", suite.last_lines()))?;
    suite.stop().await
}

async fn talk(suite: &Suite, home: &Home, table: &mut Table) -> anyhow::Result<()> {
    let place = Place::of(suite).await?;
    let daemons = suite.daemons()?;
    let mut gateways = daemons.iter().filter(|(it, _)| *it == Daemon::Gateway);
    let (_, gateway) = gateways.next().context("the gateway does not run")?;
    idle::measure(&place, *gateway, table).await?;
    told::measure(&place, table).await?;
    accepted::one_by_one(&place, table).await?;
    accepted::by_the_hundred(&place, home, table).await
}

/// Each client is a file of this process.
fn raise_file_limit() -> anyhow::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).context("ask for the file limit")?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).context("raise the file limit")
}

fn pss(process: Process) -> anyhow::Result<f64> {
    Ok(process.memory()?.total)
}
