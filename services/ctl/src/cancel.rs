//! `cancel`: end a run, or all of them.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::gateway::Turn;
use tonic::Code;

use crate::cli;
use crate::connection::{self, Gateway};
use crate::failure::Failure;
use crate::output;

/// The last turns that are looked at for those that go on; as many as the
/// gateway lists at most.
const LOOKED_AT: u32 = 1000;

/// Ends the runs that are meant; one that has ended already is no failure.
pub(crate) fn execute(
    arguments: &cli::Cancel,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    connection::runtime()?.block_on(cancel(&paths, arguments))?;
    Ok(ExitCode::SUCCESS)
}

async fn cancel(paths: &Paths, arguments: &cli::Cancel) -> Result<(), Failure> {
    let gateway = &Gateway::at(paths);
    if let Some(run_id) = &arguments.run_id {
        let line = match end(gateway, run_id).await? {
            true => "cancelled",
            false => "the run had ended already",
        };
        return output::stdout_line(line);
    }
    let open = open(gateway).await?;
    if open.is_empty() {
        return output::stdout_line("nothing is running");
    }
    if open.len() > 1 && !arguments.all {
        let runs: Vec<String> = open.iter().map(described).collect();
        return Err(Failure::usage(format!(
            "{} runs go on; name one of them, or use --all:\n{}",
            open.len(),
            runs.join("\n")
        )));
    }
    for turn in open {
        let line = match end(gateway, &turn.run_id).await? {
            true => "cancelled",
            false => "had ended already",
        };
        output::stdout_line(&format!("{line}: {}", described(&turn).trim_start()))?;
    }
    Ok(())
}

/// The runs that go on or wait for their turn, the newest first.
async fn open(gateway: &Gateway) -> Result<Vec<Turn>, Failure> {
    let turns = gateway.client.list_turns(LOOKED_AT).await;
    let mut turns = turns.map_err(|status| gateway.failure(&status))?;
    turns.retain(|turn| turn.ended_ms.is_none());
    Ok(turns)
}

fn described(turn: &Turn) -> String {
    let Turn {
        run_id,
        state,
        session_key,
        ..
    } = turn;
    output::line(&format!("  {run_id}  {state}  {session_key}"))
}

async fn end(gateway: &Gateway, run_id: &str) -> Result<bool, Failure> {
    let answer = gateway.client.cancel_run(run_id, "openclawctl cancel");
    answer.await.map_err(|status| match status.code() {
        Code::NotFound => {
            Failure::new(format!("there is no run {run_id}")).hint("`openclawctl turns` lists them")
        }
        _ => gateway.failure(&status),
    })
}
