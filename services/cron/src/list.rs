//! `cron list`.

use clap::Args;
use openclaw_proto::schedule::Job;
use openclaw_terminal::table::{self, Shape};
use openclaw_terminal::{Failure, output};
use serde_json::Value;

use crate::gateway::ScheduleGateway;
use crate::job;

/// Arguments of `cron list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) async fn execute(&self, gateway: &ScheduleGateway<'_>) -> Result<(), Failure> {
        let (jobs, is_on) = gateway.said(gateway.client.jobs().await)?;
        if self.json {
            let all: Vec<Value> = jobs.into_iter().map(|job| job.fields).collect();
            return output::document(&all);
        }
        warn(is_on);
        if jobs.is_empty() {
            let add = "openclawctl cron add --at \"tomorrow 9:00\" TEXT";
            return output::stdout_line(&format!("there is no job; `{add}` adds one"));
        }
        let head = ["ID", "NAME", "WHEN", "NEXT", "LAST", "MADE BY"].map(str::to_owned);
        let rows = jobs.iter().map(|it| {
            vec![
                job::short(&it.id),
                it.name.clone(),
                job::schedule(it),
                job::next(it),
                job::last(it),
                job::maker(it),
            ]
        });
        let rows: Vec<_> = std::iter::once(head.to_vec()).chain(rows).collect();
        table::print_named(&rows, SHAPE)?;
        for job in &jobs {
            tell_problem(job);
        }
        Ok(())
    }
}

/// Says why a job is not run as it is, where that is so.
fn tell_problem(job: &Job) {
    if let Some(why) = job::problem(job) {
        let name = output::line(&job.name);
        let id = job::short(&job.id);
        output::stderr_line(&format!("{name} ({id}) is not run: {}", output::line(why)));
        output::stderr_line(&format!("hint: {}", job::way_out(job)));
    }
}

/// What a narrow terminal does without.
const SHAPE: Shape<'_> = Shape {
    optional: &["MADE BY", "LAST"],
    least: &[("NAME", 12), ("WHEN", 12), ("NEXT", 12)],
};

/// Says that no job runs by itself, where that is so.
pub(crate) fn warn(is_on: bool) {
    if !is_on {
        output::stderr_line("no job runs by itself: cron.enabled is false");
    }
}
