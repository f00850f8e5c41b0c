//! `turns`: the turns that run and those that ended, and what they cost.

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_config::Environment;
use openclaw_proto::gateway::Turn;
use openclaw_terminal::table::{self, Shape};
use openclaw_terminal::{Failure, output, words};

use crate::cli;
use crate::cli::turns::{Action, List};
use openclaw_connection::{self as connection, Gateway};

mod one;

/// Columns of a reason in the table.
const REASON_WIDTH: usize = 60;
/// What a narrow terminal does without. The beginning of a run's id tells it apart from those
/// of the same second.
const SHAPE: Shape<'_> = Shape {
    optional: &["TASKS", "CPU", "MEMORY", "TOKENS", "COST"],
    least: &[
        ("STARTED", 14),
        ("RUN", 15),
        ("SESSION", 16),
        ("REASON", 12),
    ],
};

/// Lists them, or looks at one.
pub(crate) fn execute(
    arguments: &cli::Turns,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = openclaw_config::Paths::resolve(environment)?;
    let runtime = connection::runtime()?;
    let is_well = runtime.block_on(async {
        let gateway = Gateway::at(&paths);
        match &arguments.action {
            None => list(&gateway, &arguments.list).await,
            Some(Action::List(arguments)) => list(&gateway, arguments).await,
            Some(Action::Show(arguments)) => one::show(&gateway, arguments).await.map(|()| true),
            Some(Action::Attach(arguments)) => one::attach(&gateway, arguments).await,
        }
    })?;
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints the last turns.
async fn list(gateway: &Gateway, arguments: &List) -> Result<bool, Failure> {
    let turns = gateway.client.list_turns(arguments.limit).await;
    let turns = turns.map_err(|error| gateway.failure(&error))?;
    if arguments.json {
        output::document(&turns)?;
    } else {
        print(&turns, arguments.wide)?;
    }
    Ok(true)
}

/// As wide as the terminal; `is_wide`, or without a terminal: as wide as it is, with
/// whole reasons.
fn print(turns: &[Turn], is_wide: bool) -> Result<(), Failure> {
    if turns.is_empty() {
        return output::stdout_line("There has been no turn yet.");
    }
    if is_wide || output::room().is_none() {
        return output::stdout(&table::render(&rows(turns, usize::MAX)));
    }
    table::print_named(&rows(turns, REASON_WIDTH), SHAPE)
}

/// `width`: columns of a reason.
fn rows(turns: &[Turn], width: usize) -> Vec<Vec<String>> {
    let head = [
        "STARTED", "RUN", "SESSION", "STATE", "TOOK", "CPU", "MEMORY", "TASKS", "TOKENS", "COST",
        "REASON",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(turns.iter().map(|turn| row(turn, width)));
    rows
}

fn row(turn: &Turn, width: usize) -> Vec<String> {
    let unknown = || "-".to_owned();
    let used = turn.resources.as_ref();
    let number = |value: u64, words: fn(u64) -> String| match value {
        0 => "-".to_owned(),
        value => words(value),
    };
    let took = turn.ended_ms.map(|ended| ended - turn.created_ms);
    vec![
        started(turn.created_ms),
        turn.run_id.clone(),
        turn.session_key.clone(),
        turn.state.clone(),
        took.map_or_else(unknown, |ms| seconds(u64::try_from(ms).unwrap_or_default())),
        used.map_or_else(unknown, |used| seconds(used.cpu_ms)),
        used.map_or_else(unknown, |used| number(used.memory_peak_bytes, words::bytes)),
        used.map_or_else(unknown, |used| number(used.tasks_peak, |n| n.to_string())),
        number(turn.input_tokens + turn.output_tokens, |n| n.to_string()),
        turn.cost_usd
            .map_or_else(unknown, |dollars| format!("${dollars:.4}")),
        match turn.reason.as_str() {
            "" => unknown(),
            reason => output::one_line(reason, width),
        },
    ]
}

fn started(at_ms: i64) -> String {
    Timestamp::from_millisecond(at_ms)
        .map(|at| at.to_zoned(TimeZone::system()))
        .map_or_else(
            |_| "-".to_owned(),
            |at| at.strftime("%m-%d %H:%M:%S").to_string(),
        )
}

fn seconds(milliseconds: u64) -> String {
    format!("{:.2} s", milliseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::Resources;

    use super::*;

    #[test]
    fn turns_what_is_not_known_is_a_dash() {
        let ended = Turn {
            run_id: "r1".to_owned(),
            state: "done".to_owned(),
            ended_ms: Some(1500),
            resources: Some(Resources {
                cpu_ms: 120,
                memory_peak_bytes: 3 << 20,
                tasks_peak: 0,
                unit: String::new(),
                ..Resources::default()
            }),
            input_tokens: 10,
            output_tokens: 2,
            ..Turn::default()
        };
        let text = table::render(&rows(&[ended, Turn::default()], REASON_WIDTH));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].contains("1.50 s  0.12 s  3 MiB   -"), "{text}");
        assert!(lines[1].ends_with('-'), "{text}");
        assert_eq!(lines.len(), 3);
    }
    #[test]
    fn turn_that_failed_says_why() {
        let reason = format!("the provider refused: {}", "x".repeat(100));
        let failed = Turn {
            state: "failed".to_owned(),
            reason: reason.clone(),
            ..Turn::default()
        };
        let text = table::render(&rows(std::slice::from_ref(&failed), REASON_WIDTH));
        let line = text.lines().nth(1).unwrap();
        assert!(line.contains("the provider refused: xxx"), "{text}");
        assert!(!line.contains(&reason), "{text}");
        assert!(table::render(&rows(&[failed], usize::MAX)).contains(&reason));
    }
}
