//! `openclawctl cron`: what is done when, and how it went.

mod fields;
mod gateway;
mod history;
mod job;
mod list;
mod named;
mod when;

use clap::{Args, Subcommand};
use openclaw_proto::schedule::Job;
use openclaw_terminal::{Failure, output, table};
use serde_json::{Value, json};

use fields::{Fields, Without};

pub use gateway::ScheduleGateway;
pub use job::{problem, way_out};

/// Arguments of `cron`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Cron {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: list::List,
}

/// What to do with the jobs.
#[derive(Debug, Subcommand)]
enum Action {
    /// List the jobs, the one that is due next first; as without a command
    List(list::List),
    /// Add a job: a message that the agent answers when it is due
    Add(Add),
    /// Show all of a job
    Show(Show),
    /// Change a job
    Edit(Edit),
    /// Run a job now
    Run(Named),
    /// Switch a job off
    Pause(Named),
    /// Switch a job on
    Resume(Named),
    /// Remove jobs
    Remove(Several),
    /// List how runs went, the newest first
    History(history::History),
    /// Asks the gateway to look whether a job is due; part of the systemd units.
    #[command(hide = true)]
    Wake,
}

/// Arguments of `cron add`.
#[derive(Debug, Args)]
struct Add {
    /// What the agent is asked, several words are joined
    text: Vec<String>,
    #[command(flatten)]
    fields: Fields,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Arguments of `cron edit`.
#[derive(Debug, Args)]
struct Edit {
    /// The job's name or id, or the beginning of that
    job: String,
    /// What the agent is asked, several words are joined
    text: Vec<String>,
    #[command(flatten)]
    fields: Fields,
    #[command(flatten)]
    without: Without,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Arguments of `cron show`.
#[derive(Debug, Args)]
struct Show {
    /// The job's name or id, or the beginning of that
    job: String,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// A job.
#[derive(Debug, Args)]
struct Named {
    /// The job's name or id, or the beginning of that
    job: String,
}

/// Jobs.
#[derive(Debug, Args)]
struct Several {
    /// Names or ids, or the beginnings of those
    #[arg(required_unless_present = "agent_made", conflicts_with = "agent_made")]
    jobs: Vec<String>,
    /// Those that agents made: of one agent, or of all
    #[arg(long, value_name = "AGENT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    agent_made: Option<String>,
}

impl Cron {
    /// Does it.
    ///
    /// # Errors
    /// What the gateway does not do, and why.
    pub async fn execute(&self, gateway: &ScheduleGateway<'_>) -> Result<(), Failure> {
        match &self.action {
            None => self.list.execute(gateway).await,
            Some(Action::List(list)) => list.execute(gateway).await,
            Some(Action::Add(add)) => add.execute(gateway).await,
            Some(Action::Show(show)) => show.execute(gateway).await,
            Some(Action::Edit(edit)) => edit.execute(gateway).await,
            Some(Action::Run(named)) => run(gateway, &named.job).await,
            Some(Action::Pause(named)) => switch(gateway, &named.job, false).await,
            Some(Action::Resume(named)) => switch(gateway, &named.job, true).await,
            Some(Action::Remove(several)) => several.remove(gateway).await,
            Some(Action::History(history)) => history.execute(gateway).await,
            Some(Action::Wake) => gateway.said(gateway.client.wake().await).map(drop),
        }
    }
}

impl Add {
    async fn execute(&self, gateway: &ScheduleGateway<'_>) -> Result<(), Failure> {
        let fields = self.fields.of_new(&self.text.join(" "))?;
        let job = gateway.said(gateway.client.add(&fields).await)?;
        told(gateway, &job, "added", self.json).await
    }
}

impl Edit {
    async fn execute(&self, gateway: &ScheduleGateway<'_>) -> Result<(), Failure> {
        let job = named::find(gateway, &self.job).await?;
        let text = self.text.join(" ");
        let fields = self.fields.of_change(&text, &self.without, &job)?;
        let job = gateway.said(gateway.client.change(&job.id, &fields).await)?;
        told(gateway, &job, "changed", self.json).await
    }
}

impl Show {
    async fn execute(&self, gateway: &ScheduleGateway<'_>) -> Result<(), Failure> {
        let found = named::find(gateway, &self.job).await?;
        if self.json {
            return output::document(&found.fields);
        }
        table::print_pairs(&job::rows(&found))
    }
}

async fn told(
    gateway: &ScheduleGateway<'_>,
    job: &Job,
    done: &str,
    json: bool,
) -> Result<(), Failure> {
    if json {
        return output::document(&job.fields);
    }
    let id = job::short(&job.id);
    let next = match (job.is_enabled, job.next_ms) {
        (false, _) => "it is switched off".to_owned(),
        (true, Some(next)) => format!("due {}", when::local(next)),
        (true, None) => "due at no time to come".to_owned(),
    };
    output::stdout_line(&format!(
        "{done} {} ({id}): {next}",
        output::line(&job.name)
    ))?;
    let (_, is_on) = gateway.said(gateway.client.jobs().await)?;
    list::warn(is_on);
    Ok(())
}

async fn run(gateway: &ScheduleGateway<'_>, name: &str) -> Result<(), Failure> {
    let job = named::find(gateway, name).await?;
    let run = gateway.said(gateway.client.run(&job.id).await)?;
    let (name, run) = (output::line(&job.name), output::line(&run));
    output::stdout_line(&format!("running {name}: {run}"))
}

async fn switch(gateway: &ScheduleGateway<'_>, name: &str, is_on: bool) -> Result<(), Failure> {
    let job = named::find(gateway, name).await?;
    let fields: Value = json!({ "enabled": is_on });
    let job = gateway.said(gateway.client.change(&job.id, &fields).await)?;
    told(
        gateway,
        &job,
        if is_on { "resumed" } else { "paused" },
        false,
    )
    .await
}

impl Several {
    async fn remove(&self, gateway: &ScheduleGateway<'_>) -> Result<(), Failure> {
        if let Some(agent) = &self.agent_made {
            let removed = gateway.said(gateway.client.remove_made(agent).await)?;
            return output::stdout_line(&match removed {
                1 => "removed 1 job that an agent made".to_owned(),
                removed => format!("removed {removed} jobs that agents made"),
            });
        }
        for name in &self.jobs {
            let job = named::find(gateway, name).await?;
            gateway.said(gateway.client.remove(&job.id).await)?;
            output::stdout_line(&format!("removed {}", output::line(&job.name)))?;
        }
        Ok(())
    }
}
