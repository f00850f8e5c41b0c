//! Runs of scheduled jobs, a row each.

/// Since version 9. A row is of one planned time of a job, or of a run that
/// somebody began by hand and has none; a row that is skipped may stand for the
/// times up to another one. Nobody is left to do anything about a row with an end.
///
/// What ended before has no planned time, and a run that was noted twice is kept
/// once. A run that is under way goes on under the name it has.
pub(super) const JOB_RUNS: &str = include_str!("job_runs.sql");
