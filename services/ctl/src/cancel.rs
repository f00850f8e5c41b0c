//! `cancel`: end a run, or all of them.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::call::RefusalCode;
use openclaw_proto::gateway::Turn;
use openclaw_terminal::{Failure, output};

use crate::cli;
use openclaw_connection::{self as connection, Gateway};

/// The last turns that are looked at for those that go on; as many as the
/// gateway lists at most.
const LOOKED_AT: u32 = 1000;

/// Ends the runs that are meant; one that has ended already is not a failure.
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
        let line = if end(gateway, &whole(gateway, run_id).await?).await? {
            "cancelled"
        } else {
            "the run had ended already"
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
        let line = if end(gateway, &turn.run_id).await? {
            "cancelled"
        } else {
            "had ended already"
        };
        output::stdout_line(&format!("{line}: {}", described(&turn).trim_start()))?;
    }
    Ok(())
}

/// The id that begins with `text`: of a run that goes on, else of one that has
/// ended. What is nobody's beginning is left to the gateway, which knows more
/// runs than it lists.
async fn whole(gateway: &Gateway, text: &str) -> Result<String, Failure> {
    if uuid::Uuid::try_parse(text).is_ok() {
        return Ok(text.to_owned());
    }
    let turns = gateway.client.list_turns(LOOKED_AT).await;
    let turns = turns.map_err(|error| gateway.failure(&error))?;
    match meant(&turns, text).as_slice() {
        [] => Ok(text.to_owned()),
        [only] => Ok(only.run_id.clone()),
        several => {
            let runs: Vec<String> = several.iter().map(|turn| described(turn)).collect();
            Err(Failure::usage(format!(
                "{text} may mean {} runs; name one of them:\n{}",
                runs.len(),
                runs.join("\n")
            )))
        }
    }
}

/// The runs whose ids begin with `text`, whatever its case, also as a narrow terminal
/// shows it: those that go on, or, where none of those does, those that have ended.
pub(crate) fn meant<'a>(turns: &'a [Turn], text: &str) -> Vec<&'a Turn> {
    let text = text.trim().trim_end_matches('…').to_lowercase();
    let begins = |turn: &&Turn| !text.is_empty() && turn.run_id.to_lowercase().starts_with(&text);
    let (open, ended): (Vec<&Turn>, Vec<&Turn>) = turns
        .iter()
        .filter(begins)
        .partition(|turn| turn.ended_ms.is_none());
    if open.is_empty() { ended } else { open }
}

/// The runs that go on or wait for their turn, the newest first.
async fn open(gateway: &Gateway) -> Result<Vec<Turn>, Failure> {
    let turns = gateway.client.list_turns(LOOKED_AT).await;
    let mut turns = turns.map_err(|error| gateway.failure(&error))?;
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
    answer.await.map_err(|error| match error.code() {
        Some(RefusalCode::NotFound) => {
            Failure::new(format!("there is no run {run_id}")).hint("`openclawctl turns` lists them")
        }
        _ => gateway.failure(&error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(run_id: &str, ended_ms: Option<i64>) -> Turn {
        Turn {
            run_id: run_id.to_owned(),
            ended_ms,
            ..Turn::default()
        }
    }

    #[test]
    fn beginning_of_an_id_means_runs_that_go_on_before_those_that_ended() {
        let turns = [
            turn("3f2a91c0", None),
            turn("3f2b0000", None),
            turn("3f2a0000", Some(1)),
            turn("77aa0000", Some(1)),
        ];
        let ids = |text: &str| -> Vec<String> {
            let meant = meant(&turns, text).into_iter();
            meant.map(|turn| turn.run_id.clone()).collect()
        };
        assert_eq!(ids("3f2a"), ["3f2a91c0"]);
        assert_eq!(ids("3F2"), ["3f2a91c0", "3f2b0000"]);
        assert_eq!(ids("3f2a0"), ["3f2a0000"]);
        assert_eq!(ids("77"), ["77aa0000"]);
        assert_eq!(ids("3f2a0…"), ["3f2a0000"]);
        assert!(ids("5").is_empty() && ids(" ").is_empty() && ids("…").is_empty());
    }
}
