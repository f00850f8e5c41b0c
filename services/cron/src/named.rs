//! Which job is meant.

use openclaw_proto::schedule::Job;
use openclaw_terminal::Failure;

use crate::gateway::Gateway;
use crate::job;

/// Shows the jobs.
const LIST: &str = "`openclawctl cron list` shows the jobs";

/// The job of this name or id, or the only one with this beginning.
pub(crate) async fn find(gateway: &Gateway<'_>, text: &str) -> Result<Job, Failure> {
    let (jobs, _) = gateway.said(gateway.client.jobs().await)?;
    among(jobs, text)
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
    use serde_json::Value;

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
}
