//! Which job is meant.

use openclaw_proto::schedule::{Job, JobRun};
use openclaw_terminal::Failure;
use serde_json::Value;

use crate::gateway::ScheduleGateway;
use crate::job;

/// Shows the jobs.
const LIST: &str = "`openclawctl cron list` shows the jobs";

/// The job of this name or id, or the only one with this beginning.
pub(crate) async fn find(gateway: &ScheduleGateway<'_>, text: &str) -> Result<Job, Failure> {
    let (jobs, _) = gateway.said(gateway.client.jobs().await)?;
    among(jobs, text)
}

/// Runs that are looked through for a job that is removed: as many as are given at once.
const LOOKED_THROUGH: u32 = 1000;

/// The id of the job that is meant, also where it is removed and only its runs are known.
pub(crate) async fn with_runs(
    gateway: &ScheduleGateway<'_>,
    text: &str,
) -> Result<String, Failure> {
    let failure = match find(gateway, text).await {
        Ok(job) => return Ok(job.id),
        Err(failure) => failure,
    };
    let runs = gateway.client.runs(None, LOOKED_THROUGH).await;
    let removed = of_runs(&gateway.said(runs)?);
    if !removed.iter().any(|job| is_meant(job, text)) {
        return Err(failure);
    }
    among(removed, text).map(|job| job.id)
}

/// The jobs that runs are of, each once.
fn of_runs(runs: &[JobRun]) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for run in runs {
        if !jobs.iter().any(|job| job.id == run.job_id) {
            jobs.push(Job {
                id: run.job_id.clone(),
                name: run.job_name.clone(),
                is_enabled: false,
                fields: Value::Null,
                next_ms: None,
                is_running: false,
            });
        }
    }
    jobs
}

fn is_meant(job: &Job, text: &str) -> bool {
    !text.is_empty() && (job.name == text || job.id.starts_with(text))
}

fn among(jobs: Vec<Job>, text: &str) -> Result<Job, Failure> {
    let exact = |job: &&Job| job.id == text || job.name == text;
    let begins = |job: &&Job| !text.is_empty() && job.id.starts_with(text);
    let mut found: Vec<&Job> = jobs.iter().filter(exact).collect();
    if found.is_empty() {
        found = jobs.iter().filter(begins).collect();
    }
    match *found.as_slice() {
        [job] => Ok(job.clone()),
        [] => {
            let known = jobs.iter().flat_map(|job| [&*job.name, &*job.id]);
            Err(Failure::new(format!("there is no job {text:?}")).near(text, known, LIST))
        }
        ref several => {
            let ids: Vec<_> = several.iter().map(|it| job::short(&it.id)).collect();
            let said = format!("{text:?} may be several jobs: {}", ids.join(", "));
            Err(Failure::new(said).hint(LIST))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: &str, name: &str) -> Job {
        Job {
            id: id.to_owned(),
            name: name.to_owned(),
            is_enabled: true,
            fields: Value::Null,
            next_ms: None,
            is_running: false,
        }
    }

    #[test]
    fn among_jobs_the_one_that_is_meant_is_found() {
        let jobs = || {
            vec![
                job("abc1", "news"),
                job("abd2", "abc1x"),
                job("c", "twin"),
                job("d", "twin"),
            ]
        };
        let id = |text: &str| {
            among(jobs(), text)
                .map(|job| job.id)
                .map_err(|it| it.text())
        };
        assert_eq!(id("news").unwrap(), "abc1");
        assert_eq!(id("abd").unwrap(), "abd2");
        assert!(id("ab").unwrap_err().contains("several jobs: abc1, abd2"));
        assert!(id("twin").unwrap_err().contains("several"));
        assert!(id("").unwrap_err().contains("no job"));
    }

    #[test]
    fn named_of_runs_are_jobs_that_are_removed_too() {
        let run = |id: &str, name: &str| JobRun {
            job_id: id.to_owned(),
            job_name: name.to_owned(),
            ..JobRun::default()
        };
        let jobs = of_runs(&[run("abc1", "news"), run("abc1", "news"), run("d", "tea")]);
        assert_eq!(jobs.len(), 2);
        for text in ["abc1", "ab", "news"] {
            assert!(is_meant(&jobs[0], text), "{text}");
            assert_eq!(among(jobs.clone(), text).unwrap().id, "abc1", "{text}");
        }
        assert!(!is_meant(&jobs[0], "") && !is_meant(&jobs[0], "x"));
    }
}
