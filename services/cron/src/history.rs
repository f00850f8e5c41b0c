//! `cron history`.

use clap::Args;
use openclaw_proto::schedule::JobRun;
use openclaw_terminal::table::{self, Shape};
use openclaw_terminal::{Failure, output};

use crate::gateway::ScheduleGateway;
use crate::{job, named, when};

/// Arguments of `cron history`.
#[derive(Debug, Args)]
pub(crate) struct History {
    /// The job's name or id, or the beginning of that [default: all jobs]
    job: Option<String>,
    /// The most runs that are listed
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl History {
    pub(crate) async fn execute(&self, gateway: &ScheduleGateway<'_>) -> Result<(), Failure> {
        let found = match &self.job {
            Some(name) => Some(named::with_runs(gateway, name).await?),
            None => None,
        };
        let runs = gateway.client.runs(found.as_deref(), self.limit).await;
        let runs = gateway.said(runs)?;
        if self.json {
            return output::document(&runs);
        }
        if runs.is_empty() {
            return output::stdout_line("no run is known");
        }
        let head = [
            "JOB",
            "PLANNED",
            "CAUSE",
            "STATE",
            "STARTED",
            "WHAT CAME OF IT",
        ];
        let head = head.map(str::to_owned).to_vec();
        let rows = runs.iter().map(|run| row(run, &runs));
        let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
        table::print_named(&rows, SHAPE)
    }
}

/// What a narrow terminal does without.
const SHAPE: Shape<'_> = Shape {
    optional: &["CAUSE", "STARTED"],
    least: &[("JOB", 12), ("PLANNED", 12), ("WHAT CAME OF IT", 20)],
};

/// What the job of a run is called among `all`: its name, with the beginning of its id
/// where that of another job is the same.
fn name_of(run: &JobRun, all: &[JobRun]) -> String {
    let short = job::short(&run.job_id);
    let is_twin = |other: &JobRun| other.job_id != run.job_id && other.job_name == run.job_name;
    match run.job_name.as_str() {
        "" => short,
        name if all.iter().any(is_twin) => format!("{name} ({short})"),
        name => name.to_owned(),
    }
}

fn row(run: &JobRun, all: &[JobRun]) -> Vec<String> {
    let time = |at: Option<i64>| at.map_or_else(|| "-".to_owned(), when::local);
    let planned = match (run.planned_ms, run.until_ms) {
        (Some(first), Some(last)) if last > first => {
            format!("{} and later", when::local(first))
        }
        (planned, _) => time(planned),
    };
    let words = [&run.reason, &run.summary].into_iter();
    let words = words.filter(|text| !text.is_empty()).cloned();
    vec![
        name_of(run, all),
        planned,
        run.cause.clone(),
        run.state.clone(),
        time(run.started_ms),
        beginning(&words.collect::<Vec<_>>().join("; ")),
    ]
}

/// Characters of an answer in a list.
const SHOWN: usize = 80;

fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_says_what_a_run_stands_for_and_what_came_of_it() {
        let run = JobRun {
            job_id: "0123456789".to_owned(),
            planned_ms: Some(1_795_251_600_000),
            until_ms: Some(1_795_251_700_000),
            cause: "catch-up".to_owned(),
            state: "skipped".to_owned(),
            reason: "missed".to_owned(),
            summary: "x ".repeat(100),
            ..JobRun::default()
        };
        let row = row(&run, &[]);
        assert!(row[1].ends_with("and later"), "{row:?}");
        assert!(row[5].starts_with("missed; x x") && row[5].ends_with('…'));
        assert_eq!(row[4], "-");
        assert_eq!(row[0], "01234567");
    }

    #[test]
    fn row_names_its_job() {
        let run = |id: &str, name: &str| JobRun {
            job_id: id.to_owned(),
            job_name: name.to_owned(),
            ..JobRun::default()
        };
        let all = [
            run("a", "tea"),
            run("b-23456789", "news"),
            run("c", "news"),
            run("a", "tea"),
        ];
        let names: Vec<_> = all.iter().map(|run| row(run, &all)[0].clone()).collect();
        assert_eq!(names, ["tea", "news (b-234567)", "news (c)", "tea"]);
    }
}
