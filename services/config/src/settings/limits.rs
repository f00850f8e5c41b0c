//! What an agent's turns may use.

use std::time::Duration;

use super::agent::{Problem, positive};
use crate::fragment;

/// Limits of an agent's processes and of its loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Model responses in one turn; a loop that needs more is usually lost.
    pub steps: u32,
    /// The same tool calls with the same results, in a row or in a circle.
    pub identical_calls: u32,
    /// RLIMIT_AS in bytes. Not applied to CLIs that are not ours, whose runtimes
    /// reserve far more address space than they use.
    pub address_space: u64,
    /// Processes and threads the agent may add to those there are.
    pub processes: u64,
    /// RLIMIT_NOFILE.
    pub open_files: u64,
    /// RLIMIT_FSIZE in bytes: the largest file that can be written.
    pub file_size: u64,
    /// RLIMIT_CPU of one process, in seconds.
    pub cpu_seconds: u64,
    /// Memory of all processes of a turn together, in bytes (MemoryMax= of its
    /// unit). Room for a build or a test suite, and half of a small machine.
    pub memory_max: u64,
    /// Processes and threads of a turn (TasksMax= of its unit). A parallel
    /// build needs tens; a fork bomb ends here.
    pub tasks_max: u64,
    /// Processor time of a turn in percent of one processor (CPUQuota= of its
    /// unit). By default a little less than the machine has, so that it keeps
    /// answering.
    pub cpu_quota: u64,
    /// Tokens that the model may write in one turn. A long turn writes some
    /// tens of thousands; one that writes more goes on and on.
    pub output_tokens: u64,
    /// Searches of memory that the agent may make in one turn. Each may be paid
    /// for, and one that searches this often is lost.
    pub memory_searches: u32,
    /// What one turn may cost, in US dollars: several times a long turn of the
    /// dearest model, so that only one that has gone astray ends here.
    pub cost_per_turn: f64,
    /// What an agent's turns of one day may cost together, in US dollars: a
    /// day of hard work, so that nobody finds a bill of hundreds.
    pub cost_per_day: f64,
    /// The longest that one question to a busy model is waited for, all waits
    /// together: most rate limits are counted by the minute.
    pub retry_wait: Duration,
}

/// One MiB in bytes.
const MIB: u64 = 1 << 20;

/// `limits.memoryMax`, unless configured.
const MEMORY_MAX: u64 = 2 << 30;
/// `limits.tasksMax`, unless configured.
const TASKS_MAX: u64 = 512;

/// `limits.outputTokens`, unless configured.
const OUTPUT_TOKENS: u64 = 200_000;
/// `limits.memorySearches`, unless configured.
const MEMORY_SEARCHES: u32 = 100;
/// `limits.costPerTurn`, unless configured.
const COST_PER_TURN: f64 = 5.0;
/// `limits.costPerDay`, unless configured.
const COST_PER_DAY: f64 = 25.0;
/// `limits.retrySeconds`, unless configured.
const RETRY_WAIT: Duration = Duration::from_secs(60);

/// `limits.cpuQuota`, unless configured: nine tenths of the machine.
fn cpu_quota() -> u64 {
    const PERCENT: u64 = 90;
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64) * PERCENT
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 50,
            identical_calls: 5,
            address_space: 8192 * MIB,
            processes: 512,
            open_files: 4096,
            file_size: 1024 * MIB,
            cpu_seconds: 3600,
            memory_max: MEMORY_MAX,
            tasks_max: TASKS_MAX,
            cpu_quota: cpu_quota(),
            output_tokens: OUTPUT_TOKENS,
            memory_searches: MEMORY_SEARCHES,
            cost_per_turn: COST_PER_TURN,
            cost_per_day: COST_PER_DAY,
            retry_wait: RETRY_WAIT,
        }
    }
}

/// What `fragment` says, over `under`.
pub(super) fn limits(
    fragment: &fragment::Limits,
    under: &Limits,
    key: &str,
) -> Result<Limits, Problem> {
    let mib = |value: Option<u64>, under: u64, name| {
        positive(value, 1, key, name)?;
        Ok(value.map_or(under, |mib| mib.saturating_mul(MIB)))
    };
    let memory_max = fragment.memory_max.map(|size| size.0);
    Ok(Limits {
        steps: positive(fragment.steps, under.steps, key, "steps")?,
        identical_calls: positive(
            fragment.identical_calls,
            under.identical_calls,
            key,
            "identicalCalls",
        )?,
        address_space: mib(
            fragment.address_space_mib,
            under.address_space,
            "addressSpaceMib",
        )?,
        processes: positive(fragment.processes, under.processes, key, "processes")?,
        open_files: positive(fragment.open_files, under.open_files, key, "openFiles")?,
        file_size: mib(fragment.file_size_mib, under.file_size, "fileSizeMib")?,
        cpu_seconds: positive(fragment.cpu_seconds, under.cpu_seconds, key, "cpuSeconds")?,
        memory_max: positive(memory_max, under.memory_max, key, "memoryMax")?,
        tasks_max: positive(fragment.tasks_max, under.tasks_max, key, "tasksMax")?,
        cpu_quota: positive(fragment.cpu_quota, under.cpu_quota, key, "cpuQuota")?,
        output_tokens: positive(
            fragment.output_tokens,
            under.output_tokens,
            key,
            "outputTokens",
        )?,
        memory_searches: positive(
            fragment.memory_searches,
            under.memory_searches,
            key,
            "memorySearches",
        )?,
        cost_per_turn: dollars(
            fragment.cost_per_turn,
            under.cost_per_turn,
            key,
            "costPerTurn",
        )?,
        cost_per_day: dollars(fragment.cost_per_day, under.cost_per_day, key, "costPerDay")?,
        retry_wait: fragment
            .retry_seconds
            .map_or(under.retry_wait, Duration::from_secs),
    })
}

fn dollars(value: Option<f64>, default: f64, key: &str, name: &str) -> Result<f64, Problem> {
    match value {
        Some(amount) if !(amount.is_finite() && amount > 0.0) => Err(Problem {
            key: format!("{key}.{name}"),
            problem: format!("is {amount}; it must be an amount above 0"),
        }),
        other => Ok(other.unwrap_or(default)),
    }
}
