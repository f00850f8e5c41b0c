//! Whether jobs are run as they are.

use std::time::Duration;

use openclaw_config::Paths;
use openclaw_doctor::Check;
use openclaw_proto::call::within;
use openclaw_proto::schedule::{Client, Job};

/// The longest that is waited for the gateway, which has answered by then.
const DEADLINE: Duration = Duration::from_secs(20);

/// One check for each job that is not run as it is; none where the gateway does not say,
/// which is told elsewhere.
pub(super) async fn not_run(paths: &Paths) -> Vec<Check> {
    let client = Client::new(paths.gateway_socket());
    let jobs = within(DEADLINE, client.jobs()).await;
    jobs.map_or_else(|_| Vec::new(), |(jobs, _)| checks(&jobs))
}

fn checks(jobs: &[Job]) -> Vec<Check> {
    let checks = jobs.iter().filter_map(|job| {
        let why = openclaw_cron::problem(job)?;
        let detail = format!("{:?} is not run as it is: {why}", job.name);
        Some(Check::warn("jobs", detail, openclaw_cron::way_out(job)))
    });
    checks.collect()
}

#[cfg(test)]
mod tests {
    use openclaw_doctor::State;
    use serde_json::json;

    use super::*;

    #[test]
    fn job_that_is_not_run_is_told_with_a_way_out() {
        let job = |fields| Job {
            id: "0123456789".to_owned(),
            name: "j".to_owned(),
            is_enabled: true,
            fields,
            next_ms: None,
            is_running: false,
        };
        let all = [
            job(json!({})),
            job(json!({"problem": "it reaches too far"})),
        ];
        let found = checks(&all);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].state, State::Warn);
        assert!(found[0].detail.contains("it reaches too far"));
        let fix = found[0].fix.as_deref().unwrap();
        assert!(
            fix.contains("cron edit 01234567 --session isolated"),
            "{fix}"
        );
    }
}
